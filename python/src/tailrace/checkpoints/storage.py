"""How the cells of a set are stored: as they are, or compressed one by one.

Both have the same methods. `place` gets the words of a cell's entry that only compressed sets have, its first
element and their number, says which bytes of the data are its own and raises ContradictionError where that
cannot be; `plain` gives the bytes of the cell in pieces, nothing where they are not what was written.
`lose_place` is told that nobody knows the cells before the next one; `end` looks at what is left.
"""

from collections.abc import Iterator

import h5py
import numpy as np
from xxhash import xxh3_64_intdigest

from tailrace.checkpoints.kinds import WORD_BYTES, ContradictionError, Elements, need
from tailrace.checkpoints.source import Source
from tailrace.kwave import FileError, text


class Plain:
    """Cells one behind the other."""

    entry_words = 0

    def __init__(self, data: h5py.Dataset) -> None:
        self.elements = Elements(data.dtype, data.shape, data.attrs)

    def place(self, words: tuple[int, ...], first: int, count: int) -> tuple[int, int]:
        size = self.elements.bytes_each
        return first * size, (first + count) * size

    def plain(
        self, source: Source, place: tuple[int, int], words: tuple[int, ...], count: int
    ) -> Iterator[bytes]:
        begin, end = place
        return source.pieces(begin, end - begin, self.elements.bytes_each)

    def lose_place(self) -> None:
        pass

    def end(self) -> None:
        pass


class Compressed:
    """Frames of zstd with the first byte of all elements of a cell, then the second of all and so on; a cell
    that does not get smaller is stored as it is.
    """

    entry_words = 3

    def __init__(self, data: h5py.Dataset, count: int) -> None:
        name, type_ = text(data.attrs["compression"]), text(data.attrs.get("type", ""))
        need(name == "zstd", f'compression is "{name}", not zstd')
        need(
            data.dtype == np.dtype("<u8") and data.ndim == 1, f"data is {data.dtype} {data.shape}, not words"
        )
        need(type_ in ("<f4", "<f8", "<u8"), f'type is "{type_}"')
        shape = (count,)
        if text(data.attrs.get("kind", "")) == "records":
            shape += (int(text(data.attrs.get("values_each", ""))),)
        self.elements = Elements(np.dtype(type_), shape, data.attrs)
        self.words = data.shape[0]
        # None behind entries that are damaged: nobody knows how many words they had.
        self.words_seen: int | None = 0

    def place(self, words: tuple[int, ...], first: int, count: int) -> tuple[int, int]:
        begin, stored, _ = words
        most = -(-count * self.elements.bytes_each // WORD_BYTES)
        fits = self.words_seen in (begin, None) and 0 < stored <= most and begin + stored <= self.words
        need(fits, f"a cell has {stored} stored words from {begin} on")
        self.words_seen = begin + stored
        return begin * WORD_BYTES, (begin + stored) * WORD_BYTES

    def plain(
        self, source: Source, place: tuple[int, int], words: tuple[int, ...], count: int
    ) -> Iterator[bytes]:
        begin, end = place
        stored = b"".join(source.pieces(begin, end - begin))
        if xxh3_64_intdigest(stored) != words[-1]:
            return
        size = count * self.elements.bytes_each
        yield stored[:size] if size <= end - begin else _decompressed(stored, size, count)

    def lose_place(self) -> None:
        self.words_seen = None

    def end(self) -> None:
        need(self.words_seen == self.words, "data has words that no cell has")


def _decompressed(stored: bytes, size: int, count: int) -> bytes:
    """The cell of a frame, whose bytes are those that were written; nothing if it was written wrongly."""
    try:
        import zstandard
    except ImportError:
        problem = "the checkpoint is compressed, and the Python package zstandard is not there"
        raise FileError(f"{problem}. Fix: pip install zstandard") from None
    try:
        turned = zstandard.ZstdDecompressor().decompress(stored, max_output_size=size)
    except zstandard.ZstdError:
        return b""
    return np.frombuffer(turned, np.uint8).reshape(-1, count).T.tobytes() if len(turned) == size else b""


def storage_of(data: h5py.Dataset, count: int) -> Plain | Compressed:
    """How the cells of a set of so many elements are stored."""
    try:
        return Compressed(data, count) if "compression" in data.attrs else Plain(data)
    except ValueError as error:
        raise ContradictionError(f"values_each: {error}") from None
