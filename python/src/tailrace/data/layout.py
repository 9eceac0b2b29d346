# SPDX-License-Identifier: BSD-3-Clause
"""What every dataset of an output file is: where it belongs, its dimensions, its complete samples."""

import json
import tomllib
from dataclasses import dataclass, replace

import h5py
import numpy as np

from tailrace import commit_mark, kwave
from tailrace.data.grid import AXES
from tailrace.data.mask import Box, Mask, whole_box
from tailrace.data.source import Source, is_whole

DOMAIN, POINTS = "domain", "points"
ROWS = ("record", "component")
SPACE = ("z", "y", "x")
UNFINISHED = (
    "the run did not close the file (it was killed, or still runs). "
    "Fix: let it finish, or incomplete=True shows what is there"
)
SQUARES = (
    "k-Wave stopped at a checkpoint and left the sum of squares. "
    "Fix: let it finish, or incomplete=True shows what is there"
)
COMPRESSED = "coefficients of a harmonic compression. Fix: decode them with the program that wrote them"


@dataclass(frozen=True)
class Entry:
    """A variable: `name` in the node `node`, dataset `path` in the file, with the dimensions `dims`.

    `quantity` is k-Wave's name of what it holds. A dimension "" has the length 1 and is dropped. `samples`
    limits `time` to complete ones, and rows to those of complete samples; `missing` says why a dataset
    that is there must not be used, empty otherwise.
    """

    node: str
    name: str
    path: str
    quantity: str
    dims: tuple[str, ...]
    meaning: kwave.Meaning
    samples: int | None = None
    missing: str = ""


@dataclass(frozen=True)
class Table:
    """An [[output]] table: its places (a box or points, neither when not known), steps and times; where its
    samples are rows, `offsets`, the first row of every sample and the end of the last.
    """

    box: Box | None
    points: np.ndarray | None
    steps: np.ndarray
    time_s: np.ndarray
    offsets: np.ndarray | None = None


def entries(file: h5py.File, source: Source) -> list[Entry]:
    """All recorded data of an open output file, in the order of the file."""
    found = [_table_entry(group, source) for group in kwave.output_tables(file)]
    for name, item in file.items():
        table = isinstance(item, h5py.Group) and kwave.is_output_table(item)
        if table or (meaning := kwave.meaning(name)) is None or not meaning.reduction:
            continue
        if isinstance(item, h5py.Group):
            boxes = [box for box in kwave.datasets(item) if box.name.split("/")[-1].isdigit()]
            found += [_box_entry(box, name, meaning, source) for box in boxes]
        else:
            found.append(_root_entry(item, name, meaning, source))
    return found


def compressed(file: h5py.File) -> dict[str, str]:
    """Datasets that an older k-Wave program compressed on the fly, with the reason why they are left out."""
    return {one.name.strip("/"): COMPRESSED for one in kwave.datasets(file) if "c_harmonics" in one.attrs}


def staggered_axis(name: str) -> str | None:
    """The axis along which a velocity lies half a cell further than pressure; None when it does not."""
    component = name.split("_")[0]
    return component[1] if component in kwave.COMPONENTS and "_non_staggered" not in name else None


def _space(name: str, source: Source) -> tuple[str, ...]:
    shifted = staggered_axis(name)
    dims = tuple(f"{axis}_sg" if axis == shifted else axis for axis in SPACE)
    return ("", *dims[1:]) if source.grid is not None and source.grid.flat else dims


def _box_entry(dataset: h5py.Dataset, name: str, meaning, source: Source) -> Entry:
    number = dataset.name.split("/")[-1]
    dims = (("time",) if dataset.ndim == 4 else ()) + _space(name, source)
    return _checked(Entry(f"box{number}", name, f"{name}/{number}", name, dims, meaning), dataset, source)


def _root_entry(dataset: h5py.Dataset, name: str, meaning, source: Source) -> Entry:
    if is_whole(name, dataset, source.grid):
        return _checked(Entry(DOMAIN, name, name, name, _space(name, source), meaning), dataset, source)
    dims = ("", "time" if meaning.reduction == "series" else "", "sensor")
    return _checked(Entry(POINTS, name, name, name, dims, meaning), dataset, source)


def _checked(entry: Entry, dataset: h5py.Dataset, source: Source) -> Entry:
    """The entry with its number of complete samples, or with the reason why it must not be used."""
    if len(entry.dims) != dataset.ndim or any(
        length != 1 for dim, length in zip(entry.dims, dataset.shape, strict=True) if not dim
    ):
        raise kwave.FileError(
            f"{source.path}: {entry.path} has the shape {dataset.shape}, which no output has"
        )
    samples, missing = None, ""
    if "time" in entry.dims:
        samples = source.commit_mark.samples(dataset.shape[entry.dims.index("time")])
    elif not source.commit_mark.closed:
        missing = UNFINISHED
    elif entry.meaning.reduction == "root mean square" and _sum_of_squares(source.commit_mark):
        missing = SQUARES
    return replace(entry, samples=samples, missing=missing)


