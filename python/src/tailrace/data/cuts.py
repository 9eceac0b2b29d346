# SPDX-License-Identifier: BSD-3-Clause
"""Planes, points and times of labelled arrays, by coordinates in metres and seconds."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from tailrace import kwave
from tailrace.data.grid import AXES
from tailrace.figures.fields import Plane
from tailrace.units import PLAIN, REDUCED, quantity_text

NOT_SIGNED = ("maximum", "root mean square")
PICTURE_POINTS = 480  # more points along an axis than a picture has pixels are not worth reading
SEARCH_VALUES = 64_000_000  # a search for the maximum reads at most about this many values
BLOCK_BYTES = 64 << 20


@dataclass(frozen=True)
class Peak:
    """The largest magnitude in a field, at these indices along the axes that it has."""

    index: dict[str, int]
    value: float


def space_dims(array: xr.DataArray) -> dict[str, str]:
    """The dimension of the array along every axis that it has, `{"x": "x_sg"}` for example."""
    return {axis: dim for axis in AXES for dim in (axis, f"{axis}_sg") if dim in array.dims}


def require_places(array: xr.DataArray) -> None:
    """Positions are only known with the sensor mask, or the account of the run; without them there is nothing
    to draw against.
    """
    if all(dim in array.coords for dim in space_dims(array).values()):
        return
    fix = "open it with input=THE_INPUT_FILE, or record with --copy_sensor_mask"
    if array.attrs.get("units") == REDUCED:
        fix = "its bins are equal parts of the box: draw its values with plotly or matplotlib"
    elif "selection" in array.attrs:
        fix = "open the directory of the run, whose run.json describes the grid"
    raise kwave.FileError(f"{array.name}: where its values lie is not known. Fix: {fix}")


def refuse_no_field(array: xr.DataArray) -> None:
    """Raises kwave.FileError for what has no planes, with what shows it instead."""
    rest = other_dims(array)
    fix = "plot.trace" if not rest else f"plot.trace, with one of {', '.join(rest)} chosen by isel"
    if "time" not in array.dims:
        fix = "use its values"
    raise kwave.FileError(f"{array.name}: it is no field. Fix: {fix}")


def other_dims(array: xr.DataArray) -> list[str]:
    """Dimensions that are neither time nor space: molecules, components, records."""
    return [str(dim) for dim in array.dims if dim not in ("time", "sensor", *space_dims(array).values())]


def require_times(array: xr.DataArray) -> None:
    """The time step is in the output or, for outputs stripped of it, in the input."""
    if "time" in array.dims and "time" not in array.coords:
        raise kwave.FileError(
            f"{array.name}: its time step is not known. Fix: open it with input=THE_INPUT_FILE"
        )


def nearest(array: xr.DataArray, dim: str, value: float) -> int:
    """The index of the point or sample that is nearest to a coordinate; it must not lie outside."""
    positions = array.coords[dim].values
    unit = array.coords[dim].attrs.get("units", "")
    half = (positions[1] - positions[0]) / 2 if len(positions) > 1 else np.inf
    if not positions[0] - half <= value <= positions[-1] + half:
        raise kwave.FileError(
            f"{array.name}: {dim} = {value:g} {unit} lies outside; it runs from {positions[0]:g} to "
            f"{positions[-1]:g} {unit}"
        )
    return int(np.abs(positions - value).argmin())


def at_time(array: xr.DataArray, time_s: float | None) -> xr.DataArray:
    """The sample at a time of a series; anything else as it is."""
    if "time" not in array.dims:
        if time_s is not None:
            raise kwave.FileError(f"{array.name}: it is no series, time= has no meaning for it")
        return array
    if array.sizes["time"] == 0:
        raise kwave.FileError(f"{array.name}: no sample is complete yet")
    if time_s is None:
        if array.sizes["time"] > 1:
            first, last = (array.coords["time"].values[number] for number in (0, -1))
            unit = array.coords["time"].attrs.get("units", "s")
            between = f"between {first:g} and {last:g} {PLAIN.get(unit, unit)}".rstrip()
            raise kwave.FileError(
                f"{array.name}: a series of {array.sizes['time']} samples. Fix: time= {between}"
            )
        return array.isel(time=0)
    return array.isel(time=nearest(array, "time", time_s))


def time_text(array: xr.DataArray, sample: int | None = None) -> str:
    """The time of one of the samples, or of an array that is one."""
    time = array.coords["time"] if sample is None else array.coords["time"][sample]
    return quantity_text(float(time), time.attrs.get("units", "s"))


def is_signed(array: xr.DataArray) -> bool:
    """Whether colours should be centred on zero: waves are, maxima and rms are not."""
    reduction = str(array.attrs.get("reduction", ""))
    return not reduction.startswith(NOT_SIGNED) and "heat" not in str(array.attrs.get("long_name", ""))


def refuse_other_axes(array: xr.DataArray, given: dict) -> None:
    """Positions must not be given along axes that the array does not have."""
    for axis, value in given.items():
        if value is not None and axis not in space_dims(array):
            raise kwave.FileError(f"{array.name}: it has no {axis} axis")


def refuse_any(array: xr.DataArray, given: dict) -> None:
    """A two-dimensional field is shown whole."""
    if any(value is not None for value in given.values()):
        raise kwave.FileError(f"{array.name}: it is two-dimensional. Fix: leave x, y and z out")


def normals(
    array: xr.DataArray, given: dict[str, float | None], margin: tuple[int, int, int]
) -> dict[str, int]:
    """The planes to show: normal axis and index along it.

    Those that were asked for; else the plane of a flat array; else the three through the largest magnitude,
    looked for further than `margin` (x, y, z) from the border.
    """
    space = space_dims(array)
    refuse_other_axes(array, given)
    wanted = {axis: nearest(array, space[axis], value) for axis, value in given.items() if value is not None}
    if wanted:
        return wanted
    flat = [axis for axis, dim in space.items() if array.sizes[dim] == 1]
    if flat:
        return {flat[0]: 0}
    peak = find_peak(array, margin, is_signed(array))
    index = peak.index if peak else middle(array)
    return {axis: index[axis] for axis in _longest_last(array)}


def middle(array: xr.DataArray) -> dict[str, int]:
    return {axis: array.sizes[dim] // 2 for axis, dim in space_dims(array).items()}


def _longest_last(array: xr.DataArray) -> list[str]:
    """The normals z, y and x, that along the longest side at the end."""
    lengths = {axis: float(np.ptp(array.coords[dim].values)) for axis, dim in space_dims(array).items()}
    longest = max(lengths, key=lengths.get)
    return [*(axis for axis in reversed(lengths) if axis != longest), longest]


def find_peak(
    array: xr.DataArray, margin: tuple[int, int, int] = (0, 0, 0), signed: bool = False
) -> Peak | None:
    """The largest value (magnitude when `signed`), not closer to the border than `margin` (x, y, z).

    Fields above SEARCH_VALUES are searched with a stride.
    """
    space = dict(reversed(space_dims(array).items()))
    stride = max(1, math.ceil((array.size / SEARCH_VALUES) ** (1 / 3)))
    first = {axis: margin[AXES.index(axis)] for axis in space}
    inner = {
        dim: slice(first[axis], max(first[axis] + 1, array.sizes[dim] - first[axis]), stride)
        for axis, dim in space.items()
    }
    best = None
    begin = 0
    for block in blocks(array.transpose(*space.values()).isel(inner), next(iter(space.values()))):
        values = np.abs(block.values) if signed else block.values
        usable = np.where(np.isfinite(values), values, -math.inf)
        if usable.size and usable.max() > (-math.inf if best is None else best.value):
            found = np.unravel_index(int(usable.argmax()), usable.shape)
            places = (begin + int(found[0]), *map(int, found[1:]))
            index = {axis: first[axis] + at * stride for axis, at in zip(space, places, strict=True)}
            best = Peak(index, float(usable[found]))
        begin += len(usable)
    return best


def blocks(array: xr.DataArray, dim: str) -> Iterator[xr.DataArray]:
    """The array in batches along a dimension that fit into memory."""
    size = array.sizes[dim]
    each = max(1, BLOCK_BYTES * size // max(1, array.nbytes))
    for begin in range(0, size, each):
        yield array.isel({dim: slice(begin, begin + each)})


def shown(places: xr.DataArray) -> np.ndarray:
    """Coordinates as pictures have them: metres in millimetres, other units as they are."""
    return places.values * 1e3 if shown_unit(places) == "mm" else places.values


def shown_unit(places: xr.DataArray) -> str:
    """The unit of coordinates in pictures."""
    unit = places.attrs.get("units", "m")
    return "mm" if unit == "m" else unit


def planes_through(array: xr.DataArray, index: dict[str, int]) -> list[Plane]:
    """The planes through a point, those along the longest side first; flat ones are left out."""
    thick = {axis for axis, dim in space_dims(array).items() if array.sizes[dim] > 1}
    if len(space_dims(array)) < 3:
        return [plane(array, None, 0)] if len(thick) == 2 else []
    return [plane(array, axis, index[axis]) for axis in _longest_last(array) if len(thick - {axis}) == 2]


def plane(array: xr.DataArray, normal: str | None, index: int, points: int = PICTURE_POINTS) -> Plane:
    """One plane, read with a stride where it has more than `points` points; `normal` None for a 2D array."""
    space = space_dims(array)
    at = 0.0
    if normal is not None:
        dim = space.pop(normal)
        at = float(shown(array.coords[dim])[index])
        array = array.isel({dim: index})
    across, up = list(space)
    if min(array.sizes[dim] for dim in space.values()) < 2:
        raise kwave.FileError(
            f"{array.name}: this plane is only a line of points. Fix: another plane, or plot.trace"
        )
    strides = {dim: math.ceil(array.sizes[dim] / points) for dim in space.values()}
    array = array.isel({dim: slice(None, None, stride) for dim, stride in strides.items()})
    array = array.transpose(space[up], space[across])
    along, height = (shown(array.coords[space[axis]]) for axis in (across, up))
    values = np.asarray(array.values, dtype=np.float32)
    normal_axis = AXES.index(normal) if normal else 2
    unit = shown_unit(array.coords[space[across]])
    return Plane(values, (AXES.index(across), AXES.index(up)), along, height, normal_axis, at, unit)


def traces_at(array: xr.DataArray, given: dict[str, float | Sequence[float] | None]) -> list[xr.DataArray]:
    """The series at points of a box, by coordinates; axes that were not given are in the middle."""
    require_places(array)
    space = space_dims(array)
    refuse_other_axes(array, given)
    others = other_dims(array)
    if others:
        raise kwave.FileError(
            f"{array.name}: a trace needs one value per time. Fix: choose along {', '.join(others)} with isel"
        )
    if not space:
        return [array]
    columns = []
    for axis, dim in space.items():
        value = given.get(axis)
        middle = float(array.coords[dim].values[array.sizes[dim] // 2])
        columns.append(np.atleast_1d(np.asarray(middle if value is None else value, dtype=float)))
    try:
        columns = np.broadcast_arrays(*columns)
    except ValueError:
        raise kwave.FileError(f"{array.name}: x, y and z must be numbers, or lists of one length") from None
    found = []
    for position in zip(*columns, strict=True):
        index = {dim: nearest(array, dim, value) for dim, value in zip(space.values(), position, strict=True)}
        found.append(array.isel(index))
    return found


def refuse_sensors(array: xr.DataArray) -> None:
    """Raises kwave.FileError for a choice of sensors of what has none, with what it has to choose from."""
    if space_dims(array):
        raise kwave.FileError(f"{array.name}: recorded in a box. Fix: choose with x, y, z, not sensor=")
    rest = other_dims(array)
    fix = f"choose along {', '.join(rest)} with isel" if rest else "leave sensor= out"
    raise kwave.FileError(f"{array.name}: not recorded at sensors. Fix: {fix}")


def traces_of(array: xr.DataArray, sensor: int | Sequence[int] | None, most: int) -> list[xr.DataArray]:
    """The series at sensor points, counted from 0; without `sensor` at most `most`, evenly spread."""
    count = array.sizes["sensor"]
    if sensor is None:
        sensor = np.unique(np.linspace(0, count - 1, min(count, most)).astype(int)).tolist()
    chosen = [int(number) for number in np.atleast_1d(sensor)]
    wrong = [number for number in chosen if not 0 <= number < count]
    if wrong:
        raise kwave.FileError(
            f"{array.name}: sensor {wrong[0]} is not there; sensors count from 0 to {count - 1}"
        )
    together = array.isel(sensor=chosen).load()  # One reading: k-Wave's files keep whole steps in a chunk.
    return [together.isel(sensor=place).assign_coords(sensor=number) for place, number in enumerate(chosen)]
