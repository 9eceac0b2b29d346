# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the whole run: time split, write rate, memory."""

import numpy as np
import plotly.graph_objects as go

from tailrace.figures import theme
from tailrace.report import intervals
from tailrace.report.analysis import Analysis, DeviceRate
from tailrace.time_parts import PARTS, part_s
from tailrace.units import si_scale, si_text

RATE_CELLS = 120
BAR_RANKS = 32  # ranks shown in bar charts
FAR_OFF = 2.0  # a device this many times as fast as what is written would leave no room for the picture
# The kind of span whose colour a part of the run has.
PART_KINDS = {
    "compute": "compute",
    "exchange": "exchange",
    "output": "output_wait",
    "checkpoints": "checkpoint",
    "set-up": "setup",
    "other": "other",
}


def spread(items: list, count: int) -> list:
    """At most `count` items, evenly chosen, first and last among them."""
    if len(items) <= count:
        return items
    return [items[round(index * (len(items) - 1) / (count - 1))] for index in range(count)]


def time_split(per_rank: list[dict], wall_s: float) -> go.Figure:
    """Where the main thread of every rank spent the run."""
    shown = spread(per_rank, BAR_RANKS)
    labels = [f"rank {entry.get('rank', number)}" for number, entry in enumerate(shown)]
    parts = {part: np.array([part_s(entry, part) for entry in shown]) for part in PARTS}
    parts["other"] = np.maximum(0.0, wall_s - sum(parts.values()))
    factor, prefix = si_scale(wall_s) if wall_s < 1 else (1.0, "")
    figure = go.Figure()
    for label, seconds in parts.items():
        kind = PART_KINDS[label]
        share = 100 * seconds / wall_s if wall_s else 0 * seconds
        text = f"<b>%{{x:.3g}} {prefix}s</b>, %{{customdata:.1f}} %<extra></extra>"
        ink = "#1b1f27" if kind in ("exchange", "other") else "#ffffff"
        figure.add_trace(
            go.Bar(
                y=labels, x=seconds / factor, name=label, orientation="h", customdata=share,
                marker={"color": theme.KIND_COLORS[kind], "line": {"width": 0}},
                text=[f"{value:.0f} %" if value >= 4 else "" for value in share],
                textposition="inside", insidetextanchor="middle", textfont={"color": ink}, textangle=0,
                hovertemplate=f"%{{y}}: {label}<br>{text}",
            )
        )  # fmt: skip
    figure.update_xaxes(title=f"time [{prefix}s]")
    figure.update_yaxes(autorange="reversed")
    height = 130 + 26 * len(shown)
    return theme.style(figure, height=height, barmode="stack", bargap=0.28, legend=legend())


def legend() -> dict:
    return {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "traceorder": "normal"}


def write_rate(analysis: Analysis) -> tuple[go.Figure, str] | None:
    """Bytes per second that all writers wrote, beside what the storage takes; also returns the caption."""
    events = [lane.of_kind("write") for lane in analysis.lanes]
    writes = np.concatenate(events)
    writes = writes[writes["bytes"] > 0]
    end = max(lane.last_s for lane in analysis.lanes)
    grid = np.linspace(0.0, end, RATE_CELLS + 1)
    rate = np.diff(
        intervals.amount_before(writes["start_s"], writes["end_s"], writes["bytes"], grid)
    ) / np.diff(grid)
    if not rate.any():
        return None
    device = analysis.device
    top = float(rate.max())
    level = device.value if device else top
    near = level < FAR_OFF * top
    factor, prefix = si_scale(top)
    figure = go.Figure(
        go.Scatter(
            x=(grid[1:] + grid[:-1]) / 2, y=rate / factor, mode="lines", fill="tozeroy",
            line={"color": theme.KIND_COLORS["write"], "width": 1.5, "shape": "hvh"},
            hovertemplate=f"%{{x:.2f}} s<br><b>%{{y:.3g}} {prefix}B/s</b><extra></extra>",
        )
    )  # fmt: skip
    if near:
        name = f"device: {si_text(level, 'B/s')}" if device else f"best seen: {si_text(level, 'B/s')}"
        figure.add_hline(
            level / factor, line={"color": theme.KIND_COLORS["output_wait"], "width": 1.5, "dash": "dash"},
            annotation={"text": name, "showarrow": False, "xanchor": "left", "x": 0.01, "yanchor": "bottom"},
        )  # fmt: skip
    figure.update_xaxes(title="time since the start [s]", range=[0, end])
    figure.update_yaxes(
        title=f"written [{prefix}B/s]", range=[0, 1.18 * (max(level, top) if near else top) / factor]
    )
    text = f"Bytes per second given to the file system, in intervals of {si_text(end / RATE_CELLS, 's')}. "
    return theme.style(figure, height=260, showlegend=False), text + _device_text(device, near)


def _device_text(device: DeviceRate | None, near: bool) -> str:
    if device is None:
        return "Nothing measured the device, so the dashed line is the best interval of this run."
    if near:
        return f"Dashed: what the device takes, {device.source}."
    return f"The device takes far more: {si_text(device.value, 'B/s')}, {device.source}."


def memory(measured: list[float], predicted: list[float]) -> go.Figure:
    """Peak memory of every rank beside what was predicted before the run."""
    ranks = spread(list(range(len(measured))), BAR_RANKS)
    factor, prefix = si_scale(max([*measured, *predicted]))
    labels = [f"rank {rank}" for rank in ranks]
    figure = go.Figure()
    for name, values, color in (("predicted", predicted, "#b5bac2"), ("measured", measured, theme.LINES[0])):
        if len(values) != len(measured):
            continue
        chosen = [values[rank] / factor for rank in ranks]
        figure.add_trace(
            go.Bar(
                y=labels, x=chosen, name=name, orientation="h", marker={"color": color, "line": {"width": 0}},
                hovertemplate=f"%{{y}}: {name}<br><b>%{{x:.4g}} {prefix}B</b><extra></extra>",
            )
        )  # fmt: skip
    figure.update_xaxes(title=f"memory [{prefix}B]", rangemode="tozero")
    figure.update_yaxes(autorange="reversed")
    return theme.style(figure, height=130 + 34 * len(ranks), barmode="group", bargap=0.3, legend=legend())
