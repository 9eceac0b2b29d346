# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of an output: slices, traces and animations as plotly figures, in the look of the report."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
import plotly.graph_objects as go
import xarray as xr

from tailrace import kwave
from tailrace.data import cuts
from tailrace.data.grid import AXES, Case, Grid
from tailrace.data.marks import mark_absorbing_layer
from tailrace.data.unmask import fills_a_box, unmask
from tailrace.figures import fields
from tailrace.figures.fields import Plane, Series, Shades
from tailrace.units import unit_scale

TRACES = 5  # without a choice of sensors
ANIMATION_VALUES = 4_000_000  # all frames of an animation together: about 20 MB as a page
NARROWEST = 420.0
# The report's page paints its figures; a figure that is alone is dark on white.
TEXT, MUTED, GRID_LINES, GROUND = "#1b1f27", "#5c6470", "#e6e9ee", "#ffffff"

TOOL_BAR = 24  # pixels
SLIDER = {
    "active": 0,
    "yanchor": "top",
    "currentvalue": {"prefix": "t = ", "xanchor": "left", "font": {"color": TEXT, "size": 13}},
    "pad": {"t": 0, "b": 0},
    "ticklen": 0,
    "minorticklen": 0,
    "font": {"color": GROUND, "size": 1},  # the labels of all steps would run into each other
}
BUTTONS = {
    "type": "buttons",
    "direction": "left",
    "showactive": False,
    "x": 0.0,
    "xanchor": "left",
    "yanchor": "top",
    "pad": {"t": 0, "r": 0},
}


