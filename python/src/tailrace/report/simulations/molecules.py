# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of molecules: observables over time, the box with what is in it, profiles."""

from itertools import cycle

import h5py
import numpy as np
import plotly.graph_objects as go
import xarray as xr
from plotly.subplots import make_subplots

from tailrace import commit_mark, kwave
from tailrace.data.cuts import space_dims
from tailrace.data.grid import AXES
from tailrace.data.run import Run as Output
from tailrace.figures import theme
from tailrace.figures.fields import NO_BOX, thin_out
from tailrace.report.load import Run
from tailrace.report.parts import Number, Picture, Section

COUNTED = "molecules"
SLABS = 5  # a cut is as thick as this part of the box
MAX_SHOWN = 6000  # molecules in the picture of the box
PANELS = {
    "energy": ("potential_energy", "kinetic_energy", "total_energy", "mean_potential_energy"),
    "temperature": ("temperature",),
    "pressure": ("pressure", "mean_pressure"),
    "imbalance of counted pairs": ("imbalance",),
}
# Reduced units: \u03b5 and \u03c3 of the first kind of molecule.
UNITS = {
    "energy": "\u03b5",
    "temperature": "\u03b5/k",
    "pressure": "\u03b5/\u03c3\u00b3",
}
BINNED = {"density": "density [\u03c3\u207b\u00b3]", "bin_temperature": "temperature [\u03b5/k]"}


def fill(section: Section, run: Run, output: Output) -> list[Number]:
    arrays = [output[name] for name in output]
    series: dict[str, xr.DataArray] = {}
    for array in arrays:
        if array.dims == ("time",) and array.sizes["time"] and array.attrs.get("reduction") == "none":
            series.setdefault(array.attrs["quantity"], array.load())
    with kwave.open_file(output.path) as file:
        length = _length(file)
        positions = tuple(str(array.name) for array in arrays if array.attrs.get("quantity") == "position")
        pictures = [_observables(series), _box(file, output.source.commit_mark, positions)]
    pictures += [_profile(array, length) for array in arrays if len(space_dims(array)) == 3]
    section.pictures += [picture for picture in pictures if picture is not None]
    return _numbers(series, heated="thermostat" in (run.account.get("config") or {}))


def _length(output: h5py.File) -> np.ndarray:
    edges = output.get("particles/all/box/edges")
    if isinstance(edges, h5py.Group):  # one for each sample of the positions, all the same
        return edges["value"][0]
    return np.ones(3) if edges is None else edges[()]


def _observables(series: dict[str, xr.DataArray]) -> Picture | None:
    panels = {
        title: [name for name in names if name in series]
        for title, names in PANELS.items()
        if any(name in series for name in names)
    }
    if not panels:
        return None
    figure = make_subplots(len(panels), 1, shared_xaxes=True, vertical_spacing=0.06)
    for row, (title, names) in enumerate(panels.items(), 1):
        for color, name in zip(cycle(theme.LINES), names, strict=False):
            time, values = thin_out(series[name].coords["time"].values, series[name].values)
            label = name.replace("_", " ")
            line = {"color": color, "width": 1.6, "dash": "dot" if name.startswith("mean_") else "solid"}
            figure.add_trace(
                go.Scatter(
                    x=time, y=values, name=label, mode="lines", line=line,
                    hovertemplate=f"{label}, t = %{{x:.5g}}<br><b>%{{y:.6g}}</b>{NO_BOX}",
                ),
                row, 1,
            )  # fmt: skip
        figure.update_yaxes(title=title + (f" [{UNITS[title]}]" if title in UNITS else ""), row=row, col=1)
    figure.update_xaxes(title="time [\u03c4]", row=len(panels), col=1)
    theme.style(figure, height=90 + 170 * len(panels))
    caption = "In reduced units (\u03c4 is that of time); dotted: running means over up to 1000 steps."
    outputs = tuple(str(series[name].name) for names in panels.values() for name in names)
    return Picture(figure, caption, "Observables", outputs=outputs)


