# SPDX-License-Identifier: BSD-3-Clause
"""Lazy xarray datasets of an output: one per place (whole domain, sensor points, each box, each [[output]]
table).
"""

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from tailrace import kwave
from tailrace.commit_mark import CommitMark
from tailrace.data import layout
from tailrace.data.grid import AXES, Grid
from tailrace.data.layout import DOMAIN, Entry
from tailrace.data.mask import Box, whole_box
from tailrace.data.source import Source
from tailrace.units import REDUCED

REDUCTION_WORDS = {
    "maximum": "maximum ",
    "minimum": "minimum ",
    "root mean square": "rms ",
    "mean": "mean ",
    "last step": "final ",
}
# Reductions whose values are those of one time; "final" is that of a table.
INSTANTS = ("series", "last step", "final")


class LazyArray(BackendArray):
    """A dataset that is read from the file when its values are used, and only those that are.

    The file is opened for each reading: an open handle would hold a lock that keeps a run from resuming with
    it.
    """

    def __init__(self, file: Path, dataset: h5py.Dataset) -> None:
        self.file, self.path = file, dataset.name
        self.shape, self.dtype = dataset.shape, dataset.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer):
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER_1VECTOR, self._read
        )

    def _read(self, key: tuple):
        with kwave.open_file(self.file) as file:
            dataset = file.get(self.path)
            if not isinstance(dataset, h5py.Dataset) or dataset.shape != self.shape:
                raise kwave.FileError(f"{self.file}: it was replaced since it was opened. Fix: open it again")
            return dataset[key]


@dataclass
class Nodes:
    """Datasets by node, and why some variables are left out."""

    datasets: dict[str, xr.Dataset]
    left_out: dict[str, str]


def build(source: Source, pml: bool = True, incomplete: bool = False) -> Nodes:
    """Lays out the datasets of an output; reads nothing but its structure, steps and times.

    `pml=False` leaves the absorbing layer out of variables on the whole domain. `incomplete` keeps samples
    that the commit mark does not call complete, and reductions that were not written. Raises kwave.FileError.
    """
    with kwave.open_file(source.path) as file:
        return _build(file, source, pml, incomplete)


def _build(file, source: Source, pml: bool, incomplete: bool) -> Nodes:
    by_node: dict[str, list[Entry]] = {}
    left_out = layout.compressed(file)
    for entry in layout.entries(file, source):
        if entry.missing and not incomplete:
            left_out[entry.path] = entry.missing
        else:
            by_node.setdefault(entry.node, []).append(entry)
    datasets = {}
    for node in sorted(by_node, key=lambda name: (len(name), name)):
        dataset = _node(file, source, node, by_node[node], incomplete)
        whole = node == DOMAIN or (source.grid is not None and _covers(dataset, source.grid))
        datasets[node] = dataset if pml or not whole else _without_pml(dataset, source.grid)
    return Nodes(datasets, left_out)


def _node(file, source: Source, node: str, found: list[Entry], incomplete: bool) -> xr.Dataset:
    variables = {entry.name: _variable(file, source, entry, incomplete) for entry in found}
    try:
        dataset = xr.Dataset(variables)
    except ValueError as error:
        raise kwave.FileError(f"{source.path}: the datasets of {node} do not fit together: {error}") from None
    table = layout.read_table(file[node], source) if found[0].name == "values" else None
    if table is not None and table.offsets is not None:
        return _with_counts(dataset, table, source.commit_mark, incomplete)
    dataset = dataset.assign_coords(_time(file, source, found, dataset, table))
    if "sensor" in dataset.dims:
        points = source.mask.points if table is None else table.points
        return dataset.assign_coords(_point_coordinates(points, dataset, source.grid))
    if table is not None:
        box = table.box
    elif node == DOMAIN:
        box = None if source.grid is None else whole_box(source.grid)
    else:
        box = layout.box_of(source.mask, node, file[found[0].path].shape[-3:])
    return dataset if box is None else dataset.assign_coords(_box_coordinates(box, dataset, source.grid))


def _with_counts(dataset: xr.Dataset, table: layout.Table, found: CommitMark, incomplete: bool) -> xr.Dataset:
    """Rows with how many of them each sample has, as a contiguous ragged array of the CF conventions."""
    samples = len(table.steps) if incomplete else found.among(table.steps)
    counts = np.diff(table.offsets[: samples + 1])
    about = {"long_name": "number of rows", "units": "1", "sample_dimension": "record"}
    about["path"] = f"{dataset['values'].attrs['path'].removesuffix('values')}count"
    return dataset.assign(count=("time", counts, about)).assign_coords(
        time=("time", table.time_s[:samples], _time_attributes(dataset["values"].attrs["units"])),
        step=("time", table.steps[:samples], {"long_name": "time step"}),
    )


def _variable(file, source: Source, entry: Entry, incomplete: bool) -> xr.Variable:
    array = indexing.LazilyIndexedArray(LazyArray(source.path.resolve(), file[entry.path]))
    named = tuple(dim or f"one{number}" for number, dim in enumerate(entry.dims))
    variable = xr.Variable(named, array, _attributes(file, source, entry))
    variable = variable.isel({dim: 0 for dim in named if dim.startswith("one")})
    if entry.samples is not None and not incomplete:
        limited = {dim: slice(0, entry.samples) for dim in ("time", "record") if dim in variable.dims}
        variable = variable.isel(limited)
    elif entry.name == "values" and "time" in variable.dims:  # a dataset that grows runs ahead of its steps
        variable = variable.isel(time=slice(0, len(file[entry.node]["step"])))
    return variable


