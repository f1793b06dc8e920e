"""Public functions are pickled by the name under which programs have them, and come back as the same objects."""

import copy
import pickle
import subprocess
import sys

import vivace as torch

# Native functions say that they are torch's, so only a program that knows vivace by that name can read their pickles.
SCRIPT = """
import pickle, torch

KINDS = ("function", "overridable", "builtin_function_or_method", "method_descriptor")
for home in (torch, torch.nn.functional, torch.linalg, torch.special, torch.fft, torch.Tensor):
    names = [n for n in dir(home) if not n.startswith("_") and type(getattr(home, n)).__name__ in KINDS]
    assert len(names) > 10
    for name in names:
        function = getattr(home, name)
        assert pickle.loads(pickle.dumps(function)) is function, name
result = pickle.loads(pickle.dumps(torch.tensor([1.0, 2.0]).max(0)))
assert type(result) is torch.return_types.max and result.indices.item() == 1
"""


def test_functions_and_named_results_come_back(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    subprocess.run([sys.executable, "-m", "vivace", str(script)], check=True)


def test_functions_written_in_python_come_back_here_too():
    for function in (torch.nn.functional.relu, torch.nn.functional.interpolate, torch.Tensor.unique, torch.stft):
        assert pickle.loads(pickle.dumps(function)) is function


def test_modes_are_copied_and_pickled():
    for mode in (torch.no_grad(), torch.enable_grad(), torch.inference_mode(), torch.inference_mode(False)):
        for other in (copy.deepcopy(mode), pickle.loads(pickle.dumps(mode))):
            assert type(other) is type(mode) and other.mode == mode.mode
    with copy.deepcopy(torch.no_grad()):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