def _box(output: h5py.File, recorded: commit_mark.CommitMark, positions: tuple[str, ...]) -> Picture | None:
    """The last positions that were recorded, of some of the molecules if there are many."""
    values = output.get("particles/all/position/value")
    if values is None:
        return None
    count = recorded.among(output["particles/all/position/step"][()])
    if not count:
        return None
    stride = max(1, -(-values.shape[1] // MAX_SHOWN))
    places = values[count - 1, ::stride]
    kinds = output["particles/all/species"][::stride]
    figure = go.Figure()
    for color, kind in zip(cycle(theme.LINES), np.unique(kinds), strict=False):
        x, y, z = places[kinds == kind].T
        figure.add_trace(
            go.Scatter3d(
                x=x, y=y, z=z, mode="markers", name=f"component {kind}",
                marker={"size": 2.5, "color": color, "opacity": 0.8},
                hovertemplate=f"%{{x:.4g}}, %{{y:.4g}}, %{{z:.4g}}{NO_BOX}",
            )
        )  # fmt: skip
    _add_edges(figure, _length(output))
    # The eye is so far away that all labels of the axes are in the picture.
    axes = {f"{axis}axis": {"title": {"text": f"{axis} [\u03c3]"}, "nticks": 5} for axis in AXES}
    scene = {"aspectmode": "data", "camera": {"eye": {"x": 1.7, "y": 1.7, "z": 1.1}}, **axes}
    theme.style(figure, height=620, scene=scene, showlegend=len(np.unique(kinds)) > 1)
    figure.update_layout(margin={"l": 20, "r": 20, "t": 20, "b": 20})
    time = output["particles/all/position/time"][count - 1]
    some = "" if stride == 1 else f", every {stride}th molecule"
    return Picture(figure, f"At time {time:.6g}{some}. Drag to turn it.", "The box", outputs=positions)


def _add_edges(figure: go.Figure, length: np.ndarray) -> None:
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * length
    lines: list[list[float | None]] = []
    for i, a in enumerate(corners):
        for b in corners[i + 1 :]:
            if np.count_nonzero(a != b) == 1:
                lines += [list(a), list(b), [None, None, None]]
    x, y, z = zip(*lines, strict=True)
    line = {"color": "#8a8f98", "width": 2}
    figure.add_trace(go.Scatter3d(x=x, y=y, z=z, mode="lines", line=line, hoverinfo="skip", showlegend=False))


def _profile(array: xr.DataArray, length: np.ndarray) -> Picture | None:
    """The last sample: along the axis with the most bins, averaged over the others; a plane of cubes."""
    if not array.sizes["time"]:
        return None
    bins, name = array.isel(time=-1).values, array.name
    title = BINNED.get(array.attrs["quantity"], array.attrs["quantity"])
    axes = [axis for axis in range(3) if bins.shape[2 - axis] > 1]
    middles = {
        axis: (np.arange(bins.shape[2 - axis]) + 0.5) * length[axis] / bins.shape[2 - axis]
        for axis in range(3)
    }
    if len(axes) < 2:
        axis = axes[0] if axes else 2
        figure = go.Figure(
            go.Scatter(
                x=np.r_[0, middles[axis], length[axis]], y=np.pad(bins.reshape(-1), 1, "edge"), mode="lines",
                line={"color": theme.LINES[0], "shape": "hvh"},
                hovertemplate=f"{AXES[axis]} %{{x:.4g}}<br><b>%{{y:.5g}}</b>{NO_BOX}",
            )
        )  # fmt: skip
        figure.update_xaxes(title=f"{AXES[axis]} [\u03c3]")
        figure.update_yaxes(title=title, rangemode="tozero")
        heading = f"Profile: output {name}"
        return Picture(theme.style(figure, height=320), _when(array), heading, outputs=(str(name),))
    across, down = axes[0], axes[-1]
    normal = 3 - across - down
    plane, slab = _middle_slab(bins, normal)
    figure = go.Figure(
        go.Heatmap(
            x=middles[across], y=middles[down], z=plane, colorscale=theme.MEDIUM,
            zsmooth="best", colorbar={"title": {"text": title, "side": "right"}, "thickness": 14},
            hovertemplate=f"{AXES[across]} %{{x:.4g}}, {AXES[down]} %{{y:.4g}}<br><b>%{{z:.5g}}</b>{NO_BOX}",
        )
    )  # fmt: skip
    figure.update_xaxes(title=f"{AXES[across]} [\u03c3]", showgrid=False, constrain="domain")
    figure.update_yaxes(title=f"{AXES[down]} [\u03c3]", showgrid=False, scaleanchor="x", constrain="domain")
    width = slab * length[normal] / bins.shape[2 - normal]
    caption = f"Mean over {width:.3g} \u03c3 in the middle of {AXES[normal]}. {_when(array)}"
    return Picture(theme.style(figure, height=460), caption, f"Cut: output {name}", outputs=(str(name),))


def _middle_slab(bins: np.ndarray, normal: int) -> tuple[np.ndarray, int]:
    """A plane through the middle, and over how many bins it is the mean: single cells hold a molecule or
    none, in which nobody sees a density.
    """
    count = bins.shape[2 - normal]
    slab = max(1, count // SLABS)
    first = (count - slab) // 2
    return bins.take(range(first, first + slab), axis=2 - normal).mean(axis=2 - normal), slab


def _when(array: xr.DataArray) -> str:
    step, count = int(array.coords["step"][-1]), array.sizes["time"]
    series = array.attrs["reduction"] == "none"
    return f"At step {step}, the last of {count} samples." if series else f"Over the steps up to {step}."


def _numbers(series: dict[str, xr.DataArray], heated: bool) -> list[Number]:
    """The last temperature and pressure, and how well the total energy is conserved; a thermostat changes it
    on purpose.
    """
    numbers = [
        Number(f"{series[name].values[-1]:.4g}", name, f"at the end, in units of {UNITS[name]}")
        for name in ("temperature", "pressure")
        if name in series
    ]
    if "total_energy" in series and not heated:
        energy = series["total_energy"].values
        drift = float(np.abs(energy - energy[0]).max())
        numbers.append(
            Number(
                f"{drift:.3g}",
                "largest change of the total energy",
                f"from {energy[0]:.6g}, in units of \u03b5",
            )
        )
    return numbers
