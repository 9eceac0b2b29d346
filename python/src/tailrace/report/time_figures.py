"""Pictures of the run: time split, timeline, write rate, memory."""

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from tailrace.report import theme
from tailrace.report.trace import KINDS, MAIN, WRITER, RankTrace, intersection, intervals, overlap_s, strips
from tailrace.units import si_scale, significant

COLUMNS = 300  # columns of the timeline: a few pixels each, so that shares can be seen
FINE_COLUMNS = 1000  # for short runs, whose single steps can be seen
SHORT_RUN_STEPS = 150
LANE_RANKS = 6  # ranks shown in timelines
BAR_RANKS = 32  # ranks shown in bar charts
LENS_SPANS = 1500
EXPOSED_LABEL = "write that the computation waits for"


def spread(items: list, count: int) -> list:
    """At most `count` items, evenly chosen, first and last among them."""
    if len(items) <= count:
        return items
    return [items[round(index * (len(items) - 1) / (count - 1))] for index in range(count)]


def time_split(per_rank: list[dict], wall_s: float) -> go.Figure:
    """Where the main thread of every rank spent the run."""
    shown = spread(per_rank, BAR_RANKS)
    labels = [f"rank {entry.get('rank', number)}" for number, entry in enumerate(shown)]
    parts = {
        kind: np.array([entry.get(f"{kind}_s") or 0.0 for entry in shown], dtype=float)
        for kind in ("compute", "exchange", "output_wait", "setup")
    }
    parts["other"] = np.maximum(0.0, wall_s - sum(parts.values()))
    factor, prefix = si_scale(wall_s) if wall_s < 1 else (1.0, "")
    figure = go.Figure()
    for kind, seconds in parts.items():
        share = 100 * seconds / wall_s if wall_s else 0 * seconds
        text = f"<b>%{{x:.3g}} {prefix}s</b>, %{{customdata:.1f}} %<extra></extra>"
        label, ink = theme.KIND_LABELS[kind], "#1b1f27" if kind in ("exchange", "other") else "#ffffff"
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
    return theme.style(figure, height=height, barmode="stack", bargap=0.28, legend=_legend())


def _legend() -> dict:
    return {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "traceorder": "normal"}


def timeline(traces: list[RankTrace]) -> go.Figure:
    """The whole run: per rank a lane for the main thread and one for the writer; heights are shares of each
    column. Writers that are busy for a small part of the time only get a scale of their own.
    """
    shown = spread(traces, LANE_RANKS)
    end = max(trace.last_s for trace in shown)
    short = max(int(trace.step.max()) for trace in shown) <= SHORT_RUN_STEPS
    grid = np.linspace(0.0, end, (FINE_COLUMNS if short else COLUMNS) + 1)
    lanes = [
        Lane(trace, thread, _shares(trace, thread, grid))
        for trace in shown
        for thread in (MAIN, WRITER)
        if trace.select(thread).any()
    ]
    writer_top = _writer_top([lane for lane in lanes if lane.thread == WRITER])
    figure = go.Figure()
    for number, lane in enumerate(lanes, start=1):
        _add_lane(figure, number, lane, (grid[1:] + grid[:-1]) / 2)
        axis = _lane_axis(lane, number, len(lanes), writer_top)
        figure.update_layout({f"yaxis{number if number > 1 else ''}": axis})
    _show_each_once(figure)
    title = "time since the start [s]"
    figure.update_xaxes(title=title, range=[0, end], showgrid=False, anchor="free", position=0)
    margin = {"l": 112, "r": 16, "t": 34, "b": 48}
    return theme.style(figure, 90 + 50 * len(lanes), legend=_legend(), margin=margin, hovermode="closest")


@dataclass
class Lane:
    """One thread of one rank, with the share of every column of the timeline per kind."""

    trace: RankTrace
    thread: int
    shares: dict[str, np.ndarray]

    @property
    def name(self) -> str:
        return f"rank {self.trace.rank} {'main' if self.thread == MAIN else 'writer'}"


def _writer_top(lanes: list[Lane]) -> float:
    """The share that fills a writer's lane: all of it, or less where the writers are hardly ever busy."""
    busy = np.concatenate([np.zeros(1), *(sum(lane.shares.values()) for lane in lanes if lane.shares)])
    busy = busy[busy > 0]
    usual = float(np.percentile(busy, 98)) if len(busy) else 1.0
    return 1.0 if usual > 0.2 else 1.3 * usual


