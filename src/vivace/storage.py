"""torch.storage: the memory of tensors as objects, as bytes (UntypedStorage) or elements of a dtype (TypedStorage)."""

import sys

import vivace
from vivace import _C

__all__ = ["TypedStorage", "UntypedStorage"]


class UntypedStorage(_C._StorageBase):
    """UntypedStorage(nbytes), or UntypedStorage(bytes as ints): memory that tensors can share."""

    __module__ = "torch.storage"

    def __new__(cls, *args, device=None):
        if args and not hasattr(args[0], "__index__"):
            values = bytes(args[0])
            storage = super().__new__(cls, len(values), device=device)
            memoryview(storage)[:] = values
            return storage
        return super().__new__(cls, *args, device=device)

    is_cuda = is_sparse = is_hpu = is_sparse_csr = False

    def __getitem__(self, index):
        if isinstance(index, slice):
            offset, stop, step = index.indices(len(self))
            if step != 1:
                raise RuntimeError(f"Trying to slice with a step of {step}, but only a step of 1 is supported")
            return _bytes_of(self)[offset : max(offset, stop)].clone().untyped_storage()
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} out of range for storage of size {len(self)}")
        return _bytes_of(self)[index].item()

    def __setitem__(self, index, value):
        _bytes_of(self)[index] = value

    def __iter__(self):
        return iter(self.tolist())

    def __repr__(self):
        if self.device.type == "meta":
            return "...\n" + str(self)
        return "".join(f" {b}\n" for b in self) + str(self)

    def __str__(self):
        return f"[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"

    def __sizeof__(self):
        return object.__sizeof__(self) + self.nbytes()

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        copies = memo.setdefault("torch", {})
        if self._cdata not in copies:
            copies[self._cdata] = self.clone()
        return copies[self._cdata]

    def __reduce__(self):
        if self.device.type == "meta":
            return _empty_storage, (len(self), "meta")
        return _storage_of_bytes, (bytes(memoryview(self)),)

    def clone(self):
        """A copy."""
        if self.device.type == "meta":
            return UntypedStorage(len(self), device="meta")
        if self.device.type != "cpu":
            return _bytes_of(self).clone().untyped_storage()
        return UntypedStorage(memoryview(self))

    def copy_(self, source, non_blocking=None):
        """Takes over the bytes of another storage."""
        if self.device.type == source.device.type == "cpu":
            memoryview(self)[:] = memoryview(source)
        else:
            _bytes_of(self).copy_(_bytes_of(source))
        return self

    def fill_(self, value):
        """Sets all bytes."""
        _bytes_of(self).fill_(value)
        return self

    def tolist(self):
        """The bytes as a list of ints."""
        return _bytes_of(self).tolist()

    def element_size(self):
        return 1

    def untyped(self):
        return self

    def cpu(self):
        return self.to(device="cpu")

    def cuda(self, device=None, non_blocking=False):
        """Refuses."""
        return self.to(device="cuda")

    def to(self, *, device, non_blocking=False):
        """The storage on another device."""
        device = vivace.empty(0, device=device).device
        if device == self.device:
            return self
        if "meta" in (device.type, self.device.type):
            return UntypedStorage(len(self), device=device)
        return _bytes_of(self).to(device).untyped_storage()

    @staticmethod
    def from_file(filename, shared=False, nbytes=0):
        """The first bytes of a file, mapped. If `shared`, writes go to the file, which is made or extended as needed;
        else they stay in memory."""
        import mmap

        if nbytes < 0:
            raise RuntimeError(f"UntypedStorage.from_file(): nbytes must not be negative, got {nbytes}")
        with open(filename, "a+b" if shared else "rb") as file:
            size = file.seek(0, 2)
            if size < nbytes and not shared:
                raise RuntimeError(f"{filename} has {size} bytes, of which {nbytes} can't be mapped")
            if size < nbytes:
                file.truncate(nbytes)
            if nbytes == 0:
                return UntypedStorage(0)
            mapped = mmap.mmap(file.fileno(), nbytes, access=mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY)
        return vivace.frombuffer(mapped, dtype=vivace.uint8).untyped_storage()

    @staticmethod
    def from_buffer(buffer, byte_order=None, count=-1, offset=0, *, dtype=None):
        """A copy of the bytes of a buffer with elements of the dtype, in the order "native", "little" or "big"."""
        dtype = dtype or _C.uint8
        if byte_order not in ("native", "little", "big") and (byte_order or dtype.itemsize > 1):
            raise ValueError(f"from_buffer(): byte_order must be 'native', 'little' or 'big', got {byte_order!r}")
        elements = vivace.frombuffer(bytearray(buffer), dtype=dtype, count=count, offset=offset)
        if byte_order not in (None, "native", sys.byteorder):
            elements = elements.view(_C.uint8).reshape(-1, dtype.itemsize).flip(1)
        return elements.clone().untyped_storage()

    def type(self, dtype=None):
        """The name of its class; it has no elements to convert."""
        if dtype is not None:
            raise RuntimeError(f"an untyped storage can't be converted to {dtype}")
        return f"{self.__module__}.{self.__class__.__name__}"

    def share_memory_(self):
        """Refuses: tensors know where their elements lie."""
        if self.is_shared():
            return self
        raise RuntimeError("UntypedStorage.share_memory_(): a storage can't move under its tensors; share the tensor")

    def is_pinned(self, device="cuda"):
        return False

    def get_device(self):
        return -1


