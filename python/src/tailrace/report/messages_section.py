# SPDX-License-Identifier: BSD-3-Clause
"""The section on messages: of which sizes, from whom to whom, and when."""

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from tailrace.figures import theme
from tailrace.messages.balance import differences, matrix, over_time
from tailrace.messages.classes import POWERS, Rates, Share, largest_size, parse_classes, shares
from tailrace.messages.counts import GROUP_LABELS, GROUPS, Profile, Sizes, read_profile
from tailrace.messages.show import ESTIMATE, SHARE_COLUMNS, share_rows
from tailrace.report.load import Run
from tailrace.report.parts import Picture, Section, Table
from tailrace.units import bytes_text, duration_text

MATRIX_CELLS = 64
SLICES = 12  # of a pie
DIRECTORY = "messages"  # of a run directory


def run_messages_section(run: Run) -> Section:
    """Empty for a run whose messages were not counted."""
    return messages_section(read_profile(run.directory / DIRECTORY))


def messages_section(profile: Profile, classes: str = POWERS, rates: Rates | None = None) -> Section:
    section = Section("messages", "Messages", notes=list(profile.problems))
    if not profile.processes:
        return section
    unequal = differences(profile)
    section.notes += unequal
    if not unequal and profile.ranks:
        section.lead = "What was sent was received, for each pair of ranks."
    for group in ("sent", "one_sided"):
        section.pictures += size_parts(profile.sizes(group), GROUP_LABELS[group], classes, rates)
    section.pictures.append(kinds_table(profile))
    if len(profile.ranks) > 1:
        section.pictures.append(matrix_picture(profile))
    section.pictures.append(time_picture(profile))
    return section


def size_parts(sizes: Sizes, what: str, classes: str, rates: Rates | None) -> list[Picture | Table]:
    """A pie for each kind of share, and the table behind them."""
    if not sizes.total.messages:
        return []
    found = shares(sizes, parse_classes(classes, largest_size(sizes)), rates)
    caption = f"{sizes.total.messages} messages, {bytes_text(sizes.total.bytes)}."
    if rates:
        caption += f" {ESTIMATE[0].upper()}{ESTIMATE[1:]}."
    if sizes.coarse:
        caption += " Sizes beyond 4096 of a kind are counted in classes of powers of two."
    table = Table(list(SHARE_COLUMNS), share_rows(found), caption, numeric=tuple(range(1, 6)))
    return [Picture(pies(found), "", f"Sizes of messages: {what}"), table]


def pies(found: list[Share]) -> go.Figure:
    """Of the number, of the volume, and of the time where it is known."""
    parts = {"by count": "by_count", "by volume": "by_volume", "by time": "by_time"}
    shown = {title: name for title, name in parts.items() if getattr(found[0], name) is not None}
    figure = make_subplots(
        1, len(shown), specs=[[{"type": "domain"}] * len(shown)], subplot_titles=list(shown)
    )
    for column, name in enumerate(shown.values(), start=1):
        figure.add_trace(pie(found, name), 1, column)
    return theme.style(
        figure, height=330, legend={"orientation": "v", "x": 1.02, "y": 0.5, "yanchor": "middle"}
    )


def pie(found: list[Share], name: str) -> go.Pie:
    """The largest shares; small ones together."""
    order = sorted(found, key=lambda one: -getattr(one, name))
    kept = {one.label for one in order[: SLICES - 1]} if len(found) > SLICES else {one.label for one in found}
    labels = [f"{one.label} B" for one in found if one.label in kept]
    values = [getattr(one, name) for one in found if one.label in kept]
    if len(kept) < len(found):
        labels, values = [*labels, "further sizes"], [*values, 1.0 - sum(values)]
    return go.Pie(
        labels=labels, values=values, sort=False, textinfo="percent", textposition="inside", hole=0.35
    )


def kinds_table(profile: Profile) -> Table:
    rows = [
        [kind, GROUP_LABELS[group], str(total.messages), bytes_text(total.bytes)]
        for (group, kind), total in profile.totals().items()
    ]
    caption = "Of a collective call each rank counts what it hands in, or takes where it hands in nothing."
    return Table(["call", "", "messages", "volume"], rows, caption, "Calls", (2, 3))


def matrix_picture(profile: Profile) -> Picture:
    messages, volume, together = matrix(profile, MATRIX_CELLS)
    figure = make_subplots(1, 2, subplot_titles=["messages", "bytes"], horizontal_spacing=0.16)
    for column, values in enumerate((messages, volume), start=1):
        figure.add_trace(
            go.Heatmap(
                z=values,
                colorscale=theme.SEQUENTIAL,
                colorbar={"x": 0.42 if column == 1 else 1.0, "thickness": 12},
                hovertemplate="from rank %{y} to rank %{x}: %{z}<extra></extra>",
            ),
            1,
            column,
        )
    whole_ranks = {"tick0": 0, "dtick": max(1, len(messages) // 8)}
    figure.update_xaxes(title="to rank", **whole_ranks)
    figure.update_yaxes(title="from rank", autorange="reversed", **whole_ranks)
    caption = "Sent, and accesses to windows."
    if together > 1:
        caption += (
            f" A cell holds {together} x {together} ranks; its number is that of its first rank / {together}."
        )
    return Picture(theme.style(figure, height=420), caption, "From whom to whom")


def time_picture(profile: Profile) -> Picture:
    figure = go.Figure()
    width = 1.0
    for group, color in zip(GROUPS, theme.LINES, strict=False):
        width, counted = over_time(profile, group)
        if counted.any():
            times = [(number + 0.5) * width for number in range(len(counted))]
            figure.add_trace(
                go.Bar(x=times, y=counted[:, 0] / width, name=GROUP_LABELS[group], marker={"color": color})
            )
    figure.update_xaxes(title="time since MPI_Init [s]")
    figure.update_yaxes(title="messages per second")
    caption = f"All ranks together, in intervals of {duration_text(width)}."
    return Picture(theme.style(figure, height=300, barmode="stack"), caption, "Messages over time")
