# SPDX-License-Identifier: BSD-3-Clause
"""The result of a moving source of heat: fields on planes, how the mesh followed it, whether it verifies."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from plotly import graph_objects as go
from plotly.subplots import make_subplots

from tailrace.data.grid import AXES, Grid
from tailrace.data.run import Run as Output
from tailrace.figures import theme
from tailrace.figures.fields import PAGE_WIDTH
from tailrace.report.load import Run
from tailrace.report.parts import Number, Picture, Section, Table
from tailrace.report.simulations import general

COUNTED = "elements"
PHASES = {
    "convection_s": "convection and source",
    "diffusion_s": "diffusion",
    "adaptation_s": "adaptation of the mesh",
    "tree_s": "- the new tree",
    "transfer_s": "- the field onto it",
    "numbering_s": "- mortar points and their numbers",
    "map_s": "- the map of the exchanges",
    "fields_s": "- memory and batches of elements",
    "diagonal_s": "- weights, and the diagonal of the operator",
    "gather_s": "values of mortar points to elements (part of the first two)",
    "scatter_s": "contributions to mortar points (part of the first two)",
    "reduction_s": "sums over all ranks (part of diffusion)",
}


def fill(section: Section, run: Run, output: Output) -> list[Number]:
    numbers = general.fill(section, run, output)
    results = run.account.get("results")
    if not isinstance(results, dict):
        return numbers
    config = run.account.get("config")
    ball = Ball.of(config if isinstance(config, dict) else {})
    found = [mesh_in_plane(output, ball), _mesh_over_time(results), _shares(results, run), _accesses(results)]
    section.pictures += [picture for picture in found if picture is not None]
    section.pictures += _phases(results, run)
    return numbers + _verification(results)


def _verification(results: dict[str, Any]) -> list[Number]:
    """Nothing of a run that stopped before its end."""
    if "integral" not in results:
        return []
    integral = results["integral"]
    detail = f"class {results.get('class')}: {integral:.13e}"
    numbers = [Number(f"{integral:.6g}", "integral of the temperature", detail)]
    if "verified" in results:
        verdict = "verified" if results["verified"] else "not verified"
        detail = f"relative difference {results['difference']:.1e} to NPB's, of which 1e-8 is accepted"
        numbers.append(Number(verdict, "against NPB's reference", detail))
    else:
        numbers.append(Number("not performed", "verification", "no reference of NPB for this problem"))
    return [*numbers, Number(f"{results['mops']:.1f}", "Mop/s", "points advanced, as NPB counts them")]


def squares_of(levels: np.ndarray, across: np.ndarray, down: np.ndarray) -> list[tuple[float, float, float]]:
    """The elements that a plane cuts, by the levels at points (down, across) of it: low corner and size."""
    found = set()
    for level in np.unique(levels.astype(int)):
        rows, columns = np.nonzero(levels == level)
        size = 0.5**level
        found |= {
            (float(x), float(y), size)
            for x, y in zip(across[columns] // size * size, down[rows] // size * size, strict=True)
        }
    return sorted(found)


def in_cube(coordinates: np.ndarray, grid: Grid, dim: str) -> np.ndarray:
    """Where points of an output are along an axis of the unit cube, whatever their coordinates count."""
    axis = AXES.index(dim[0])
    return (coordinates / grid.spacing_m[axis] + grid.zero[axis] + 0.5) / grid.sizes[axis]


@dataclass(frozen=True)
class Ball:
    """The source of heat, a ball that moves through the unit cube."""

    centre: np.ndarray
    velocity: np.ndarray
    radius: float

    @classmethod
    def of(cls, config: dict[str, Any]) -> "Ball | None":
        """As the case in run.json has it."""
        heat = config.get("heat", {})
        try:
            return cls(
                np.array(heat["centre"], float), np.array(heat["velocity"], float), float(heat["radius"])
            )
        except (KeyError, TypeError, ValueError):
            return None

    def section(self, time: float, normal: str, at: float) -> tuple[np.ndarray, float]:
        """The circle in which a plane cuts it: its centre there, and its radius, 0 where it does not."""
        axis = AXES.index(normal)
        centre = self.centre + self.velocity * time
        square = self.radius**2 - (centre[axis] - at) ** 2
        return np.delete(centre, axis), float(np.sqrt(max(square, 0)))


def _temperature_in(output: Output, grid: Grid, like: general.Cut, times: np.ndarray) -> np.ndarray | None:
    """The temperature in the plane of another cut at these times, if an output has it."""
    for array in map(output.__getitem__, output):
        if array.attrs.get("quantity") != "temperature" or "time" not in array.dims:
            continue
        cut = general.cut_of(array, grid, [])
        if cut is None or (cut.normal, cut.at_m) != (like.normal, like.at_m):
            continue
        if cut.values.shape[1:] == like.values.shape[1:] and np.isin(times, cut.values.coords["time"]).all():
            return cut.values.sel(time=times).load().values
    return None


def _add_ball(
    figure: go.Figure, place: dict[str, int], ball: Ball, time: float, plane: tuple[str, float]
) -> None:
    """The way of the ball until then, and where it is cut."""
    centre, radius = ball.section(time, *plane)
    start, _ = ball.section(0, *plane)
    way = np.linspace(start, centre, 2)
    line = {"width": 1.5, "dash": "dot", "color": theme.LINES[1]}
    figure.add_trace(
        go.Scatter(x=way[:, 0], y=way[:, 1], mode="lines", line=line, hoverinfo="skip", name="ball"), **place
    )
    if radius > 0:
        angle = np.linspace(0, 2 * np.pi, 61)
        x, y = centre[0] + radius * np.cos(angle), centre[1] + radius * np.sin(angle)
        line = {"width": 1.5, "color": theme.LINES[1]}
        figure.add_trace(
            go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", name="ball"), **place
        )


def _outlines(squares: list[tuple[float, float, float]]) -> go.Scatter:
    x: list[float | None] = []
    y: list[float | None] = []
    for left, low, size in squares:
        x += [left, left + size, left + size, left, left, None]
        y += [low, low, low + size, low + size, low, None]
    line = {"width": 0.7, "color": theme.LINES[0]}
    return go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", name="elements")


def mesh_in_plane(output: Output, ball: Ball | None = None) -> Picture | None:
    """Outlines of the elements in the plane of an output of the level, at some of its samples; below them the
    temperature, if an output has it there, and the ball with the way that it came.
    """
    grid = output.source.grid
    if grid is None:
        return None
    arrays = [array for array in map(output.__getitem__, output) if array.attrs.get("quantity") == "level"]
    cuts = [cut for cut in (general.cut_of(array, grid, []) for array in arrays) if cut is not None]
    cut = next((cut for cut in cuts if cut.values.sizes.get("time")), None)
    if cut is None:
        return None
    planes = cut.values.isel(time=general.spread(cut.values.sizes["time"])).load()
    across, down = (in_cube(cut.values.coords[dim].values, grid, dim) for dim in (cut.across, cut.down))
    columns = min(3, len(planes))
    rows = -(-len(planes) // columns)
    times = [f"t = {float(at):.4g}" for at in planes.coords["time"]]
    figure = make_subplots(rows, columns, subplot_titles=times, horizontal_spacing=0.05)
    at = in_cube(np.array(cut.at_m), grid, cut.normal)
    field = _temperature_in(output, grid, cut, planes.coords["time"].values)
    for number, plane in enumerate(planes.values):
        place = {"row": number // columns + 1, "col": number % columns + 1}
        if field is not None:
            below = go.Heatmap(z=field[number].astype(np.float32), x=across, y=down, coloraxis="coloraxis")
            figure.add_trace(below, **place)
        figure.add_trace(_outlines(squares_of(plane, across, down)), **place)
        if ball is not None:
            time = float(planes.coords["time"][number])
            _add_ball(figure, place, ball, time, (cut.normal, float(at)))
    colours = None if field is None else general.colours_of(field)
    if colours is not None:
        figure.update_layout(coloraxis={**colours, "colorbar": {"title": "temperature"}})
    figure.update_xaxes(range=[0, 1], constrain="domain", showgrid=False)
    figure.update_yaxes(range=[0, 1], scaleanchor="x", constrain="domain", showgrid=False)
    figure.update_xaxes(title=cut.across[0], row=rows)
    figure.update_yaxes(title=cut.down[0], col=1)
    theme.style(figure, height=int(rows * (PAGE_WIDTH / columns + 30)), showlegend=False)
    caption = f"Outlines of the elements that the plane {cut.normal} = {at:.4g} of the unit cube cuts"
    caption += ", on the temperature there." if field is not None else "."
    if ball is not None:
        caption += (
            " Dotted: the way of the ball's centre, seen along the normal; circle: the ball, where it is cut."
        )
    return Picture(figure, caption, "The mesh in a plane", outputs=(str(cut.values.name),))


def _mesh_over_time(results: dict[str, Any]) -> Picture | None:
    adaptations = results.get("adaptations")
    if not isinstance(adaptations, list) or not adaptations:
        return None
    steps = [one["step"] for one in adaptations]
    figure = make_subplots(1, 2, subplot_titles=["elements", "mortar points"], horizontal_spacing=0.12)
    for column, name in enumerate(["elements", "mortars"], start=1):
        line = go.Scatter(
            x=steps, y=[one[name] for one in adaptations], mode="lines+markers", line_shape="hv", name=name
        )
        figure.add_trace(line, row=1, col=column)
        figure.update_xaxes(title="step", row=1, col=column)
    theme.style(figure, height=320, showlegend=False)
    caption = (
        "After each adaptation of the mesh, over all ranks. Elements that the ball touches have the finest "
        "level; mortar points are on the finer side of each face and edge."
    )
    return Picture(figure, caption, "The mesh follows the ball")


def _shares(results: dict[str, Any], run: Run) -> Picture | None:
    """How even the ranks' shares are."""
    most, ranks = results.get("max_on_a_rank"), run.account.get("ranks")
    if not isinstance(most, list) or not most or not isinstance(ranks, int) or ranks < 2:
        return None
    totals = {one["step"]: one for one in results.get("adaptations", [])}
    figure = go.Figure()
    for name, text in {"elements": "elements", "mortars": "mortar points owned"}.items():
        ratio = [one[name] * ranks / totals[one["step"]][name] for one in most if one["step"] in totals]
        steps = [one["step"] for one in most if one["step"] in totals]
        figure.add_trace(go.Scatter(x=steps, y=ratio, mode="lines+markers", line_shape="hv", name=text))
    figure.update_xaxes(title="step")
    figure.update_yaxes(title="most on a rank / mean")
    theme.style(figure, height=300)
    caption = f"On {ranks} ranks; 1 is even. Who owns a mortar point says heat.distribution."
    return Picture(figure, caption, "How evenly the mesh is shared out")


