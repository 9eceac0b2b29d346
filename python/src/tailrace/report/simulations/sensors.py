# SPDX-License-Identifier: BSD-3-Clause
"""Which of the recorded pressure series the report shows."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from tailrace.data.cuts import blocks, find_peak, middle, space_dims
from tailrace.data.grid import AXES
from tailrace.data.run import Run as Output
from tailrace.figures.fields import Series

SEARCH_BYTES = 256_000_000  # a search for the loudest sensor reads at most about this much of a series


@dataclass
class PlacedSeries(Series):
    """With where it was taken, along x, y and z; None when that is not known."""

    position_mm: tuple[float, ...] | None = None


def box_names(output: Output, name: str) -> list[str]:
    """The variables of a stream in boxes, `p_max/1` and so on."""
    return [one for one in output.names if one.startswith(f"{name}/") and one.split("/")[1].isdigit()]


def collect_series(output: Output, name: str = "p") -> list[PlacedSeries]:
    """A few notable series of a stream: the loudest point of every box and the middles, or some of the
    points.
    """
    if name in output:
        return point_series(output[name]) if output[name].ndim == 2 else []
    boxes = [one for one in box_names(output, name) if "time" in output[one].dims]
    return [series for box in boxes[:3] for series in _box_series(output, box)][:5]


def _series(label: str, one: xr.DataArray) -> PlacedSeries:
    dims = [dim for axis in AXES for dim in (axis, f"{axis}_sg") if dim in one.coords]
    places = tuple(float(one.coords[dim]) * 1e3 for dim in dims)
    return PlacedSeries(label, one.coords["time"].values, one.values.astype(np.float64), places or None)


def _box_series(output: Output, name: str) -> list[PlacedSeries]:
    array, number = output[name], name.split("/")[1]
    if array.sizes["time"] < 2 or "time" not in array.coords:
        return []
    spots = {"loudest point": _loudest_in_box(output, name), "middle": middle(array)}
    if spots["loudest point"] == spots["middle"]:
        del spots["middle"]
    space = space_dims(array)
    return [
        _series(f"box {number}, {label}", array.isel({space[axis]: at for axis, at in index.items()}))
        for label, index in spots.items()
    ]


def _loudest_in_box(output: Output, name: str) -> dict[str, int]:
    """From the recorded maximum where the run wrote it, else from some of the samples."""
    array, maximum = output[name], name.replace("/", "_max/")
    if maximum in output and output[maximum].shape == array.shape[1:]:
        peak = find_peak(output[maximum])
    else:
        peak = find_peak(_loudest(array))
    return peak.index if peak else middle(array)


def point_series(array: xr.DataArray) -> list[PlacedSeries]:
    """The loudest of the points, and some that are less loud."""
    count = array.sizes["sensor"]
    if array.sizes["time"] < 2 or count < 1 or "time" not in array.coords:
        return []
    by_loudness = np.argsort(-_loudest(array).values, kind="stable")
    chosen = list(dict.fromkeys(int(by_loudness[rank]) for rank in (0, count // 20, count // 5, count // 2)))
    labels = [f"point {point + 1}" + (", loudest" if point == chosen[0] else "") for point in chosen]
    return [_series(label, array.isel(sensor=point)) for label, point in zip(labels, chosen, strict=True)]


def _loudest(array: xr.DataArray) -> xr.DataArray:
    """The largest magnitude at every point; only every n-th sample is read where all would be too much."""
    some = array.isel(time=slice(None, None, max(1, array.nbytes // SEARCH_BYTES)))
    loudest = np.zeros(array.shape[1:], dtype=np.float32)
    for block in blocks(some, "time"):
        np.maximum(loudest, np.abs(block.values).max(axis=0), out=loudest)
    return array.isel(time=0, drop=True).copy(data=loudest)
