"""What opcheck and the registrations refuse."""

import torch
from torch import Tensor


@torch.library.custom_op("faulty::grow", mutates_args=())
def grow(x: Tensor) -> Tensor:
    x.add_(1)
    return x.clone()


@torch.library.custom_op("faulty::same", mutates_args=())
def same(x: Tensor) -> Tensor:
    return x


@torch.library.custom_op("faulty::double", mutates_args=())
def double(x: Tensor) -> Tensor:
    return x.double()


double.register_fake(lambda x: torch.empty_like(x))


@torch.library.custom_op("faulty::text", mutates_args=())
def text(x: Tensor) -> Tensor:
    return "no tensor"


def outcome(call):
    try:
        call()
    except Exception as error:
        return "mutated" if "mutable" in str(error) else "refused"
    return "fine"


x = torch.ones(2)
print(outcome(lambda: torch.library.opcheck(grow, (x,), test_utils="test_schema")))
print(outcome(lambda: same(x)))
print(outcome(lambda: text(x)))
print(sorted(k for k, v in torch.library.opcheck(double, (x,), raise_exception=False).items() if v != "SUCCESS"))
for annotation in (dict, tuple[int, int], None):

    def wrong(x):
        return x

    wrong.__annotations__ = {"return": Tensor} if annotation is None else {"x": annotation, "return": Tensor}
    try:
        torch.library.infer_schema(wrong, mutates_args=())
    except ValueError as error:
        print(str(error).partition(":")[0], "type" in str(error))
for bad in ("no_namespace", "a::b::c.d"):
    print(
        outcome(
            lambda bad=bad: torch.library.custom_op(bad, lambda x: x, mutates_args=(), schema="(Tensor x) -> Tensor")
        )
    )
print(outcome(lambda: torch.library.Library("faulty2", "OTHER")))
