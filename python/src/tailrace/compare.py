# SPDX-License-Identifier: BSD-3-Clause
"""Differences of two HDF5 files, per dataset and time step.

For every time step the two arrays are reshaped to two dimensions (all axes but the fastest merged). Three
numbers follow: the Frobenius and the infinity norm (largest row sum) of the difference, each divided once
by A's and once by B's norm, the larger taken; and the largest absolute difference divided by the largest
absolute value of both. Data are read in batches of bounded size, so files may be larger than memory.

Values that are not numbers: NaN or the same infinity at the same place in both files counts as equal and is
left out of the norms; anywhere else it makes the step's measures infinite. Where one norm is zero and the
difference is not, the measure is infinite as well.
"""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import h5py
import numpy as np

from tailrace import commit_mark, kwave

BATCH_ELEMENTS = 4_000_000
METADATA = {commit_mark.NAME, commit_mark.DROPPED, commit_mark.SWITCHES}
MEASURES = ("frobenius", "infinity", "maximum")


@dataclass
class DatasetResult:
    """Result for one dataset. `problem` is set when the values could not be compared at all."""

    path: str
    problem: str = ""
    values: int = 0
    steps: int = 0
    steps_over: int = 0
    first_over: int | None = None
    frobenius: float = 0.0
    infinity: float = 0.0
    maximum: float = 0.0
    worst_step: int | None = None
    max_abs_difference: float = 0.0
    peak: float = 0.0
    nan_in_both: int = 0
    not_numbers: int = 0
    note: str = ""

    @property
    def differs(self) -> bool:
        return bool(self.problem) or self.steps_over > 0

    @property
    def of_peak(self) -> float:
        """Largest absolute difference of any step over the largest absolute value of all steps: small late
        residuals do not blow it up. For information; the threshold applies to the measures per step.
        """
        return self.max_abs_difference / self.peak if self.max_abs_difference else 0.0


@dataclass
class Comparison:
    """Result for two files; `threshold` is None when any difference counts."""

    a: str
    b: str
    threshold: float | None
    datasets: list[DatasetResult] = field(default_factory=list)

    @property
    def differs(self) -> bool:
        return any(result.differs for result in self.datasets)

    def as_dict(self) -> dict:
        """The same as plain values for JSON; infinity becomes the string "inf"."""
        return {
            "a": self.a,
            "b": self.b,
            "threshold": self.threshold,
            "differs": self.differs,
            "datasets_differing": sum(result.differs for result in self.datasets),
            "steps": sum(result.steps for result in self.datasets),
            "steps_over": sum(result.steps_over for result in self.datasets),
            **{
                name: _json_number(max((getattr(d, name) for d in self.datasets), default=0.0))
                for name in MEASURES
            },
            "datasets": [
                {key: _json_number(value) for key, value in asdict(d).items()}
                | {"of_peak": d.of_peak, "differs": d.differs}
                for d in self.datasets
            ],
        }


def _json_number(value):
    return "inf" if isinstance(value, float) and math.isinf(value) else value


