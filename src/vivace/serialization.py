"""torch.save and torch.load: PyTorch's checkpoint files, both ways.

A checkpoint is a zip archive, nothing compressed: `data.pkl` is a pickle in which storages are persistent ids, and
`data/KEY` holds the bytes of storage KEY. Classes go by their names in torch, so either library reads what the other
wrote.
"""

import contextlib
import functools
import io
import os
import pickle
import sys
import threading
import zipfile
from collections.abc import Callable
from enum import Enum

from vivace import _C, _old_checkpoint
from vivace._pickle import Reader, SafeReader, Writer, _get_layout, allowed, public_name, unsafe_globals  # noqa: F401
from vivace.storage import UntypedStorage

MAP_LOCATION = Callable[[UntypedStorage, str], UntypedStorage] | _C.device | str | dict | None

__all__ = [
    "LoadEndianness", "SourceChangeWarning", "add_safe_globals", "clear_safe_globals", "default_restore_location",
    "get_default_load_endianness", "get_safe_globals", "get_unsafe_globals_in_checkpoint", "load", "location_tag",
    "safe_globals", "save", "set_default_load_endianness", "skip_data",
]  # fmt: skip


class SourceChangeWarning(Warning):
    """Of files that hold the source of their classes; those that save writes do not."""


class LoadEndianness(Enum):
    NATIVE = 1
    LITTLE = 2
    BIG = 3


DEFAULT_PROTOCOL = 2
_ALIGNMENT = 64  # of records, so that files can be mapped into memory


def save(obj, f, pickle_module=pickle, pickle_protocol=DEFAULT_PROTOCOL, _use_new_zipfile_serialization=True):
    """Writes an object, with all tensors in it, to a file."""
    is_path = isinstance(f, (str, os.PathLike))
    if is_path and not os.path.isdir(os.path.dirname(os.path.abspath(f))):
        raise RuntimeError(f"save: parent directory {os.path.dirname(os.fspath(f))} does not exist.")
    if not _use_new_zipfile_serialization:
        with open(f, "wb") if is_path else contextlib.nullcontext(f) as file:
            _old_checkpoint.save(obj, file, pickle_protocol)
        return
    pickled = io.BytesIO()
    writer = Writer(pickled, pickle_protocol)
    writer.dump(obj)
    top = os.path.splitext(os.path.basename(os.fspath(f)))[0] if is_path else "archive"
    with zipfile.ZipFile(f, "w", zipfile.ZIP_STORED) as archive:
        _write_record(archive, f"{top}/data.pkl", pickled.getvalue())
        _write_record(archive, f"{top}/.format_version", b"1")
        _write_record(archive, f"{top}/.storage_alignment", str(_ALIGNMENT).encode())
        _write_record(archive, f"{top}/byteorder", sys.byteorder.encode())
        for key, storage in writer.storages.items():
            data = bytes(len(storage)) if _saving.skips_data else memoryview(storage)
            _write_record(archive, f"{top}/data/{key}", data)
        _write_record(archive, f"{top}/version", b"3\n")


