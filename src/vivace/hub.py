"""torch.hub: models and weights that are loaded by name."""

import hashlib
import importlib.util
import os
import re
import sys
from urllib.parse import urlparse
from urllib.request import urlopen

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

HASH_REGEX = re.compile(r"-([a-f0-9]{8,64})\.")
_dir = None


def _get_torch_home():
    """Where PyTorch keeps downloads: $TORCH_HOME, else below the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir():
    """The folder for downloads: what set_dir chose, else $TORCH_HOME/hub, else below the user's cache."""
    if _dir is not None:
        return _dir
    return os.path.join(_get_torch_home(), "hub")


def set_dir(d):
    global _dir
    _dir = os.path.expanduser(d)


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Downloads a file; if `hash_prefix` is given, its SHA-256 must begin with it."""
    digest = hashlib.sha256()
    part = f"{dst}.part"
    try:
        with urlopen(url) as source, open(part, "wb") as target:
            while chunk := source.read(1 << 20):
                digest.update(chunk)
                target.write(chunk)
        if hash_prefix and not digest.hexdigest().startswith(hash_prefix):
            raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")')
        os.replace(part, dst)
    finally:
        if os.path.exists(part):
            os.remove(part)


def load_state_dict_from_url(
    url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None, weights_only=False
):
    """What torch.load reads from a file that is downloaded once."""
    from vivace.serialization import load as load_file

    folder = model_dir or os.path.join(get_dir(), "checkpoints")
    os.makedirs(folder, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        match = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, match[1] if match else None, progress)
    return load_file(path, map_location=map_location, weights_only=weights_only)


def list(github, force_reload=False, skip_validation=False, trust_repo=None, verbose=True, source="github"):
    """Names of the models that a repository offers."""
    module = _hubconf(github, source)
    return [n for n, f in vars(module).items() if callable(f) and not n.startswith("_")]


def help(github, model, force_reload=False, skip_validation=False, trust_repo=None, source="github"):
    """The docstring of a model."""
    return _entry(_hubconf(github, source), model).__doc__


def load(repo_or_dir, model, *args, source="github", trust_repo=None, force_reload=False, verbose=True,
         skip_validation=False, **kwargs):  # fmt: skip
    """A model of a repository: hubconf.py's function of that name, called."""
    return _entry(_hubconf(repo_or_dir, source), model)(*args, **kwargs)


def _hubconf(folder, source):
    if source != "local":
        raise RuntimeError("vivace downloads no code: clone the repository, and load it with source='local'")
    folder = os.path.abspath(folder)
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location("hubconf", os.path.join(folder, "hubconf.py"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    return module


def _entry(module, name):
    entry = getattr(module, name, None)
    if not callable(entry):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return entry
