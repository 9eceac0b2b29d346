"""Pictures of waves on a grid that run.json describes: wave fronts, shot gathers, and the medium."""

import json
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from tailrace import kwave, record
from tailrace.report import theme
from tailrace.report.field_figures import NO_BOX, PAGE_WIDTH
from tailrace.report.load import Run, case_file_of
from tailrace.report.parts import Picture
from tailrace.report.volumes import AXES, PICTURE_POINTS
from tailrace.units import si_text

MOST_FRONTS = 6  # pictures of one output
MOST_OUTPUTS = 3
# Shares of the values that lie within the colours, so that waves that have spread or come back stay visible
# beside the first ones.
FRONT_SHARE, TRACE_SHARE = 0.97, 0.85
TRACE_POINTS = 1200  # of a trace that are drawn


@dataclass
class Domain:
    """The grid of a run, in the order x, y, z; positions count from its low corner, z downwards."""

    cells: tuple[int, int, int]
    spacing_m: tuple[float, float, float]
    dt_s: float
    sources: list[tuple[int, int, int]]

    def metres(self, axis: int, index):
        return np.asarray(index) * self.spacing_m[axis]


@dataclass
class Cut:
    """Where an output is cut: `across` and `down` are axes of the picture, `selection` picks the plane."""

    across: int
    down: int
    normal: int
    index: int
    low: tuple[int, int, int]

    def plane(self, values: h5py.Dataset, sample: int) -> np.ndarray:
        """Rows along `down`, columns along `across`, at most as many points as a picture shows."""
        selection: list = [slice(None, None, stride(size)) for size in values.shape[1:]]
        selection[2 - self.normal] = self.index - self.low[self.normal]
        plane = np.asarray(values[(sample, *selection)], dtype=np.float32)
        return plane if self.down > self.across else plane.T


