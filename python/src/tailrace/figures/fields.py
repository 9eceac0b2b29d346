# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of fields and series: slices, profiles, traces, spectra."""

import math
from dataclasses import dataclass
from itertools import cycle

import numpy as np
import plotly.graph_objects as go

from tailrace.figures import theme
from tailrace.units import si_scale, titled, unit_scale

AXES = "xyz"

NO_BOX = "<extra></extra>"  # plotly's second hover box stays away
MAX_HEIGHT = 440.0
LIGHT_LINE, DARK_LINE = "rgba(255,255,255,0.55)", "rgba(40,40,40,0.5)"
HALF_WIDTH = 536.0
PAGE_WIDTH = 1096.0  # pixels the layouts are laid out for; narrower pages shrink them
LEFT, GAP, BAR, TOP, BOTTOM = 58, 66, 108, 30, 48  # pixels around and between planes


@dataclass
class Plane:
    """A cut through a field: `values` has rows along `axes[1]` and columns along `axes[0]`. Places along both
    and along the normal are in `unit`.
    """

    values: np.ndarray
    axes: tuple[int, int]
    along: np.ndarray
    up: np.ndarray
    normal: int
    at: float
    unit: str = "mm"


@dataclass
class Series:
    """A quantity over time at one place; `time_s` is in the unit that its figure is given."""

    label: str
    time_s: np.ndarray
    values: np.ndarray


@dataclass
class Shades:
    """How values become colours: `signed` centres a diverging map on zero, otherwise the map starts at zero
    or, with `from_lowest`, at the lowest value. `scaled` allows a unit prefix such as M in MPa.
    """

    title: str
    unit: str
    signed: bool = False
    from_lowest: bool = False
    scaled: bool = True
    colorscale: object = None
    peak: float | None = None  # fixed upper end, so that several figures can be compared


def slices(planes: list[Plane], shades: Shades, pixels: float = PAGE_WIDTH) -> go.Figure:
    """Planes side by side at one scale, with one colour bar, laid out for a width in pixels."""
    peak = shades.peak or max(float(np.nanmax(np.abs(plane.values), initial=0.0)) for plane in planes)
    factor, unit = unit_scale(peak, shades.unit) if shades.scaled else (1.0, shades.unit)
    lowest = min(float(np.nanmin(plane.values, initial=np.inf)) for plane in planes)
    low = -peak if shades.signed else lowest if shades.from_lowest else min(0.0, lowest)
    limits = (low / factor, peak / factor)
    figure = go.Figure()
    heights = _place(figure, planes, pixels)
    for number, plane in enumerate(planes, start=1):
        _add_plane(figure, plane, number, factor, unit)
    figure.update_layout(
        coloraxis={
            "colorscale": shades.colorscale or (theme.DIVERGING if shades.signed else theme.SEQUENTIAL),
            "cmin": limits[0],
            "cmax": limits[1] if limits[1] > limits[0] else limits[0] + 1.0,
            "colorbar": {
                "title": {"text": titled(shades.title, unit), "side": "right", "font": {"size": 13}},
                "thickness": 14,
                "len": 1.0,
                "lenmode": "fraction",
                "xpad": 16,
                "ypad": 0,
                "outlinewidth": 0,
                "ticks": "outside",
                "nticks": 8,
            },
        }
    )
    margin = {"l": LEFT, "r": BAR, "t": TOP, "b": BOTTOM, "autoexpand": False}
    # The page keeps this ratio when it is narrower than the layout (page.js).
    meta = {"panels": heights / (pixels - LEFT - BAR)}
    return theme.style(figure, height=int(heights + TOP + BOTTOM), margin=margin, showlegend=False, meta=meta)


def _extent(position: np.ndarray) -> float:
    return float(position[-1] - position[0] + (position[1] - position[0] if len(position) > 1 else 1.0))


