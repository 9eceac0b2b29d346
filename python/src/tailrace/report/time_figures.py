"""Pictures of the run: time split, timeline, write rate, memory."""

import numpy as np
import plotly.graph_objects as go

from tailrace.report import theme
from tailrace.report.trace import KINDS, MAIN, WRITER, RankTrace, exposed_writes, strips
from tailrace.units import si_scale

CELLS = 1200  # columns of the timeline: about one per pixel
LANE_RANKS = 6  # ranks shown in timelines
BAR_RANKS = 32  # ranks shown in bar charts
LENS_SPANS = 1500
EXPOSED = "#d55e00"
EXPOSED_LABEL = "write, computation waits"


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
        figure.add_trace(
            go.Bar(
                y=labels, x=seconds / factor, name=theme.KIND_LABELS[kind], orientation="h", customdata=share,
                marker={"color": theme.KIND_COLORS[kind], "line": {"width": 0}},
                text=[f"{value:.0f} %" if value >= 4 else "" for value in share],
                textposition="inside", insidetextanchor="middle", textfont={"color": "#ffffff"}, textangle=0,
                hovertemplate=f"%{{y}}: {theme.KIND_LABELS[kind]}<br><b>%{{x:.3g}} {prefix}s</b>, %{{customdata:.1f}} %<extra></extra>",
            )
        )  # fmt: skip
    figure.update_xaxes(title=f"time [{prefix}s]")
    figure.update_yaxes(autorange="reversed")
    height = 130 + 26 * len(shown)
    return theme.style(figure, height=height, barmode="stack", bargap=0.28, legend=_legend())


def _legend() -> dict:
    return {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "traceorder": "normal"}


def timeline(traces: list[RankTrace]) -> go.Figure:
    """The whole run: per rank a lane for the main thread and one for the writer; every cell shows what took most of it."""
    shown = spread(traces, LANE_RANKS)
    end = max(trace.last_s for trace in shown)
    grid = np.linspace(0.0, end, CELLS + 1)
    lanes, rows, names = [], [], []
    for trace in shown:
        for thread, name in ((MAIN, "main"), (WRITER, "writer")):
            if trace.select(thread).any():
                lanes.append(f"rank {trace.rank} {name}")
                row = _dominant(trace, thread, grid)
                rows.append(row)
                names.append([_kind_label(int(code)) for code in row])
    codes = np.array(rows, dtype=np.uint8)
    figure = go.Figure(
        go.Heatmap(
            z=codes, x0=float(grid[0] + grid[1]) / 2, dx=float(grid[1]), y=lanes, zmin=-0.5, zmax=len(_CODES) - 0.5,
            colorscale=_code_scale(), showscale=False, ygap=5, hoverongaps=False,
            text=names, hovertemplate="%{y}, %{x:.2f} s<br><b>%{text}</b><extra></extra>",
        )
    )  # fmt: skip
    _add_legend(figure, [code for code in range(1, len(_CODES)) if (codes == code).any()])
    figure.update_xaxes(title="time since the start [s]", range=[0, end], showgrid=False)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return theme.style(figure, height=120 + 34 * len(lanes), legend=_legend())


_CODES = ("idle", *KINDS, "exposed")


def _kind_label(code: int) -> str:
    name = _CODES[code]
    return EXPOSED_LABEL if name == "exposed" else theme.KIND_LABELS.get(name, name)


def _code_color(code: int) -> str:
    name = _CODES[code]
    return {"idle": "rgba(138,143,152,0.14)", "exposed": EXPOSED}.get(name) or theme.KIND_COLORS[name]


def _code_scale() -> list:
    scale = []
    for code in range(len(_CODES)):
        scale += [[code / len(_CODES), _code_color(code)], [(code + 1) / len(_CODES), _code_color(code)]]
    return scale


