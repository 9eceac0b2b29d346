# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with a checkpoint, and where."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Damage:
    """Something that is not as it was written. `part` is what it concerns: `name`, `manifest`, `length`,
    `rest`, `values`, `set`, `directory` (of the cells of a set), `cell` or `sum`. `bytes` are the first one
    and the one after the last in `file`.
    """

    file: str
    part: str
    problem: str
    set: str | None = None
    cell: str | None = None
    rank: int | None = None
    bytes: tuple[int, int] | None = None

    def __str__(self) -> str:
        place = [self.file]
        if self.set is not None:
            place.append(f"set {self.set}")
        if self.cell is not None:
            place.append(f"cell {self.cell} of rank {self.rank}")
        if self.bytes is not None:
            place.append(f"bytes {self.bytes[0]} to {self.bytes[1] - 1}")
        return f"{', '.join(place)}: {self.problem}"

    def as_dict(self) -> dict[str, Any]:
        """What is known of it, as plain values for JSON."""
        return {key: value for key, value in asdict(self).items() if value is not None}


class DamageError(Exception):
    """Ends the look at a checkpoint: nothing behind this damage can be trusted."""

    def __init__(self, damage: Damage) -> None:
        super().__init__(str(damage))
        self.damage = damage
