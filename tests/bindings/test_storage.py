"""Storages as objects, and what tensors do with them."""

import copy
import gc
import os
import pickle
import weakref

import numpy as np
import pytest

import vivace as torch


def test_views_share_a_storage():
    x = torch.arange(12.0).reshape(3, 4)
    storage = x.untyped_storage()
    assert storage is x[1].untyped_storage() and storage.data_ptr() == x.data_ptr()
    assert storage.nbytes() == storage.size() == len(storage) == 48
    assert isinstance(storage, torch.UntypedStorage) and torch.is_storage(storage)
    assert storage.device == torch.device("cpu") and not storage.is_cuda
    storage.fill_(0)
    assert x.sum() == 0


def test_a_storage_outlives_its_tensor_and_goes_with_its_last_user():
    x = torch.arange(4.0)
    storage = x.untyped_storage()
    del x
    assert storage.nbytes() == 16 and memoryview(storage)[4:8].cast("f")[0] == 1
    gone = weakref.ref(storage)
    del storage
    assert gone() is None


def test_a_watched_storage_lives_as_long_as_its_memory():
    ends = []
    x = torch.arange(4.0)
    watch = weakref.ref(x.untyped_storage(), lambda _: ends.append("x"))
    view = x[1:]
    del x
    assert ends == [] and watch() is view.untyped_storage() and watch().nbytes() == 16
    del view
    assert ends == ["x"] and watch() is None
    for make in (lambda: torch.ones(3), lambda: torch.ones(10**5), lambda: torch.from_numpy(np.ones(3))):
        x = make()  # small, large and foreign memory
        weakref.finalize(x.untyped_storage(), ends.append, "end")
        del x
        assert ends.pop() == "end"


def test_a_watched_storage_that_the_program_holds_outlives_its_tensors():
    x = torch.arange(4.0)
    watch = weakref.ref(x.untyped_storage())
    held = watch()
    del x
    assert watch() is held and held.nbytes() == 16 and torch.tensor([], dtype=torch.float32).set_(held)[3] == 3
    del held
    assert watch() is None


def test_attributes_of_a_storage_stay_with_its_memory():
    x = torch.zeros(4)
    x.untyped_storage().note = "weights"
    assert x.view(2, 2).untyped_storage().note == "weights"
    x.resize_(100)  # while the storage owns the object
    x.resize_(2)
    assert x.untyped_storage().note == "weights" and x.untyped_storage().nbytes() == 400
    node = type("Node", (), {})()
    x.untyped_storage().note = node
    gone = weakref.ref(node)
    del node, x
    assert gone() is None


def test_untyped_storages_are_bytes():
    s = torch.UntypedStorage([1, 2, 3])
    assert s.tolist() == list(s) == [1, 2, 3] and s[1] == 2 and s[-1] == 3 and s[1:].tolist() == [2, 3]
    s[0] = 9
    s[1:] = 7
    assert s.tolist() == [9, 7, 7] and s.clone().copy_(torch.UntypedStorage(3).fill_(1)).tolist() == [1, 1, 1]
    assert torch.UntypedStorage(8).nbytes() == 8 and torch.UntypedStorage(8, device="meta").device.type == "meta"
    with pytest.raises(IndexError):
        s[3]


def test_typed_storages_are_elements():
    x = torch.arange(6.0).reshape(2, 3)
    s = x.storage()
    assert s.dtype == torch.float32 and len(s) == 6 and s[2] == 2 and s.tolist() == x.flatten().tolist()
    assert isinstance(s, torch.FloatStorage) and not isinstance(s, torch.LongStorage)
    assert x.storage_type() is torch.FloatStorage and s.data_ptr() == x.data_ptr()
    s[0] = 5
    assert x[0, 0] == 5
    assert torch.LongStorage([1, 2]).dtype == torch.int64 and s.double().dtype == torch.float64
    assert torch.Tensor(s).shape == (6,)


def test_set():
    x = torch.arange(12.0)
    t = torch.empty(0)
    assert t.set_(x.untyped_storage(), 2, (2, 2), (4, 1)).tolist() == [[2, 3], [6, 7]]
    assert t.set_(x).is_set_to(x) and t.set_(x.storage()).shape == (12,) and t.set_().shape == (0,)
    assert torch.empty(0).set_(x, 1, (2,)).tolist() == [1, 2]
    version = t._version
    assert t.set_(x)._version > version
    with pytest.raises(RuntimeError, match="does not fit"):
        t.set_(x.untyped_storage(), 8, (5,))
    with pytest.raises(RuntimeError, match="Could not set tensor of type"):
        t.set_(torch.ones(2, dtype=torch.int64))
    with pytest.raises(RuntimeError, match="requires grad"):
        torch.ones(1, requires_grad=True).set_(x)