def stride(size: int) -> int:
    return max(1, -(-size // PICTURE_POINTS))


def read_domain(run: Run) -> Domain | None:
    """What the resolved case in run.json says of the grid; None if it says nothing."""
    config = run.account.get("config") or {}
    domain, time = config.get("domain") or {}, config.get("time") or {}
    cells, spacing = domain.get("cells"), domain.get("spacing_m")
    if not isinstance(cells, list) or not isinstance(spacing, list) or len(cells) != 3 or len(spacing) != 3:
        return None
    source = config.get("source") or {}
    sources = [source["cell"]] if "cell" in source else source.get("cells") or []
    return Domain(tuple(cells), tuple(spacing), float(time.get("dt_s") or 0), [tuple(one) for one in sources])


def wave_pictures(run: Run, output: h5py.File, domain: Domain) -> list[Picture]:
    """Wave fronts of outputs in boxes, gathers of outputs at points, then the medium with both."""
    tables = [
        item for item in output.values() if isinstance(item, h5py.Group) and kwave.is_output_table(item)
    ]
    recorded = record.read(output)
    grids = [group for group in tables if group["values"].ndim == 4][:MOST_OUTPUTS]
    lines = [group for group in tables if group["values"].ndim == 2 and "points" in group][:MOST_OUTPUTS]
    pictures = [_fronts(group, recorded, domain) for group in grids]
    pictures += [_gather(group, recorded, domain) for group in lines]
    pictures.append(_medium(run, domain, [group["points"][()] for group in lines]))
    return [picture for picture in pictures if picture is not None]


def _cut_of(group: h5py.Group, domain: Domain) -> Cut | None:
    """The plane of an output that is shown: its own, or through the source along x and z."""
    extents = group["values"].shape[:0:-1]
    try:
        selection = kwave.text(group.attrs.get("selection", ""))
        low = (0, 0, 0) if selection == "whole" else tuple(json.loads(selection)["box"][0])
    except (ValueError, LookupError, TypeError):
        return None
    thin = [axis for axis in range(3) if extents[axis] == 1]
    if len(thin) > 1:
        return None
    normal = thin[0] if thin else 1
    through = domain.sources[0][normal] if domain.sources else domain.cells[normal] // 2
    index = int(np.clip(through, low[normal], low[normal] + extents[normal] - 1))
    across, down = [axis for axis in range(3) if axis != normal]
    return Cut(across, down, normal, index, low)


def _fronts(group: h5py.Group, recorded: record.Record, domain: Domain) -> Picture | None:
    """Samples at even distances, from the first one in which the waves are on their way to the last."""
    values, name = group["values"], group.name.strip("/")
    cut = _cut_of(group, domain)
    count = record.complete_samples(values, recorded)
    if cut is None or not count:
        return None
    chosen = _spread(count)
    planes = [cut.plane(values, sample) for sample in chosen]
    limit = clipped([plane for plane in planes if plane.any()], FRONT_SHARE)
    if limit == 0:
        return None
    times = [si_text(float(group["time_s"][sample]), "s") for sample in chosen]
    columns = min(3, len(planes))
    rows = -(-len(planes) // columns)
    figure = make_subplots(
        rows,
        columns,
        subplot_titles=times,
        horizontal_spacing=0.05,
        vertical_spacing=0.22 / rows,
        shared_xaxes=True,
        shared_yaxes=True,
    )
    for number, plane in enumerate(planes):
        _add_front(figure, number // columns + 1, number % columns + 1, plane, cut, domain)
    width = (PAGE_WIDTH - 150) / columns
    length, depth = (extent(values, axis, domain) for axis in (cut.across, cut.down))
    height = rows * (min(width * depth / length, 420.0) + 44) + 40
    bar = {"title": {"text": kwave.meaning_of(values).quantity, "side": "right"}, "thickness": 14}
    figure.update_layout(
        coloraxis={"colorscale": theme.DIVERGING, "cmin": -limit, "cmax": limit, "colorbar": bar}
    )
    theme.style(figure, height=int(height), showlegend=False)
    for column in range(1, columns + 1):
        last = -(-(len(planes) - column + 1) // columns)
        figure.update_xaxes(row=last, col=column, title=f"{AXES[cut.across]} [m]", showticklabels=True)
    plane_text = f"{AXES[cut.normal]} = {domain.metres(cut.normal, cut.index):g} m"
    caption = (
        f"In the plane {plane_text}, one colour scale for all; the loudest values have its end's colour. "
        "The star is the source."
    )
    return Picture(figure, caption, f"Wave fronts: output {name}")


def _spread(count: int) -> np.ndarray:
    """Some of the samples, evenly, the last one among them."""
    if count <= MOST_FRONTS:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, MOST_FRONTS + 1).round().astype(int)[1:])


def extent(values: h5py.Dataset, axis: int, domain: Domain) -> float:
    return values.shape[3 - axis] * domain.spacing_m[axis]


def _add_front(figure: go.Figure, row: int, column: int, plane: np.ndarray, cut: Cut, domain: Domain) -> None:
    sizes = {cut.across: plane.shape[1], cut.down: plane.shape[0]}
    places = {}
    for axis in (cut.across, cut.down):
        step = stride(domain.cells[axis])
        places[axis] = domain.metres(axis, cut.low[axis] + step * np.arange(sizes[axis]))
    hover = f"{AXES[cut.across]} %{{x:.5g}} m<br>{AXES[cut.down]} %{{y:.5g}} m<br><b>%{{z:.3g}}</b>{NO_BOX}"
    figure.add_trace(
        go.Heatmap(
            x=places[cut.across], y=places[cut.down], z=plane, coloraxis="coloraxis", hovertemplate=hover
        ),
        row,
        column,
    )
    _add_points(figure, row, column, cut, domain, domain.sources, "star", "source")
    _scale_axes(figure, row, column, cut)


def _scale_axes(figure: go.Figure, row: int, column: int, cut: Cut) -> None:
    """Metres equally long both ways, and z downwards."""
    figure.update_yaxes(
        row=row,
        col=column,
        scaleanchor="x",
        constrain="domain",
        showgrid=False,
        autorange="reversed" if cut.down == 2 else True,
        title=f"{AXES[cut.down]} [m]" if column == 1 else None,
    )
    figure.update_xaxes(
        row=row,
        col=column,
        constrain="domain",
        showgrid=False,
        **({} if row == column == 1 else {"matches": "x"}),
    )


def _add_points(figure, row, column, cut, domain, points, symbol, name) -> None:
    near = [point for point in points if point[cut.normal] == cut.index]
    if not near:
        return
    figure.add_trace(
        go.Scatter(
            x=[domain.metres(cut.across, point[cut.across]) for point in near],
            y=[domain.metres(cut.down, point[cut.down]) for point in near],
            mode="markers",
            hovertemplate=f"{name}{NO_BOX}",
            marker={
                "symbol": symbol,
                "size": 9,
                "color": "#d99a1e",
                "line": {"width": 1, "color": "#333333"},
            },
        ),
        row,
        column,
    )


def clipped(arrays: list[np.ndarray], share: float) -> float:
    """The magnitude within which a share of the values lies, of those that are not quite 0."""
    if not arrays:
        return 0.0
    values = np.abs(np.concatenate([array[np.isfinite(array)].ravel() for array in arrays]))
    values = values[values > 1e-4 * values.max(initial=0.0)]
    return float(np.quantile(values, share)) if values.size else 0.0


def _gather(group: h5py.Group, recorded: record.Record, domain: Domain) -> Picture | None:
    """All traces side by side, time downwards, as seismologists look at them."""
    values, name, points = group["values"], group.name.strip("/"), group["points"][()]
    count = record.complete_samples(values, recorded)
    if not count or count < 2 or len(points) < 2:
        return None
    step = max(1, -(-count // TRACE_POINTS))
    traces = np.asarray(values[:count:step], dtype=np.float32)
    limit = clipped([traces], TRACE_SHARE)
    if limit == 0:
        return None
    varying = [axis for axis in range(3) if len(np.unique(points[:, axis])) > 1]
    along_line = len(varying) == 1 and np.all(np.diff(points[:, varying[0]]) > 0)
    places = domain.metres(varying[0], points[:, varying[0]]) if along_line else np.arange(len(points))
    title = f"{AXES[varying[0]]} of the receiver [m]" if along_line else "receiver"
    figure = go.Figure(
        go.Heatmap(
            x=places,
            y=group["time_s"][:count:step],
            z=traces,
            zmin=-limit,
            zmax=limit,
            colorscale="Greys",
            colorbar={"title": {"text": kwave.meaning_of(values).quantity, "side": "right"}, "thickness": 14},
            hovertemplate=f"{title} %{{x:.5g}}<br>%{{y:.4f}} s<br><b>%{{z:.3g}}</b>{NO_BOX}",
        )
    )
    figure.update_xaxes(title=title, showgrid=False)
    figure.update_yaxes(title="time [s]", autorange="reversed", showgrid=False)
    caption = f"{len(points)} traces; the loudest values have the colour of the scale's end."
    return Picture(theme.style(figure, height=560), caption, f"Shot gather: output {name}")


def _medium(run: Run, domain: Domain, receivers: list[np.ndarray]) -> Picture | None:
    """The speed of P waves with source and receivers, where it is a dataset that is still there."""
    named = ((run.account.get("config") or {}).get("model") or {}).get("vp_m_s")
    case_file = case_file_of(run.account)
    if not isinstance(named, str) or ":/" not in named or not case_file:
        return None
    file, _, dataset = named.partition(":/")
    path = Path(case_file).parent / file
    if not path.is_file() or not domain.sources:
        return None
    with kwave.open_file(path) as model:
        values = model.get(dataset)
        if not isinstance(values, h5py.Dataset) or values.shape != domain.cells[::-1]:
            return None
        cut = Cut(0, 2, 1, domain.sources[0][1], (0, 0, 0))
        plane = values[:: stride(values.shape[0]), cut.index, :: stride(values.shape[2])].astype(np.float32)
    figure = make_subplots(1, 1)
    _add_front(figure, 1, 1, plane, cut, domain)
    points = [tuple(point) for line in receivers for point in line.tolist()]
    _add_points(figure, 1, 1, cut, domain, points, "triangle-down", "receiver")
    bar = {"title": {"text": "speed of P waves [m/s]", "side": "right"}, "thickness": 14}
    figure.update_layout(coloraxis={"colorscale": theme.MEDIUM, "colorbar": bar})
    theme.style(figure, height=460, showlegend=False)
    figure.update_xaxes(title="x [m]")
    caption = "Speed along the axis of symmetry in the plane of the source (star), with the receivers in it."
    return Picture(figure, caption, "Medium, source and receivers")
