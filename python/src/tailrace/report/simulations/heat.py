# SPDX-License-Identifier: BSD-3-Clause
"""The result of a moving source of heat: fields on planes, how the mesh followed it, whether it verifies."""

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
    "gather_s": "values of mortar points to elements (part of the first two)",
    "scatter_s": "contributions to mortar points (part of the first two)",
    "reduction_s": "sums over all ranks (part of diffusion)",
}


def fill(section: Section, run: Run, output: Output) -> list[Number]:
    numbers = general.fill(section, run, output)
    results = run.account.get("results")
    if not isinstance(results, dict):
        return numbers
    found = [mesh_in_plane(output), _mesh_over_time(results)]
    section.pictures += [picture for picture in found if picture is not None]
    section.pictures += _phases(results)
    return numbers + _verification(results)


def _verification(results: dict[str, Any]) -> list[Number]:
    """Nothing of a run that stopped before its end."""
    if "integral" not in results:
        return []
    numbers = [
        Number(f"{results['integral']:.13e}", "integral of the temperature", f"class {results.get('class')}")
    ]
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
    return (coordinates / grid.spacing_m[axis] + 0.5) / grid.sizes[axis]


def mesh_in_plane(output: Output) -> Picture | None:
    """Outlines of the elements in the plane of an output of the level, at some of its samples."""
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
    for number, plane in enumerate(planes.values):
        x: list[float | None] = []
        y: list[float | None] = []
        for left, low, size in squares_of(plane, across, down):
            x += [left, left + size, left + size, left, left, None]
            y += [low, low, low + size, low + size, low, None]
        line = {"width": 0.7, "color": theme.LINES[0]}
        lines = go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", name="elements")
        figure.add_trace(lines, number // columns + 1, number % columns + 1)
    figure.update_xaxes(range=[0, 1], constrain="domain", showgrid=False)
    figure.update_yaxes(range=[0, 1], scaleanchor="x", constrain="domain", showgrid=False)
    figure.update_xaxes(title=cut.across[0], row=rows)
    figure.update_yaxes(title=cut.down[0], col=1)
    theme.style(figure, height=int(rows * (PAGE_WIDTH / columns + 30)), showlegend=False)
    at = in_cube(np.array(cut.at_m), grid, cut.normal)
    caption = f"Outlines of the elements that the plane {cut.normal} = {at:.4g} of the unit cube cuts."
    return Picture(figure, caption, "The mesh in a plane")


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


def _phases(results: dict[str, Any]) -> list[Table]:
    phases = results.get("phases")
    if not isinstance(phases, dict):
        return []
    rows = [[text, f"{phases[key]:.3f}"] for key, text in PHASES.items() if key in phases]
    return [Table(["phase", "seconds"], rows, "Of rank 0, in this run.", "Where the time went", (1,))]