def _place(figure: go.Figure, planes: list[Plane], pixels: float) -> float:
    """Gives every plane axes with one scale in both directions; returns the height in pixels."""
    widths = [_extent(plane.along) for plane in planes]
    tallest = max(_extent(plane.up) for plane in planes)
    total = pixels - LEFT - BAR
    scale = min((total - GAP * (len(planes) - 1)) / sum(widths), MAX_HEIGHT / tallest)
    left = 0.0
    for number, plane in enumerate(planes, start=1):
        suffix = "" if number == 1 else str(number)
        across, up = AXES[plane.axes[0]], AXES[plane.axes[1]]
        right = left + widths[number - 1] * scale
        domains = [left / total, min(1.0, right / total)], [0, _extent(plane.up) / tallest]
        shared = {"constrain": "domain", "showgrid": False, "mirror": True}
        xaxis = {
            "domain": domains[0],
            "title": titled(across, plane.unit),
            "anchor": f"y{suffix}",
            **_range(plane.along),
        }
        yaxis = {
            "domain": domains[1],
            "title": titled(up, plane.unit),
            "anchor": f"x{suffix}",
            **_range(plane.up),
        }
        yaxis["scaleanchor"] = f"x{suffix}"
        figure.update_layout({f"xaxis{suffix}": xaxis | shared, f"yaxis{suffix}": yaxis | shared})
        figure.add_annotation(
            text=f"{AXES[plane.normal]} = {plane.at:.2f} {plane.unit}".replace("-", "\u2212"),
            x=0.5, y=1.0, xref=f"x{suffix} domain", yref=f"y{suffix} domain",
            yanchor="bottom", showarrow=False, font={"size": 13},
        )  # fmt: skip
        left = right + GAP
    figure.layout.coloraxis.colorbar.x = min(1.0, (left - GAP) / total)
    return scale * tallest


def _range(position: np.ndarray) -> dict:
    half = (position[1] - position[0]) / 2 if len(position) > 1 else 0.5
    return {"range": [float(position[0] - half), float(position[-1] + half)]}


def _add_plane(figure: go.Figure, plane: Plane, number: int, factor: float, unit: str) -> None:
    across, up = AXES[plane.axes[0]], AXES[plane.axes[1]]
    suffix = "" if number == 1 else str(number)
    places = f"{across} %{{x:.2f}} {plane.unit}<br>{up} %{{y:.2f}} {plane.unit}"
    figure.add_trace(
        go.Heatmap(
            z=(plane.values / np.float32(factor)).astype(np.float32),
            x0=float(plane.along[0]),
            dx=float(plane.along[1] - plane.along[0]),
            y0=float(plane.up[0]),
            dy=float(plane.up[1] - plane.up[0]),
            coloraxis="coloraxis",
            xaxis=f"x{suffix}",
            yaxis=f"y{suffix}",
            hovertemplate=f"{places}<br><b>%{{z:.3g}} {unit}</b>{NO_BOX}",
        )
    )


def in_steps(values: np.ndarray) -> np.ndarray:
    """Values to a thousandth of the largest one, as colours show them: a page holds them in a third of the
    bytes.
    """
    step = np.nanmax(np.abs(values), initial=0.0) / 1000
    if not step > 0 or not np.isfinite(step):
        return values.astype(np.float32)
    return (np.round(values / step) * step).astype(np.float32)


def outline(
    figure: go.Figure, number: int, rectangle: tuple, color: str, dash: str = "solid", width: float = 1.5
) -> None:
    """A rectangle (x0, y0, x1, y1) in millimetres on plane `number`."""
    suffix = "" if number == 1 else str(number)
    x0, y0, x1, y1 = rectangle
    figure.add_shape(
        type="rect", x0=x0, y0=y0, x1=x1, y1=y1, xref=f"x{suffix}", yref=f"y{suffix}",
        line={"color": color, "width": width, "dash": dash},
    )  # fmt: skip


def profiles(
    curves: dict[str, tuple[np.ndarray, np.ndarray]], title: str, unit: str, height: int
) -> go.Figure:
    """Values along the axes through the peak, against the distance from it; the line at half the peak is
    dashed.
    """
    peak = max(float(np.nanmax(values)) for _, values in curves.values())
    factor, prefix = si_scale(peak)
    figure = go.Figure()
    for color, (label, (distance, values)) in zip(theme.LINES, curves.items(), strict=False):
        figure.add_trace(
            go.Scatter(
                x=distance, y=values / factor, name=label, mode="lines", line={"color": color, "width": 2},
                hovertemplate=f"{label}: %{{x:.2f}} mm<br><b>%{{y:.3g}} {prefix}{unit}</b>{NO_BOX}",
            )
        )  # fmt: skip
    figure.add_hline(
        y=peak / 2 / factor, line={"dash": "dash", "width": 1, "color": "#8a8f98"},
        annotation={"text": "\u22126 dB", "font": {"size": 12}}, annotation_position="top left",
    )  # fmt: skip
    figure.update_xaxes(title="distance from the peak [mm]")
    figure.update_yaxes(title=f"{title} [{prefix}{unit}]", rangemode="tozero")
    return theme.style(figure, height)


