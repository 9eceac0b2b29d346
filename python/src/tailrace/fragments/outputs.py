# SPDX-License-Identifier: BSD-3-Clause
"""What bodies in Python are given and set: numbers, strings and NumPy arrays, whose memory is that of the
values of fragments, without a copy.

A block of bytes that holds an array begins with a head that says its type and shape.
"""

import struct
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

# Magic, bytes of the head, number of dimensions, type as NumPy writes it; the extents follow.
HEAD = struct.Struct("<8sII16s")
MAGIC = b"TRarray1"
ALIGNED = 64
KINDS = "biufcSU"
MAX_INT = 2**31 - 1


class Value:
    """The type of a parameter that takes anything: a number, a string, or an array that may only be read."""


class Changeable:
    """As `Value`, but an array may be changed: it is the original at its last use, else a copy."""


class NativeCall(Protocol):
    """One execution of a body, as the native side has it; parameters are numbered from 0."""

    def get(self, number: int) -> Any: ...
    def bytes(self, number: int, changes: bool) -> "np.ndarray": ...
    def create(self, number: int, size_bytes: int) -> "np.ndarray": ...
    def set_int(self, number: int, value: int) -> None: ...
    def set_real(self, number: int, value: float) -> None: ...
    def set_string(self, number: int, value: str) -> None: ...
    def share(self, number: int, source: int) -> None: ...
    def name(self, number: int) -> str: ...


def array_in(raw: "np.ndarray") -> "np.ndarray":
    """The array that a block holds, in its memory."""
    import numpy as np

    magic, head, dimensions, kind = HEAD.unpack_from(raw)
    assert magic == MAGIC, "all blocks of a program in Python are made by its bodies"
    shape = struct.unpack_from(f"<{dimensions}Q", raw, HEAD.size)
    dtype = np.dtype(kind.rstrip(b"\0").decode())
    return np.ndarray(shape, dtype, raw, offset=head)


class Name:
    """An output of a body: the data fragment that a parameter of this type names."""

    def __init__(self, call: NativeCall, number: int, inputs: Sequence[tuple[int, Any]]) -> None:
        self._call, self._number, self._inputs = call, number, inputs
        self._created: Any = None

    @property
    def name(self) -> str:
        """As messages call it: with its indices."""
        return self._call.name(self._number)

    def create(self, shape: int | Sequence[int], dtype: Any = float) -> "np.ndarray":
        """Sets it to an array of zeros in its own memory, to be filled before the body returns."""
        import numpy as np

        found = np.dtype(dtype)
        kind = found.str.encode()
        if found.kind not in KINDS or len(kind) > 16:
            raise TypeError(f"{self.name}: an array of {found} is no value. Fix: numbers, or strings")
        extents = (shape,) if isinstance(shape, int) else tuple(shape)
        if any(extent < 0 for extent in extents):
            raise ValueError(f"{self.name}: there is no array of the shape {extents}. Fix: extents from 0 on")
        head = -(-(HEAD.size + 8 * len(extents)) // ALIGNED) * ALIGNED
        raw = self._call.create(self._number, head + found.itemsize * prod(extents))
        HEAD.pack_into(raw, 0, MAGIC, head, len(extents), kind)
        struct.pack_into(f"<{len(extents)}Q", raw, HEAD.size, *extents)
        self._created = np.ndarray(extents, found, raw, offset=head)
        return self._created

    def set(self, value: Any) -> None:
        """Sets it; the last value counts. An input array is handed on as it is, another one is copied."""
        import numpy as np

        for number, given in self._inputs:
            if given is value:
                return self._call.share(self._number, number)
        if value is self._created and value is not None:
            return None
        if isinstance(value, bool | int | np.bool_ | np.integer):
            if not -MAX_INT - 1 <= value <= MAX_INT:
                raise OverflowError(f"{self.name} is set to {value}, which is no int of 32 bits")
            return self._call.set_int(self._number, int(value))
        if isinstance(value, float | np.floating):
            return self._call.set_real(self._number, float(value))
        if isinstance(value, str):
            return self._call.set_string(self._number, value)
        if isinstance(value, np.ndarray):
            self.create(value.shape, value.dtype)[...] = value
            return None
        raise TypeError(
            f"{self.name} is set to a {type(value).__name__}. Fix: an int, a float, a str or a NumPy array"
        )