class Sums:
    """Running norms of a range of steps. Batches hold whole rows, or parts of the only row when `one_row`."""

    def __init__(self, steps: int, one_row: bool):
        self.one_row = one_row
        self.squares = np.zeros((3, steps))  # difference, A, B
        self.rows = np.zeros((3, steps))
        self.largest = np.zeros((3, steps))
        self.bad = np.zeros(steps, dtype=np.int64)
        self.nan_in_both = 0

    def add(self, first: int, a: np.ndarray, b: np.ndarray) -> None:
        """Takes in arrays of shape (steps, rows, columns) whose first step is `first`."""
        if not a.size:
            return
        here = slice(first, first + len(a))
        difference, a, b, bad = self._clean(a, b)
        self.bad[here] += bad
        for kind, values in enumerate((difference, a, b)):
            size = np.abs(values)
            row_sums = size.sum(axis=2).max(axis=1)
            self.squares[kind, here] += np.einsum("ijk,ijk->i", values, values)
            self.largest[kind, here] = np.maximum(self.largest[kind, here], size.max(axis=(1, 2)))
            if self.one_row:
                self.rows[kind, here] += row_sums
            else:
                self.rows[kind, here] = np.maximum(self.rows[kind, here], row_sums)

    def _clean(self, a, b):
        """Difference, A and B as float64 without values that are not finite, and how many of those
        disagree.
        """
        exact = a.dtype.kind in "iu" and b.dtype.kind in "iu"
        difference = np.where(a > b, a - b, b - a).astype(np.float64) if exact else None
        a, b = a.astype(np.float64), b.astype(np.float64)
        odd = ~(np.isfinite(a) & np.isfinite(b))
        bad = np.zeros(len(a), dtype=np.int64)
        if odd.any():
            both_nan = np.isnan(a) & np.isnan(b)
            self.nan_in_both += int(both_nan.sum())
            bad = (odd & ~both_nan & (a != b)).sum(axis=(1, 2))
            a, b = np.where(odd, 0.0, a), np.where(odd, 0.0, b)
        return (a - b if difference is None else difference), a, b, bad

    def measures(self) -> dict[str, np.ndarray]:
        """Per step the three measures."""
        largest = np.maximum(self.largest[1], self.largest[2])
        result = {
            "frobenius": _worse_ratio(np.sqrt(self.squares)),
            "infinity": _worse_ratio(self.rows),
            "maximum": _ratio(self.largest[0], largest),
        }
        for values in result.values():
            values[self.bad > 0] = math.inf
        return result


def _ratio(difference, norm):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(difference == 0.0, 0.0, difference / norm)


def _worse_ratio(norms):
    difference, a, b = norms
    return np.maximum(_ratio(difference, a), _ratio(difference, b))


