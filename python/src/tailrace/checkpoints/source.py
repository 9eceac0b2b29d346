"""The bytes of a file, at the places where they are wanted."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

from tailrace.checkpoints.damage import Damage, DamageError

# Large enough for the device, small beside any state.
PIECE_BYTES = 4 << 20
BUFFER_BYTES = 1 << 20

Advance = Callable[[int], None]
"""Is told of the bytes that were read."""


class Source:
    """A file that is read in pieces, so that memory stays bounded. Bytes that cannot be read are damage."""

    def __init__(self, path: Path, advance: Advance) -> None:
        self.name = path.name
        self.advance = advance
        self._file = path.open("rb", buffering=BUFFER_BYTES)

    def __enter__(self) -> "Source":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def pieces(self, offset: int, size: int, multiple_of: int = 1) -> Iterator[bytes]:
        """The `size` bytes from `offset` on, in pieces of whole elements of `multiple_of` bytes."""
        piece = max(1, PIECE_BYTES // multiple_of) * multiple_of
        for done in range(0, size, piece):
            yield self._read(offset + done, min(piece, size - done))

    def _read(self, offset: int, size: int) -> bytes:
        try:
            self._file.seek(offset)
            data = self._file.read(size)
        except OSError as error:
            problem = f"they cannot be read: {error.strerror}"
        else:
            if len(data) == size:
                self.advance(size)
                return data
            problem = "the file ends before them"
        raise DamageError(Damage(self.name, "length", problem, bytes=(offset, offset + size)))
