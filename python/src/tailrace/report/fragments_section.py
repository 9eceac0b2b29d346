# SPDX-License-Identifier: BSD-3-Clause
"""The section on fragments: totals, stages, shares of time, critical path, values."""

from collections.abc import Container

import numpy as np
import plotly.graph_objects as go

from tailrace.figures import theme
from tailrace.fragment_profile.pictures import curve, density
from tailrace.fragment_profile.profile import Profile
from tailrace.fragment_profile.shares import OVERHEADS, over_time
from tailrace.fragment_profile.tables import STAGE_NAMES
from tailrace.fragment_profile.values import live
from tailrace.report.parts import Picture, Section, Table
from tailrace.report.program_text import linked
from tailrace.trace import ACTIVITIES
from tailrace.units import bytes_text, duration_text, si_scale

TIME_BINS = 200
TYPES_SHOWN = 20
CURVE_POINTS = 600
COLORS = {
    "useful": "#0072b2",
    "distribution": "#e69f00",
    "dependencies": "#f0e442",
    "unfolding": "#009e73",
    "messages": "#d55e00",
    "ending": "#8a8f98",
    "checkpoint": "#332288",
    "idle": "#dfe3e8",
}


def fragments_section(profile: Profile | None, shown: Container[str] = ()) -> Section:
    """Empty for a run without records of fragments. `shown`: the sources that the page has."""
    section = Section("fragments", "Fragments")
    if profile is None:
        return section
    recorded = profile.recorded
    totals = profile.totals
    section.lead = (
        f"Total cf: {totals.created}. Distribs: {totals.distribs}. Wait df: {totals.waited}. "
        "These are fragments, fragments by how often they went to another rank, and those that had to wait."
    )
    section.notes += [f"Error: {error}" for error in profile.errors] + recorded.problems
    if not recorded.is_full:
        until = duration_text(recorded.full_until_s - recorded.first_s)
        section.notes.append(
            f"Each fragment is known up to {until} after the start; what is later is in totals and shares of "
            "time only. Pictures of stages and values end there."
        )
    if recorded.summaries:
        section.pictures += [shares_picture(profile), time_picture(profile)]
    section.pictures += [efficiency_table(profile), types_table(profile, shown)]
    for number, stage in enumerate(STAGE_NAMES):
        section.pictures += stage_pictures(profile, number, stage)
    section.pictures += [*path_tables(profile), *value_pictures(profile)]
    return section


def _bars(labels: list[str], seconds: dict[str, np.ndarray], factor: float) -> go.Figure:
    figure = go.Figure()
    for name, values in seconds.items():
        figure.add_trace(
            go.Bar(y=labels, x=values / factor, name=name, orientation="h", marker={"color": COLORS[name]})
        )
    figure.update_yaxes(autorange="reversed")
    return figure


def shares_picture(profile: Profile) -> Picture:
    """Useful, overhead by class, idle of each thread."""
    threads = profile.shares.threads[:64]
    labels = [f"rank {one.rank}, {one.thread}" for one in threads]
    seconds = {"useful": np.array([one.useful_s for one in threads])}
    seconds |= {name: np.array([one.overhead_s[name] for one in threads]) for name in OVERHEADS}
    seconds["idle"] = np.array([one.idle_s for one in threads])
    factor, prefix = si_scale(profile.shares.wall_s or 1.0)
    figure = _bars(labels, seconds, factor)
    figure.update_xaxes(title=f"time [{prefix}s]")
    height = 140 + 26 * len(threads)
    caption = (
        "Useful is inside bodies; the other colours but grey are classes of what the runtime does; grey is "
        "idle. Bars are as long as the thread's wall time."
    )
    style = theme.style(figure, height=height, barmode="stack", bargap=0.28)
    return Picture(style, caption, "Where the threads' time went")


def time_picture(profile: Profile) -> Picture:
    """The same over time, of all threads together."""
    edges, seconds = over_time(profile.recorded, TIME_BINS)
    middle = (edges[1:] + edges[:-1]) / 2 - profile.recorded.first_s
    whole = np.maximum(seconds.sum(axis=1), 1e-300)
    figure = go.Figure()
    for name, color in COLORS.items():
        share = 100 * seconds[:, ACTIVITIES.index(name)] / whole
        figure.add_trace(
            go.Scatter(
                x=middle, y=share, name=name, stackgroup="all", mode="lines",
                line={"width": 0, "color": color}, fillcolor=color,
            )
        )  # fmt: skip
    figure.update_xaxes(title="time since the start [s]")
    figure.update_yaxes(title="share of all threads [%]", range=[0, 100])
    return Picture(theme.style(figure, height=300), "", "The same over time")


def efficiency_table(profile: Profile) -> Table:
    shares = profile.shares
    what = {
        "parallel": "mean useful time of threads that run bodies, over the wall time",
        "load_balance": "mean over most useful time",
        "communication": "most useful time over the wall time",
        "transfer": "what transfers leave: of a replay without latency",
        "serialisation": "what dependencies and overhead leave: of the same replay",
    }
    rows = [
        [name.replace("_", " "), "unknown" if value is None else f"{100 * value:.1f} %", what[name]]
        for name, value in shares.efficiencies().items()
    ]
    for name, value, text in (
        ("granularity", shares.granularity_s, "useful time of a body"),
        ("overhead per fragment", shares.overhead_per_fragment_s, "of all threads"),
    ):
        rows.append([name, "unknown" if value is None else duration_text(value), text])
    return Table(["efficiency", "", ""], rows, heading="Efficiencies", numeric=(1,))


