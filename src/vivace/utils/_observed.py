"""A dict that reports every change of its items, for owners that keep something derived from them."""

_MISSING = object()


class ObservedDict(dict):
    """Subclasses say in `_stored` and `_removed` what follows from a change."""

    __slots__ = ()

    def _stored(self, key, value):
        raise NotImplementedError

    def _removed(self, key):
        raise NotImplementedError

    def __setitem__(self, key, value):
        dict.__setitem__(self, key, value)
        self._stored(key, value)

    def __delitem__(self, key):
        dict.__delitem__(self, key)
        self._removed(key)

    def __ior__(self, other):
        self.update(other)
        return self

    def update(self, *args, **kwargs):
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key, default=_MISSING):
        if key in self:
            value = self[key]
            del self[key]
            return value
        if default is _MISSING:
            raise KeyError(key)
        return default

    def popitem(self):
        key, value = dict.popitem(self)
        self._removed(key)
        return key, value

    def clear(self):
        keys = list(self)
        dict.clear(self)
        for key in keys:
            self._removed(key)

    def copy(self):
        return dict(self)

    def __reduce_ex__(self, protocol):
        return dict, (dict(self),)
