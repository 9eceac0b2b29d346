# SPDX-License-Identifier: BSD-3-Clause
"""The result of a moving source of heat: fields on planes, how the mesh followed it, whether it verifies."""

from typing import Any

from plotly import graph_objects as go
from plotly.subplots import make_subplots

from tailrace.data.run import Run as Output
from tailrace.figures import theme
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
    section.pictures += [picture for picture in [_mesh_over_time(results)] if picture is not None]
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
