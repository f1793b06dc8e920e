"""Tables of events print as PyTorch's; texts were recorded from torch 2.13."""

import pytest

import vivace as torch
from vivace.autograd.profiler_util import EventList, FunctionEvent


def event(number, name, start, end, shapes=(), memory=0, flops=0):
    made = FunctionEvent(number, name, start, end, arguments=[(s, (), torch.float32) if s else None for s in shapes])
    made.cpu_memory_usage = memory
    made.flops = flops
    return made


def events(**options):
    made = EventList(
        [
            event(0, "aten::linear", 0, 1500.5, [(2, 3), (4, 3), ()], 2048),
            event(1, "aten::addmm", 10, 1200.25, [(4,), (2, 3), (3, 4)], 3 * 2**20, 24000),
            event(2, "a name that is longer than what fits into the column of names, really", 2000, 2.5e6, memory=-5),
            event(3, "aten::addmm", 2.6e6, 2.6e6 + 3),
        ],
        **options,
    )
    made[1].cpu_parent = made[0]
    made[0].cpu_children.append(made[1])
    return made


PLAIN = """\
-------------------------------------------------------  ------------  ------------  ------------  ------------  ------------  ------------  
                                                   Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  
-------------------------------------------------------  ------------  ------------  ------------  ------------  ------------  ------------  
                                            aten::addmm         0.05%       1.193ms         0.05%       1.193ms     596.625us             2  
                                           aten::linear         0.01%     310.250us         0.06%       1.500ms       1.500ms             1  
a name that is longer than what fits into the column...        99.94%        2.498s        99.94%        2.498s        2.498s             1  
-------------------------------------------------------  ------------  ------------  ------------  ------------  ------------  ------------  
Self CPU time total: 2.500s
"""  # noqa: E501, W291

FULL = """\
=======================================================================================================================================================================================
A header
------------------------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  -------------------------  ------------  
                          Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg       CPU Mem  Self CPU Mem    # of Calls               Input Shapes  Total KFLOPs  
------------------------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  -------------------------  ------------  
a name that is longer than ...        99.94%        2.498s        99.94%        2.498s        2.498s          -5 B          -5 B             1                         []            --  
                   aten::addmm         0.05%       1.190ms         0.05%       1.190ms       1.190ms       3.00 MB       3.00 MB             1      [[4], [2, 3], [3, 4]]        24.000  
------------------------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  -------------------------  ------------  
Self CPU time total: 2.500s
"""  # noqa: E501, W291


def test_averages():
    assert events().key_averages().table(sort_by="count") == PLAIN


def test_all_columns():
    averages = events(profile_memory=True, with_flops=True).key_averages(group_by_input_shapes=True)
    table = averages.table(sort_by="self_cpu_time_total", row_limit=2, header="A header", max_name_column_width=30)
    assert table == FULL


def test_rows():
    made = events()
    top = made.table(top_level_events_only=True, row_limit=-1)
    assert "This report only display top-level ops statistics" in top and top.count("aten::addmm") == 1
    assert len(made.table(row_limit=1).splitlines()) == 6
    assert EventList().table() == "" and str(made) == made.table()
    with pytest.raises(AttributeError):
        made.table(sort_by="nothing")


def test_sums():
    made = events()
    assert made.total_average().count == 4
    assert made.self_cpu_time_total == pytest.approx(made.total_average().self_cpu_time_total)
    assert made[0].self_cpu_memory_usage == 2048 - 3 * 2**20
    assert "aten::linear" in repr(made[0]) and "cpu_children=[1]" in repr(made[0])
    assert "aten::linear" in repr(made.key_averages()[0])