def batches(dataset: h5py.Dataset, steps: int | None) -> Iterator[tuple[int, tuple]]:
    """Selections of at most about BATCH_ELEMENTS values that cover the dataset, each with its first step.

    `steps` limits a time series to its first steps.
    """
    shape, axis = dataset.shape, kwave.time_axis(dataset)
    if axis is None:
        step_shape, count = shape, 1
    else:
        step_shape, count = shape[:axis] + shape[axis + 1 :], shape[axis] if steps is None else steps

    def selection(first, last, inner):
        return inner if axis is None else (*inner[:axis], slice(first, last), *inner[axis:])

    size = max(1, math.prod(step_shape))
    together = max(1, BATCH_ELEMENTS // size)
    for first in range(0, count, together):
        last = min(count, first + together)
        for inner in _parts(step_shape, size):
            yield first, selection(first, last, inner)


def _parts(shape: tuple[int, ...], size: int) -> Iterator[tuple]:
    """Splits one step along its slowest axis that is longer than 1."""
    whole = tuple(slice(None) for _ in shape)
    if size <= BATCH_ELEMENTS:
        yield whole
        return
    axis = next(index for index, length in enumerate(shape) if length > 1)
    thick = max(1, BATCH_ELEMENTS * shape[axis] // size)
    for first in range(0, shape[axis], thick):
        yield (*whole[:axis], slice(first, first + thick), *whole[axis + 1 :])


def _read(dataset: h5py.Dataset, selection: tuple) -> np.ndarray:
    """The selected values as (steps, rows, columns)."""
    values, axis = np.asarray(dataset[selection]), kwave.time_axis(dataset)
    if axis is None:
        values = values[None]
    elif axis:
        values = np.moveaxis(values, axis, 0)
    columns = values.shape[-1] if values.ndim > 1 else 1
    return values.reshape(values.shape[0], -1, columns) if values.size else values.reshape(0, 0, 0)


def compare_datasets(
    a: h5py.Dataset, b: h5py.Dataset, threshold: float | None, steps: int | None
) -> DatasetResult:
    """Compares two datasets; `steps` limits a time series to its first steps."""
    result = DatasetResult(a.name.strip("/"))
    result.problem, result.note = _mismatch(a, b, threshold)
    result.values = a.size if isinstance(a, h5py.Dataset) else 0
    if result.problem:
        return result
    axis = kwave.time_axis(a)
    count = 1 if axis is None else (a.shape[axis] if steps is None else steps)
    step_shape = a.shape if axis is None else a.shape[:axis] + a.shape[axis + 1 :]
    sums = Sums(count, one_row=math.prod(step_shape[:-1]) == 1)
    for first, selection in batches(a, steps):
        sums.add(first, _read(a, selection), _read(b, selection))
    _summarise(result, sums, threshold)
    return result


def _mismatch(a, b, threshold) -> tuple[str, str]:
    """What forbids a comparison of values, and what is only worth a note."""
    if not (isinstance(a, h5py.Dataset) and isinstance(b, h5py.Dataset)):
        return "a dataset in one file, a group in the other", ""
    if a.shape != b.shape:
        return f"shapes differ: {a.shape} and {b.shape}", ""
    if a.dtype == b.dtype and a.dtype.kind in "fiub":
        return "", ""
    types = f"types differ: {a.dtype} and {b.dtype}"
    if threshold is not None and a.dtype.kind == b.dtype.kind == "f":
        return "", types  # single against double precision: what a threshold is for
    return types if a.dtype != b.dtype else f"values of type {a.dtype} cannot be compared", ""


def _summarise(result: DatasetResult, sums: Sums, threshold: float | None) -> None:
    measures = sums.measures()
    worst = np.max([measures[name] for name in MEASURES], axis=0) if len(sums.bad) else np.zeros(0)
    over = worst > (0.0 if threshold is None else threshold)
    result.steps = len(worst)
    result.steps_over = int(over.sum())
    result.first_over = int(over.argmax()) if over.any() else None
    result.worst_step = int(worst.argmax()) if worst.size and worst.max() > 0 else None
    for name in MEASURES:
        setattr(result, name, float(measures[name].max(initial=0.0)))
    result.max_abs_difference = float(sums.largest[0].max(initial=0.0))
    result.peak = float(sums.largest[1:].max(initial=0.0))
    result.nan_in_both = sums.nan_in_both
    result.not_numbers = int(sums.bad.sum())


def compare_files(
    a: Path, b: Path, path: str | None = None, threshold: float | None = None, recorded: bool = False
) -> Comparison:
    """Compares two files or run directories: a dataset, a group, or everything but metadata.

    With `recorded`, only what both files hold complete is compared: the recorded steps of every series, and
    the other datasets where both runs were closed in good order. Raises `ValueError` for a threshold that is
    negative or no number, with which no difference would count.
    """
    if threshold is not None and not threshold >= 0:
        raise ValueError(f"a threshold of {threshold}. Fix: 0 or more")
    result = Comparison(str(a), str(b), threshold)
    with kwave.open_file(a) as file_a, kwave.open_file(b) as file_b:
        names = _names(file_a, file_b, path)
        records = (commit_mark.read(file_a), commit_mark.read(file_b)) if recorded else None
        for name in names:
            one = _compare_name(file_a, file_b, name, threshold, records)
            if one is not None:
                result.datasets.append(one)
    return result


def _compare_name(file_a, file_b, name, threshold, records) -> DatasetResult | None:
    missing = [file for file in (file_a, file_b) if name not in file]
    if missing:
        return DatasetResult(name, problem=f"missing in {missing[0].filename}")
    a, b = file_a[name], file_b[name]
    steps = None
    if records and isinstance(a, h5py.Dataset) and isinstance(b, h5py.Dataset):
        complete = [
            commit_mark.complete_samples(item, rec) for item, rec in zip((a, b), records, strict=True)
        ]
        known = [count for count in complete if count is not None]
        if kwave.time_axis(a) is not None:
            steps = min(known, default=None)
        elif 0 in known or name == "t_index":
            return None
    return compare_datasets(a, b, threshold, steps)


def _names(file_a: h5py.File, file_b: h5py.File, path: str | None) -> list[str]:
    """The datasets to compare, those of A first."""
    if path is None:
        return [name for name in _below(file_a, file_b, "/") if name not in METADATA]
    name = path.strip("/")
    if name and name not in file_a and name not in file_b:
        raise kwave.FileError(
            f"{path}: neither {file_a.filename} nor {file_b.filename} has this dataset or group"
        )
    return _below(file_a, file_b, name or "/")


def _below(file_a: h5py.File, file_b: h5py.File, name: str) -> list[str]:
    names: list[str] = []
    for file in (file_a, file_b):
        item = file.get(name)
        found = [item] if isinstance(item, h5py.Dataset) else kwave.datasets(item) if item is not None else []
        names += [dataset.name.strip("/") for dataset in found]
    return list(dict.fromkeys(names))
