# SPDX-License-Identifier: BSD-3-Clause
"""The result of an ultrasound run, in k-Wave's coordinates: fields, series at the sensors, the medium."""

import numpy as np
import plotly.graph_objects as go
import xarray as xr

from tailrace import kwave
from tailrace.data import cuts
from tailrace.data.cuts import SEARCH_VALUES, Peak, find_peak, planes_through, space_dims
from tailrace.data.grid import AXES
from tailrace.data.marks import add_points, mark_absorbing_layer, mark_sensors
from tailrace.data.mask import points_of
from tailrace.data.run import Run as Output
from tailrace.figures import fields, theme
from tailrace.figures.fields import DARK_LINE, LIGHT_LINE, Plane, Shades
from tailrace.report.load import Run
from tailrace.report.parts import Number, Picture, Section
from tailrace.report.simulations.sensors import PlacedSeries, box_names, collect_series, point_series
from tailrace.units import si_text

_WHOLE = ("p_max_all", "p_min_all", "ux_max_all", "uy_max_all", "uz_max_all")
_BOXES = ("p_max", "p_rms", "p_min", "ux_max", "ux_rms", "uy_max", "uz_max")
_FINAL = ("p_final", "ux_final", "uy_final", "uz_final")
MAX_TABLES = 6
MAX_SERIES_BYTES = 512_000_000  # of which the maximum is taken


