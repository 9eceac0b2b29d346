"""The result section: what the run computed, as pictures and key numbers."""

import json
from contextlib import ExitStack
from dataclasses import dataclass, field

import h5py
import numpy as np
import plotly.graph_objects as go

from tailrace import kwave
from tailrace.record import complete_samples
from tailrace.report import field_figures, theme
from tailrace.report.field_figures import DARK_LINE, LIGHT_LINE, Shades
from tailrace.report.load import Case, Run, read_case
from tailrace.report.molecules import molecule_pictures
from tailrace.report.parts import Number, Picture, Section
from tailrace.report.sensors import Mask, box_volumes, collect_series, read_mask
from tailrace.report.volumes import (
    AXES,
    SEARCH_VALUES,
    Peak,
    Plane,
    Volume,
    find_peak,
    maximum_over_time,
    planes_through,
    profile,
    width_at_half,
)
from tailrace.report.waves import read_domain, wave_pictures
from tailrace.units import si_text

_WHOLE = ("p_max_all", "p_min_all", "ux_max_all", "uy_max_all", "uz_max_all")
_BOXES = ("p_max", "p_rms", "p_min", "ux_max", "ux_rms", "uy_max", "uz_max")
MOST_TABLES = 6
_FINAL = ("p_final", "ux_final", "uy_final", "uz_final")


@dataclass
class Source:
    """The open files of a run and what was learned from them on the way."""

    output: h5py.File
    input: h5py.File | None
    case: Case
    mask: Mask
    peak: tuple[int, int, int] | None = None  # grid index (x, y, z)
    numbers: list[Number] = field(default_factory=list)


def result_section(run: Run) -> tuple[Section, list[Number]]:
    """Everything there is to see of the result; what is missing is said in notes."""
    section = Section("result", "Result")
    if run.output is None:
        section.notes.append("There is no output file in the run directory.")
        return section, []
    with ExitStack() as stack:
        try:
            output = stack.enter_context(kwave.open_file(run.output))
            given = stack.enter_context(kwave.open_file(run.input)) if run.input else None
        except kwave.FileError as error:
            section.notes.append(str(error))
            return section, []
        case = read_case(output) or (read_case(given) if given else None)
        if run.account.get("simulation") == "molecules":
            section.pictures, numbers = molecule_pictures(output)
            return section, numbers
        domain = read_domain(run)
        if case is None and domain is not None:
            section.pictures += wave_pictures(run, output, domain)
        elif case is None:
            section.notes.append(
                "The output file does not describe a grid; `tailrace inspect` lists what it holds."
            )
        if case is None:
            return section, []
        mask = read_mask([file for file in (output, given) if file is not None], case)
        source = Source(output, given, case, mask)
        _fill(section, source)
        return section, source.numbers


def _fill(section: Section, source: Source) -> None:
    record = source.case.record
    if not record.closed:
        steps = "an unknown number of" if record.steps is None else record.steps
        section.notes.append(
            f"The run did not close its output: {steps} of {source.case.steps} steps are recorded, "
            "maxima, rms and final fields were not written."
        )
    elif record.steps is not None and record.steps < source.case.steps:
        section.notes.append(f"The run stopped after {record.steps} of {source.case.steps} steps.")
    for build in (_whole, _boxes, _series, _final, _tables, _initial, _medium):
        section.pictures += build(source)
    if not section.pictures:
        section.notes.append("No pressure or velocity was recorded that could be shown.")
    section.lead = _where(source)


def _where(source: Source) -> str:
    if source.mask.boxes is None and source.mask.points is None and source.peak is None:
        return ""
    return (
        "Positions are k-Wave's grid coordinates: zero lies in the middle of the grid. "
        "Millimetres are equally long in all directions."
    )


def _whole(source: Source) -> list[Picture]:
    """Extremes over time on the whole grid, cut through the peak."""
    name = next((name for name in _WHOLE if name in source.output), None)
    if name is None or not source.case.record.closed:
        return []
    volume = Volume(source.output[name], source.case, (0, 0, 0))
    signed = "_min" in name
    peak = find_peak(volume, source.case.pml, signed)
    if peak is None:
        return []
    source.peak = peak.index
    planes = planes_through(volume, peak.index)
    meaning = volume.meaning
    title = _title(meaning)
    _add_peak_number(source, volume, peak, title)
    shades = Shades(title, meaning.unit, signed, peak=float(abs(peak.value)))
    caption = (
        f"{title.capitalize()} over all recorded steps, cut through its peak. "
        "The dotted line is the inner border of the absorbing layer."
    )
    first = _cuts(source, planes[:2], shades, field_figures.PAGE_WIDTH)
    pictures = [Picture(first, caption, title.capitalize())]
    if len(planes) > 2:
        across = _cuts(source, planes[2:], shades, field_figures.HALF_WIDTH)
        pictures.append(Picture(across, "", "Across the longest side", half=True))
        return pictures + _profiles(source, volume, peak, title, across.layout.height)
    return pictures + _profiles(source, volume, peak, title)