def traces(series: list[Series], unit: str, title: str = "pressure", time_unit: str = "s") -> go.Figure:
    """A quantity, pressure unless `title` says otherwise, against time at a few sensors."""
    factor, unit = unit_scale(max(float(np.nanmax(np.abs(one.values), initial=0.0)) for one in series), unit)
    time_factor, time_unit = unit_scale(max(float(one.time_s[-1]) for one in series), time_unit)
    figure = go.Figure()
    for color, one in zip(cycle(theme.LINES), series, strict=False):
        time_s, values = thin_out(one.time_s, one.values)
        text = f"{one.label}, %{{x:.3f}} {time_unit}<br><b>%{{y:.3g}} {unit}</b>{NO_BOX}"
        figure.add_trace(
            go.Scatter(
                x=time_s / time_factor, y=values / factor, name=one.label, mode="lines",
                line={"color": color, "width": 1.6},
                hovertemplate=text,
            )
        )  # fmt: skip
    figure.update_xaxes(title=titled("time", time_unit))
    figure.update_yaxes(title=titled(title, unit), zeroline=True)
    return theme.style(figure, height=360)


def thin_out(time_s: np.ndarray, values: np.ndarray, points: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Keeps the smallest and the largest value of every extent, so that no extreme is lost."""
    if len(values) <= points:
        return time_s, values
    size = math.ceil(len(values) / (points // 2))
    keep = set()
    for first in range(0, len(values), size):
        part = values[first : first + size]
        keep |= {first + int(part.argmin()), first + int(part.argmax())}
    chosen = np.array(sorted(keep))
    return time_s[chosen], values[chosen]


def amplitude_spectrum(series: Series) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies in Hz and amplitudes, with a Hann window; a steady sine shows its own amplitude."""
    values = series.values - series.values.mean()
    window = np.hanning(len(values))
    amplitude = 2 * np.abs(np.fft.rfft(values * window, n=4 * len(values))) / window.sum()
    return np.fft.rfftfreq(4 * len(values), series.time_s[1] - series.time_s[0]), amplitude


def spectrum(series: Series, unit: str, grid_limit_hz: float | None) -> go.Figure:
    """Amplitude spectrum of one series in decibels below its peak; the grid's highest frequency is marked."""
    frequency, amplitude = amplitude_spectrum(series)
    peak = float(amplitude.max())
    decibels = 20 * np.log10(np.maximum(amplitude / peak, 1e-6))
    factor, prefix = si_scale(peak)
    main = float(frequency[amplitude.argmax()])
    end = min(float(frequency[-1]), max(6.5 * main, 1.15 * (grid_limit_hz or 0.0)))
    shown = frequency <= end
    hertz, hertz_prefix = si_scale(end)
    text = f"%{{x:.3f}} {hertz_prefix}Hz<br><b>%{{y:.1f}} dB</b>, %{{customdata:.3g}} {prefix}{unit}{NO_BOX}"
    figure = go.Figure(
        go.Scatter(
            x=frequency[shown] / hertz, y=decibels[shown], customdata=amplitude[shown] / factor, mode="lines",
            line={"color": theme.LINES[0], "width": 1.6},
            hovertemplate=text,
        )
    )  # fmt: skip
    if grid_limit_hz and grid_limit_hz < end:
        figure.add_vline(
            x=grid_limit_hz / hertz, line={"dash": "dot", "width": 1, "color": "#8a8f98"},
            annotation={"text": "grid limit, 2 points per wavelength", "font": {"size": 12}},
            annotation_position="top left" if grid_limit_hz > end / 2 else "top right",
        )  # fmt: skip
    figure.update_xaxes(title=f"frequency [{hertz_prefix}Hz]", range=[0, end / hertz])
    figure.update_yaxes(
        title=f"amplitude [dB re {peak / factor:.3g} {prefix}{unit}]", range=[-80, 4], dtick=20
    )
    return theme.style(figure, height=320, showlegend=False)
