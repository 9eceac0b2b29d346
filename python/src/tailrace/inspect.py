# SPDX-License-Identifier: BSD-3-Clause
"""What an HDF5 file or a run directory holds, and whether it can be trusted."""

import math
import os
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

import h5py
import numpy as np
import xxhash

from tailrace import commit_mark, kwave
from tailrace.checkpoints.listing import FILES, has_checkpoints, list_checkpoints
from tailrace.checkpoints.verify import Verdict, verify_all
from tailrace.compare import batches
from tailrace.run_files import ACCOUNT, read_table


@dataclass
class DatasetInfo:
    """One dataset; `samples` counts complete samples of `samples_stored` and is None where the file does
    not say.
    """

    path: str
    shape: tuple[int, ...]
    type: str
    size_bytes: int
    layout: str
    quantity: str = ""
    unit: str = ""
    reduction: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    value: float | int | None = None
    samples: int | None = None
    samples_stored: int | None = None
    scan: "Scan | None" = None


@dataclass
class Scan:
    """Result of reading every value. The checksum is over the values in logical order, little endian: it
    does not depend on how the file stores them or how many ranks wrote it. A time series is scanned up
    to its last complete sample.
    """

    xxh3: str
    nan: int = 0
    infinite: int = 0
    minimum: float | None = None
    maximum: float | None = None


