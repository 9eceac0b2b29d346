# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of output: reasons for waiting, writers, buffers and memory over time, balance of the ranks."""

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from tailrace.figures import theme
from tailrace.report import intervals
from tailrace.report.analysis import Analysis
from tailrace.report.lanes import Lane
from tailrace.report.time_figures import BAR_RANKS, legend, spread
from tailrace.report.waits import SHORT, Reason
from tailrace.report.writers import Writer
from tailrace.units import bytes_text, duration_text, si_scale

LINE_POINTS = 600
BALANCE = (
    ("compute_s", "compute"),
    ("exchange_s", "exchange"),
    ("output_wait_s", "output_wait"),
    ("write_s", "write"),
)
_STANDS_OUT = 1.15


def reasons(found: list[Reason], write_s: float) -> go.Figure:
    """Seconds of waiting per reason, longest first, with their share of the writing time."""
    shown = found[::-1]
    factor, prefix = si_scale(max(reason.seconds for reason in shown))
    figure = go.Figure(
        go.Bar(
            y=[SHORT[reason.kind] for reason in shown], x=[reason.seconds / factor for reason in shown],
            orientation="h", marker={"color": theme.KIND_COLORS["output_wait"], "line": {"width": 0}},
            text=[f"{duration_text(one.seconds)}{_percent(one.seconds, write_s)}" for one in shown],
            textposition="outside", cliponaxis=False,
            hovertemplate="%{y}<br><b>%{text}</b><extra></extra>",
        )
    )  # fmt: skip
    top = max(reason.seconds for reason in shown) / factor
    figure.update_xaxes(title=f"waited, all ranks together [{prefix}s]", range=[0, 1.45 * top])
    return theme.style(figure, height=100 + 34 * len(shown), showlegend=False, bargap=0.35)


def _percent(seconds: float, whole: float) -> str:
    return f" ({100 * seconds / whole:.1f} % of writing)" if whole else ""


def writers(analysis: Analysis) -> go.Figure:
    """How every writer spent the time between the first and the last output."""
    shown = spread(sorted(analysis.writers, key=lambda one: -one.busy_s), BAR_RANKS)
    begin, end = analysis.window
    length, grid = max(end - begin, 1e-9), np.array(analysis.window)
    parts: dict[str, list[float]] = {"exposed": [], "write": [], "sync": [], "gather": []}
    for writer in shown:
        waits = intervals.merge(
            [one.intervals("output_wait") for one in analysis.mains if one.rank in writer.members]
        )
        writes = writer.times("write")
        exposed = intervals.intersection(writes, waits)
        times = {"exposed": exposed, "write": intervals.difference(writes, exposed)}
        times |= {kind: writer.times(kind) for kind in ("sync", "gather")}
        for kind, chosen in times.items():
            parts[kind].append(100 * float(intervals.overlap_s(chosen, grid)[0]) / length)
    figure = go.Figure()
    for kind, shares in parts.items():
        if not any(shares):
            continue
        label = theme.KIND_LABELS[kind]
        figure.add_trace(
            go.Bar(
                y=[_writer_label(one) for one in shown], x=shares, name=label, orientation="h",
                marker={"color": theme.KIND_COLORS[kind], "line": {"width": 0}},
                hovertemplate=f"%{{y}}: {label}<br><b>%{{x:.1f}} %</b><extra></extra>",
            )
        )  # fmt: skip
    for writer, share in zip(shown, np.sum(list(parts.values()), axis=0), strict=True):
        figure.add_annotation(
            x=share, y=_writer_label(writer), text=f" {bytes_text(writer.written_bytes)}, "
            f"{bytes_text(writer.rate)}/s",
            showarrow=False, xanchor="left", font={"size": 12},
        )  # fmt: skip
    figure.update_xaxes(
        title="share of the time between first and last output [%]",
        range=[0, 140],
        tickvals=[0, 20, 40, 60, 80, 100],
    )
    figure.update_yaxes(autorange="reversed")
    return theme.style(figure, height=130 + 26 * len(shown), barmode="stack", bargap=0.28, legend=legend())


def _writer_label(writer: Writer) -> str:
    if writer.members == [writer.rank]:
        return f"rank {writer.rank}"
    return f"{'process' if writer.role == 'writer' else 'rank'} {writer.rank} for {writer.serves}"