class Result:
    """An output, and what was learned from it on the way."""

    def __init__(self, output: Output) -> None:
        source = output.source
        self.output, self.case, self.grid = output, source.case, source.case.grid
        self.mask, self.commit_mark = source.mask, source.commit_mark
        self.peak: dict[str, int] | None = None  # grid index along the axes
        self.numbers: list[Number] = []

    @property
    def middle(self) -> dict[str, int]:
        """The point through which planes are cut: the peak, or the middle of the grid."""
        return self.peak or {axis: size // 2 for axis, size in zip(AXES, self.grid.sizes, strict=True)}


def fill(section: Section, run: Run, output: Output) -> list[Number]:
    result = Result(output)
    commit_mark, steps = result.commit_mark, result.case.steps
    if not commit_mark.closed:
        recorded = "an unknown number of" if commit_mark.steps is None else commit_mark.steps
        section.notes.append(
            f"The run did not close its output: {recorded} of {steps} steps are recorded, "
            "maxima, rms and final fields were not written."
        )
    elif commit_mark.steps is not None and commit_mark.steps < steps:
        section.notes.append(f"The run stopped after {commit_mark.steps} of {steps} steps.")
    for build in (_whole, _boxes, _series, _final, _tables, _initial, _medium):
        section.pictures += build(result)
    if not section.pictures:
        section.notes.append("No pressure or velocity was recorded that could be shown.")
    if result.mask.boxes is not None or result.mask.points is not None or result.peak is not None:
        section.lead = (
            "Positions are k-Wave's grid coordinates: zero lies in the middle of the grid. "
            "Millimetres are equally long in all directions."
        )
    return result.numbers


def _whole(result: Result) -> list[Picture]:
    """Extremes over time on the whole grid, cut through the peak."""
    name = next((name for name in _WHOLE if name in result.output), None)
    if name is None:
        return []
    array, signed = result.output[name], "_min" in name
    peak = find_peak(array, result.grid.pml, signed)
    if peak is None:
        return []
    result.peak = peak.index
    planes, title = planes_through(array, peak.index), array.attrs["long_name"]
    _add_peak_number(result, array, peak)
    shades = Shades(title, array.attrs["units"], signed, peak=float(abs(peak.value)))
    caption = (
        f"{title.capitalize()} over all recorded steps, cut through its peak. "
        "The dotted line is the inner border of the absorbing layer."
    )
    pictures = [Picture(_cuts(result, planes[:2], shades), caption, title.capitalize())]
    if len(planes) > 2:
        across = _cuts(result, planes[2:], shades, pixels=fields.HALF_WIDTH)
        pictures.append(Picture(across, "", "Across the longest side", half=True))
        return pictures + _profiles(result, array, peak, across.layout.height)
    return pictures + _profiles(result, array, peak)


def _cuts(
    result: Result,
    planes: list[Plane],
    shades: Shades,
    line: str = LIGHT_LINE,
    pixels: float = fields.PAGE_WIDTH,
) -> go.Figure:
    figure = fields.slices(planes, shades, pixels)
    mark_absorbing_layer(figure, planes, result.grid, line)
    return figure


def _add_peak_number(result: Result, array: xr.DataArray, peak: Peak) -> None:
    places = [float(array.coords[dim][peak.index[axis]]) * 1e3 for axis, dim in space_dims(array).items()]
    located = array.attrs.get("located", True)
    at = f"at {_point_text(places)}" + ("" if located else " from the corner of the box")
    result.numbers.append(Number(si_text(peak.value, array.attrs["units"]), array.attrs["long_name"], at))


def _point_text(places_mm: list[float] | tuple[float, ...]) -> str:
    return f"({', '.join(f'{place:.2f}' for place in places_mm)}) mm".replace("-", "\u2212")


def _profiles(result: Result, array: xr.DataArray, peak: Peak, height: int | None = None) -> list[Picture]:
    """Lines through the peak with their widths at half of it (-6 dB)."""
    if str(array.attrs["long_name"]).startswith("minimum"):
        return []
    curves, widths, space = {}, {}, space_dims(array)
    for axis, dim in space.items():
        if array.sizes[dim] < 3:
            continue
        line = array.isel({space[other]: at for other, at in peak.index.items() if other != axis})
        position, values = line.coords[dim].values * 1e3, line.values.astype(np.float64)
        width = width_at_half(position, values, peak.index[axis])
        if width:
            widths[axis] = width
        shown = f"{width:.2f} mm" if width else "wider"
        curves[f"{axis}: {shown}"] = (position - position[peak.index[axis]], values)
    if not curves:
        return []
    if widths:
        size = " \u00d7 ".join(f"{width:.1f}" for width in widths.values())
        about = f"along {', '.join(widths)}"
        result.numbers.append(Number(f"{size} mm", "\u22126 dB width of the peak", about))
    figure = fields.profiles(curves, array.attrs["long_name"], array.attrs["units"], height or 340)
    caption = "With the full width at half of the peak (\u22126 dB) along each axis."
    return [Picture(figure, caption, "Lines through the peak", half=height is not None)]


def width_at_half(position: np.ndarray, values: np.ndarray, centre: int) -> float | None:
    """Full width where the profile falls to half (-6 dB) of its value at `centre`; None when it does not on
    a side.
    """
    half = values[centre] / 2
    edges = []
    for step in (-1, 1):
        inner = centre
        while 0 <= inner + step < len(values) and values[inner + step] > half:
            inner += step
        outer = inner + step
        if not 0 <= outer < len(values):
            return None
        share = (values[inner] - half) / (values[inner] - values[outer])
        edges.append(position[inner] + share * (position[outer] - position[inner]))
    return abs(edges[1] - edges[0])


def _boxes(result: Result) -> list[Picture]:
    """Reduced streams in boxes; with a picture of the whole grid they add nothing. Of runs that were cut
    short the maxima over what is recorded.
    """
    if not result.commit_mark.closed:
        return _boxes_so_far(result)
    name = next((name for name in _BOXES if box_names(result.output, name)), None)
    if name is None or result.peak is not None:
        return []
    boxes = [(box, _located(result, result.output[box])) for box in box_names(result.output, name)]
    pictures = []
    for box, array in sorted(boxes, key=lambda item: -item[1].size)[:3]:
        signed, title, number = "_min" in name, array.attrs["long_name"], box.split("/")[-1]
        peak = find_peak(array, signed=signed)
        planes = planes_through(array, peak.index) if peak else []
        if not planes:
            continue
        figure = fields.slices(planes, Shades(title, array.attrs["units"], signed))
        caption = f"{title.capitalize()} in sensor box {number}, cut through its peak.{_unlocated(array)}"
        pictures.append(Picture(figure, caption, f"{title.capitalize()}, box {number}"))
        if len(pictures) == 1:
            _add_peak_number(result, array, peak)
            pictures += _profiles(result, array, peak)
    return pictures


def _located(result: Result, array: xr.DataArray) -> xr.DataArray:
    """With positions from the corner of the box where its place is not known."""
    space = space_dims(array)
    if all(dim in array.coords for dim in space.values()):
        return array
    corners = {
        dim: np.arange(array.sizes[dim]) * result.grid.spacing_m[AXES.index(axis)]
        for axis, dim in space.items()
    }
    return array.assign_coords(corners).assign_attrs(located=False)


def _unlocated(array: xr.DataArray) -> str:
    if array.attrs.get("located", True):
        return ""
    return " The input file is not there: positions count from the corner of the box."


def _boxes_so_far(result: Result) -> list[Picture]:
    """Maxima over the recorded part of the series."""
    pictures = []
    series = [(box, result.output[box]) for box in box_names(result.output, "p")]
    for box, array in [item for item in series if "time" in item[1].dims][:3]:
        samples = array.sizes["time"]
        if not 0 < array.nbytes <= MAX_SERIES_BYTES:
            continue
        array = _located(result, array)
        maximum = array.isel(time=0, drop=True).copy(data=_maximum(array))
        peak = find_peak(maximum)
        planes = planes_through(maximum, peak.index) if peak else []
        if planes:
            number = box.split("/")[-1]
            figure = fields.slices(planes, Shades("maximum pressure", "Pa"))
            caption = f"Sensor box {number}, over the {samples} recorded samples.{_unlocated(array)}"
            pictures.append(Picture(figure, caption, f"Maximum pressure so far, box {number}"))
    return pictures


def _maximum(array: xr.DataArray) -> np.ndarray:
    return np.max([block.values.max(axis=0) for block in cuts.blocks(array, "time")], axis=0)


def _series(result: Result) -> list[Picture]:
    """Pressure against time at a few sensors, and the spectrum at the loudest."""
    series = collect_series(result.output)
    if not series:
        return []
    figure = fields.traces(series, "Pa")
    pictures = [Picture(figure, _places_text(series), "Pressure at the sensors")]
    loudest: PlacedSeries = max(series, key=lambda one: float(np.abs(one.values).max()))
    if len(loudest.values) >= 32 and np.abs(loudest.values).max() > 0:
        figure = fields.spectrum(loudest, "Pa", _grid_limit_hz(result))
        caption = f"{loudest.label.capitalize()}, Hann window over all samples."
        pictures.append(Picture(figure, caption, "Spectrum"))
    return pictures


def _grid_limit_hz(result: Result) -> float | None:
    """The frequency with two points per wavelength at the slowest sound speed."""
    field = result.output.input_field("c0")
    if field is not None:
        stride = max(1, round((field.size / 8e6) ** (1 / 3)))
        speed = float(field[(slice(None, None, stride),) * field.ndim].min())
    else:
        speed = _scalar(result, "c0") or _scalar(result, "c_ref")
    return speed / (2 * max(result.grid.spacing_m)) if speed else None


def _scalar(result: Result, name: str) -> float | None:
    """A number of the input or, without it, of the output."""
    for path in (result.output.input, result.output.path):
        if path is not None:
            with kwave.open_file(path) as file:
                if (value := kwave.scalar(file, name)) is not None:
                    return value
    return None


def _final(result: Result) -> list[Picture]:
    """The field after the last step, through the peak of the run where that is known."""
    name = next((name for name in _FINAL if name in result.output), None)
    if name is None:
        return []
    array = result.output[name]
    peak = find_peak(array, result.grid.pml, signed=True) if result.peak is None else None
    planes = planes_through(array, peak.index if peak else result.middle)
    if not planes:
        return []
    quantity = str(array.attrs["long_name"]).removeprefix("final ")
    figure = _cuts(result, planes[:2], Shades(quantity, array.attrs["units"], signed=True), DARK_LINE)
    steps = result.case.steps if result.commit_mark.steps is None else result.commit_mark.steps
    end = si_text(steps * result.case.dt_s, "s")
    caption = f"{quantity.capitalize()} after the last step, {end} of simulated time."
    return [Picture(figure, caption, f"{quantity.capitalize()} at the end")]


def _tables(result: Result) -> list[Picture]:
    """Of [[output]] tables the last complete sample or, at points, the series at some of them."""
    names = [name for name, dataset in result.output.datasets.items() if "values" in dataset]
    arrays = {name: result.output[name] for name in names}
    on_grid = [name for name in names if len(space_dims(arrays[name])) > 1]
    points = [name for name in names if "sensor" in arrays[name].dims]
    pictures = [_table(result, name, arrays[name]) for name in on_grid[:MAX_TABLES]]
    pictures += [_point_table(name, arrays[name]) for name in points[:MAX_TABLES]]
    return [picture for picture in pictures if picture is not None]


def _point_table(name: str, array: xr.DataArray) -> Picture | None:
    series = point_series(array)
    if not series:
        return None
    title = str(array.attrs["long_name"])
    figure = fields.traces(series, array.attrs["units"], title)
    return Picture(figure, _places_text(series), f"Output {name}: {title}", outputs=(name,))


def _places_text(series: list[PlacedSeries]) -> str:
    places = [
        f"{one.label} at {_point_text(one.position_mm)}" for one in series if one.position_mm is not None
    ]
    return f"{'; '.join(places)}." if places else ""


def _table(result: Result, name: str, array: xr.DataArray) -> Picture | None:
    count = array.sizes["time"]
    if not count or array.size // count > SEARCH_VALUES:
        return None
    reduction, title, step = array.attrs["reduction"], array.attrs["long_name"], int(array.coords["step"][-1])
    sample = _located(result, array.isel(time=-1)).load()
    signed = reduction in ("none", "min", "mean", "final")
    peak = find_peak(sample, signed=signed)
    planes = planes_through(sample, peak.index) if peak else []
    if not planes:
        return None
    figure = _cuts(result, planes[:2], Shades(title, array.attrs["units"], signed), DARK_LINE)
    series = reduction == "none"
    when = f"at step {step}, the last of {count} samples" if series else f"over the steps up to {step}"
    caption = f"{title.capitalize()} {when}, cut through its peak."
    return Picture(figure, caption, f"Output {name}: {title}", outputs=(name,))


def _initial(result: Result) -> list[Picture]:
    """The initial pressure of the input, for problems that start from one."""
    field = result.output.input_field("p0_source_input")
    peak = None if field is None else find_peak(field, signed=True)
    planes = planes_through(field, peak.index) if peak else []
    if not planes:
        return []
    signed = min(float(plane.values.min()) for plane in planes) < -0.02 * peak.value
    line = DARK_LINE if signed else LIGHT_LINE
    figure = _cuts(result, planes[:2], Shades("pressure", "Pa", signed), line)
    mark_sensors(figure, planes[:2], result.grid, result.mask, "#888888" if signed else "#ffffff")
    return [Picture(figure, "Initial pressure, cut through its peak, with the sensors.", "Initial pressure")]


def _medium(result: Result) -> list[Picture]:
    """Sound speed with source and sensors, for context; only when the input file is still there."""
    field = result.output.input_field("c0")
    if field is None:
        return []
    planes = planes_through(field, result.middle)[:2]
    shades = Shades("sound speed", "m/s", from_lowest=True, scaled=False, colorscale=theme.MEDIUM)
    figure = _cuts(result, planes, shades)
    mark_sensors(figure, planes, result.grid, result.mask)
    points = _source_points(result)
    for number, plane in enumerate(planes if points is not None else [], start=1):
        add_points(figure, number, plane, result.grid, points, "#d55e00", "square", "source")
    caption = "Sound speed in the same planes, with source points (orange) and sensors (white)."
    return [Picture(figure, caption, "Medium, source and sensors")]


def _source_points(result: Result) -> np.ndarray | None:
    with kwave.open_file(result.output.input) as file:
        name = next((name for name in ("p_source_index", "u_source_index") if name in file), None)
        return None if name is None else points_of(file[name], result.grid)
