"""Reads a run directory: the account of the run, where its files are, and what is missing."""

import json
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import h5py

from tailrace import kwave, record
from tailrace.report import lanes
from tailrace.report.analysis import Analysis, analyse
from tailrace.trace import RunTrace, read_run, trace_files

MOST_TRACE_BYTES = 192 << 20  # of the files that are read; more ranks than fit are left out


@dataclass
class Run:
    """A run directory. `account` is run.json, empty when the run left none; `trace` holds the ranks whose
    traces were read, of `trace_files`; `notes` tell what could not be read.
    """

    directory: Path
    account: dict
    progress: dict
    output: Path | None
    input: Path | None
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

    @cached_property
    def analysis(self) -> Analysis:
        """What the traces say."""
        return analyse(self.trace, self.account)

    @property
    def wall_s(self) -> float:
        recorded = self.account.get("wall_s") or 0.0
        return recorded or self.trace.last_s


def load_run(directory: Path, with_traces: bool = True) -> Run:
    """Reads what is there; only a directory that is no run directory at all is an error."""
    directory = Path(directory)
    if not directory.is_dir():
        raise kwave.FileError(f"{directory}: no such directory")
    account, progress = _read_json(directory / "run.json"), _read_json(directory / "progress.json")
    files = trace_files(directory)
    output = _output_file(directory, account)
    if not account and output is None and not files:
        raise kwave.FileError(f"{directory}: not a run directory (no run.json, output.h5 or trace/)")
    run = Run(
        directory=directory,
        account=account,
        progress=progress,
        output=output,
        input=_input_file(directory, account),
        trace=read_run(directory, _ranks_to_read(files, account)) if with_traces else RunTrace(),
        trace_files=len(files),
    )
    if not account:
        run.notes.append("There is no run.json: the run was killed, or is still going on.")
    return run


def _read_json(path: Path) -> dict:
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


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
    chosen, left = set(), MOST_TRACE_BYTES
    for rank in dict.fromkeys([*wanted, *ranks]):
        left -= files[rank].stat().st_size
        if left < 0 and chosen:
            break
        chosen.add(rank)
    return chosen


def _output_file(directory: Path, account: dict) -> Path | None:
    names = ["output.h5", *(entry.get("file", "") for entry in account.get("outputs") or [])]
    for name in names:
        path = directory / name if name else None
        if path is not None and path.is_file():
            return path
    return None


def _input_file(directory: Path, account: dict) -> Path | None:
    """The input file as recorded, or as the case names it: relative to the case, the run or here."""
    config = account.get("config") or {}
    case_file = case_file_of(account)
    name = account.get("input_file") or (config.get("input") or {}).get("file") or _named_by(case_file)
    if not name:
        return None
    bases = [Path(case_file).parent] if case_file else []
    bases += [directory, directory.parent, Path()]
    return next((base / name for base in bases if (base / name).is_file()), None)


def case_file_of(account: dict) -> str:
    """The file the run was started with, where the account tells."""
    config = account.get("config") or {}
    return account.get("case_file") or (config.get("case") or {}).get("file") or ""


def _named_by(case_file: str) -> str:
    """The input that a case file names; a native input is its own case."""
    if not case_file or Path(case_file).suffix != ".toml":
        return Path(case_file).name
    try:
        case = tomllib.loads(Path(case_file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return str(case.get("input", {}).get("file", ""))


@dataclass
class Case:
    """Grid and time axis, read from the output or the input file; lengths in metres, axes in the order x,
    y, z.
    """

    sizes: tuple[int, int, int]
    spacing_m: tuple[float, float, float]
    pml: tuple[int, int, int]
    steps: int
    dt_s: float
    record: record.Record

    def position_mm(self, axis: int, index):
        """k-Wave's coordinates: zero in the middle of the grid (at index N // 2)."""
        return (index - self.sizes[axis] // 2) * self.spacing_m[axis] * 1e3


def read_case(file: h5py.File) -> Case | None:
    """The grid of an open file; None when the file does not describe one."""
    sizes = [kwave.scalar(file, name) for name in ("Nx", "Ny", "Nz")]
    spacing = [kwave.scalar(file, name) for name in ("dx", "dy", "dz")]
    steps, dt_s = kwave.scalar(file, "Nt"), kwave.scalar(file, "dt")
    if None in (*sizes, spacing[0], spacing[1], steps, dt_s):
        return None
    pml = [kwave.scalar(file, f"pml_{axis}_size") or 0 for axis in "xyz"]
    spacing[2] = spacing[2] or spacing[0]
    return Case(tuple(sizes), tuple(spacing), tuple(pml), steps, dt_s, record.read(file))