def test_resizing_keeps_tensors_valid():
    x = torch.arange(4.0)
    x.resize_(1000)
    assert x[:4].tolist() == [0, 1, 2, 3]
    storage = x.untyped_storage()
    storage.resize_(0)
    storage.resize_(4000)  # in place: there is room
    assert x[:4].tolist() == [0, 1, 2, 3]
    view = x[:2]
    with pytest.raises(RuntimeError, match="while several tensors use it"):
        x.resize_(100000)
    assert view.tolist() == [0, 1]
    with memoryview(storage), pytest.raises(RuntimeError, match="not resizable"):
        storage.resize_(8)
    storage.resize_(8)


def test_pickles_and_copies_share_what_was_shared():
    x = torch.arange(12.0).reshape(3, 4)
    y, row, t = pickle.loads(pickle.dumps((x, x[1], x.T)))
    assert y.tolist() == x.tolist() and t.stride() == (1, 4) and row.untyped_storage() is y.untyped_storage()
    y[1, 0] = 99
    assert row[0] == 99 and x[1, 0] == 4
    a, b = copy.deepcopy((x, x[1]))
    assert a.untyped_storage() is b.untyped_storage() is not x.untyped_storage()
    assert copy.copy(x).untyped_storage() is x.untyped_storage()
    storage = pickle.loads(pickle.dumps(x.untyped_storage()))
    assert storage.tolist() == x.untyped_storage().tolist()
    assert pickle.loads(pickle.dumps(x.storage())).tolist() == x.storage().tolist()
    meta = pickle.loads(pickle.dumps(x.to("meta")))
    assert meta.device.type == "meta" and meta.shape == (3, 4)


def test_sharing_with_a_forked_process():
    x = torch.zeros(4).reshape(2, 2)
    assert not x.is_shared() and x.share_memory_() is x and x.is_shared()
    child = os.fork()
    if child == 0:
        x[0, 0] = 7
        os._exit(0)
    os.waitpid(child, 0)
    assert x.tolist() == [[7, 0], [0, 0]]
    y = torch.zeros(4)
    views = y[:2], y[2:]
    with pytest.raises(RuntimeError, match="other tensors use the same storage"):
        y.share_memory_()
    del views


def test_memory_comes_back():
    for _ in range(3):
        storages = [torch.ones(1000).untyped_storage() for _ in range(100)]
        shared = [torch.ones(10).share_memory_() for _ in range(10)]
        del storages, shared
        gc.collect()
    x = torch.ones(1000)
    assert x.untyped_storage().resizable() and not x.is_shared()


def test_from_file(tmp_path):
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(8)))
    private = torch.UntypedStorage.from_file(str(path), False, 4)
    private[0] = 9
    assert list(private) == [9, 1, 2, 3]
    shared = torch.UntypedStorage.from_file(str(path), shared=True, nbytes=12)
    shared[1] = 7
    assert path.read_bytes() == bytes([0, 7, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0])
    assert len(torch.UntypedStorage.from_file(str(path))) == 0
    with pytest.raises(RuntimeError, match="12 bytes"):
        torch.UntypedStorage.from_file(str(path), nbytes=13)
    assert torch.asarray(private[:0], dtype=torch.uint8).shape == (0,)


def test_typed_storages_convert():
    storage = torch.tensor([1.0, 2.0]).storage()
    for name, dtype in (("byte", torch.uint8), ("char", torch.int8), ("short", torch.int16), ("double", torch.float64)):
        converted = getattr(storage, name)()
        assert converted.dtype == dtype and converted.tolist() == [1, 2]
    assert storage.complex_float().tolist() == [1 + 0j, 2 + 0j]
    assert storage.pickle_storage_type() == "FloatStorage"
    assert storage.untyped().type() == "torch.storage.UntypedStorage"


def test_storages_from_buffers():
    assert torch.UntypedStorage.from_buffer(b"abc").tolist() == [97, 98, 99]
    big = b"\x00\x01\x00\x02"
    assert torch.ShortStorage.from_buffer(big, "big").tolist() == [1, 2]
    assert torch.ShortStorage.from_buffer(big, "little", offset=2).tolist() == [512]
    assert torch.ByteStorage.from_buffer(big, count=2).tolist() == [0, 1]
    with pytest.raises(ValueError, match="byte_order"):
        torch.ShortStorage.from_buffer(big)


def test_new_storages_in_shared_memory():
    shared = torch.FloatStorage._new_shared(3)
    assert shared.is_shared() and len(shared) == 3 and shared.dtype == torch.float32


def test_data_of_a_sparse_tensor_is_refused():
    t = torch.ones(3)
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        t.data = torch.eye(2).to_sparse()
    assert t.tolist() == [1, 1, 1]
