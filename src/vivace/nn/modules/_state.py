"""state_dict and load_state_dict of modules."""

from collections import OrderedDict, namedtuple
from itertools import chain

_EXTRA_STATE = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class ModuleState:
    """The part of Module that saves and loads its values."""

    # Written into the metadata of a state_dict; a module whose layout changes raises it.
    _version = 1

    def _persistent_members(self):
        """Parameters and persistent buffers by name, absent ones (None) left out."""
        skipped = self._non_persistent_buffers_set
        buffers = ((name, value) for name, value in self._buffers.items() if name not in skipped)
        return {name: value for name, value in chain(self._parameters.items(), buffers) if value is not None}

    def _has_extra_state(self, which):
        return getattr(type(self), which, None) is not getattr(ModuleState, which)

    def get_extra_state(self):
        """What else belongs into the state_dict; override it together with set_extra_state."""
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called.")

    def set_extra_state(self, state):
        """Takes back what get_extra_state gave."""
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called.")

    # ---- saving

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, value in self._persistent_members().items():
            destination[prefix + name] = value if keep_vars else value.detach()
        if self._has_extra_state("get_extra_state"):
            destination[prefix + _EXTRA_STATE] = self.get_extra_state()

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """All parameters and persistent buffers by their dotted names; they share memory with the module."""
        if args:
            import warnings

            warnings.warn("Positional args are being deprecated, use kwargs instead.", FutureWarning, stacklevel=2)
            given = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
            destination = given["destination"] if destination is None else destination
            prefix = given.get("prefix", prefix)
            keep_vars = given.get("keep_vars", keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            result = hook(self, destination, prefix, local_metadata)
            if getattr(hook, "_from_public_api", False):
                if result is not None:
                    raise RuntimeError("state_dict post-hook must return None")
            elif result is not None:
                destination = result
        return destination

    # ---- loading

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        """Loads this module's own values, not those of its submodules; what is wrong is added to the lists."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        members = self._persistent_members()
        for name, member in members.items():
            key = prefix + name
            if key in state_dict:
                self._load_member(name, member, key, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        key = prefix + _EXTRA_STATE
        if self._has_extra_state("set_extra_state"):
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing_keys.append(key)
        elif strict and key in state_dict:
            unexpected_keys.append(key)
        if strict:
            self._find_unexpected(state_dict, prefix, members, unexpected_keys)

    def _load_member(self, name, member, key, value, assign, error_msgs):
        import vivace

        if not isinstance(value, vivace.Tensor):
            error_msgs.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(value)}"
            )
            return
        if member.dim() == 0 and value.dim() == 1 and value.numel() == 1:
            value = value[0]  # old checkpoints hold 0-dim values as vectors of one
        if value.shape != member.shape:
            error_msgs.append(
                f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
                f"the shape in current model is {member.shape}."
            )
            return
        if member.is_meta and not value.is_meta and not assign:
            import warnings

            warnings.warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current "
                "model, which is a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary "
                "to their corresponding key in the module instead of copying them in place?)",
                stacklevel=2,
            )
        try:
            if not assign:
                with vivace.no_grad():
                    member.copy_(value)
                return
            if isinstance(member, vivace.nn.Parameter):
                if not isinstance(value, vivace.nn.Parameter):
                    value = vivace.nn.Parameter(value, requires_grad=member.requires_grad)
                else:
                    value.requires_grad_(member.requires_grad)
            setattr(self, name, value)
        except Exception as error:
            action = "assigning" if assign else "copying"
            error_msgs.append(
                f'While {action} the parameter named "{key}", whose dimensions in the model are {member.size()} and '
                f"whose dimensions in the checkpoint are {value.size()}, an exception occurred : {error.args}."
            )

    def _find_unexpected(self, state_dict, prefix, members, unexpected_keys):
        for key in state_dict:
            if not key.startswith(prefix) or key == prefix + _EXTRA_STATE:
                continue
            name, *inner = key[len(prefix) :].split(".", 1)
            if inner:
                if name not in self._modules:
                    unexpected_keys.append(key)
            elif name not in members:
                unexpected_keys.append(key)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copies values into the module, or with `assign` puts the given tensors in place of its own."""
        from collections.abc import Mapping

        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing_keys, unexpected_keys, error_msgs = [], [], []
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata

        def load(module, local_state, prefix):
            local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
            if assign:
                local_metadata["assign_to_params_buffers"] = True
            module._load_from_state_dict(
                local_state, prefix, local_metadata, True, missing_keys, unexpected_keys, error_msgs
            )
            for name, child in module._modules.items():
                if child is not None:
                    child_prefix = f"{prefix}{name}."
                    load(child, {k: v for k, v in local_state.items() if k.startswith(child_prefix)}, child_prefix)
            incompatible = _IncompatibleKeys(missing_keys, unexpected_keys)
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, incompatible) is not None:
                    raise RuntimeError(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
                        "values, if incompatible_keys need to be modified, it should be done inplace."
                    )

        load(self, state_dict, "")
        if strict:
            for keys, what in ((unexpected_keys, "Unexpected"), (missing_keys, "Missing")):
                if keys:
                    listed = ", ".join(f'"{k}"' for k in keys)
                    error_msgs.insert(0, f"{what} key(s) in state_dict: {listed}. ")
        if error_msgs:
            listed = "\n\t".join(error_msgs)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
        return _IncompatibleKeys(missing_keys, unexpected_keys)