class Plots:
    """`run.plot`. A variable is given by its name, or as a labelled array made from one."""

    def __init__(self, run, case: Case | None, grid: Grid | None) -> None:
        self._run, self._case, self._grid = run, case, grid

    def slice(
        self,
        what: str | xr.DataArray,
        *,
        x: float | None = None,
        y: float | None = None,
        z: float | None = None,
        time: float | None = None,
        limit: float | None = None,
    ) -> go.Figure:
        """Planes through a field at x, y or z (metres), of a series at `time` (seconds).

        Sensor points that make up a plane or a box are put back on the grid.
        Without a position: the three planes through the largest magnitude. `limit` ends the colours, in the
        unit of the data. Raises kwave.FileError for a plane or time outside.
        """
        array = self._field(what)
        sample = self._on_grid(cuts.at_time(array, time))
        planes = self._planes(sample, {"x": x, "y": y, "z": z})
        figure = self._painted(sample, planes, _shades(sample, planes, limit))
        _title(figure, sample)
        return figure

    def trace(
        self,
        what: str | xr.DataArray,
        *,
        sensor: int | Sequence[int] | None = None,
        x: float | Sequence[float] | None = None,
        y: float | Sequence[float] | None = None,
        z: float | Sequence[float] | None = None,
    ) -> go.Figure:
        """Series against time: at sensor points by their number (from 0), in boxes at x, y, z (metres).

        Several at once with lists. Without a choice: a few of the sensor points, or the middle of the box.
        """
        array = self._array(what)
        if "time" not in array.dims:
            raise kwave.FileError(f"{array.name}: it is no series. Fix: plot.slice")
        if array.sizes["time"] == 0:
            raise kwave.FileError(f"{array.name}: no sample is complete yet")
        if "sensor" in array.dims:
            if (x, y, z) != (None, None, None):
                raise kwave.FileError(
                    f"{array.name}: recorded at points. Fix: choose with sensor=, not x, y, z"
                )
            chosen = cuts.traces_of(array, sensor, TRACES)
        elif sensor is not None:
            cuts.refuse_sensors(array)
        else:
            chosen = cuts.traces_at(array, {"x": x, "y": y, "z": z})
        series = [_series(one) for one in chosen]
        time_unit = array.coords["time"].attrs.get("units", "s")
        figure = fields.traces(series, array.attrs.get("units", ""), _name(array), time_unit)
        figure.update_layout(
            showlegend=True, legend={"orientation": "v", "x": 1.01, "y": 1.0, "yanchor": "top"}
        )
        return _stand_alone(figure, 900)

    def animate(
        self,
        what: str | xr.DataArray,
        *,
        x: float | None = None,
        y: float | None = None,
        z: float | None = None,
        frames: int = 60,
        seconds: float = 6.0,
        limit: float | None = None,
    ) -> go.Figure:
        """A plane of a series over time, with a button to play it and a slider.

        At most `frames` samples, evenly spread, played in about `seconds`; large planes are thinned out.
        `limit` ends the colours, in the unit of the data.
        """
        array = self._field(what)
        if "time" not in array.dims or array.sizes["time"] < 2:
            raise kwave.FileError(f"{array.name}: it is no series of complete samples. Fix: plot.slice")
        chosen = np.unique(np.linspace(0, array.sizes["time"] - 1, max(2, frames)).astype(int))
        points = int((ANIMATION_VALUES / len(chosen)) ** 0.5)
        samples = (self._on_grid(array.isel(time=int(number))) for number in chosen)
        first = next(samples)
        normal = self._one_normal(first, {"x": x, "y": y, "z": z})
        planes = [cuts.plane(sample, *normal, points) for sample in chain([first], samples)]
        shades = _shades(array, planes, limit)
        figure = self._painted(first, planes[:1], shades)
        if normal[0] is None:
            figure.layout.annotations = ()
        times = [cuts.time_text(array, number) for number in chosen]
        _add_frames(figure, planes, times, shades, 1000 * seconds / len(chosen))
        return figure

    def _painted(self, array: xr.DataArray, planes: list[Plane], shades: Shades) -> go.Figure:
        figure = fields.slices(planes, shades, _width(planes))
        if self._is_whole(array):
            line = fields.DARK_LINE if shades.signed else fields.LIGHT_LINE
            mark_absorbing_layer(figure, planes, self._grid, line)
        return _stand_alone(figure, _width(planes))

    def _array(self, what: str | xr.DataArray) -> xr.DataArray:
        array = self._run[what] if isinstance(what, str) else what
        cuts.require_times(array)
        return array

    def _field(self, what: str | xr.DataArray) -> xr.DataArray:
        array = self._array(what)
        require_field(array, self._grid)
        return array

    def _on_grid(self, sample: xr.DataArray) -> xr.DataArray:
        return on_grid(sample, self._grid)

    def _is_whole(self, array: xr.DataArray) -> bool:
        """Whether it covers the whole grid with its absorbing layer."""
        space = cuts.space_dims(array)
        return self._case is not None and all(
            size == (array.sizes[space[axis]] if axis in space else 1)
            for axis, size in zip(AXES, self._case.grid.sizes, strict=True)
        )

    def _planes(self, array: xr.DataArray, given: dict[str, float | None]) -> list[Plane]:
        return [cuts.plane(array, normal, index) for normal, index in self._normals(array, given)]

    def _normals(self, array: xr.DataArray, given: dict) -> list[tuple[str | None, int]]:
        if len(cuts.space_dims(array)) == 2:
            cuts.refuse_any(array, given)
            return [(None, 0)]
        margin = self._case.grid.pml if self._is_whole(array) else (0, 0, 0)
        return list(cuts.normals(array, given, margin).items())

    def _one_normal(self, array: xr.DataArray, given: dict) -> tuple[str | None, int]:
        space = cuts.space_dims(array)
        thick = len(space) == 3 and all(array.sizes[dim] > 1 for dim in space.values())
        if thick and sum(value is not None for value in given.values()) != 1:
            raise kwave.FileError(
                f"{array.name}: an animation shows one plane. Fix: give x=, y= or z= in metres"
            )
        return self._normals(array, given)[0]


def require_field(array: xr.DataArray, grid: Grid | None) -> None:
    """Raises kwave.FileError for what has no planes: values at scattered points, or at no known places."""
    if "sensor" in array.dims:
        if not fills_a_box(array, grid):
            raise kwave.FileError(f"{array.name}: recorded at scattered points. Fix: plot.trace")
    elif len(cuts.space_dims(array)) < 2:
        cuts.refuse_no_field(array)
    else:
        cuts.require_places(array)


def on_grid(sample: xr.DataArray, grid: Grid | None) -> xr.DataArray:
    """A sample of a field; sensor points are put back on the grid."""
    return unmask(sample, grid) if "sensor" in sample.dims else sample