def _lane_axis(lane: Lane, number: int, lanes: int, writer_top: float) -> dict:
    gap = 0.06 / lanes if lane.thread == MAIN else 0.22 / lanes
    top = 1.0 if lane.thread == MAIN else writer_top
    text = lane.name if top == 1.0 else f"{lane.name}<br>top = {significant(100 * top, 2)} %"
    return {
        "domain": [max(0.0, 1 - number / lanes + gap), 1 - (number - 1) / lanes],
        "range": [0, top],
        "showgrid": False,
        "tickvals": [top / 2],
        "ticktext": [text],
        "anchor": "x",
        "fixedrange": True,
    }


def _add_lane(figure: go.Figure, number: int, lane: Lane, middles: np.ndarray) -> None:
    for kind, share in lane.shares.items():
        group = "output_wait" if kind == "exposed" else kind
        name, color = theme.KIND_LABELS[group], theme.KIND_COLORS[group]
        label = EXPOSED_LABEL if kind == "exposed" else name
        figure.add_trace(
            go.Scatter(
                x=middles, y=share.astype(np.float32), name=name, stackgroup=f"lane{number}", mode="lines",
                fillcolor=color, line={"width": 0, "color": color, "shape": "hvh"},
                yaxis=f"y{number if number > 1 else ''}",
                hovertemplate=f"{lane.name}, %{{x:.2f}} s<br><b>{label} %{{y:.2~%}}</b><extra></extra>",
            )
        )  # fmt: skip


def _shares(trace: RankTrace, thread: int, grid: np.ndarray) -> dict[str, np.ndarray]:
    """Share of every column per kind; writing while the main thread waits for output stands apart as
    `exposed`.
    """
    share = strips(trace, thread, grid) / np.diff(grid)
    result = {kind: share[index] for index, kind in enumerate(KINDS)}
    if thread == WRITER:
        writes, waits = intervals(trace, WRITER, "write"), intervals(trace, MAIN, "output_wait")
        result["exposed"] = overlap_s(*intersection(writes, waits), grid) / np.diff(grid)
        result["write"] = np.maximum(0.0, result["write"] - result["exposed"])
    return {kind: values for kind, values in result.items() if values.any()}


