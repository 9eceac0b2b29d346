"""The two kinds of sets of a checkpoint: what their directories may say, and how their sums come about.

Both have the same methods. `begin_rank` gets the first words of a rank's part and the number of its cells,
`check_entry` the first words of a cell's entry and the number of its elements; they, `end_rank` and `end`
raise ContradictionError where a directory of this kind cannot say so. `add_piece` gets the data of a cell,
`end_cell` its checksum.
"""

import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from xxhash import xxh3_64_intdigest

from tailrace.kwave import text

WORD_BYTES = 8
MODULUS = 2**64


class ContradictionError(Exception):
    """A set that is not as the format has it; the message says what is wrong."""


def need(condition: bool, problem: str) -> None:
    if not condition:
        raise ContradictionError(problem)


@dataclass(frozen=True)
class Elements:
    """What the data of a set are where nothing is compressed."""

    dtype: np.dtype
    shape: tuple[int, ...]
    attrs: Any

    @property
    def bytes_each(self) -> int:
        return self.dtype.itemsize * int(np.prod(self.shape[1:]))


class Field:
    """Elements of a grid, in boxes that cover it once."""

    cell_words = 6
    part_words = 6

    def __init__(self, data: Elements) -> None:
        need(data.dtype.str in ("<f4", "<f8"), f"data is {data.dtype}, not float32 or float64")
        extents = text(data.attrs.get("extents", ""))
        found = re.fullmatch(r"(\d+) (\d+) (\d+)", extents)
        need(found is not None, f'extents is "{extents}", not "nx ny nz"')
        self.extents = tuple(int(number) for number in found.groups())
        need(data.shape == (math.prod(self.extents),), f"data is {data.shape}, extents is {extents}")
        self.sum = 0
        self._part: tuple[int, ...] = ()
        # The differences of "how many boxes hold this point" along x, y and z. They tell all of it, and are
        # zero but at corners that no neighbour has.
        self._corners: Counter[tuple[int, ...]] = Counter()

    def begin_rank(self, head: tuple[int, ...], cells: int) -> None:
        need(cells > 0 or not any(head), f"a part without cells has the box {box_text(head)}")
        self._part = head

    def check_entry(self, head: tuple[int, ...], count: int) -> None:
        low, high = head[:3], head[3:]
        fits = all(a < b <= end for a, b, end in zip(low, high, self.extents, strict=True))
        need(fits, f"there is no box {box_text(head)} in the grid")
        volume = math.prod(b - a for a, b in zip(low, high, strict=True))
        need(count == volume, f"the box {box_text(head)} is said to have {count} elements")
        outer_low, outer_high = self._part[:3], self._part[3:]
        inside = all(a >= b for a, b in zip(low, outer_low, strict=True)) and all(
            a <= b for a, b in zip(high, outer_high, strict=True)
        )
        need(inside, f"the box {box_text(head)} is not in that of its part, {box_text(self._part)}")
        self._add_corners(head, 1)

    def end_rank(self) -> None:
        pass

    def add_piece(self, piece: bytes) -> None:
        pass

    def end_cell(self, digest: int) -> None:
        self.sum = (self.sum + digest) % MODULUS

    def end(self) -> None:
        """All boxes have been there: they must cover the grid once."""
        self._add_corners((0, 0, 0, *self.extents), -1)
        if self._corners:
            z, y, x = min(corner[::-1] for corner in self._corners)
            raise ContradictionError(
                f"the boxes do not cover the grid once: first wrong at x {x}, y {y}, z {z}"
            )

    def name_of(self, head: tuple[int, ...]) -> str:
        return box_text(head)

    def _add_corners(self, head: tuple[int, ...], sign: int) -> None:
        for upper in product((0, 1), repeat=3):
            corner = tuple(head[3 * up + axis] for axis, up in enumerate(upper))
            self._corners[corner] += sign * (-1) ** sum(upper)
            if not self._corners[corner]:
                del self._corners[corner]


def box_text(head: tuple[int, ...]) -> str:
    """A box for people: both corners included."""
    return ", ".join(f"{axis} {head[i]} to {head[i + 3] - 1}" for i, axis in enumerate("xyz"))


class Records:
    """Records in cells with keys that ascend in each rank."""

    cell_words = 1
    part_words = 2

    def __init__(self, data: Elements) -> None:
        need(data.dtype == np.dtype("<u8") and len(data.shape) == 2, f"data is {data.dtype} {data.shape}")
        self.record_bytes = record_bytes(text(data.attrs.get("record_type", "")))
        self.element_bytes = data.bytes_each
        words = -(-self.record_bytes // WORD_BYTES)
        need(data.shape[1] == words, f"records of {self.record_bytes} bytes have {data.shape[1]} words")
        self.sum = 0
        self._span = (0, 0)
        self._last: int | None = None
        self._filled = False

    def begin_rank(self, head: tuple[int, ...], cells: int) -> None:
        need(cells > 0 or not any(head), f"a part without cells has the keys {head[0]} to {head[1]}")
        self._span = (head[0], head[1])
        self._last = None

    def check_entry(self, head: tuple[int, ...], count: int) -> None:
        key = head[0]
        need(count > 0, f"the cell with key {key} has no records")
        if self._last is None:
            need(key == self._span[0], f"the lowest key is {key}, the part says {self._span[0]}")
        else:
            need(key > self._last, f"key {key} follows key {self._last}")
        self._last = key

    def end_rank(self) -> None:
        if self._last is not None:
            need(self._last == self._span[1], f"the highest key is {self._last}, not {self._span[1]}")

    def add_piece(self, piece: bytes) -> None:
        size, view = self.element_bytes, memoryview(piece)
        total = sum(xxh3_64_intdigest(view[at : at + size]) for at in range(0, len(piece), size))
        self.sum = (self.sum + total) % MODULUS
        filling = np.frombuffer(piece, np.uint8).reshape(-1, size)[:, self.record_bytes :]
        self._filled = self._filled or bool(filling.any())

    def end_cell(self, digest: int) -> None:
        pass

    def end(self) -> None:
        need(not self._filled, "bytes that fill the last word of a record are not zero")

    def name_of(self, head: tuple[int, ...]) -> str:
        return f"with key {head[0]}"


def record_bytes(description: str) -> int:
    """The length of a record by its `record_type`, whose members must lie inside."""
    try:
        table = json.loads(description)
        bytes_, members = int(table["bytes"]), table["members"]
        ends = [member["offset"] + member["count"] * np.dtype(member["type"]).itemsize for member in members]
        right = all(member["offset"] >= 0 for member in members) and max(ends) <= bytes_
    except (ValueError, TypeError, KeyError):
        right = False
    need(right, f"record_type is not a type of records: {description[:80]}")
    return bytes_


KINDS = {"field": Field, "records": Records}
