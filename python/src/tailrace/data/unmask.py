# SPDX-License-Identifier: BSD-3-Clause
"""Sensor points back on the grid, as k-Wave's unmaskSensorData does."""

import math

import numpy as np
import xarray as xr

from tailrace import kwave
from tailrace.data.grid import AXES, Grid

MAX_VALUES = 256_000_000
FILLED = 0.25  # points that fill less of their box than this make no picture


def unmask(array: xr.DataArray, grid: Grid) -> xr.DataArray:
    """The values at sensor points as a field on the smallest box that holds the points; NaN between them.

    Reads all values of `array`: select times before. Raises kwave.FileError when places are not known or the
    box is too large.
    """
    names, index, shape = _places(array, grid)
    other = [dim for dim in array.dims if dim != "sensor"]
    lengths = [array.sizes[dim] for dim in other]
    if math.prod(lengths) * math.prod(shape) > MAX_VALUES:
        raise kwave.FileError(
            f"{array.name}: the points lie in a box of {' x '.join(map(str, shape))}, too large. "
            "Fix: select fewer times or sensors"
        )
    values = np.full((*lengths, math.prod(shape)), np.nan, dtype=np.result_type(array.dtype, np.float32))
    values[..., np.ravel_multi_index(index, shape)] = array.transpose(*other, "sensor").values
    coordinates = {name: one for name, one in array.coords.items() if "sensor" not in one.dims}
    for name, length in zip(names, shape, strict=True):
        first, spacing = float(array.coords[name].min()), grid.spacing_m[AXES.index(name[0])]
        coordinates[name] = (name, first + spacing * np.arange(length), array.coords[name].attrs)
    return xr.DataArray(
        values.reshape(*lengths, *shape), coordinates, [*other, *names], name=array.name, attrs=array.attrs
    )


def fills_a_box(array: xr.DataArray, grid: Grid) -> bool:
    """Whether the sensor points are dense enough to be looked at as a plane or box."""
    _, _, shape = _places(array, grid)
    return array.sizes["sensor"] >= FILLED * math.prod(shape)


def _places(
    array: xr.DataArray, grid: Grid | None
) -> tuple[list[str], tuple[np.ndarray, ...], tuple[int, ...]]:
    """The coordinates in the order (z, y, x), the index of every point in its box, and the box's shape."""
    names = [name for axis in "zyx" for name in (axis, f"{axis}_sg") if name in array.coords]
    if grid is None or not names or "sensor" not in array.dims:
        raise kwave.FileError(
            f"{array.name}: no sensor points of known places. Fix: open it with input=THE_INPUT_FILE, "
            "or record with --copy_sensor_mask"
        )
    index = []
    for name in names:
        positions = array.coords[name].values
        index.append(np.rint((positions - positions.min()) / grid.spacing_m[AXES.index(name[0])]).astype(int))
    return names, tuple(index), tuple(int(one.max()) + 1 for one in index)
