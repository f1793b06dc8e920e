"""torch.jit.annotations: types that packages write for TorchScript, and those of typing that they find here."""

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: F401, UP035


class BroadcastingListCls:
    """A list of numbers, or one number that stands for all."""

    def __getitem__(self, types):
        return None


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = BroadcastingListCls()
for _n in range(4, 7):
    globals()[f"BroadcastingList{_n}"] = BroadcastingList1