def _add_legend(figure: go.Figure, codes: list[int]) -> None:
    for code in codes:
        figure.add_trace(
            go.Scatter(
                x=[None], y=[None], mode="markers", name=_kind_label(code),
                marker={"size": 11, "symbol": "square", "color": _code_color(code)},
            )
        )  # fmt: skip


def _dominant(trace: RankTrace, thread: int, grid: np.ndarray) -> np.ndarray:
    """Per cell the code of what took most of it; a quarter of a cell spent waiting for output is shown as waiting."""
    seconds = strips(trace, thread, grid)
    width = np.diff(grid)
    table = np.vstack([np.maximum(0.0, width - seconds.sum(axis=0)), seconds, np.zeros(len(width))])
    if thread == WRITER:
        waiting = strips(trace, MAIN, grid)[KINDS.index("output_wait")]
        write = 1 + KINDS.index("write")
        table[-1] = np.minimum(table[write], waiting)
        table[write] -= table[-1]
    codes = table.argmax(axis=0)
    wait = 1 + KINDS.index("output_wait")
    codes[table[wait] >= 0.25 * width] = wait
    return codes


def lens(traces: list[RankTrace], steps: int = 5) -> tuple[go.Figure, int, int] | None:
    """Every span of a few steps in the middle of the written part; also returns the first and the last of the steps."""
    shown = spread(traces, 2)
    written = np.concatenate([trace.step[trace.kind == KINDS.index("write")] for trace in shown])
    if not len(written):
        return None
    middle = int(np.median(written))
    begin, end = _window(shown, middle, steps)
    if not end > begin:
        return None
    figure = go.Figure()
    lanes = []
    for trace in shown:
        for thread, name in ((MAIN, "main"), (WRITER, "writer")):
            if trace.select(thread).any():
                lanes.append(f"rank {trace.rank} {name}")
                _add_spans(figure, trace, thread, lanes[-1], begin, end)
    unit, prefix = si_scale(end - begin)
    _show_each_once(figure)
    figure.update_xaxes(title=f"time [{prefix}s]", range=[0, (end - begin) / unit], showgrid=False)
    figure.update_yaxes(autorange="reversed", categoryorder="array", categoryarray=lanes, showgrid=False)
    height = 120 + 38 * len(lanes)
    return theme.style(figure, height=height, barmode="overlay", bargap=0.22, legend=_legend()), middle, middle + steps - 1


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
    unit, prefix = si_scale(end - begin)
    exposed = np.zeros(len(trace.kind))
    if thread == WRITER:
        exposed[trace.select(WRITER, "write")] = exposed_writes(trace)
    inside = (trace.thread == thread) & (trace.end_s > begin) & (trace.start_s < end)
    for code in np.unique(trace.kind[inside]):
        mask = inside & (trace.kind == code)
        mask[np.flatnonzero(mask)[LENS_SPANS:]] = False
        kind = KINDS[code]
        start, length = np.maximum(trace.start_s[mask], begin), trace.end_s[mask] - trace.start_s[mask]
        stop = np.minimum(trace.end_s[mask], end)
        label = theme.KIND_LABELS[kind]
        figure.add_trace(
            go.Bar(
                base=(start - begin) / unit, x=(stop - start) / unit, y=[lane] * int(mask.sum()), orientation="h",
                name=label, marker={"color": theme.KIND_COLORS[kind], "line": {"width": 0}},
                customdata=np.stack([trace.step[mask], 1e3 * length, 1e3 * exposed[mask], trace.size_bytes[mask] / 1e3], 1),
                hovertemplate=f"{lane}: {label}, step %{{customdata[0]}}<br><b>%{{customdata[1]:.3g}} ms</b>"
                + (", computation waits %{customdata[2]:.3g} ms, %{customdata[3]:.4g} kB" if kind == "write" else "")
                + "<extra></extra>",
            )
        )  # fmt: skip


def _show_each_once(figure: go.Figure) -> None:
    seen = set()
    for bar in figure.data:
        bar.showlegend = bar.name not in seen
        bar.legendgroup = bar.name
        seen.add(bar.name)


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