def _name(array: xr.DataArray) -> str:
    return str(array.attrs.get("long_name") or array.name or "")


def _shades(array: xr.DataArray, planes: list[Plane], limit: float | None) -> Shades:
    peak = limit or max(float(np.nanmax(np.abs(one.values), initial=0.0)) for one in planes)
    return Shades(_name(array), array.attrs.get("units", ""), cuts.is_signed(array), peak=peak)


def _width(planes: list[Plane]) -> float:
    """The narrowest layout in which the planes have their full height."""
    scale = fields.MAX_HEIGHT / max(float(np.ptp(one.up)) for one in planes)
    panels = scale * sum(float(np.ptp(one.along)) for one in planes) + fields.GAP * (len(planes) - 1)
    wanted = panels + fields.LEFT + fields.BAR
    return min(max(wanted, NARROWEST), fields.PAGE_WIDTH)


def _title(figure: go.Figure, sample: xr.DataArray) -> None:
    """Adds the time to the planes' positions; a two-dimensional field has no position to name."""
    time = f"t = {cuts.time_text(sample)}" if "time" in sample.coords else ""
    if len(cuts.space_dims(sample)) == 2:
        for annotation in figure.layout.annotations:
            annotation.text = time
        figure.layout.annotations = [one for one in figure.layout.annotations if one.text]
    elif time:
        for annotation in figure.layout.annotations:
            annotation.text = f"{annotation.text}, {time}"


def _series(one: xr.DataArray) -> Series:
    dims = [dim for axis in AXES for dim in (axis, f"{axis}_sg") if dim in one.coords]
    places = ", ".join(f"{float(cuts.shown(one.coords[dim])):.2f}" for dim in dims).replace("-", "\u2212")
    label = [f"sensor {int(one.coords['sensor'])}"] if "sensor" in one.coords else []
    label += [f"({places}) {cuts.shown_unit(one.coords[dims[0]])}"] if places else []
    return Series(" ".join(label), one.coords["time"].values, one.values.astype(np.float64))


def _add_frames(
    figure: go.Figure, planes: list[Plane], times: list[str], shades: Shades, wait_ms: float
) -> None:
    factor = np.float32(unit_scale(shades.peak, shades.unit)[0])
    figure.frames = [
        go.Frame(data=[go.Heatmap(z=one.values / factor)], traces=[0], name=str(number))
        for number, one in enumerate(planes)
    ]
    instant = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    playing = {
        "fromcurrent": True,
        "frame": {"duration": wait_ms, "redraw": True},
        "transition": {"duration": 0},
    }
    steps = [
        {"method": "animate", "label": time, "args": [[str(number)], instant]}
        for number, time in enumerate(times)
    ]
    buttons = [
        {"method": "animate", "label": "play", "args": [None, playing]},
        {"method": "animate", "label": "pause", "args": [[None], instant]},
    ]
    figure.update_layout(sliders=[SLIDER | {"steps": steps}], updatemenus=[BUTTONS | {"buttons": buttons}])
    _make_room(figure)


def _make_room(figure: go.Figure) -> None:
    """Puts the controls below the axis title, by pixels: plotly wants fractions of the panels."""
    below, left = 70, 140
    layout = figure.layout
    high = layout.height - layout.margin.t - layout.margin.b
    share = left / (layout.width - layout.margin.l - layout.margin.r)
    layout.sliders[0].update(x=share, len=1 - share, y=-56 / high)
    layout.updatemenus[0].y = -66 / high
    figure.update_layout(height=layout.height + below, margin_b=layout.margin.b + below)


def _stand_alone(figure: go.Figure, width: float) -> go.Figure:
    """Paper, text, axes and room for plotly's tool bar, for a figure outside the report's page."""
    layout = figure.layout
    layout.update(paper_bgcolor=GROUND, plot_bgcolor=GROUND, font_color=TEXT, width=round(width))
    layout.update(height=layout.height + TOOL_BAR, margin_t=layout.margin.t + TOOL_BAR)
    axis = {"linecolor": MUTED, "tickcolor": MUTED, "gridcolor": GRID_LINES, "zerolinecolor": MUTED}
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    return figure
