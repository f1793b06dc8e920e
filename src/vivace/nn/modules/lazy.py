"""Modules that learn the shapes of their parameters from the first input."""

import vivace

from ..parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Makes a module lazy: its first call begins with `initialize_parameters` of the arguments, which materializes all
    that is uninitialized; then the module becomes one of class `cls_to_become`, if that is not None.
    """

    cls_to_become = None
    _initialized = False

    def initialize_parameters(self, *args, **kwargs):
        """Materializes the parameters and buffers; a lazy class defines it, with the arguments of its forward."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self):
        """Whether a parameter or buffer of this module itself waits for its shape."""
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    def __call__(self, *args, **kwargs):
        if self._initialized:
            return super().__call__(*args, **kwargs)
        self._infer_parameters(args, kwargs)
        return self(*args, **kwargs)  # of another class now

    def _infer_parameters(self, args, kwargs):
        self.initialize_parameters(*args, **kwargs)
        if self.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        if self.cls_to_become is None:
            self._initialized = True
        else:
            self.__class__ = self.cls_to_become

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, True)
        if keep_vars:
            return
        for name, value in self._persistent_members().items():
            if not is_lazy(value):  # what has no values can't be detached
                destination[prefix + name] = value.detach()

    def _load_member(self, name, member, key, value, assign, error_msgs):
        if is_lazy(member):
            if is_lazy(value):
                return
            with vivace.no_grad():
                member.materialize(value.shape)
        super()._load_member(name, member, key, value, assign, error_msgs)
