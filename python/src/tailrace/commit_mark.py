# SPDX-License-Identifier: BSD-3-Clause
"""How much of an output file is complete.

A Tailrace output file carries `tailrace_record`: one slot per writer, the number of time steps whose
samples that writer has put into the file. The smallest slot is what every reader may trust, even after the
run was killed. Files of other k-Wave programs have no commit mark; for them `t_index`, the number of
completed steps, is taken.
"""

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from tailrace import kwave

NAME = "tailrace_record"
DROPPED = "tailrace_dropped"
SWITCHES = "tailrace_switches"


@dataclass(frozen=True)
class CommitMark:
    """`slots` per writer (empty without a commit mark), `planned` steps (Nt), and `t_index` as stored, None
    if absent. From step `dropped_from` on, streams with `on_failure = "drop"` may lack samples.
    """

    slots: tuple[int, ...]
    planned: int | None
    t_index: int | None
    dropped_from: int | None = None

    @property
    def steps(self) -> int | None:
        """Time steps whose samples are complete; None when the file does not say."""
        return min(self.slots) if self.slots else self.t_index

    @property
    def closed(self) -> bool:
        """Whether the run came to its end in good order, so that maxima, rms and final fields are written."""
        return bool(self.t_index) or (self.t_index is None and not self.slots)

    @property
    def finished(self) -> bool:
        return self.closed and self.planned is not None and self.steps == self.planned

    def among(self, steps: np.ndarray) -> int:
        """Complete samples of a series that takes them at these steps. The state before the first step is
        sure once a step is recorded.
        """
        return int((steps <= self.steps).sum()) if self.steps else 0

    def samples(self, stored: int) -> int | None:
        """Complete samples of a series with room for `stored`: it starts so late that its last one is step
        `planned`.
        """
        if self.steps is None or self.planned is None:
            return None
        first = self.planned - stored + 1
        return max(0, min(stored, self.steps - first + 1))


def read(file: h5py.File) -> CommitMark:
    """The commit mark of an open file."""
    slots = file[NAME][()].reshape(-1).tolist() if NAME in file else []
    dropped = [step for step in file[DROPPED][()].reshape(-1).tolist() if step] if DROPPED in file else []
    planned, t_index = kwave.scalar(file, "Nt"), kwave.scalar(file, "t_index")
    return CommitMark(tuple(slots), planned, t_index, min(dropped, default=None))


def recorded_steps(path: Path) -> int | None:
    """Time steps whose samples are complete in the file, or run directory, `path`."""
    with kwave.open_file(path) as file:
        return read(file).steps


def complete_samples(dataset: h5py.Dataset, commit_mark: CommitMark) -> int | None:
    """Complete samples of a time series, or records of them; for anything else 1 when it is complete and 0
    when not; None when unknown.
    """
    axis = kwave.time_axis(dataset)
    if axis is not None and "step" in dataset.parent:
        return _samples_of_table(dataset, commit_mark)
    if axis is not None:
        return commit_mark.samples(dataset.shape[axis])
    parts = dataset.name.strip("/").split("/")
    described = kwave.meaning(parts[0])
    if described is None or not described.reduction:
        return 1
    return int(commit_mark.closed)


def _samples_of_table(values: h5py.Dataset, commit_mark: CommitMark) -> int | None:
    """Complete samples of an [[output]] table, or records of complete samples.

    The step of a reduction is 0 until it is written.
    """
    steps = values.parent["step"][()].reshape(-1)
    if kwave.meaning_of(values).reduction != "series":
        return int(commit_mark.closed and steps[0] > 0)
    if commit_mark.steps is None:
        return None
    samples = commit_mark.among(steps)
    return int(values.parent["offsets"][samples]) if samples and kwave.holds_rows(values) else samples
