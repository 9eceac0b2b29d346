# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of stages, as the thesis drew them: time in a stage against the time of arrival, and fragments in
the stage against time. Densities, so that any number of fragments takes the same time and memory to draw.
"""

from pathlib import Path

import numpy as np

from tailrace.fragment_profile.profile import population
from tailrace.fragment_profile.tables import STAGE_NAMES, Recorded

COLUMNS, ROWS = 240, 120
CURVE_POINTS = 1000
# The names of the thesis for the wait stage and the queue of fragments that are ready.
FILE_NAMES = {"distribution": "distribution", "wait": "wait_df", "ready": "wait_wtp"}


def density(stays: np.ndarray, span: tuple[float, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges of time, edges of lengths (on a logarithmic scale), and fragments in each cell (by rows of
    lengths).
    """
    lengths = np.maximum(stays["end_s"] - stays["start_s"], 1e-9)
    least, most = (float(lengths.min()), float(lengths.max())) if len(lengths) else (1e-6, 1e-3)
    edges = np.geomspace(least * 0.9, max(most, least) * 1.1, ROWS + 1)
    times = np.linspace(span[0], max(span[1], span[0] + 1e-9), COLUMNS + 1)
    cells, _, _ = np.histogram2d(lengths, stays["start_s"], bins=(edges, times))
    return times, edges, cells


def curve(stays: np.ndarray, span: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Times, and the most fragments in the stage within each interval that ends there."""
    times, count = population(stays)
    edges = np.linspace(span[0], max(span[1], span[0] + 1e-9), CURVE_POINTS + 1)
    if not len(times):
        return edges[1:], np.zeros(CURVE_POINTS)
    place = np.clip(np.searchsorted(edges, times, side="left") - 1, 0, CURVE_POINTS - 1)
    most = np.zeros(CURVE_POINTS)
    np.maximum.at(most, place, count)
    last = np.searchsorted(times, edges[:-1], side="right") - 1
    at_start = np.where(last >= 0, count[np.maximum(last, 0)], 0.0)
    return edges[1:], np.maximum(most, at_start)


def write_pictures(recorded: Recorded, directory: Path) -> list[Path]:
    """Two pictures for each stage, as SVG and PNG; returns their paths."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.colors import LogNorm

    directory.mkdir(parents=True, exist_ok=True)
    span, written = (recorded.first_s, recorded.last_s), []
    for number, stage in enumerate(STAGE_NAMES):
        stays = recorded.stays[recorded.stays["stage"] == number]
        times, edges, cells = density(stays, span)
        for what in ("time", "count"):
            figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
            axes.set_xlabel("time, s")
            axes.set_xlim(0, max(span[1] - span[0], 1e-9))
            if what == "time":
                axes.set_title(f"Time in stage {stage} against time of arrival, {len(stays):,} stays")
                axes.set_yscale("log")
                axes.set_ylabel("seconds in the stage")
                if cells.any():
                    shown = np.ma.masked_equal(cells, 0)
                    drawn = axes.pcolormesh(times - span[0], edges, shown, norm=LogNorm(), rasterized=True)
                    figure.colorbar(drawn, label="fragments")
            else:
                axes.set_title(f"Fragments in stage {stage} against time")
                axes.set_ylabel("fragments")
                at, count = curve(stays, span)
                axes.plot(at - span[0], count, linewidth=1)
                axes.set_ylim(bottom=0)
            if not recorded.is_full:
                axes.axvspan(recorded.full_until_s - span[0], span[1] - span[0], color="0.9", zorder=0)
                axes.text(
                    0.99, 0.97, "grey: in the summary only", transform=axes.transAxes, ha="right", va="top"
                )
            for form in ("svg", "png"):
                path = directory / f"{FILE_NAMES[stage]}_{what}.{form}"
                figure.savefig(path, dpi=120)
                written.append(path)
            pyplot.close(figure)
    return written
