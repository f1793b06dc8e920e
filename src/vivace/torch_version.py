"""torch.torch_version: the version as a string that compares by its numbers, `torch.__version__ >= "2.6"`."""

__all__ = ["TorchVersion"]

_PARTS = r"v?(?P<release>\d+(?:\.\d+)*)[-_.]?(?P<tag>[a-z]*)[-_.]?(?P<number>\d*)(?:\+(?P<local>.+))?$"
_TAGS = {"dev": 0, "a": 1, "alpha": 1, "b": 2, "beta": 2, "c": 3, "rc": 3, "": 4, "post": 5}


def _key(version):
    """What versions are ordered by; None for a text that is no version."""
    import re  # which few programs need: not with `import vivace`

    if isinstance(version, str):
        text = str.__str__(version).strip()
    else:
        text = ".".join(map(str, version))
    match = re.match(_PARTS, text)
    if match is None or match["tag"] not in _TAGS:
        return None
    release = [int(part) for part in match["release"].split(".")]
    while release and release[-1] == 0:
        release.pop()
    return release, _TAGS[match["tag"]], int(match["number"] or 0), match["local"] or ""


class TorchVersion(str):
    """A version. It is compared with texts and tuples of numbers; as text with what is no version."""

    __slots__ = ()

    def _compare(self, other, compare):
        ours, theirs = _key(self), _key(other)
        if theirs is None:
            return compare(str.__str__(self), other)
        return compare(ours, theirs)

    def __eq__(self, other):
        return isinstance(other, str | tuple | list) and self._compare(other, lambda a, b: a == b)

    def __ne__(self, other):
        return not self == other

    def __lt__(self, other):
        return self._compare(other, lambda a, b: a < b)

    def __le__(self, other):
        return self._compare(other, lambda a, b: a <= b)

    def __gt__(self, other):
        return self._compare(other, lambda a, b: a > b)

    def __ge__(self, other):
        return self._compare(other, lambda a, b: a >= b)

    __hash__ = str.__hash__
