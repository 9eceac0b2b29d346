# SPDX-License-Identifier: BSD-3-Clause
"""A run directory as the report looks at it: with its traces, and with what is missing."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tailrace.data.directory import RunDirectory, read_directory
from tailrace.fragment_profile.profile import Profile, profile_of
from tailrace.fragment_profile.tables import is_recorded
from tailrace.report import lanes
from tailrace.report.analysis import Analysis, analyse
from tailrace.time_parts import hidden_fraction
from tailrace.trace import RunTrace, read_run, trace_files

MAX_TRACE_BYTES = 192 << 20  # of the files that are read; more ranks than fit are left out


@dataclass
class Run(RunDirectory):
    """A run directory. `trace` holds the ranks whose traces were read, of `trace_files`; `notes` say what
    could not be read.
    """

    trace: RunTrace
    trace_files: int
    notes: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        config = self.account.get("config") or {}
        return (
            self.account.get("title") or config.get("case", {}).get("title") or self.directory.resolve().name
        )

    @property
    def simulation(self) -> str:
        """Empty when the run left no account."""
        return str(self.account.get("simulation") or "")

    @property
    def status(self) -> str:
        """finished, stopped, failed, or unaccounted when there is no run.json."""
        return self.account.get("status", "unaccounted")

    @cached_property
    def per_rank(self) -> list[dict]:
        """Totals per rank: from run.json, or summed from the traces of a run that left none."""
        if self.account.get("per_rank"):
            return self.account["per_rank"]
        return lanes.totals(self.analysis.lanes)

    def column(self, name: str) -> list[float]:
        """A number of every rank; 0 where it is not known."""
        return [float(entry.get(name) or 0.0) for entry in self.per_rank]

    @property
    def hidden(self) -> float | None:
        """Share of copying and writing that did not hold the computation up; None if nothing was written."""
        return hidden_fraction(self.per_rank)

    @cached_property
    def analysis(self) -> Analysis:
        """What the traces say."""
        return analyse(self.trace, self.account)

    @cached_property
    def fragments(self) -> Profile | None:
        """What the traces say of a fragment program; None where there was none."""
        return profile_of(self.trace, self.account) if is_recorded(self.trace) else None

    @property
    def wall_s(self) -> float:
        recorded = self.account.get("wall_s") or 0.0
        return recorded or self.trace.last_s


def load_run(directory: Path) -> Run:
    """Reads what is there; only a directory that is no run directory at all is an error."""
    found = read_directory(Path(directory))
    files = trace_files(directory)
    trace = read_run(directory, _ranks_to_read(files, found.account))
    run = Run(**vars(found), trace=trace, trace_files=len(files))
    run.notes += found.damage
    if not found.account and not found.damage:
        run.notes.append("There is no run.json: the run was killed, or is still running.")
    return run


def _ranks_to_read(files: dict[int, Path], account: dict) -> set[int]:
    """As many ranks as may be read: processes that only write first, then those with the largest times of
    each kind, then others evenly.
    """
    per_rank = {entry.get("rank"): entry for entry in account.get("per_rank") or []}
    wanted = [rank for rank in files if rank not in per_rank] if per_rank else []
    for name in ("compute_s", "output_wait_s", "write_s", "exchange_s"):
        longest = sorted(per_rank, key=lambda rank: -(per_rank[rank].get(name) or 0.0))
        wanted += [rank for rank in longest[:4] if rank in files]
    ranks, stride = list(files), len(files)
    while stride > 1:
        stride = (stride + 1) // 2
        wanted += ranks[::stride]
    chosen, left = set(), MAX_TRACE_BYTES
    for rank in dict.fromkeys([*wanted, *ranks]):
        left -= files[rank].stat().st_size
        if left < 0 and chosen:
            break
        chosen.add(rank)
    return chosen
