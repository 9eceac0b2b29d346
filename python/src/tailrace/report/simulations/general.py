# SPDX-License-Identifier: BSD-3-Clause
"""The result of a run on a grid that run.json describes: fields at some times, series at points."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import xarray as xr
from plotly.subplots import make_subplots

from tailrace.data.cuts import PICTURE_POINTS, space_dims
from tailrace.data.grid import AXES, Grid
from tailrace.data.run import Run as Output
from tailrace.figures import theme
from tailrace.figures.fields import NO_BOX, PAGE_WIDTH, in_steps
from tailrace.report.load import Run
from tailrace.report.parts import Number, Picture, Section
from tailrace.units import si_text

MAX_FRONTS = 6  # pictures of one output
MAX_OUTPUTS = 3
# Shares of the values that lie within the colours, so that waves that have spread or come back stay visible
# beside the first ones.
FRONT_SHARE, TRACE_SHARE = 0.97, 0.85
TRACE_POINTS = 1200  # of a trace that are drawn


@dataclass
class Cut:
    """A plane of an output: values with coordinates in metres along `down` and `across`, after the time if
    there are several; where it is along its normal.
    """

    values: xr.DataArray
    across: str
    down: str
    normal: str
    at_m: float


def time_text(time_s: float) -> str:
    return si_text(time_s, "s")


def fill(
    section: Section, run: Run, output: Output, moment: Callable[[float], str] = time_text
) -> list[Number]:
    """Wave fronts of outputs in boxes, gathers of outputs at points. `moment` names the time of a sample."""
    if output.source.grid is None:
        section.notes.append(
            "The output file does not describe a grid; `tailrace inspect` lists what it holds."
        )
        return []
    sources = sources_of(run)
    fields = [array for array in map(output.__getitem__, output) if len(space_dims(array)) > 1]
    grid = output.source.grid
    shown = _different(fields, grid, sources)[:MAX_OUTPUTS]
    pictures = [_fronts(array, grid, sources, moment) for array in shown]
    pictures += [_gather(array, grid, bool(sources)) for array in batches(output)]
    section.pictures += [picture for picture in pictures if picture is not None]
    return []


def _different(fields: list[xr.DataArray], grid: Grid, sources: list[tuple[int, ...]]) -> list[xr.DataArray]:
    """Of outputs that would show the same quantity in the same plane, the one with the most samples."""
    found: dict[tuple, xr.DataArray] = {}
    for array in sorted(fields, key=lambda one: -one.sizes["time"] if "time" in one.dims else 0):
        cut = cut_of(array, grid, sources)
        if cut is not None:
            found.setdefault((array.attrs["quantity"], array.attrs["reduction"], cut.normal, cut.at_m), array)
    return [array for array in fields if any(array is one for one in found.values())]


def quantity_text(array: xr.DataArray) -> str:
    """The quantity with its unit, for an axis or a scale."""
    return f"{array.attrs['long_name']} [{array.attrs.get('units') or '1'}]"


def batches(output: Output) -> list[xr.DataArray]:
    """Series at points whose places are known."""
    arrays = map(output.__getitem__, output)
    return [array for array in arrays if "sensor" in array.dims and "x" in array.coords][:MAX_OUTPUTS]


def sources_of(run: Run) -> list[tuple[int, ...]]:
    """Grid indices (x, y, z) of the sources, by the resolved case in run.json."""
    source = (run.account.get("config") or {}).get("source") or {}
    return [tuple(one) for one in ([source["cell"]] if "cell" in source else source.get("cells") or [])]


def cut_of(array: xr.DataArray, grid: Grid, sources: list[tuple[int, ...]]) -> Cut | None:
    """The plane of an output that is shown: its own, or through the source along x and z."""
    space = space_dims(array)
    if not all(dim in array.coords for dim in space.values()):
        return None
    thin = [axis for axis in AXES if axis not in space or array.sizes[space[axis]] == 1]
    if len(thin) > 1:
        return None
    normal = thin[0] if thin else "y"
    at_m = 0.0
    if normal not in space and normal in array.coords:
        at_m = float(array.coords[normal])
    if normal in space:
        number, dim = AXES.index(normal), space[normal]
        through = grid.positions_m(number, sources[0][number] if sources else grid.sizes[number] // 2)
        array = array.isel({dim: int(np.abs(array.coords[dim].values - through).argmin())})
        at_m = float(array.coords[dim])
    across, down = (space[axis] for axis in AXES if axis != normal)
    strides = {dim: slice(None, None, -(-array.sizes[dim] // PICTURE_POINTS)) for dim in (across, down)}
    return Cut(array.isel(strides).transpose(..., down, across), across, down, normal, at_m)


def _fronts(
    array: xr.DataArray, grid: Grid, sources: list[tuple[int, ...]], moment: Callable[[float], str]
) -> Picture | None:
    """Samples at even distances, from the first one in which the waves are on their way to the last."""
    cut, count = cut_of(array, grid, sources), array.sizes["time"]
    if cut is None or not count:
        return None
    planes = cut.values.isel(time=spread(count)).astype(np.float32).load()
    colours = colours_of(planes.values)
    if colours is None:
        return None
    columns = min(3, len(planes))
    rows = -(-len(planes) // columns)
    figure = make_subplots(
        rows,
        columns,
        subplot_titles=[moment(float(time_s)) for time_s in planes.coords["time"]],
        horizontal_spacing=0.05,
        vertical_spacing=0.22 / rows,
        shared_xaxes=True,
        shared_yaxes=True,
    )
    for number, plane in enumerate(planes):
        one = Cut(plane, cut.across, cut.down, cut.normal, cut.at_m)
        add_front(figure, number // columns + 1, number % columns + 1, one, grid, sources)
    length, depth = (array.sizes[dim] * grid.spacing_m[AXES.index(dim[0])] for dim in (cut.across, cut.down))
    height = rows * (min((PAGE_WIDTH - 150) / columns * depth / length, 420.0) + 44) + 40
    bar = {"title": {"text": quantity_text(array), "side": "right"}, "thickness": 14}
    figure.update_layout(coloraxis=colours | {"colorbar": bar})
    theme.style(figure, height=int(height), showlegend=False)
    for column in range(1, columns + 1):
        last = -(-(len(planes) - column + 1) // columns)
        figure.update_xaxes(row=last, col=column, title=f"{cut.across[0]} [{grid.unit}]", showticklabels=True)
    caption = f"In the plane {cut.normal} = {cut.at_m:g} {grid.unit}, one colour scale for all"
    if not sources:
        return Picture(figure, f"{caption}.", f"Fields: output {array.name}", outputs=(str(array.name),))
    caption += "; the loudest values have its end's colour. The star is the source."
    return Picture(figure, caption, f"Wave fronts: output {array.name}", outputs=(str(array.name),))


def colours_of(planes: np.ndarray) -> dict | None:
    """The colour axis of planes: around zero, or from the lowest value on where none is negative. None where
    there is nothing to see.
    """
    if not np.any(planes):
        return None
    if np.nanmin(planes) >= 0:
        low, high = float(np.nanmin(planes)), float(np.nanmax(planes))
        return {"colorscale": theme.SEQUENTIAL, "cmin": low, "cmax": high}
    limit = clipped([plane for plane in planes if plane.any()], FRONT_SHARE)
    return {"colorscale": theme.DIVERGING, "cmin": -limit, "cmax": limit} if limit > 0 else None


def spread(count: int) -> np.ndarray:
    """Some of the samples, evenly, the last one among them."""
    if count <= MAX_FRONTS:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, MAX_FRONTS + 1).round().astype(int)[1:])


def add_front(
    figure: go.Figure, row: int, column: int, cut: Cut, grid: Grid, sources: list[tuple[int, ...]]
) -> None:
    """The values of a plane, with the sources in it; metres equally long both ways, and z downwards."""
    across, down = cut.across[0], cut.down[0]
    hover = f"{across} %{{x:.5g}} {grid.unit}<br>{down} %{{y:.5g}} {grid.unit}<br><b>%{{z:.3g}}</b>{NO_BOX}"
    x, y = (cut.values.coords[dim].values for dim in (cut.across, cut.down))
    shown = in_steps(cut.values.values)
    heatmap = go.Heatmap(x=x, y=y, z=shown, coloraxis="coloraxis", hovertemplate=hover)
    figure.add_trace(heatmap, row, column)
    add_points(figure, row, column, cut, grid, sources, "star", "source")
    figure.update_yaxes(
        row=row,
        col=column,
        scaleanchor="x",
        constrain="domain",
        showgrid=False,
        autorange="reversed" if down == "z" else True,
        title=f"{down} [{grid.unit}]" if column == 1 else None,
    )
    matches = {} if row == column == 1 else {"matches": "x"}
    figure.update_xaxes(row=row, col=column, constrain="domain", showgrid=False, **matches)


def add_points(figure, row, column, cut: Cut, grid: Grid, points, symbol: str, name: str) -> None:
    """Those of the grid points (x, y, z indices) that lie in the plane."""
    index = np.array(points, dtype=int).reshape(-1, 3)
    places = {axis: grid.positions_m(number, index[:, number]) for number, axis in enumerate(AXES)}
    near = np.abs(places[cut.normal] - cut.at_m) < grid.spacing_m[AXES.index(cut.normal)] / 2
    if not near.any():
        return
    marker = {"symbol": symbol, "size": 9, "color": "#d99a1e", "line": {"width": 1, "color": "#333333"}}
    x, y = (places[dim[0]][near] for dim in (cut.across, cut.down))
    figure.add_trace(
        go.Scatter(x=x, y=y, mode="markers", hovertemplate=f"{name}{NO_BOX}", marker=marker), row, column
    )


def clipped(arrays: list[np.ndarray], share: float) -> float:
    """The magnitude within which a share of the values lies, of those that are not quite 0."""
    if not arrays:
        return 0.0
    values = np.abs(np.concatenate([array[np.isfinite(array)].ravel() for array in arrays]))
    values = values[values > 1e-4 * values.max(initial=0.0)]
    return float(np.quantile(values, share)) if values.size else 0.0


def _gather(array: xr.DataArray, grid: Grid, shot: bool) -> Picture | None:
    """All traces side by side, time downwards, as seismologists look at them."""
    count, points = array.sizes["time"], array.sizes["sensor"]
    if count < 2 or points < 2:
        return None
    traces = array.isel(time=slice(None, None, max(1, -(-count // TRACE_POINTS)))).astype(np.float32).load()
    limit = clipped([traces.values], TRACE_SHARE)
    if limit == 0:
        return None
    varying = [axis for axis in AXES if axis in array.coords and np.ptp(array.coords[axis].values) > 0]
    along_line = len(varying) == 1 and np.all(np.diff(array.coords[varying[0]].values) > 0)
    places = array.coords[varying[0]].values if along_line else np.arange(points)
    heading, place = ("Shot gather", "receiver") if shot else ("Series at points", "point")
    title = f"{varying[0]} of the {place} [{grid.unit}]" if along_line else place
    figure = go.Figure(
        go.Heatmap(
            x=places,
            y=traces.coords["time"].values,
            z=traces.values,
            zmin=-limit,
            zmax=limit,
            colorscale="Greys",
            zsmooth="best",
            colorbar={"title": {"text": quantity_text(array), "side": "right"}, "thickness": 14},
            hovertemplate=f"{title} %{{x:.5g}}<br>%{{y:.4f}} s<br><b>%{{z:.3g}}</b>{NO_BOX}",
        )
    )
    figure.update_xaxes(title=title, showgrid=False)
    figure.update_yaxes(title="time [s]", autorange="reversed", showgrid=False)
    caption = f"{points} traces; the loudest values have the colour of the scale's end."
    heading = f"{heading}: output {array.name}"
    return Picture(theme.style(figure, height=560), caption, heading, outputs=(str(array.name),))
