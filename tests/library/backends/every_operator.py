"""Every operator of the catalogue on tensors of examples/numpy_device, whose addresses nobody may follow: forward and
backward give what they give on the CPU, by kernels, derived forms and the fallback. With nothing but the allocator and
copies each is right or refuses.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples"))

import numpy as np
import numpy_device
import torch

from tests.library.on_device import walk

with np.errstate(all="ignore"):
    walk(lambda error: False)
    for library in (numpy_device.kernels.library, numpy_device.kernels.everything):
        library._destroy()
    copies = torch.library.Library("aten", "IMPL")
    copies.impl("_copy_from", numpy_device.kernels.copy, "PrivateUse1")
    walk(lambda error: "with arguments from the 'npy' backend" in str(error))