def types_table(profile: Profile, shown: Container[str]) -> Table:
    rows = [
        [
            one["type"],
            one["kind"],
            linked(one["place"], one["file"], one["line"], shown),
            f"{one['fragments']:,}",
            duration_text(one["useful_s"]) if one["kind"] == "body" else "",
        ]
        for one in profile.types[:TYPES_SHOWN]
    ]
    columns = ["type", "kind", "place", "fragments", "useful time"]
    return Table(columns, rows, heading="Fragments by type", numeric=(3, 4))


def stage_pictures(profile: Profile, number: int, stage: str) -> list[Picture]:
    """Time in the stage against time of arrival, and fragments in it against time."""
    recorded = profile.recorded
    stays = recorded.stays[recorded.stays["stage"] == number]
    if not len(stays):
        return []
    span = (recorded.first_s, recorded.last_s)
    times, edges, cells = density(stays, span)
    found = profile.stages[number]
    shown = np.where(cells > 0, np.log10(np.maximum(cells, 1)), np.nan)
    heat = go.Heatmap(
        x=np.round((times[1:] + times[:-1]) / 2 - span[0], 9),
        y=np.round(np.log10((edges[1:] + edges[:-1]) / 2), 4),
        z=np.round(shown, 2),
        colorscale=theme.MEDIUM,
        hoverongaps=False,
        colorbar={"title": "fragments", "tickprefix": "10^"},
    )
    figure = go.Figure(heat)
    figure.update_xaxes(title="time of arrival [s]")
    figure.update_yaxes(title="seconds in the stage", tickprefix="10^")
    lengths = [duration_text(seconds) for seconds in (found.median_s, found.longest_s)]
    text = f"{found.count:,} stays, median {lengths[0]}, longest {lengths[1]}."
    if found.uncertain:
        error = duration_text(recorded.clock_error_s)
        text += f" {found.uncertain:,} of them are not longer than clocks may be off ({error})."
    at, count = curve(stays, span)
    line = go.Figure(
        go.Scatter(x=at - span[0], y=count, mode="lines", line={"width": 1.2, "color": theme.LINES[0]})
    )
    line.update_xaxes(title="time [s]")
    line.update_yaxes(title="fragments in the stage", rangemode="tozero")
    heading = {"distribution": "On the way to another rank", "wait": "Waiting for values", "ready": "Ready"}
    return [
        Picture(theme.style(figure, height=300), text, f"{heading[stage]}: how long", half=True),
        Picture(theme.style(line, height=300), "", f"{heading[stage]}: how many", half=True),
    ]


def path_tables(profile: Profile) -> list[Table]:
    path, found = profile.path, profile.what_if
    if path is None or found is None or not path.length_s:
        return []
    names = profile.recorded.type_names()
    rows = [
        [names[number], f"{count:,}", duration_text(seconds), f"{100 * seconds / path.length_s:.1f} %"]
        for number, (count, seconds) in list(path.by_type.items())[:TYPES_SHOWN]
        if seconds
    ]
    share = f"{100 * path.transfer_s / path.length_s:.1f} %"
    rows.append(["transfers between ranks", "", duration_text(path.transfer_s), share])
    caption = (
        f"{duration_text(path.length_s)} of the longest chain of bodies and transfers, of "
        f"{duration_text(found.measured_s)} of the run: with any number of ranks it takes that long."
    )
    chain = Table(
        ["on the critical path", "fragments", "time", "share"], rows, caption, "Critical path", (1, 2, 3)
    )
    cases = []
    for name, seconds in found.cases.items():
        low, high = found.gain(name)
        cases.append([name, duration_text(seconds), f"{low:.2f} to {high:.2f}"])
    caption = (
        f"By replaying the recorded program. As it was, the replay takes {duration_text(found.as_it_was_s)}, "
        f"{100 * found.error:+.1f} % off; that is the error of the others."
    )
    return [chain, Table(["with", "it would take", "times as fast"], cases, caption, "What if", (1, 2))]


def value_pictures(profile: Profile) -> list[Picture | Table]:
    found = profile.values
    if not found.written:
        return []
    times, count, size = live(profile.recorded)
    picked = np.unique(np.linspace(0, len(times) - 1, CURVE_POINTS).astype(int))
    at = times[picked] - profile.recorded.first_s
    factor, prefix = si_scale(float(size.max(initial=1)))
    figure = go.Figure(
        go.Scatter(x=at, y=count[picked], name="values", line={"color": theme.LINES[0], "width": 1.2})
    )
    figure.add_trace(
        go.Scatter(
            x=at,
            y=size[picked] / factor,
            name=f"{prefix}B",
            yaxis="y2",
            line={"color": theme.LINES[1], "width": 1.2},
        )
    )
    figure.update_xaxes(title="time [s]")
    figure.update_yaxes(title="live values", rangemode="tozero")
    style = theme.style(figure, height=280)
    style.update_layout(
        yaxis2={"overlaying": "y", "side": "right", "title": f"{prefix}B", "rangemode": "tozero"}
    )
    caption = (
        f"{found.written:,} values ({bytes_text(found.bytes)}) were written; {found.peak_count:,} lived at "
        f"once at most, {found.live_at_end:,} at the end."
    )
    return [Picture(style, caption, "Values that live"), *_latency(found)]


def _latency(found) -> list[Table]:
    numbers = found.as_dict()
    rows = [
        [what, *(duration_text(numbers[key][one]) for one in ("median", "p99", "max"))]
        for what, key in (
            ("from a request to the value of another rank", "request_latency_s"),
            ("at home after the last use", "kept_after_last_use_s"),
        )
        if numbers[key]
    ]
    caption = f"{numbers['transfers']:,} transfers, of one value {numbers['max_transfers']:,} at most."
    return [Table(["time", "median", "99 %", "longest"], rows, caption, numeric=(1, 2, 3))] if rows else []
