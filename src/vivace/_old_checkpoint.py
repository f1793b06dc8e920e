"""Checkpoints in the format of PyTorch before 1.6, which is no archive: a magic number, a version and facts about the
machine, then the object, the keys of its storages, and their bytes, everything but these as pickles in one file.
"""

import pickle
import sys

from vivace._pickle import Writer
from vivace.storage import UntypedStorage

MAGIC = 0x1950A86A20F9469CFC6C
VERSION = 1001
_FACTS = {
    "protocol_version": VERSION,
    "little_endian": sys.byteorder == "little",
    "type_sizes": {"short": 2, "int": 4, "long": 4},
}


class _Writer(Writer):
    """Its persistent ids say in addition that no storage is a part of another."""

    def __init__(self, file, protocol):
        super().__init__(file, protocol)
        self.counts = {}

    def persistent_id(self, obj):
        pid = super().persistent_id(obj)
        if pid is None:
            return None
        self.counts.setdefault(pid[2], pid[4])
        return (*pid, None)


def save(obj, file, protocol):
    for header in (MAGIC, VERSION, _FACTS):
        pickle.dump(header, file, protocol)
    writer = _Writer(file, protocol)
    writer.dump(obj)
    keys = sorted(writer.storages)
    pickle.dump(keys, file, protocol)
    for key in keys:
        file.write(writer.counts[key].to_bytes(8, "little"))
        file.write(memoryview(writer.storages[key]))


class _Storages:
    """Makes storages when the object asks for them; their bytes come later."""

    def __init__(self, place):
        self._place = place
        self._empty = {}
        self._placed = {}

    def get(self, key, location, nbytes):
        if key not in self._placed:
            self._empty[key] = UntypedStorage(nbytes)
            self._placed[key] = self._place(self._empty[key], location)
        return self._placed[key]

    def fill(self, file, keys):
        for key in keys:
            if key not in self._empty:
                raise pickle.UnpicklingError(f"load: no tensor of the file uses storage {key}")
            storage, placed = self._empty[key], self._placed[key]
            count, data = file.read(8), file.read(len(storage))
            if len(count) != 8 or len(data) != len(storage):
                raise RuntimeError(
                    f"load: storage {key} is shorter than the {len(storage)} bytes that its tensors need"
                )
            memoryview(storage)[:] = data
            if placed is not storage and placed.device.type != "meta":
                placed.copy_(storage)


def load(file, place, reader):
    """The object in a file. `reader(file, get_storage)` reads a pickle, `place(storage, location)` moves a storage."""

    def refused(key, location, nbytes):
        raise pickle.UnpicklingError("load: there are tensors where the old format has none")

    try:
        is_checkpoint = reader(file, refused).load() == MAGIC
    except Exception:  # whatever bytes that are no pickle lead to
        is_checkpoint = False
    if not is_checkpoint:
        raise RuntimeError("load: the file is no checkpoint of torch.save")
    version, facts = reader(file, refused).load(), reader(file, refused).load()
    if version != VERSION:
        raise RuntimeError(f"load: the file has version {version} of the old format, not {VERSION}")
    if facts.get("little_endian", True) != _FACTS["little_endian"]:
        raise RuntimeError("load: the file was written on a machine with another order of bytes")
    storages = _Storages(place)
    result = reader(file, storages.get).load()
    storages.fill(file, reader(file, refused).load())
    return result