def _cuts(
    source: Source, planes: list[Plane], shades: Shades, pixels: float, line: str = LIGHT_LINE
) -> go.Figure:
    figure = field_figures.slices(planes, shades, pixels)
    field_figures.mark_absorbing_layer(figure, planes, source.case, line)
    return figure


def _title(meaning: kwave.Meaning) -> str:
    quantity = meaning.quantity.removesuffix(", staggered")
    words = {"maximum": "maximum", "minimum": "minimum", "root mean square": "rms"}
    return f"{words.get(meaning.reduction.split(',')[0], meaning.reduction)} {quantity}"


def _add_peak_number(source: Source, volume: Volume, peak: Peak, title: str) -> None:
    where = ", ".join(f"{volume.coordinates_mm(axis, peak.index[axis]):.2f}" for axis in range(3))
    where = where.replace("-", "\u2212")
    at = f"at ({where}) mm" if volume.low is not None else f"at ({where}) mm from the corner of the box"
    source.numbers.append(Number(si_text(peak.value, volume.meaning.unit), title, at))


def _profiles(
    source: Source, volume: Volume, peak: Peak, title: str, height: int | None = None
) -> list[Picture]:
    """Lines through the peak with their widths at half of it (-6 dB)."""
    if volume.meaning.reduction.startswith("minimum"):
        return []
    curves, widths = {}, []
    for axis in range(3):
        if volume.extent(axis) < 3:
            continue
        position, values = profile(volume, axis, peak.index)
        width = width_at_half(position, values, peak.index[axis])
        shown = f"{width:.2f} mm" if width else "wider"
        widths.append((AXES[axis], width))
        curves[f"{AXES[axis]}: {shown}"] = (position - position[peak.index[axis]], values)
    if not curves:
        return []
    known = [(axis, width) for axis, width in widths if width]
    if known:
        size = " \u00d7 ".join(f"{width:.1f}" for _, width in known)
        axes = ", ".join(axis for axis, _ in known)
        source.numbers.append(Number(f"{size} mm", "\u22126 dB width of the peak", f"along {axes}"))
    figure = field_figures.profiles(curves, title, volume.meaning.unit, height or 340)
    caption = "With the full width at half of the peak (\u22126 dB) along each axis."
    return [Picture(figure, caption, "Lines through the peak", half=height is not None)]


def _boxes(source: Source) -> list[Picture]:
    """Reduced streams in boxes. With a picture of the whole grid only the boxes' rms or flat boxes add
    something.
    """
    name = next((name for name in _BOXES if isinstance(source.output.get(name), h5py.Group)), None)
    if name is None or not source.case.record.closed:
        return _boxes_from_series(source) if not source.case.record.closed else []
    volumes = box_volumes(source.output, name, source.case, source.mask)
    if source.peak is not None:
        return []
    pictures = []
    for volume in sorted(volumes, key=lambda item: -item.dataset.size)[:3]:
        signed = "_min" in name
        peak = find_peak(volume, signed=signed)
        planes = planes_through(volume, peak.index) if peak else []
        if not planes:
            continue
        title = _title(volume.meaning)
        number = volume.name.split("/")[-1]
        figure = field_figures.slices(planes, Shades(title, volume.meaning.unit, signed))
        caption = f"{title.capitalize()} in sensor box {number}, cut through its peak.{_unlocated(volume)}"
        pictures.append(Picture(figure, caption, f"{title.capitalize()}, box {number}"))
        if len(pictures) == 1:
            _add_peak_number(source, volume, peak, title)
            pictures += _profiles(source, volume, peak, title)
    return pictures


def _unlocated(volume: Volume) -> str:
    return (
        ""
        if volume.low is not None
        else " The input file is not there: positions count from the corner of the box."
    )