def _accesses(results: dict[str, Any]) -> Picture | None:
    """Which mortar points elements access, by their numbers."""
    accesses = results.get("accesses")
    return access_pattern(accesses) if isinstance(accesses, list) and accesses else None


def access_pattern(accesses: list[dict[str, Any]]) -> Picture:
    """A panel for each of the meshes of `accesses` in run.json."""
    titles = [f"after step {one['step']}" if one["step"] else "at the start" for one in accesses]
    figure = make_subplots(
        1, len(accesses), subplot_titles=titles, horizontal_spacing=0.05, shared_yaxes=True
    )
    for column, one in enumerate(accesses, start=1):
        bins = int(one["bins"])
        counts = np.reshape(np.array(one["counts"], float), (bins, bins))
        share = (np.arange(bins) + 0.5) / bins
        shown = np.log10(np.where(counts > 0, counts, np.nan))
        figure.add_trace(
            go.Heatmap(z=shown, x=share, y=share, coloraxis="coloraxis", name="accesses"), row=1, col=column
        )
    ticks = {"tickvals": list(range(8)), "ticktext": [f"{10**n:,}" for n in range(8)]}
    figure.update_layout(
        coloraxis={"colorscale": theme.SEQUENTIAL, "colorbar": {"title": "accesses", **ticks}}
    )
    figure.update_xaxes(title="mortar point", range=[0, 1], showgrid=False)
    figure.update_yaxes(range=[0, 1], showgrid=False)
    figure.update_yaxes(title="element", col=1)
    theme.style(figure, height=int(PAGE_WIDTH / len(accesses) + 110), showlegend=False)
    caption = (
        "Elements in Morton order, mortar points by their numbers, both as shares of all; the colour counts "
        "how often elements access points. Ranks have stripes of elements one above the other: what a rank "
        "accesses beside the points that it owns, it exchanges."
    )
    return Picture(figure, caption, "Which mortar points elements access")


def _phases(results: dict[str, Any], run: Run) -> list[Table]:
    phases = results.get("phases")
    if not isinstance(phases, dict):
        return []
    whole = sum(phases.get(key, 0) for key in ("convection_s", "diffusion_s", "adaptation_s"))
    rows = [
        [text, f"{phases[key]:.3f}", f"{100 * phases[key] / whole:.1f}" if whole else ""]
        for key, text in PHASES.items()
        if key in phases
    ]
    caption = "Of rank 0, in this run; shares of convection, diffusion and adaptation together."
    return [Table(["phase", "seconds", "%"], rows, caption, "Where the time went", (1, 2))]
