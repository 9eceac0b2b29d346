# SPDX-License-Identifier: BSD-3-Clause
"""Two runs of one program beside each other: what changed, and a sentence about it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tailrace.fragment_profile.profile import Profile, population
from tailrace.units import bytes_text, duration_text

_EARLY = 0.9  # of the fragments, whose arrival in the wait stage is compared
_CLEAR = 0.05  # differences below are not spoken of


@dataclass(frozen=True)
class Row:
    """One number of both runs, and how it is written."""

    name: str
    first: float
    second: float
    kind: str = "number"  # or seconds, bytes

    @property
    def ratio(self) -> float | None:
        return self.second / self.first if self.first else None

    def text(self, value: float) -> str:
        if self.kind == "seconds":
            return duration_text(value)
        return bytes_text(value) if self.kind == "bytes" else f"{value:,.4g}"

    def cells(self) -> list[str]:
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        return [self.name, self.text(self.first), self.text(self.second), ratio]


@dataclass(frozen=True)
class Comparison:
    """All numbers that both runs have, and the sentences."""

    rows: list[Row]
    sentences: list[str]

    def as_dict(self) -> dict[str, Any]:
        return {
            "rows": [{"name": row.name, "first": row.first, "second": row.second} for row in self.rows],
            "sentences": self.sentences,
        }


def compare(first: Profile, second: Profile) -> Comparison:
    """What differs. The second run is spoken of as it is beside the first."""
    rows = [
        Row(name, one, other, kind)
        for (name, kind, one), (_, _, other) in zip(_numbers(first), _numbers(second), strict=True)
    ]
    return Comparison(rows, _sentences({row.name: row for row in rows}))


def _numbers(profile: Profile) -> list[tuple[str, str, float]]:
    shares, values, path = profile.shares, profile.values, profile.path
    waits = profile.recorded.stays[profile.recorded.stays["stage"] == 1]
    ready = profile.recorded.stays[profile.recorded.stays["stage"] == 2]
    wall = shares.wall_s
    return [
        ("wall time", "seconds", wall),
        ("useful", "seconds", shares.useful_s),
        ("overhead", "seconds", shares.overhead_s),
        ("idle", "seconds", shares.idle_s),
        ("fragments", "number", profile.totals.created),
        ("fragments that waited", "number", profile.totals.waited),
        ("fragments to other ranks", "number", profile.totals.forwarded),
        ("90 % of the fragments are in the wait stage after", "seconds", _arrived_by(profile, waits)),
        ("most fragments in the wait stage", "number", _most(waits)),
        ("bodies at work, on average", "number", shares.useful_s / wall if wall else 0.0),
        ("ready fragments, on average", "number", _mean(ready, wall)),
        ("most live values", "number", values.peak_count),
        ("most live bytes", "bytes", values.peak_bytes),
        ("median wait for values", "seconds", profile.stages[1].median_s),
        ("critical path", "seconds", path.length_s if path else 0.0),
        ("transfers on it", "seconds", path.transfer_s if path else 0.0),
    ]


def _arrived_by(profile: Profile, waits: np.ndarray) -> float:
    if not len(waits):
        return 0.0
    return float(np.quantile(waits["start_s"], _EARLY)) - profile.recorded.first_s


def _most(stays: np.ndarray) -> float:
    return float(population(stays)[1].max(initial=0))


def _mean(stays: np.ndarray, wall_s: float) -> float:
    return float((stays["end_s"] - stays["start_s"]).sum()) / wall_s if wall_s else 0.0


def _sentences(rows: dict[str, Row]) -> list[str]:
    """How much faster or slower, and what goes with it."""
    wall = rows["wall time"]
    sentences = []
    if wall.ratio:
        times = max(wall.ratio, 1 / wall.ratio)
        word = "faster" if wall.ratio < 1 else "slower"
        same = times < 1 + _CLEAR
        text = f"{wall.text(wall.first)} and {wall.text(wall.second)}"
        sentences.append(
            f"The second run takes as long as the first ({text})."
            if same
            else f"The second run is {times:.2f} times {word} ({text})."
        )
    said = (
        ("90 % of the fragments are in the wait stage after", "It unfolds earlier", "It unfolds later"),
        ("bodies at work, on average", "It has less parallelism", "It has more parallelism"),
        ("most live bytes", "It needs less memory", "It needs more memory"),
        ("fragments to other ranks", "Fewer fragments move", "More fragments move"),
        ("overhead", "The runtime takes less", "The runtime takes more"),
        ("useful", "Bodies take less", "Bodies take more"),
        ("critical path", "The critical path is shorter", "The critical path is longer"),
    )
    for name, less, more in said:
        row = rows[name]
        if row.ratio is None or abs(row.ratio - 1) <= _CLEAR:
            continue
        before, now = row.text(row.first), row.text(row.second)
        sentences.append(f"{less if row.ratio < 1 else more}: {name}, {before} before and {now} now.")
    return sentences