def _boxes_from_series(source: Source) -> list[Picture]:
    """For runs that were cut short: maxima over the recorded part of the series."""
    stream = source.output.get("p")
    if not isinstance(stream, h5py.Group):
        return []
    pictures = []
    for dataset in [item for item in kwave.datasets(stream) if item.ndim == 4][:3]:
        samples = source.case.record.samples(dataset.shape[0]) or 0
        maximum = maximum_over_time(dataset, samples)
        if maximum is None or max(maximum.shape) < 2:
            continue
        volume = Volume(_InMemory(maximum, dataset.name), source.case, _low(source, dataset))
        peak = find_peak(volume)
        planes = planes_through(volume, peak.index) if peak else []
        if planes:
            number = dataset.name.split("/")[-1]
            figure = field_figures.slices(planes, Shades("maximum pressure", "Pa"))
            caption = f"Sensor box {number}, over the {samples} recorded samples.{_unlocated(volume)}"
            pictures.append(Picture(figure, caption, f"Maximum pressure so far, box {number}"))
    return pictures


class _InMemory:
    """An array that looks like a dataset to Volume."""

    def __init__(self, values: np.ndarray, name: str):
        self.values, self.name, self.shape, self.size = values, name, values.shape, values.size

    def __getitem__(self, selection):
        return self.values[selection]


def _low(source: Source, dataset: h5py.Dataset):
    number = int(dataset.name.split("/")[-1]) - 1
    boxes = source.mask.boxes or []
    return boxes[number].low if number < len(boxes) else None


def _series(source: Source) -> list[Picture]:
    """Pressure against time at a few sensors, and the spectrum at the loudest."""
    series = collect_series(source.output, source.case, source.mask)
    if not series:
        return []
    places = [
        f"{one.label} at {_point_text(source.case, one.position)}"
        for one in series
        if one.position is not None
    ]
    caption = "; ".join(places)
    pictures = [
        Picture(
            field_figures.traces(series, "Pa"), f"{caption}." if caption else "", "Pressure at the sensors"
        )
    ]
    loudest = max(series, key=lambda one: float(np.abs(one.values).max()))
    if len(loudest.values) >= 32 and np.abs(loudest.values).max() > 0:
        figure = field_figures.spectrum(loudest, "Pa", _grid_limit_hz(source))
        pictures.append(
            Picture(figure, f"{loudest.label.capitalize()}, Hann window over all samples.", "Spectrum")
        )
    return pictures


def _point_text(case: Case, index: tuple[int, int, int]) -> str:
    numbers = ", ".join(f"{case.position_mm(axis, index[axis]):.2f}" for axis in range(3))
    return f"({numbers}) mm".replace("-", "\u2212")


def _grid_limit_hz(source: Source) -> float | None:
    """The frequency with two points per wavelength at the slowest sound speed."""
    speed = None
    if source.input is not None and "c0" in source.input:
        dataset = source.input["c0"]
        stride = max(1, round((dataset.size / 8e6) ** (1 / 3)))
        speed = float(np.min(dataset[::stride, ::stride, ::stride]))
    speed = speed or kwave.scalar(source.output, "c_ref")
    return speed / (2 * max(source.case.spacing_m)) if speed else None


