"""Runs a program as Python itself would, with torch being vivace: sys.argv, sys.path[0], __main__, tracebacks."""

import importlib.machinery
import importlib.util
import io
import os
import signal
import sys
import types

from vivace import _alias

USAGE = """\
usage: python -m vivace script.py [args...]
       python -m vivace -m module [args...]
       python -m vivace -c 'code' [args...]
Runs a program written for torch: `import torch` gives vivace."""


def main(args):
    if not args or args[0] in ("-h", "--help"):
        print(USAGE, file=sys.stdout if args else sys.stderr)
        sys.exit(0 if args else 2)
    if args[0] == "--version":
        import vivace

        print(f"vivace {vivace.__version__}")
        return
    if args[0] in ("-m", "-c") and len(args) < 2:
        sys.exit(f"python -m vivace: {args[0]} needs an argument\n{USAGE}")
    if args[0].startswith("-") and args[0] not in ("-m", "-c", "-"):
        sys.exit(f"python -m vivace: unknown option {args[0]}\n{USAGE}")
    _alias.install()
    prepare = {"-m": _prepare_module, "-c": _prepare_command}.get(args[0], _prepare_script)
    try:
        code, namespace = prepare(args)
        exec(code, namespace)
    except SystemExit:
        raise
    except _CannotStart as error:
        print(f"{sys.executable}: {error}", file=sys.stderr)
        sys.exit(error.status)
    except BaseException as error:
        _report(error)


class _CannotStart(Exception):
    """There is no program to run."""

    def __init__(self, text, status=1):
        super().__init__(text)
        self.status = status


def _main_module(**attributes):
    module = types.ModuleType("__main__")
    module.__dict__.update(attributes)
    sys.modules["__main__"] = module
    return module.__dict__


def _set_path(directory):
    # `python -m vivace` put the current directory there, unless told not to.
    if not sys.flags.safe_path:
        sys.path[0] = directory


def _prepare_command(args):
    sys.argv[:] = ["-c", *args[2:]]
    _set_path("")
    return compile(args[1], "<string>", "exec", dont_inherit=True), _main_module()


def _prepare_script(args):
    script = args[0]
    sys.argv[:] = args
    if script == "-":
        return compile(sys.stdin.read(), "<stdin>", "exec", dont_inherit=True), _main_module()
    spec = importlib.machinery.PathFinder.find_spec("__main__", [script])  # of a directory or an archive
    if spec is not None:
        _set_path(script)
        return spec.loader.get_code("__main__"), _spec_module(spec)
    try:
        with io.open_code(os.path.abspath(script)) as file:
            source = file.read()
    except OSError as error:
        raise _CannotStart(f"can't open file {error.filename!r}: [Errno {error.errno}] {error.strerror}", 2) from None
    _set_path(os.path.dirname(os.path.realpath(script)))
    loader = importlib.machinery.SourceFileLoader("__main__", script)
    namespace = _main_module(__file__=script, __loader__=loader, __cached__=None)
    return compile(source, script, "exec", dont_inherit=True), namespace


def _prepare_module(args):
    name = args[1]
    sys.argv[:] = ["-m", *args[2:]]
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:  # of a parent
        raise _CannotStart(str(error)) from None
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(name + ".__main__")
        if spec is None:
            raise _CannotStart(
                f"No module named {name}.__main__; {name!r} is a package and cannot be directly executed"
            )
    if spec is None:
        raise _CannotStart(f"No module named {name}")
    code = spec.loader.get_code(spec.name)
    sys.argv[0] = spec.origin
    return code, _spec_module(spec)


def _spec_module(spec):
    return _main_module(
        __file__=spec.origin, __cached__=spec.cached, __loader__=spec.loader, __package__=spec.parent, __spec__=spec
    )


def _report(error):
    """Ends the process as an uncaught exception would; the traceback starts in the user's program."""
    traceback = error.__traceback__
    while traceback is not None and _is_runner(traceback.tb_frame.f_code.co_filename):
        traceback = traceback.tb_next
    _note_missing(error)
    sys.excepthook(type(error), error.with_traceback(traceback), traceback)
    if isinstance(error, KeyboardInterrupt):
        sys.stderr.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    sys.exit(1)


def _note_missing(error):
    """Says of a name that torch or Tensor does not have that vivace may be to blame."""
    if not isinstance(error, AttributeError) or not error.name or error.name.startswith("_"):
        return
    if "vivace does not have" in str(error):  # packages that load their names say so themselves
        return
    import vivace

    if isinstance(error.obj, vivace.Tensor) or error.obj is vivace.Tensor:
        place = "torch.Tensor"
    elif isinstance(error.obj, types.ModuleType) and error.obj.__name__.partition(".")[0] in ("torch", "vivace"):
        place = error.obj.__name__.replace("vivace", "torch", 1)
    else:
        return
    error.add_note(f"vivace does not have {place}.{error.name}; its docs/gaps.md lists the operators that it lacks")


def _is_runner(filename):
    return filename == __file__ or filename.startswith("<frozen importlib")
