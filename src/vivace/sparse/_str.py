"""What sparse tensors print as."""


def text(s):
    """tensor(indices=..., values=..., size=(3, 3), nnz=3, layout=torch.sparse_coo)."""
    import vivace

    def part(name, t):
        shown = str(t.detach()).replace(f", dtype={t.dtype}", "")
        if t.numel() == 0:
            shown = f"tensor([], size={tuple(t.shape)})"
        return f"{name}={shown}".replace("\n", "\n" + " " * (7 + len(name) + 1))

    parts = [f"size={tuple(s.shape)}, nnz={s._nnz()}"]
    if s.dtype not in (vivace.get_default_dtype(), vivace.int64, vivace.bool):
        parts.append(f"dtype={s.dtype}")
    parts.append("layout=torch.sparse_coo")
    if s.grad_fn is not None:
        parts.append(f"grad_fn=<{type(s.grad_fn).__name__}>")
    elif s.requires_grad:
        parts.append("requires_grad=True")
    inner = ",\n       ".join([part("indices", s._indices()), part("values", s._values()), ", ".join(parts)])
    return f"tensor({inner})"
