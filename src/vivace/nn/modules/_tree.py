"""What a module does with all of its members: listing, conversion, modes, printing."""

from itertools import chain


def _indent(text):
    return text.replace("\n", "\n  ")


class ModuleTree:
    """The part of Module that walks over parameters, buffers and submodules."""

    # ---- listing

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """This module and all below it with their dotted names, each once unless told otherwise."""
        if memo is None:
            memo = set()
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate=True):
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self):
        """The direct submodules with their names, each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        for _, module in self.named_children():
            yield module

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for module_prefix, module in modules:
            for name, value in get_members_fn(module):
                if value is None or value in seen:
                    continue
                if remove_duplicate:
                    seen.add(value)
                yield f"{module_prefix}.{name}" if module_prefix else name, value

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """The parameters with their dotted names, each once unless told otherwise."""
        return self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """The buffers with their dotted names, each once unless told otherwise."""
        return self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    # ---- by dotted name

    def get_submodule(self, target):
        """The submodule of that dotted name; "" is the module itself."""
        module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, ModuleTree):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target, module, strict=False):
        """Puts a module at a dotted name, which with `strict` must exist."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, ModuleTree):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), ModuleTree):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def _get_member(self, target, kind, noun):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        if name not in getattr(module, kind):
            raise AttributeError(f"`{name}` is not {noun}")
        return getattr(module, name)

    def get_parameter(self, target):
        """The parameter of that dotted name."""
        return self._get_member(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target):
        """The buffer of that dotted name."""
        return self._get_member(target, "_buffers", "a buffer")

    # ---- modes and gradients

    def train(self, mode=True):
        """Sets training mode here and below."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        object.__setattr__(self, "training", mode)
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """Sets evaluation mode here and below."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Sets requires_grad of all parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Drops, or sets to zero, the gradients of all parameters."""
        for parameter in self.parameters():
            if parameter.grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                parameter.grad = parameter.grad.detach().zero_()

    def apply(self, fn):
        """Calls `fn(module)` for each module below, then for this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # ---- conversion

    def _apply(self, fn, recurse=True):
        """Replaces parameters, their gradients and buffers by fn of them; Parameter objects stay the same."""
        import vivace

        if recurse:
            for module in self.children():
                module._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            with vivace.no_grad():
                parameter.data = fn(parameter)
                if parameter.grad is not None:
                    parameter.grad.data = fn(parameter.grad)
        for name, buffer in list(self._buffers.items()):
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        """Moves or converts: `to(device, dtype, non_blocking)`, `to(dtype)`, `to(tensor)`, `to(memory_format=...)`."""
        import vivace

        device, dtype, memory_format = _parse_to(vivace, args, kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )

        def convert(t):
            options = {}
            if dtype is not None and (t.is_floating_point() or t.is_complex()):
                options["dtype"] = dtype
            if device is not None:
                options["device"] = device
            if memory_format is not None and t.dim() in (4, 5):
                options["memory_format"] = memory_format
            return t.to(**options) if options else t

        return self._apply(convert)

    def to_empty(self, *, device, recurse=True):
        """Moves to a device without copying values."""
        import vivace

        return self._apply(lambda t: vivace.empty_like(t, device=device), recurse=recurse)

    def _to_floating(self, dtype):
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self):
        """Converts floating point members to float32."""
        import vivace

        return self._to_floating(vivace.float32)

    def double(self):
        """Converts floating point members to float64."""
        import vivace

        return self._to_floating(vivace.float64)

    def half(self):
        """Converts floating point members to float16."""
        import vivace

        return self._to_floating(vivace.float16)

    def bfloat16(self):
        """Converts floating point members to bfloat16."""
        import vivace

        return self._to_floating(vivace.bfloat16)

    def type(self, dst_type):
        """Converts all members to a dtype."""
        return self._apply(lambda t: t.type(dst_type))

    def cpu(self):
        """Moves all members to the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device=None):
        """Moves all members to a GPU."""
        return self._apply(lambda t: t.cuda(device))

    def share_memory(self):
        """Moves all members to shared memory."""
        return self._apply(lambda t: t.share_memory_())

    def compile(self, *args, **kwargs):
        """Does nothing: vivace is eager."""

    # ---- printing

    def _get_name(self):
        return self.__class__.__name__

    def extra_repr(self):
        """What stands between the parentheses when the module is printed."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {_indent(repr(module))}" for name, module in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({lines[0]})"
        body = "".join(f"\n  {line}" for line in chain(lines, children))
        return f"{self._get_name()}({body}\n)" if body else f"{self._get_name()}()"


def _parse_to(vivace, args, kwargs):
    """(device, dtype, memory_format) of the arguments of Module.to."""
    known = {"device", "dtype", "tensor", "non_blocking", "copy", "memory_format"}
    for name in kwargs:
        if name not in known:
            raise TypeError(f"to() got an unexpected keyword argument '{name}'")
    device, dtype, tensor = kwargs.get("device"), kwargs.get("dtype"), kwargs.get("tensor")
    for arg in args:
        if isinstance(arg, vivace.Tensor):
            tensor = arg
        elif isinstance(arg, vivace.dtype):
            dtype = arg
        elif isinstance(arg, bool) or arg is None:
            pass  # non_blocking, or a device or dtype left open
        elif isinstance(arg, (str, int, vivace.device)):
            device = arg
        else:
            raise TypeError(f"to() received an invalid combination of arguments - got ({type(arg).__name__})")
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    return device, dtype, kwargs.get("memory_format")