def _sum_of_squares(found: commit_mark.CommitMark) -> bool:
    return not found.slots and found.t_index is not None and not found.finished


def _table_entry(group: h5py.Group, source: Source) -> Entry:
    name, values = group.name.strip("/"), group["values"]
    quantity, meaning = kwave.text(group.attrs.get("quantity", name)), kwave.meaning_of(values)
    dims = ROWS if kwave.holds_rows(values) else ("time", *_inside(values, quantity, source))
    if values.ndim not in (1, 2, 3, 4):
        raise kwave.FileError(
            f"{source.path}: {name}/values has the shape {values.shape}, which no output has"
        )
    complete, missing = None, ""
    if meaning.reduction != "series":
        missing = "" if _closed(source) else UNFINISHED
    elif source.commit_mark.steps is not None:
        complete = commit_mark.complete_samples(values, source.commit_mark)
    return Entry(name, "values", f"{name}/values", quantity, dims, meaning, complete, missing)


def _inside(values: h5py.Dataset, quantity: str, source: Source) -> tuple[str, ...]:
    """The dimensions of a sample: none of an observable, those of molecules, of points or of a box."""
    few = {1: (), 2: ("sensor",), 3: ("molecule", "component")}
    if values.ndim in few:
        return few[values.ndim]
    space = _space(quantity, source)
    # Bins of molecules are no points of the grid, so that one of two dimensions says nothing of them.
    return space if space[0] or values.shape[1] == 1 else SPACE


def _closed(source: Source) -> bool:
    """Whether reductions were written; files that do not count completed steps leave that to run.json."""
    if source.commit_mark.t_index is None and source.commit_mark.slots:
        return source.account.get("status") in ("finished", "stopped")
    return source.commit_mark.closed


def read_table(group: h5py.Group, source: Source) -> Table:
    """Places and times of an [[output]] table."""
    steps, time_s = group["step"][()].reshape(-1), group["time_s"][()].reshape(-1)
    if kwave.holds_rows(group["values"]):
        offsets = group["offsets"][()]
        unwritten = np.flatnonzero(np.diff(offsets) < 0)  # 0 as long as nobody has counted them
        count = int(unwritten[0]) if len(unwritten) else len(steps)
        return Table(None, None, steps[:count], time_s[:count], offsets[: count + 1])
    shape = group["values"].shape[1:]
    chosen = _selection(kwave.text(group.attrs.get("selection", "")))
    points = group["points"][()] if "points" in group else None
    if points is None and isinstance(chosen, dict):
        points = chosen.get("points")
    if points is not None:
        return Table(None, np.asarray(points, dtype=np.int64).reshape(-1, 3), steps, time_s)
    return Table(_selected_box(chosen, source, shape), None, steps, time_s)


def _selection(text: str):
    """The selection as in the case file, `whole` or a table in TOML or JSON; None when it is neither."""
    if text == "whole":
        return text
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return tomllib.loads(f"selection = {text}")["selection"]
    except tomllib.TOMLDecodeError:
        return None


def _selected_box(chosen, source: Source, shape: tuple[int, ...]) -> Box | None:
    """The box of grid points behind a table; without one in words, the whole or inner grid."""
    if source.grid is None:
        return None
    whole = whole_box(source.grid)
    low, high = list(whole.low), list(whole.high)
    if isinstance(chosen, dict) and "box" in chosen:
        low, high = chosen["box"]
    elif isinstance(chosen, dict) and "plane" in chosen:
        for axis, index in chosen["plane"].items():
            low[AXES.index(axis)] = high[AXES.index(axis)] = index
    elif whole.shape != shape:
        inner = [source.grid.inner(axis) for axis in range(3)]
        low, high = [one.start for one in inner], [one.stop - 1 for one in inner]
    box = Box(tuple(low), tuple(high))
    return box if box.shape == shape else None


def box_of(mask: Mask, node: str, shape: tuple[int, ...]) -> Box | None:
    """The sensor box behind a node, if the mask is known and the shape (z, y, x) agrees."""
    number = int(node.removeprefix("box")) - 1
    box = mask.boxes[number] if mask.boxes is not None and number < len(mask.boxes) else None
    return box if box is not None and box.shape == shape else None