_C._set_storage_type(UntypedStorage)


def _storage_of_bytes(values):
    """What pickles of storages call."""
    return UntypedStorage(values)


def _empty_storage(nbytes, device):
    return UntypedStorage(nbytes, device=device)


def _bytes_of(storage):
    return _C._tensor_over(_C.uint8, storage, 0, (len(storage),), (1,))


class TypedStorage:
    """A storage read as elements of one dtype: what storages were before tensors had untyped_storage()."""

    __module__ = "torch.storage"
    dtype = None

    def __init__(self, *args, wrap_storage=None, dtype=None, device=None, _internal=False):
        self.dtype = dtype = self.dtype or dtype or _C.get_default_dtype()
        if wrap_storage is not None:
            if args or not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(
                    "TypedStorage: wrap_storage must be an UntypedStorage, and no other data may be given, got "
                    f"{type(wrap_storage).__name__}"
                )
            self._untyped_storage = wrap_storage
        elif args and not hasattr(args[0], "__index__"):
            data = args[0]._elements() if isinstance(args[0], TypedStorage) else args[0]
            self._untyped_storage = vivace.tensor(data, dtype=dtype).untyped_storage()
        else:
            count = args[0] if args else 0
            self._untyped_storage = UntypedStorage(count * dtype.itemsize, device=device)

    is_sparse = is_hpu = False

    @property
    def device(self):
        return self._untyped_storage.device

    @property
    def is_cuda(self):
        return False

    @property
    def _cdata(self):
        return self._untyped_storage._cdata

    def _elements(self):
        """A 1-dim tensor over all elements."""
        return _C._tensor_over(self.dtype, self._untyped_storage, 0, (len(self),), (1,))

    def _like(self, untyped):
        return TypedStorage(wrap_storage=untyped, dtype=self.dtype)

    def __len__(self):
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    size = __len__

    def nbytes(self):
        return self._untyped_storage.nbytes()

    def element_size(self):
        return self.dtype.itemsize

    def data_ptr(self):
        return self._untyped_storage.data_ptr()

    def untyped(self):
        """The bytes."""
        return self._untyped_storage

    def __getitem__(self, index):
        if isinstance(index, slice):
            raise NotImplementedError(f"slices are only supported in UntypedStorage.__getitem__, got {index}")
        return self._elements()[index].item()

    def __setitem__(self, index, value):
        self._elements()[index] = value

    def __iter__(self):
        return iter(self.tolist())

    def __repr__(self):
        values = "..." if self.device.type == "meta" else "\n ".join(map(str, self.tolist()))
        return f" {values}\n[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}]"

    def __eq__(self, other):
        return isinstance(other, TypedStorage) and (self._cdata, self.dtype) == (other._cdata, other.dtype)

    def __hash__(self):
        return hash((self._cdata, self.dtype))

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        return self._like(self._untyped_storage.__deepcopy__(memo))

    def __reduce__(self):
        return _typed_storage, (self._untyped_storage, self.dtype)

    def tolist(self):
        """The elements as numbers."""
        return self._elements().tolist()

    def clone(self):
        """A copy."""
        return self._like(self._untyped_storage.clone())

    def fill_(self, value):
        """Sets all elements."""
        self._elements().fill_(value)
        return self

    def copy_(self, source, non_blocking=None):
        """Takes over the elements of another storage, converted."""
        self._elements().copy_(source._elements())
        return self

    def resize_(self, size):
        """Changes how many elements there are."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)
        return self

    def resizable(self):
        return self._untyped_storage.resizable()

    def cpu(self):
        return self._like(self._untyped_storage.cpu())

    def cuda(self, device=None, non_blocking=False):
        """Refuses."""
        return self._like(self._untyped_storage.cuda())

    def type(self, dtype=None):
        """The storage's old typed name, or its elements converted."""
        if dtype is None:
            return f"torch.{_LEGACY_NAMES[self.dtype]}Storage"
        return self._converted(dtype)

    def _converted(self, dtype):
        converted = self._elements().to(dtype)
        return TypedStorage(wrap_storage=converted.untyped_storage(), dtype=converted.dtype)

    def is_shared(self):
        return self._untyped_storage.is_shared()

    def share_memory_(self):
        """See UntypedStorage."""
        self._untyped_storage.share_memory_()
        return self

    def is_pinned(self, device="cuda"):
        return False

    def get_device(self):
        return -1

    def pickle_storage_type(self):
        """The name under which pickles hold it."""
        return f"{_LEGACY_NAMES[self.dtype]}Storage"

    @classmethod
    def _new_shared(cls, size, *, dtype=None, device="cpu"):
        """`size` elements in shared memory."""
        dtype = dtype or _C.get_default_dtype()
        return TypedStorage(wrap_storage=UntypedStorage._new_shared(size * dtype.itemsize), dtype=dtype)

    def _get_legacy_storage_class(self):
        return LEGACY_CLASSES[f"{_LEGACY_NAMES[self.dtype]}Storage"]


