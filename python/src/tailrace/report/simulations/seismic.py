# SPDX-License-Identifier: BSD-3-Clause
"""The result of a seismic run: wave fronts, shot gathers, and the medium with source and receivers."""

from pathlib import Path

import h5py
import numpy as np
import xarray as xr
from plotly.subplots import make_subplots

from tailrace import kwave
from tailrace.data.cuts import PICTURE_POINTS
from tailrace.data.directory import case_file_of
from tailrace.data.grid import AXES, Grid
from tailrace.data.run import Run as Output
from tailrace.figures import theme
from tailrace.report.load import Run
from tailrace.report.parts import Number, Picture, Section
from tailrace.report.simulations import general
from tailrace.report.simulations.general import Cut, add_front, add_points


def fill(section: Section, run: Run, output: Output) -> list[Number]:
    numbers = general.fill(section, run, output)
    medium = None if output.source.grid is None else _medium(run, output, output.source.grid)
    section.pictures += [medium] if medium is not None else []
    return numbers


def _medium(run: Run, output: Output, grid: Grid) -> Picture | None:
    """The speed of P waves with source and receivers, where it is a dataset that is still there."""
    sources, cut = general.sources_of(run), _speed_at_source(run, grid)
    if cut is None:
        return None
    figure = make_subplots(1, 1)
    add_front(figure, 1, 1, cut, grid, sources)
    receivers = []
    for array in general.batches(output):
        places = np.stack([array.coords[axis].values for axis in AXES], axis=1)
        receivers += np.rint(places / grid.spacing_m).astype(int).tolist()
    add_points(figure, 1, 1, cut, grid, receivers, "triangle-down", "receiver")
    bar = {"title": {"text": "speed of P waves [m/s]", "side": "right"}, "thickness": 14}
    figure.update_layout(coloraxis={"colorscale": theme.MEDIUM, "colorbar": bar})
    theme.style(figure, height=460, showlegend=False)
    figure.update_xaxes(title="x [m]")
    caption = "Speed along the axis of symmetry in the plane of the source (star), with the receivers in it."
    return Picture(figure, caption, "Medium, source and receivers")


def _speed_at_source(run: Run, grid: Grid) -> Cut | None:
    """The plane of x and z through the source, of the dataset that the case names."""
    named = ((run.account.get("config") or {}).get("model") or {}).get("vp_m_s")
    case_file, sources = case_file_of(run.account), general.sources_of(run)
    if not isinstance(named, str) or ":/" not in named or not case_file or not sources:
        return None
    file, _, dataset = named.partition(":/")
    path, row = Path(case_file).parent / file, sources[0][1]
    if not path.is_file():
        return None
    with kwave.open_file(path) as model:
        values = model.get(dataset)
        if not isinstance(values, h5py.Dataset) or values.shape != grid.shape:
            return None
        z, x = (slice(None, None, -(-values.shape[axis] // PICTURE_POINTS)) for axis in (0, 2))
        plane = values[z, row, x].astype(np.float32)
    along = {"z": (2, z), "x": (0, x)}
    places = {
        dim: grid.positions_m(axis, np.arange(grid.sizes[axis])[some]) for dim, (axis, some) in along.items()
    }
    return Cut(xr.DataArray(plane, places, ("z", "x")), "x", "z", "y", float(grid.positions_m(1, row)))
