# SPDX-License-Identifier: BSD-3-Clause
"""The absorbing layer, sensors and sources on pictures of planes."""

import math

import numpy as np
import plotly.graph_objects as go

from tailrace.data.grid import Grid
from tailrace.data.mask import Mask
from tailrace.figures.fields import NO_BOX, Plane, outline


def mark_absorbing_layer(figure: go.Figure, planes: list[Plane], grid: Grid, color: str) -> None:
    """A dotted line along the inner border of the absorbing layer, on planes of the whole grid."""
    for number, plane in enumerate(planes, start=1):
        inner = {axis: grid.inner(axis) for axis in plane.axes}
        low = [_mm(grid, axis, kept.start - 0.5) for axis, kept in inner.items()]
        high = [_mm(grid, axis, kept.stop - 0.5) for axis, kept in inner.items()]
        if all(grid.pml[axis] for axis in plane.axes):
            outline(figure, number, (*low, *high), color, dash="dot", width=1)


def mark_sensors(
    figure: go.Figure, planes: list[Plane], grid: Grid, mask: Mask, color: str = "#ffffff"
) -> None:
    """Outlines of the sensor boxes that a plane meets; sensor points as dots on the plane they lie in."""
    for number, plane in enumerate(planes, start=1):
        half = grid.spacing_m[plane.normal] * 0.5e3
        for box in mask.boxes or []:
            low, high = (_mm(grid, plane.normal, end[plane.normal]) for end in (box.low, box.high))
            if low - half <= plane.at <= high + half:
                first = [_mm(grid, axis, box.low[axis] - 0.5) for axis in plane.axes]
                last = [_mm(grid, axis, box.high[axis] + 0.5) for axis in plane.axes]
                outline(figure, number, (*first, *last), color)
        if mask.points is not None:
            add_points(figure, number, plane, grid, mask.points, color, symbol="circle-open", name="sensor")


def add_points(
    figure, number, plane, grid: Grid, points: np.ndarray, color: str, symbol: str, name: str
) -> None:
    """Grid points (x, y, z indices) that lie in the plane, at most a few thousand of them."""
    at = _mm(grid, plane.normal, points[:, plane.normal])
    near = points[np.abs(at - plane.at) < 0.5e3 * grid.spacing_m[plane.normal]]
    near = near[:: max(1, math.ceil(len(near) / 3000))]
    if not len(near):
        return
    suffix = "" if number == 1 else str(number)
    x, y = (_mm(grid, axis, near[:, axis]) for axis in plane.axes)
    figure.add_trace(
        go.Scatter(
            x=x, y=y, mode="markers", marker={"size": 4, "color": color, "symbol": symbol},
            xaxis=f"x{suffix}", yaxis=f"y{suffix}", name=name, hovertemplate=f"{name}{NO_BOX}",
        )
    )  # fmt: skip


def _mm(grid: Grid, axis: int, index):
    return grid.positions_m(axis, index) * 1e3