def _attributes(file, source: Source, entry: Entry) -> dict:
    """Names and units as xarray and its plots expect them, and what staggering means for a velocity."""
    quantity = entry.meaning.quantity.removesuffix(", staggered")
    word = REDUCTION_WORDS.get(entry.meaning.reduction.split(",")[0], "")
    attributes = {"long_name": word + quantity, "units": entry.meaning.unit, "path": entry.path}
    if entry.meaning.reduction != "series":
        attributes["reduction"] = entry.meaning.reduction
    if entry.name == "values":
        attributes |= {key: kwave.text(value) for key, value in file[entry.node].attrs.items()}
    shifted = layout.staggered_axis(entry.quantity)
    if shifted is not None:
        attributes["staggered"] = shifted
    velocity = entry.quantity.split("_")[0] in kwave.COMPONENTS
    instant = entry.meaning.reduction.split(",")[0] in INSTANTS
    if velocity and instant and source.case is not None:
        attributes["time_offset_s"] = -source.case.dt_s / 2
    return attributes


def _time(file, source: Source, found: list[Entry], dataset: xr.Dataset, table: layout.Table | None) -> dict:
    """`time` in seconds and `step` of every sample: k-Wave's steps count from 1, and the first is at 0 s.

    The file has room for n = Nt - s + 1 samples, which gives the first recorded step s.
    """
    series = next((entry for entry in found if "time" in entry.dims), None)
    if series is None:
        return {}
    count = dataset.sizes["time"]
    if table is not None:
        steps, time_s = table.steps[:count], table.time_s[:count]
    elif source.case is None:
        return {}
    else:
        stored = file[series.path].shape[series.dims.index("time")]
        steps = np.arange(count) + source.case.steps - stored + 1
        time_s = (steps - 1) * source.case.dt_s
    return {
        "time": ("time", time_s, _time_attributes(found[0].meaning.unit)),
        "step": ("time", steps, {"long_name": "time step"}),
    }


def _time_attributes(unit: str) -> dict:
    """Of the times at which a quantity in this unit was sampled: reduced units go with reduced times."""
    return {"units": REDUCED if unit == REDUCED else "s", "long_name": "time"}


def _point_coordinates(points: np.ndarray | None, dataset: xr.Dataset, grid: Grid | None) -> dict:
    """Where every sensor point lies, on the points of pressure and on those of the velocities recorded."""
    count = dataset.sizes["sensor"]
    if points is None or grid is None or len(points) != count:
        return {}
    coordinates = {}
    for number, axis in enumerate(AXES[:2] if grid.flat else AXES):
        staggered = any(one.attrs.get("staggered") == axis for one in dataset.data_vars.values())
        places, about = grid.positions_m(number, points[:, number]), _axis_attributes(axis, grid)
        coordinates[axis] = ("sensor", places, about)
        if staggered:
            shifted = grid.positions_m(number, points[:, number], True)
            coordinates[f"{axis}_sg"] = ("sensor", shifted, _axis_attributes(f"{axis}_sg", grid))
    return coordinates


def _box_coordinates(box: Box, dataset: xr.Dataset, grid: Grid | None) -> dict:
    coordinates = {}
    for dim in map(str, dataset.dims):
        if grid is not None and is_space(dim):
            axis = AXES.index(dim[0])
            index = np.arange(box.low[axis], box.high[axis] + 1)
            places = grid.positions_m(axis, index, dim != dim[0])
            coordinates[dim] = (dim, places, _axis_attributes(dim, grid))
    return coordinates


def input_field(source: Source, name: str) -> xr.DataArray | None:
    """A dataset of the input on all points of the grid; None when it has none with a value for each."""
    if source.input is None or source.grid is None:
        return None
    with kwave.open_file(source.input) as file:
        dataset = file.get(name)
        if not isinstance(dataset, h5py.Dataset) or dataset.shape != source.grid.shape:
            return None
        array = indexing.LazilyIndexedArray(LazyArray(source.input.resolve(), dataset))
    field = xr.Dataset({name: (layout.SPACE, array)})
    if source.grid.flat:
        field = field.isel(z=0)
    return field.assign_coords(_box_coordinates(whole_box(source.grid), field, source.grid))[name]


def _axis_attributes(dim: str, grid: Grid) -> dict:
    staggered = dim.endswith("_sg")
    return {"units": grid.unit, "long_name": f"{dim[0]}, half a cell further" if staggered else dim}


def _covers(dataset: xr.Dataset, grid: Grid) -> bool:
    extent = {str(dim)[0]: size for dim, size in dataset.sizes.items() if is_space(str(dim))}
    return all(extent.get(axis, 1) == size for axis, size in zip(AXES, grid.sizes, strict=True))


def _without_pml(dataset: xr.Dataset, grid: Grid) -> xr.Dataset:
    return dataset.isel(
        {dim: grid.inner(AXES.index(dim[0])) for dim in map(str, dataset.dims) if is_space(dim)}
    )


def is_space(dim: str) -> bool:
    """Whether a dimension runs along x, y or z."""
    return dim[0] in AXES and dim in (dim[0], f"{dim[0]}_sg")


def own_coordinates(array: xr.DataArray) -> xr.DataArray:
    """A variable at sensor points with the coordinates of its own points only."""
    shifted = array.attrs.get("staggered")
    unwanted = [axis if axis == shifted else f"{axis}_sg" for axis in AXES]
    return array.drop_vars(unwanted, errors="ignore")