def _typed_storage(untyped, dtype):
    """What pickles of typed storages call."""
    return TypedStorage(wrap_storage=untyped, dtype=dtype)


class _LegacyClass(type):
    """Of classes like torch.FloatStorage: an instance is any TypedStorage of the dtype."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, TypedStorage) and (cls.dtype is None or instance.dtype == cls.dtype)

    def __call__(cls, *args, **kwargs):
        return TypedStorage(*args, dtype=cls.dtype, **kwargs)

    def from_buffer(cls, *args, **kwargs):
        """See UntypedStorage.from_buffer."""
        return TypedStorage(wrap_storage=UntypedStorage.from_buffer(*args, dtype=cls.dtype, **kwargs), dtype=cls.dtype)

    def _new_shared(cls, size, *, device="cpu"):
        """See TypedStorage."""
        return TypedStorage._new_shared(size, dtype=cls.dtype)


_LEGACY_NAMES = {
    _C.bfloat16: "BFloat16",
    _C.bool: "Bool",
    _C.uint8: "Byte",
    _C.int8: "Char",
    _C.complex128: "ComplexDouble",
    _C.complex64: "ComplexFloat",
    _C.float64: "Double",
    _C.float32: "Float",
    _C.float16: "Half",
    _C.int32: "Int",
    _C.int64: "Long",
    _C.int16: "Short",
}


def _conversion(dtype):
    def convert(self):
        return self._converted(dtype)

    convert.__doc__ = f"The elements as {dtype}."
    return convert


for _dtype, _name in _LEGACY_NAMES.items():
    _name = {_C.complex64: "complex_float", _C.complex128: "complex_double"}.get(_dtype, _name.lower())
    setattr(TypedStorage, _name, _conversion(_dtype))


def _legacy_class(name, dtype):
    return _LegacyClass(name, (), {"dtype": dtype, "__module__": "torch", "__doc__": f"A typed storage of {dtype}."})


LEGACY_CLASSES = {f"{name}Storage": _legacy_class(f"{name}Storage", dtype) for dtype, name in _LEGACY_NAMES.items()}