def _final(source: Source) -> list[Picture]:
    """The field after the last step, through the peak of the run where that is known."""
    name = next((name for name in _FINAL if name in source.output), None)
    if name is None or not source.case.record.closed:
        return []
    volume = Volume(source.output[name], source.case, (0, 0, 0))
    index = source.peak
    if index is None:
        peak = find_peak(volume, source.case.pml, signed=True)
        index = peak.index if peak else tuple(size // 2 for size in source.case.sizes)
    planes = planes_through(volume, index)
    if not planes:
        return []
    quantity = volume.meaning.quantity.removesuffix(", staggered")
    shades = Shades(quantity, volume.meaning.unit, signed=True)
    figure = _cuts(source, planes[:2], shades, field_figures.PAGE_WIDTH, DARK_LINE)
    end_s = (
        source.case.steps if source.case.record.steps is None else source.case.record.steps
    ) * source.case.dt_s
    heading = f"{quantity.capitalize()} at the end"
    return [
        Picture(
            figure,
            f"{quantity.capitalize()} after the last step, {si_text(end_s, 's')} of simulated time.",
            heading,
        )
    ]


def _tables(source: Source) -> list[Picture]:
    """The last complete sample of every [[output]] table that is more than a few points."""
    groups = [item for item in source.output.values() if isinstance(item, h5py.Group)]
    tables = [group for group in groups if kwave.is_output_table(group) and group["values"].ndim == 4]
    pictures = [_table(source, group) for group in tables[:MOST_TABLES]]
    return [picture for picture in pictures if picture is not None]


def _table(source: Source, group: h5py.Group) -> Picture | None:
    values, name = group["values"], group.name.strip("/")
    count = complete_samples(values, source.case.record)
    if not count or values.size // values.shape[0] > SEARCH_VALUES:
        return None
    meaning = kwave.meaning_of(values)
    series = meaning.reduction == "series"
    volume = Volume(_InMemory(values[count - 1], name), source.case, _table_corner(group))
    signed = series or meaning.reduction in ("minimum", "mean", "final")
    peak = find_peak(volume, signed=signed)
    planes = planes_through(volume, peak.index) if peak else []
    if not planes:
        return None
    quantity = meaning.quantity.removesuffix(", staggered")
    title = quantity if series else _title(meaning)
    figure = _cuts(
        source, planes[:2], Shades(title, meaning.unit, signed), field_figures.PAGE_WIDTH, DARK_LINE
    )
    step = int(group["step"][count - 1])
    when = f"at step {step}, the last of {count} samples" if series else f"over the steps up to {step}"
    return Picture(figure, f"{title.capitalize()} {when}, cut through its peak.", f"Output {name}: {title}")


def _table_corner(group: h5py.Group) -> tuple[int, int, int] | None:
    """The grid index (x, y, z) of the first point of an [[output]] table."""
    selection = kwave.text(group.attrs.get("selection", ""))
    try:
        return (0, 0, 0) if selection == "whole" else tuple(json.loads(selection)["box"][0])
    except (ValueError, LookupError, TypeError):
        return None


def _initial(source: Source) -> list[Picture]:
    """The initial pressure of the input, for problems that start from one."""
    given = source.input.get("p0_source_input") if source.input is not None else None
    if given is None or given.shape != source.case.sizes[::-1]:
        return []
    volume = Volume(given, source.case, (0, 0, 0))
    peak = find_peak(volume, signed=True)
    planes = planes_through(volume, peak.index) if peak else []
    if not planes:
        return []
    lowest = min(float(plane.values.min()) for plane in planes)
    signed = lowest < -0.02 * peak.value
    line = DARK_LINE if signed else LIGHT_LINE
    figure = _cuts(source, planes[:2], Shades("pressure", "Pa", signed), field_figures.PAGE_WIDTH, line)
    field_figures.mark_sensors(
        figure, planes[:2], source.case, source.mask, "#888888" if signed else "#ffffff"
    )
    return [Picture(figure, "Initial pressure, cut through its peak, with the sensors.", "Initial pressure")]


def _medium(source: Source) -> list[Picture]:
    """Sound speed with source and sensors, for context; only when the input file is still there."""
    if source.input is None or source.input.get("c0") is None or source.input["c0"].size == 1:
        return []
    dataset = source.input["c0"]
    if dataset.ndim != 3 or dataset.shape != source.case.sizes[::-1]:
        return []
    volume = Volume(dataset, source.case, (0, 0, 0))
    index = source.peak or tuple(size // 2 for size in source.case.sizes)
    planes = planes_through(volume, index)
    planes = planes[:2]
    shades = Shades("sound speed", "m/s", from_lowest=True, scaled=False, colorscale=theme.MEDIUM)
    figure = _cuts(source, planes, shades, field_figures.PAGE_WIDTH)
    field_figures.mark_sensors(figure, planes, source.case, source.mask)
    points = _source_points(source)
    for number, plane in enumerate(planes, start=1):
        if points is not None:
            field_figures.add_points(
                figure, number, plane, source.case, points, "#d55e00", "square", "source"
            )
    caption = "Sound speed in the same planes, with source points (orange) and sensors (white)."
    return [Picture(figure, caption, "Medium, source and sensors")]


def _source_points(source: Source) -> np.ndarray | None:
    for name in ("p_source_index", "u_source_index"):
        if name in source.input:
            linear = source.input[name][()].reshape(-1).astype(np.int64) - 1
            z, y, x = np.unravel_index(linear, source.case.sizes[::-1])
            return np.stack([x, y, z], axis=1)
    return None
