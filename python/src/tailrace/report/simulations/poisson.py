# SPDX-License-Identifier: BSD-3-Clause
"""The result of Poisson's equation: fields on planes, the residual over the sweeps, the error where known."""

from typing import Any

import h5py
import numpy as np
import plotly.graph_objects as go

from tailrace.data.run import Run as Output
from tailrace.figures import theme
from tailrace.report.load import Run
from tailrace.report.parts import Number, Picture, Section
from tailrace.report.simulations import general

COUNTED = "unknowns"


def fill(section: Section, run: Run, output: Output) -> list[Number]:
    numbers = general.fill(section, run, output, moment=lambda step: f"after sweep {step:.0f}")
    results = run.account.get("results")
    if not isinstance(results, dict):
        return numbers
    tolerance = ((run.account.get("config") or {}).get("solver") or {}).get("tolerance") or 0.0
    with h5py.File(output.path) as file:
        if "history" in file:
            history = file["history"]
            section.pictures += _over_sweeps(history["step"][:], history["residual"][:], tolerance)
    return numbers + _numbers(results, tolerance)


def _over_sweeps(steps: np.ndarray, residuals: np.ndarray, tolerance: float) -> list[Picture]:
    """Nothing of a run that has not begun."""
    there = np.isfinite(residuals)
    if not there.any() or not residuals[0] > 0:
        return []
    figure = go.Figure(
        go.Scatter(x=steps[there], y=residuals[there] / residuals[0], mode="lines+markers", name="residual")
    )
    if tolerance > 0:
        figure.add_hline(y=tolerance, line_dash="dot", annotation_text="solver.tolerance")
    figure.update_xaxes(title="sweep")
    figure.update_yaxes(title="residual / first residual", type="log", exponentformat="power")
    caption = "The root of the mean square of the residual, as a part of the first one."
    return [Picture(theme.style(figure, height=360, showlegend=False), caption, "Residual over the sweeps")]


def _numbers(results: dict[str, Any], tolerance: float) -> list[Number]:
    first, last = results.get("first_residual", 0.0), results.get("residual", 0.0)
    detail = f"{results.get('method')}, {results.get('blocks')} blocks"
    if tolerance > 0:
        detail += (
            f"; solver.tolerance {tolerance:g} {'reached' if results.get('converged') else 'not reached'}"
        )
    numbers = [
        Number(f"{last / first:.2e}" if first else f"{last:.2e}", "of the first residual is left", detail)
    ]
    if "error" in results:
        numbers.append(Number(f"{results['error']:.3e}", "largest error", "against the known solution"))
    return numbers