def lens(traces: list[RankTrace]) -> tuple[go.Figure, int, int] | None:
    """Every span of a few steps in the middle of the written part; also returns the first and last step."""
    written = np.concatenate([trace.step[trace.kind == KINDS.index("write")] for trace in traces])
    if not len(written):
        return None
    middle = int(np.median(written))
    spans = max(int((trace.step == middle).sum()) for trace in traces)
    steps = max(2, min(5, 60 // max(1, spans)))
    begin, end = _window(traces, middle, steps)
    if not end > begin:
        return None
    figure = go.Figure()
    lanes = []
    for trace in _two_telling(traces, begin, end):
        for thread, name in ((MAIN, "main"), (WRITER, "writer")):
            if trace.select(thread).any():
                lanes.append(f"rank {trace.rank} {name}")
                _add_spans(figure, trace, thread, lanes[-1], begin, end)
    unit, prefix = si_scale(end - begin)
    _show_each_once(figure)
    figure.update_xaxes(title=f"time [{prefix}s]", range=[0, (end - begin) / unit], showgrid=False)
    figure.update_yaxes(autorange="reversed", categoryorder="array", categoryarray=lanes, showgrid=False)
    theme.style(figure, 120 + 38 * len(lanes), barmode="overlay", bargap=0.22, legend=_legend())
    return figure, middle, middle + steps - 1


def _two_telling(traces: list[RankTrace], begin: float, end: float) -> list[RankTrace]:
    """The first rank, and of the others the one that waited longest for output in the window."""
    window = np.array([begin, end])
    waits = [float(overlap_s(*intervals(trace, MAIN, "output_wait"), window)[0]) for trace in traces[1:]]
    if not waits:
        return traces
    return [traces[0], traces[1 + int(np.argmax(waits))]]


def _window(traces: list[RankTrace], first: int, steps: int) -> tuple[float, float]:
    """The time from the start of step `first` to the end of the last of the steps on the main threads."""
    begin, end = np.inf, 0.0
    for trace in traces:
        mask = (trace.thread == MAIN) & (trace.step >= first) & (trace.step < first + steps)
        mask &= trace.kind != KINDS.index("close")
        begin = min(begin, float(trace.start_s[mask].min(initial=np.inf)))
        end = max(end, float(trace.end_s[mask].max(initial=0.0)))
    return begin, end


def _add_spans(figure: go.Figure, trace: RankTrace, thread: int, lane: str, begin: float, end: float) -> None:
    window = (begin, end)
    inside = (trace.thread == thread) & (trace.end_s > begin) & (trace.start_s < end)
    for code in np.unique(trace.kind[inside]):
        chosen = np.flatnonzero(inside & (trace.kind == code))[:LENS_SPANS]
        length_ms = 1e3 * (trace.end_s - trace.start_s)[chosen]
        kind = KINDS[code]
        bars = _bars((trace.start_s[chosen], trace.end_s[chosen]), lane, window, kind)
        text = f"{lane}: {bars.name}, step %{{customdata[0]}}<br><b>%{{customdata[1]:.3g}} ms</b>"
        text += ", %{customdata[2]:.4g} kB<extra></extra>" if kind == "write" else "<extra></extra>"
        details = np.stack([trace.step[chosen], length_ms, trace.size_bytes[chosen] / 1e3], 1)
        figure.add_trace(bars.update(customdata=details, hovertemplate=text))
    if thread == WRITER:
        exposed = intersection(intervals(trace, WRITER, "write"), intervals(trace, MAIN, "output_wait"))
        near = (exposed[1] > begin) & (exposed[0] < end)
        if near.any():
            bars = _bars((exposed[0][near], exposed[1][near]), lane, window, "output_wait")
            figure.add_trace(bars.update(hovertemplate=f"{lane}: {EXPOSED_LABEL}<extra></extra>"))


def _bars(spans: tuple, lane: str, window: tuple[float, float], kind: str) -> go.Bar:
    """Bars on one lane for intervals, cut at the borders of the window and counted from its begin.

    A thin outline parts long neighbours; short spans get one of their own colour, so that they stay visible.
    """
    unit, _ = si_scale(window[1] - window[0])
    starts, ends = np.maximum(spans[0], window[0]), np.minimum(spans[1], window[1])
    long = ends - starts > 0.005 * (window[1] - window[0])
    color = theme.KIND_COLORS[kind]
    return go.Bar(
        base=(starts - window[0]) / unit, x=(ends - starts) / unit, y=[lane] * len(starts), orientation="h",
        name=theme.KIND_LABELS[kind], marker_color=color,
        marker_line={"width": 1, "color": np.where(long, "rgba(255,255,255,0.55)", color)},
    )  # fmt: skip


def _show_each_once(figure: go.Figure) -> None:
    """One legend entry per name, which switches all of that name."""
    seen = set()
    for trace in figure.data:
        trace.showlegend = trace.name not in seen
        trace.legendgroup = trace.name
        seen.add(trace.name)


def write_rate(traces: list[RankTrace]) -> go.Figure | None:
    """Bytes per second all shown ranks wrote, over the run."""
    end = max(trace.last_s for trace in traces)
    grid = np.linspace(0.0, end, 121)
    rate = np.zeros(len(grid) - 1)
    for trace in traces:
        mask = (trace.kind == KINDS.index("write")) & (trace.size_bytes > 0)
        middle = (trace.start_s[mask] + trace.end_s[mask]) / 2
        rate += np.histogram(middle, grid, weights=trace.size_bytes[mask])[0]
    rate /= np.diff(grid)
    if not rate.any():
        return None
    factor, prefix = si_scale(float(rate.max()))
    figure = go.Figure(
        go.Scatter(
            x=(grid[1:] + grid[:-1]) / 2, y=rate / factor, mode="lines", fill="tozeroy",
            line={"color": theme.KIND_COLORS["write"], "width": 1.5, "shape": "hvh"},
            hovertemplate=f"%{{x:.2f}} s<br><b>%{{y:.3g}} {prefix}B/s</b><extra></extra>",
        )
    )  # fmt: skip
    figure.update_xaxes(title="time since the start [s]", range=[0, end])
    figure.update_yaxes(title=f"written [{prefix}B/s]", rangemode="tozero")
    return theme.style(figure, height=240, showlegend=False)


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
    return theme.style(figure, height=130 + 34 * len(ranks), barmode="group", bargap=0.3, legend=_legend())
