"""A field or a set of records of a checkpoint against its directory: rank after rank, cell after cell."""

from collections.abc import Iterator

import h5py
import numpy as np
from xxhash import xxh3_64

from tailrace.checkpoints.damage import Damage, DamageError
from tailrace.checkpoints.kinds import KINDS, ContradictionError, Field, Records, need
from tailrace.checkpoints.manifest import Manifest
from tailrace.checkpoints.source import Source
from tailrace.checkpoints.storage import storage_of
from tailrace.kwave import text

BLOCK_ROWS = 4096


def check_set(path: str, group: h5py.Group, manifest: Manifest, source: Source) -> Iterator[Damage]:
    """What is wrong with the set `path`, whose directory has the bytes that were written."""
    try:
        yield from _Walk(path, group, manifest, source).damage()
    except ContradictionError as wrong:
        yield Damage(source.name, "directory", str(wrong), set=path)
    except DamageError as found:
        yield found.damage


def dataset_in(group: h5py.Group, name: str) -> h5py.Dataset:
    found = group.get(name)
    need(isinstance(found, h5py.Dataset), f"{name} is missing")
    return found


class _Walk:
    """One pass over a set. What it holds in memory does not grow with the elements of the set."""

    def __init__(self, path: str, group: h5py.Group, manifest: Manifest, source: Source) -> None:
        self.path, self.source, self.summary = path, source, manifest.sets[path]
        data = dataset_in(group, "data")
        kind = text(data.attrs.get("kind", ""))
        need(kind in KINDS, f'kind is "{kind}", not one of {", ".join(KINDS)}')
        self.storage = storage_of(data, self.summary.count)
        self.kind: Field | Records = KINDS[kind](self.storage.elements)
        self.count, self.offset = self.storage.elements.shape[0], _place_of(data)
        self.cells = _table(group, "cells", self.kind.cell_words + self.storage.entry_words + 3)
        self.parts = _table(group, "parts", self.kind.part_words + 3)
        need(len(self.parts) == manifest.ranks, f"{len(self.parts)} parts for {manifest.ranks} ranks")
        self.entries_seen = 0
        # None behind entries that are damaged: nobody knows how many elements they had.
        self.elements_seen: int | None = 0
        self.sound = True

    def damage(self) -> Iterator[Damage]:
        for rank, part in enumerate(_rows(self.parts, 0, len(self.parts))):
            yield from self._check_rank(rank, part)
        need(self.entries_seen == len(self.cells), "cells has entries that no rank wrote")
        need(
            self.count == self.summary.count, f"{self.count} elements, the manifest says {self.summary.count}"
        )
        if not self.sound:
            return
        need(self.elements_seen == self.count, f"cells have {self.elements_seen} of {self.count} elements")
        self.storage.end()
        self.kind.end()
        if self.kind.sum != self.summary.sum:
            problem = f"the sum is {self.kind.sum:016x}, the manifest says {self.summary.sum:016x}"
            yield Damage(self.source.name, "sum", problem, self.path)

    def _check_rank(self, rank: int, part: tuple[int, ...]) -> Iterator[Damage]:
        *head, first, entries, digest = part
        begin, end = self.entries_seen, self.entries_seen + entries
        follows = first == begin or entries == 0
        need(follows and end <= len(self.cells), f"rank {rank} has {entries} entries from {first} on")
        self.entries_seen = end
        if self._digest_of_entries(begin) != digest:
            yield self._damage_of_entries(rank, begin)
            return
        self.kind.begin_rank(tuple(head), entries)
        for entry in _rows(self.cells, begin, end):
            yield from self._check_cell(rank, entry)
        self.kind.end_rank()

    def _digest_of_entries(self, begin: int) -> int:
        """Of the entries that were seen last, from `begin` on. Only then may anybody believe them."""
        hashed = xxh3_64()
        for block in _blocks(self.cells, begin, self.entries_seen):
            hashed.update(block)
            self.source.advance(block.nbytes)
        return hashed.intdigest()

    def _damage_of_entries(self, rank: int, begin: int) -> Damage:
        self.sound = False
        self.elements_seen = None
        self.storage.lose_place()
        place, size = _place_of(self.cells), self.cells.shape[1] * self.cells.dtype.itemsize
        bytes_ = (place + begin * size, place + self.entries_seen * size)
        problem = f"the directory of rank {rank} is not what was written; its cells were not looked at"
        return Damage(self.source.name, "directory", problem, self.path, rank=rank, bytes=bytes_)

    def _check_cell(self, rank: int, entry: tuple[int, ...]) -> Iterator[Damage]:
        head, words = entry[: self.kind.cell_words], entry[self.kind.cell_words : -3]
        first, count, digest = entry[-3:]
        fits = self.elements_seen in (first, None) and first + count <= self.count
        need(fits, f"a cell of rank {rank} has {count} elements from {first} on")
        self.kind.check_entry(head, count)
        self.elements_seen = first + count
        place = tuple(self.offset + byte for byte in self.storage.place(words, first, count))
        hashed = xxh3_64()
        for piece in self.storage.plain(self.source, place, words, count):
            hashed.update(piece)
            self.kind.add_piece(piece)
        self.kind.end_cell(hashed.intdigest())
        if hashed.intdigest() != digest:
            self.sound = False
            yield self._cell_damage(self.kind.name_of(head), rank, place)

    def _cell_damage(self, cell: str, rank: int, place: tuple[int, int]) -> Damage:
        problem = "not what was written"
        return Damage(self.source.name, "cell", problem, self.path, cell, rank, place)


def _place_of(table: h5py.Dataset) -> int:
    """Where a dataset begins in the file."""
    begin = table.id.get_offset()
    need(table.nbytes == 0 or begin is not None, f"{table.name} is not in one piece")
    return begin or 0


def _table(group: h5py.Group, name: str, words: int) -> h5py.Dataset:
    found = dataset_in(group, name)
    right = found.dtype == np.dtype("<u8") and found.ndim == 2 and found.shape[1] == words
    need(right, f"{name} is {found.dtype} {found.shape}, not rows of {words} numbers")
    return found


def _blocks(table: h5py.Dataset, begin: int, end: int) -> Iterator[np.ndarray]:
    for first in range(begin, end, BLOCK_ROWS):
        yield table[first : min(first + BLOCK_ROWS, end)]


def _rows(table: h5py.Dataset, begin: int, end: int) -> Iterator[tuple[int, ...]]:
    for block in _blocks(table, begin, end):
        yield from map(tuple, block.tolist())