def levels(lanes: list[Lane], field: str, end_s: float, unit: str) -> go.Figure | None:
    """A field of the events over time, one line per rank: buffers in use, resident memory."""
    by_rank: dict[int, list[np.ndarray]] = {}
    for lane in lanes:
        by_rank.setdefault(lane.rank, []).append(lane.events)
    series = {rank: _series(np.concatenate(parts), field) for rank, parts in by_rank.items()}
    series = {rank: one for rank, one in series.items() if len(one[0]) and one[1].any()}
    if not series:
        return None
    top = max(float(values.max()) for _, values in series.values())
    factor, prefix = si_scale(top) if unit else (1.0, "")
    figure = go.Figure()
    for number, (rank, (time, values)) in enumerate(series.items()):
        figure.add_trace(
            go.Scatter(
                x=np.append(time, end_s), y=np.append(values, values[-1]) / factor,
                name=f"rank {rank}", mode="lines",
                line={"width": 1.5, "shape": "hv", "color": theme.LINES[number % len(theme.LINES)]},
                hovertemplate=f"rank {rank}, %{{x:.2f}} s<br><b>%{{y:.4~g}} "
                f"{prefix}{unit}</b><extra></extra>",
            )
        )  # fmt: skip
    figure.update_xaxes(title="time since the start [s]", range=[0, end_s])
    whole = {} if unit else {"dtick": max(1, round(top / 5)), "range": [0, top + 0.5]}
    figure.update_yaxes(
        title=f"memory [{prefix}B]" if unit else "buffers in use", rangemode="tozero", **whole
    )
    return theme.style(figure, height=260, legend=legend(), showlegend=len(series) > 1)


def _series(events: np.ndarray, field: str) -> tuple[np.ndarray, np.ndarray]:
    """Times and values, at most LINE_POINTS of them: of each interval the largest value."""
    known = events[events["memory_bytes"] > 0] if field == "memory_bytes" else events
    order = np.argsort(known["end_s"], kind="stable")
    time, values = known["end_s"][order], known[field][order].astype(float)
    if len(time) <= LINE_POINTS:
        return time, values
    edges = np.linspace(time[0], time[-1], LINE_POINTS + 1)[:-1]
    first = np.unique(np.searchsorted(time, edges))
    return time[first], np.maximum.reduceat(values, first)


def balance(per_rank: list[dict]) -> go.Figure:
    """Compute, exchange, waiting and writing of every rank; ranks far above the usual are named."""
    kinds = [(name, kind) for name, kind in BALANCE if any(entry.get(name) for entry in per_rank)]
    figure = make_subplots(
        rows=len(kinds), cols=1, shared_xaxes=True, vertical_spacing=0.22 / max(1, len(kinds))
    )
    ranks = [entry.get("rank", number) for number, entry in enumerate(per_rank)]
    for row, (name, kind) in enumerate(kinds, start=1):
        values = np.array([float(entry.get(name) or 0.0) for entry in per_rank])
        factor, prefix = si_scale(float(values.max()))
        figure.add_trace(
            go.Bar(
                x=ranks, y=values / factor, marker={"color": theme.KIND_COLORS[kind], "line": {"width": 0}},
                hovertemplate=f"rank %{{x}}: {theme.KIND_LABELS[kind]}<br><b>%{{y:.4g}} "
                f"{prefix}s</b><extra></extra>",
            ),
            row=row, col=1,
        )  # fmt: skip
        # Of two ranks there is no usual one.
        usual = float(np.median(values)) if len(values) > 2 else 0.0
        if usual:
            figure.add_hline(
                usual / factor, row=row, col=1, line={"color": "#8a8f98", "width": 1, "dash": "dot"}
            )
        figure.update_yaxes(
            title=f"{_short(kind)}<br>[{prefix}s]",
            range=[0, 1.35 * values.max() / factor],
            nticks=4,
            row=row,
            col=1,
        )
        worst = int(values.argmax())
        if usual and values[worst] > _STANDS_OUT * usual:
            figure.add_annotation(
                x=ranks[worst], y=values[worst] / factor, row=row, col=1, showarrow=False, yanchor="bottom",
                text=_beyond(ranks[worst], values[worst], usual), font={"size": 11},
                xanchor=("left", "center", "center", "right")[4 * worst // len(ranks)],
            )  # fmt: skip
    figure.update_xaxes(title="rank", row=len(kinds), col=1)
    if len(ranks) <= BAR_RANKS:
        figure.update_xaxes(tickvals=ranks)
    return theme.style(figure, height=90 + 110 * len(kinds), showlegend=False, bargap=0.15)


def _beyond(rank: int, value: float, usual: float) -> str:
    ratio = value / usual
    return f"rank {rank}: " + (f"{ratio:.2g} times the median" if ratio < 20 else duration_text(value))


def _short(kind: str) -> str:
    return {"output_wait": "wait"}.get(kind, theme.KIND_LABELS[kind])