def _write_record(archive, name, data):
    info = zipfile.ZipInfo(name)
    info.file_size = len(data)
    header = archive.fp.tell() + zipfile.sizeFileHeader + len(name.encode()) + 4
    # An extra field of the private kind "FB" pads up to where the data begins.
    padding = -header % _ALIGNMENT
    info.extra = b"FB" + padding.to_bytes(2, "little") + b"\0" * padding
    with archive.open(info, "w") as record:
        record.write(data)


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Reads what save wrote, here or in PyTorch.

    Unless weights_only=False, only tensors, numbers, containers and what add_safe_globals allows are made: a file from
    elsewhere cannot run code. map_location says where tensors go: a device, a dictionary from device to device, or a
    function of a storage and the name of its device. The environment may set TORCH_FORCE_WEIGHTS_ONLY_LOAD, or
    TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD for calls that do not give weights_only.
    """
    pickle_load_args.setdefault("encoding", "utf-8")
    weights_only = _is_weights_only(weights_only, pickle_module)
    if weights_only and pickle_module is not None:
        raise RuntimeError("load: weights_only=True takes no pickle_module")
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _load(file, map_location, weights_only, pickle_load_args)
    return _load(f, map_location, weights_only, pickle_load_args)


def _is_weights_only(given, pickle_module):
    force, free = (
        os.environ.get(f"TORCH_FORCE_{name}", "").lower() in ("1", "y", "yes", "true")
        for name in ("WEIGHTS_ONLY_LOAD", "NO_WEIGHTS_ONLY_LOAD")
    )
    if force and free:
        raise RuntimeError("load: TORCH_FORCE_WEIGHTS_ONLY_LOAD and TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD are both set")
    if force:
        return True
    if given is None:
        return pickle_module is None and not free
    return given


def _load(file, map_location, weights_only, pickle_load_args):
    begin = file.tell()
    kind = SafeReader if weights_only else Reader
    reader = functools.partial(kind, **pickle_load_args)
    _loading.where.append(map_location)
    try:
        try:
            archive = zipfile.ZipFile(file)
        except zipfile.BadZipFile:
            if file.seek(0, os.SEEK_END) == 0:
                raise EOFError("load: the file is empty") from None
            file.seek(begin)
            return _old_checkpoint.load(file, functools.partial(_place, map_location), reader)
        with archive:
            return _load_archive(archive, map_location, reader)
    except pickle.UnpicklingError as error:
        if not weights_only:
            raise
        raise pickle.UnpicklingError(
            f"Weights only load failed. {error}\nIf the file comes from a source that you trust, allow the class with "
            "`torch.serialization.add_safe_globals([...])`, or load with `weights_only=False`, which lets it run code."
        ) from None
    finally:
        _loading.where.pop()


def _load_archive(archive, map_location, reader):
    pickled = _pickle_in(archive)
    top = pickled.removesuffix("data.pkl")
    order = _default_byte_order()
    if top + "byteorder" in archive.namelist():
        order = archive.read(top + "byteorder")
    if order != sys.byteorder.encode():
        raise RuntimeError(f"load: the file was written on a {order.decode()}-endian machine")
    storages = _Storages(archive, top + "data/", map_location)
    return reader(archive.open(pickled), storages.get).load()


def _pickle_in(archive):
    """The name of the record that holds the pickle."""
    pickles = [n for n in archive.namelist() if n.endswith("/data.pkl") and n.count("/") == 1]
    if len(pickles) != 1:
        raise RuntimeError("load: the archive is no checkpoint of torch.save (it has no data.pkl)")
    return pickles[0]


class _Loading(threading.local):
    """The map_location of each load that runs, the innermost last."""

    def __init__(self):
        self.where = []


_loading = _Loading()


def _device_for(location, where):
    """The device that map_location `where`, which is no function, gives to what was on `location`."""
    if isinstance(where, dict):
        where = where.get(location)
    return _C.device(location if where is None else where)


def _placed(location):
    """Where a tensor goes that was on a private backend; functions are asked for storages only."""
    where = _loading.where[-1] if _loading.where else None
    return _device_for(location, None if callable(where) else where)


class _Storages:
    """Reads each storage once."""

    def __init__(self, archive, prefix, map_location):
        self.archive = archive
        self.prefix = prefix
        self.map_location = map_location
        self.loaded = {}

    def get(self, key, location, nbytes):
        if key not in self.loaded:
            storage = UntypedStorage(nbytes)
            with self.archive.open(f"{self.prefix}{key}") as record:
                if record.readinto(memoryview(storage)) != nbytes:
                    raise RuntimeError(f"load: storage {key} is shorter than the {nbytes} bytes that its tensors need")
            self.loaded[key] = _place(self.map_location, storage, location)
        return self.loaded[key]


def _place(where, storage, location):
    """The storage, which was on the device `location`, where map_location `where` says."""
    if callable(where):
        placed = where(storage, location)
        if placed is not None:
            return placed
        where = None
    device = _device_for(location, where)
    if device.type == "meta":
        return UntypedStorage(len(storage), device="meta")
    if device.type == _C._get_privateuse1_backend_name() and _C._backend_is_claimed():
        data = _C._tensor_over(_C.uint8, storage, 0, (len(storage),), (1,))
        return data.to(device).untyped_storage()
    if device.type != "cpu":
        raise RuntimeError(
            f"load: the file has tensors on {location!r}, and vivace has the CPU only. "
            "Use torch.load with map_location=torch.device('cpu')."
        )
    return storage


class _Saving(threading.local):
    skips_data = False


_saving = _Saving()


@contextlib.contextmanager
def skip_data(materialize_fake_tensors=False):
    """Lets save leave the bytes of storages out of the file, but for their place, in a with block."""
    before, _saving.skips_data = _saving.skips_data, True
    try:
        yield
    finally:
        _saving.skips_data = before


_endianness = None  # of files that don't say


def get_default_load_endianness():
    """The order of bytes that load takes a file without such a record to have; None: little."""
    return _endianness


def set_default_load_endianness(endianness):
    """Sets it: a LoadEndianness, or None."""
    global _endianness
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    _endianness = endianness


def _default_byte_order():
    named = {LoadEndianness.NATIVE: sys.byteorder, LoadEndianness.BIG: "big"}
    return named.get(_endianness, "little").encode()


def location_tag(storage):
    """The name of the device that a storage is on, as files hold it."""
    return str(storage.device)


def default_restore_location(storage, location):
    """The storage, on the device that a file names."""
    return _place(None, storage, location)


def get_unsafe_globals_in_checkpoint(f):
    """The classes and functions that a file names and load with weights_only=True refuses."""
    with zipfile.ZipFile(f) as archive:
        return unsafe_globals(archive.read(_pickle_in(archive)))


def add_safe_globals(safe_globals):
    """Lets load with weights_only=True make objects of these classes, and call these functions."""
    allowed.update({_name_of(g): g[0] if isinstance(g, tuple) else g for g in safe_globals})


def get_safe_globals():
    return list(allowed.values())


def clear_safe_globals():
    allowed.clear()


@contextlib.contextmanager
def safe_globals(safe_globals):
    """add_safe_globals for a with block."""
    saved = dict(allowed)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        allowed.clear()
        allowed.update(saved)


def _name_of(g):
    if isinstance(g, tuple):  # (object, name)
        return g[1]
    return ".".join(public_name(g))