@dataclass
class FileInfo:
    """One HDF5 file. `problems` make the file untrustworthy, `notes` are what a reader should know."""

    path: str
    size_bytes: int
    attributes: dict[str, str]
    steps_planned: int | None
    steps_recorded: int | None
    writers: int
    closed: bool
    datasets: list[DatasetInfo]
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass
class Inspection:
    """A file, or a run directory with its account `run` (None when it has none), its checkpoints if they were
    verified, and the other files in it.
    """

    path: str
    file: FileInfo | None
    run: dict | None = None
    others: list[tuple[str, int]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    checkpoints: list[Verdict] = field(default_factory=list)

    @property
    def all_problems(self) -> list[str]:
        return self.problems + (self.file.problems if self.file else [])

    @property
    def damaged(self) -> bool:
        return not all(verdict.sound for verdict in self.checkpoints)

    def as_dict(self) -> dict:
        """The same as plain values for JSON."""
        return asdict(self) | {
            "checkpoints": [verdict.as_dict() for verdict in self.checkpoints],
            "ok": not self.all_problems and not self.damaged,
        }


def inspect_path(path: Path, verify: bool = False) -> Inspection:
    """Looks at a file, a run directory or checkpoints. With `verify` every value is read: checksums, NaN,
    range; and every byte of the checkpoints.
    """
    if path.is_file() and os.access(path, os.R_OK) and not h5py.is_hdf5(path):
        raise kwave.FileError(f"{path}: not an HDF5 file. Fix: name one, or a run directory. {FILES}")
    if not path.is_dir():
        return Inspection(str(path), inspect_file(path, verify))
    result = Inspection(str(path), None, None)
    account = read_table(path / "run.json", ACCOUNT)
    result.problems += account.problems
    result.run = account.table or None
    result.others = [
        (str(item.relative_to(path)), item.stat().st_size)
        for item in sorted(path.rglob("*"))
        if item.is_file() and item.name != "output.h5"
    ]
    if not account.there and not (path / "output.h5").exists() and not has_checkpoints(path):
        raise kwave.FileError(
            f"{path}: neither run.json nor output.h5 is there. Fix: name a run directory or a file"
        )
    if (path / "output.h5").exists():
        result.file = _inspect_or_report(path / "output.h5", verify, result.problems)
    result.problems += _missing_outputs(path, account.table)
    if verify and has_checkpoints(path):
        result.checkpoints = _verify_or_report(path, result.problems)
    return result


def _missing_outputs(path: Path, account: dict) -> list[str]:
    """The files of a run that was completed must all be there."""
    named = [entry["file"] for entry in account.get("outputs", []) if entry.get("file")]
    names = named or ["output.h5"] * bool(account.get("output_bytes"))
    if account.get("status") not in ("finished", "stopped"):
        return []
    return [
        f"{path / name}: it is missing, though the run has {account['status']}. Fix: restore it, or run again"
        for name in dict.fromkeys(names)
        if not (path / name).exists()
    ]


def _verify_or_report(path: Path, problems: list[str]) -> list[Verdict]:
    try:
        return verify_all(list_checkpoints(path))
    except kwave.FileError as error:
        problems.append(str(error))
        return []


def _inspect_or_report(path: Path, verify: bool, problems: list[str]) -> FileInfo | None:
    try:
        return inspect_file(path, verify)
    except kwave.FileError as error:
        problems.append(str(error))
        return None


def inspect_file(path: Path, verify: bool = False) -> FileInfo:
    """Looks at one HDF5 file."""
    with kwave.open_file(path) as file:
        rec = commit_mark.read(file)
        info = FileInfo(
            path=str(path),
            size_bytes=Path(path).stat().st_size,
            attributes={name: kwave.text(value) for name, value in file.attrs.items()},
            steps_planned=rec.planned,
            steps_recorded=rec.steps,
            writers=len(rec.slots),
            closed=rec.closed,
            datasets=[_describe(dataset, rec) for dataset in kwave.datasets(file)],
        )
        _check_commit_mark(info, rec)
        _check_extent(info, file)
        _check_sources(info, file, rec)
        if verify:
            for entry in info.datasets:
                entry.scan = scan(file[entry.path], entry.samples)
                _check_values(info, entry, _not_done(file[entry.path], rec))
    return info


def _describe(dataset: h5py.Dataset, rec: commit_mark.CommitMark) -> DatasetInfo:
    described = kwave.meaning_of(dataset) or kwave.Meaning("", "")
    axis = kwave.time_axis(dataset)
    single = dataset.size == 1 and dataset.dtype.kind in "iuf" and axis is None
    return DatasetInfo(
        path=dataset.name.strip("/"),
        shape=dataset.shape,
        type=str(dataset.dtype),
        size_bytes=dataset.size * dataset.dtype.itemsize,
        layout=_layout(dataset),
        quantity=described.quantity,
        unit=described.unit,
        reduction=described.reduction,
        attributes={name: kwave.text(value) for name, value in dataset.attrs.items()},
        value=dataset[()].reshape(-1)[0].item() if single else None,
        samples=commit_mark.complete_samples(dataset, rec)
        if axis is not None or described.reduction
        else None,
        samples_stored=dataset.shape[axis] if axis is not None else 1 if described.reduction else None,
    )


def _layout(dataset: h5py.Dataset) -> str:
    if dataset.is_virtual:
        return "rows in a file beside" if kwave.holds_rows(dataset) else "a file per sample"
    if dataset.chunks is None:
        return "contiguous"
    return f"chunks {dataset.chunks}" + (f", {dataset.compression}" if dataset.compression else "")


def _check_commit_mark(info: FileInfo, rec: commit_mark.CommitMark) -> None:
    if not rec.slots and rec.t_index is None:
        return
    if rec.dropped_from is not None:
        info.problems.append(
            f'samples of streams with on_failure = "drop" could not be written: some from step '
            f"{rec.dropped_from} on are missing and read as 0"
        )
    if rec.planned is not None and rec.steps is not None and rec.steps > rec.planned:
        info.problems.append(
            f"the commit mark says {rec.steps} steps, more than the {rec.planned} planned (Nt)"
        )
    if not rec.closed:
        info.notes.append(
            "The run did not close this file (killed, or still running): series hold the recorded steps, "
            "maxima, rms and final fields are not written."
        )
    elif rec.planned is not None and not rec.finished:
        info.notes.append(f"The run stopped in good order after {rec.steps} of {rec.planned} steps.")


def _check_extent(info: FileInfo, file: h5py.File) -> None:
    """Contiguous datasets must lie inside the file; HDF5 itself would read zeros or fail much later."""
    for entry in info.datasets:
        offset = file[entry.path].id.get_offset()
        if offset is not None and offset + entry.size_bytes > info.size_bytes:
            info.problems.append(
                f"{entry.path} ends at byte {offset + entry.size_bytes}, the file at {info.size_bytes}"
            )


def _check_sources(info: FileInfo, file: h5py.File, rec: commit_mark.CommitMark) -> None:
    """Samples in files of their own must be there as far as they are recorded; HDF5 would read zeros."""
    beside = Path(info.path).resolve().parent
    names = {
        source.file_name
        for entry in info.datasets
        if file[entry.path].is_virtual
        for source in file[entry.path].virtual_sources()
    }
    missing = [name for name in names if _step_of(name) <= (rec.steps or 0) and not (beside / name).exists()]
    if missing:
        first = min(missing)
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        info.problems.append(
            f"samples are missing and read as 0: {first}{more} cannot be found beside this file. "
            "Fix: keep the directory of the samples together with the file"
        )


def _step_of(name: str) -> int:
    """The step of a file with samples, by its name."""
    found = re.search(r"/step-(\d+)\.h5$", name)
    return int(found[1]) if found else 0


def scan(dataset: h5py.Dataset, samples: int | None = None) -> Scan:
    """Reads all values of a dataset, for a time series up to `samples` where given."""
    digest = xxhash.xxh3_64()
    result = Scan("")
    low, high = math.inf, -math.inf
    limit = samples if kwave.time_axis(dataset) is not None else None
    for _, selection in batches(dataset, limit):
        values = np.ascontiguousarray(dataset[selection])
        digest.update(values.astype(values.dtype.newbyteorder("<"), copy=False))
        if values.dtype.kind == "f":
            result.nan += int(np.isnan(values).sum())
            result.infinite += int(np.isinf(values).sum())
            values = values[np.isfinite(values)]
        if values.size and values.dtype.kind in "iuf":
            low, high = min(low, values.min().item()), max(high, values.max().item())
    if low <= high:
        result.minimum, result.maximum = low, high
    result.xxh3 = digest.hexdigest()
    return result


def _not_done(dataset: h5py.Dataset, rec: commit_mark.CommitMark) -> int:
    """How many values are NaN for steps that the run did not come to, by the steps beside them; such a table
    is written at the end of a run.
    """
    steps = dataset.parent.get("step") if dataset.dtype.kind == "f" else None
    if not isinstance(steps, h5py.Dataset) or steps.shape != dataset.shape or rec.steps is None:
        return 0
    behind = steps[()] > (rec.steps if rec.closed else -1)
    return int(np.isnan(dataset[()][behind]).sum())


def _check_values(info: FileInfo, entry: DatasetInfo, not_done: int) -> None:
    if entry.scan.nan > not_done:
        info.problems.append(f"{entry.path}: {entry.scan.nan - not_done} values are NaN")
    if entry.scan.infinite:
        info.problems.append(f"{entry.path}: {entry.scan.infinite} values are infinite")
