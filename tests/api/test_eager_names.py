"""Names of what vivace does not do: questions are answered, compilers give back what they got, the rest refuses."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import pytest


@pytest.mark.parametrize("path", ["distributed", "accelerator"])
def test_absent_parts_say_so(module: Any, path: str) -> None:
    part = getattr(module, path)
    assert part.is_available() is False
    with pytest.raises(RuntimeError, match="vivace runs"):
        part.synchronize()


def test_nothing_is_exported(module: Any) -> None:
    import vivace.onnx

    assert not vivace.onnx.is_in_onnx_export()
    with pytest.raises(RuntimeError, match="vivace runs programs and exports none"):
        vivace.onnx.export(module.nn.Linear(2, 2), module.ones(1, 2), "model.onnx")


def test_compilers_give_back_what_they_got(module: Any) -> None:
    def f(x: Any) -> Any:
        return x + 1

    layer = module.nn.Linear(2, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert module.compile(f) is f
        assert module.compile(mode="reduce-overhead")(f) is f
        assert module.jit.script(f) is f
        assert module.jit.script(layer) is layer
        assert module.jit.trace(layer, module.ones(1, 2)) is layer
    assert not module.jit.is_scripting() and not module.compiler.is_compiling()
    assert module.compiler.disable(f) is f


def test_compilers_say_so_once(module: Any) -> None:
    from vivace import _eager

    _eager._told.clear()
    with pytest.warns(UserWarning, match="runs eagerly"):
        module.compile(len)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module.compile(len)


def test_hub_loads_local_models(module: Any, tmp_path: Any) -> None:
    (tmp_path / "hubconf.py").write_text("def answer(n=1):\n    'Times two.'\n    return 2 * n\n")
    hub = module.hub
    assert hub.list(str(tmp_path), source="local") == ["answer"]
    assert hub.help(str(tmp_path), "answer", source="local") == "Times two."
    assert hub.load(str(tmp_path), "answer", 21, source="local") == 42
    with pytest.raises(RuntimeError, match="Cannot find callable question"):
        hub.load(str(tmp_path), "question", source="local")
    with pytest.raises(RuntimeError, match="downloads no code"):
        hub.load("someone/something", "answer")


def test_hub_keeps_downloads(module: Any, tmp_path: Any) -> None:
    source, target = tmp_path / "weights.pt", tmp_path / "models"
    module.save({"w": module.ones(2)}, str(source))
    url = source.as_uri()
    assert module.hub.load_state_dict_from_url(url, str(target))["w"].tolist() == [1, 1]
    source.unlink()
    assert module.hub.load_state_dict_from_url(url, str(target))["w"].tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="invalid hash value"):
        module.hub.download_url_to_file((target / "weights.pt").as_uri(), str(tmp_path / "x"), "0000")
    assert not (tmp_path / "x").exists()


def test_what_packages_import_and_register(module: Any) -> None:
    """torchvision and timm do all this before a model runs."""
    import vivace._custom_ops
    import vivace._dynamo.utils
    import vivace.ao.quantization as quantization
    import vivace.fx.graph_module
    import vivace.onnx.symbolic_helper
    import vivace.onnx.symbolic_opset11
    from vivace.fx.node import Target  # noqa: F401
    from vivace.fx.proxy import Proxy
    from vivace.jit.annotations import BroadcastingList2, List  # noqa: F401

    class Tracer(vivace.fx.Tracer):
        pass

    for make in (Tracer, Proxy, vivace.fx.symbolic_trace, vivace.fx.graph_module._copy_attr):
        with pytest.raises(RuntimeError, match="does not trace"):
            make()
    function = vivace.onnx.symbolic_helper.parse_args("v", "i")(len)
    assert function is len and vivace.onnx.register_custom_op_symbolic("a::b", len, 11) is None
    with pytest.raises(RuntimeError, match="exports none"):
        vivace.onnx.symbolic_opset11.unsqueeze(None, 1)
    assert not vivace._dynamo.utils.is_compile_supported("cpu")
    assert module.jit._overload_method(function) is function
    x = module.ones(1)
    assert quantization.DeQuantStub()(quantization.QuantStub()(x)) is x
    with pytest.raises(RuntimeError, match="no quantized tensors"):
        quantization.prepare(module.nn.Linear(1, 1))
    assert module._C._get_tracing_state() is None and module._C._log_api_usage_once("use") is None
    assert module.backends.cpu.get_cpu_capability() in ("DEFAULT", "AVX2", "AVX512")
    with pytest.raises(OSError, match="compiled against PyTorch"):
        module.ops.load_library("/nowhere/_C.so")


def test_progress_bars_without_tqdm(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib
    import sys

    for name in ("tqdm", "tqdm.auto"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "vivace.utils.model_zoo", raising=False)
    zoo = importlib.import_module("vivace.utils.model_zoo")
    with zoo.tqdm([1, 2, 3], total=3) as bar:
        assert list(bar) == [1, 2, 3] and bar.n == 3
    monkeypatch.delitem(sys.modules, "vivace.utils.model_zoo", raising=False)


def test_numbers_that_compilers_leave_open(module: Any) -> None:
    assert not isinstance(3, (module.SymInt, module.SymFloat, module.SymBool))
    assert (module.sym_int(-2.7), module.sym_float(2), module.sym_not(True)) == (-2, 2.0, False)
    assert repr((module.sym_max(3, 2.0), module.sym_min(2, 3), module.sym_sqrt(4))) == "(3.0, 2, 2.0)"
    assert module.sym_sum([1, 2, 3]) == 6 and module.sym_ite(False, 1, 2) == 2


def test_settings_of_warnings_and_anomalies(module: Any) -> None:
    assert not module.is_warn_always_enabled()
    module.set_warn_always(True)
    assert module.is_warn_always_enabled()
    module.set_warn_always(False)
    module.set_anomaly_enabled(True, False)
    assert module.is_anomaly_enabled() and not module.is_anomaly_check_nan_enabled()
    module.set_anomaly_enabled(False)
    assert not module.is_anomaly_enabled()


def test_cuda_that_is_not_there(module: Any) -> None:
    cuda = importlib.import_module(f"{module.__name__}.cuda")
    assert cuda.is_available() is False and cuda.device_count() == 0
    assert cuda.memory_allocated() == cuda.max_memory_allocated() == 0
    for use in (cuda.current_device, cuda.synchronize, cuda.get_device_name):
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            use()
    for error in (module.OutOfMemoryError, cuda.OutOfMemoryError, module.AcceleratorError):
        assert issubclass(error, RuntimeError)


def test_absent_classes_can_be_named(module: Any) -> None:
    """In annotations, default arguments and isinstance(), as programs do that run without them."""
    dist = module.distributed

    def reduce(x: Any, op: Any = dist.ReduceOp.SUM, group: dist.ProcessGroup | None = dist.group.WORLD) -> Any:
        return x, group

    assert reduce(1) == (1, None)
    for question in (dist.get_rank, dist.get_world_size):
        with pytest.raises(ValueError, match="Default process group has not been initialized"):
            question()
    assert dist.ProcessGroup is dist.ProcessGroup and not isinstance(module.ones(1), module.cuda.FloatTensor)
    assert getattr(module.cuda.Stream, "__wrapped__", None) is None
    with pytest.raises((RuntimeError, AssertionError)):
        module.cuda.Stream()
    assert not isinstance(module.nn.Linear(1, 1), module.jit.ScriptModule)
    assert issubclass(module.jit.ScriptModule, module.nn.Module)


@pytest.mark.parametrize("part", ["checkpoint", "device_mesh", "fsdp", "nn", "optim", "rpc", "tensor"])
def test_parts_of_distributed_can_be_imported(module: Any, part: str) -> None:
    found = importlib.import_module(f"{module.__name__}.distributed.{part}")
    assert not isinstance(module.ones(1), found.DTensor if part == "tensor" else getattr(found, "Absent", int))


def test_other_devices_are_not_there(module: Any) -> None:
    for device in (module.xpu, module.mps, module.mtia):
        assert not device.is_available() and device.device_count() == 0
        device.manual_seed(1)
    for device in (module.cuda, module.xpu):
        device.empty_cache()
        device.seed_all()
    assert module.cuda.get_rng_state_all() == [] and module.cuda.memory_allocated() == 0
    with module.cuda.stream(None):
        module.cuda.set_rng_state_all([])


def test_switches_of_attention(module: Any) -> None:
    switches = module.backends.cuda
    with switches.sdp_kernel(enable_flash=False, enable_math=True, enable_mem_efficient=True):
        assert not switches.flash_sdp_enabled() and switches.math_sdp_enabled()
    assert switches.flash_sdp_enabled()
    switches.enable_mem_efficient_sdp(False)
    assert not switches.mem_efficient_sdp_enabled()
    switches.enable_mem_efficient_sdp(True)
