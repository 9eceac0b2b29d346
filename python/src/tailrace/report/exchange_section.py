# SPDX-License-Identifier: BSD-3-Clause
"""The section on exchanges of values at any indices: from whom to whom, what was waited, which transport."""

import numpy as np
import plotly.graph_objects as go

from tailrace.figures import theme
from tailrace.report.load import Run
from tailrace.report.parts import Picture, Section, Table
from tailrace.run_files import Choice, ExchangeAccount, ExchangeMap, TriedTransport
from tailrace.units import bytes_text, duration_text

MATRIX_RANKS = 64
FLIGHTS = {"gather": "gather", "scatter_add": "scatter-add", "contributions": "scatter-add, one by one"}


def exchange_section(run: Run) -> Section:
    """Empty for a run without access maps, and on one rank, which exchanges nothing."""
    section = Section("exchange", "Exchanges between ranks")
    account = run.account.get("exchange") or {}
    maps = [one for one in account.get("maps") or [] if len(one.get("per_rank") or []) > 1]
    if not maps:
        return section
    section.lead = lead(account)
    for one in maps:
        name = f" of {one.get('name', '')}" if len(maps) > 1 else ""
        section.pictures += [peers_picture(one, name), waits_picture(one, name), counts_table(one, name)]
        if one.get("choices"):
            section.pictures.append(choice_table(one, name, account))
    return section


def lead(account: ExchangeAccount) -> str:
    asked = account.get("transport", "")
    order = f" Contributions are added in the order {account.get('order', '')}."
    if account.get("aggregate") is False:
        order += " Every word of 8 bytes was put or got by itself, as the case asks for."
    if asked == "auto":
        return "Each kind of flight tried the transports and kept the fastest." + order
    by = account.get("asked_by")
    source = "by the environment variable TAILRACE_EXCHANGE" if by == "TAILRACE_EXCHANGE" else "by the case"
    return f"The transport was {asked}, asked for {source}." + order


def column(one: ExchangeMap, name: str) -> np.ndarray:
    """A number of every rank; 0 where it is not known."""
    return np.array([float(entry.get(name) or 0) for entry in one["per_rank"]])


def sent(one: ExchangeMap) -> np.ndarray:
    """Rows (from, to, messages, bytes)."""
    rows = [
        [entry.get("rank", number), *peer]
        for number, entry in enumerate(one["per_rank"])
        for peer in entry.get("sent") or []
        if len(peer) == 3
    ]
    return np.array(rows, dtype=float).reshape(-1, 4)


def peers_picture(one: ExchangeMap, name: str) -> Picture:
    ranks = len(one["per_rank"])
    return matrix(one, ranks, name) if ranks <= MATRIX_RANKS else histogram(one, name)


def matrix(one: ExchangeMap, ranks: int, name: str) -> Picture:
    volume = np.zeros((ranks, ranks))
    for source, target, _, size in sent(one):
        if source < ranks and target < ranks:
            volume[int(source), int(target)] += size
    figure = go.Figure(
        go.Heatmap(
            z=volume.tolist(),
            colorscale=theme.SEQUENTIAL,
            colorbar={"thickness": 12, "title": "bytes"},
            hovertemplate="from rank %{y} to rank %{x}: %{z} B<extra></extra>",
        )
    )
    whole_ranks = {"tick0": 0, "dtick": max(1, ranks // 8)}
    figure.update_xaxes(title="to rank", **whole_ranks)
    figure.update_yaxes(title="from rank", autorange="reversed", **whole_ranks)
    caption = "Bytes of all flights together."
    return Picture(theme.style(figure, height=420), caption, f"From whom to whom{name}", half=True)


def histogram(one: ExchangeMap, name: str) -> Picture:
    figure = go.Figure(
        go.Histogram(x=sent(one)[:, 3].tolist(), marker={"color": theme.KIND_COLORS["exchange"]})
    )
    figure.update_xaxes(title="bytes from one rank to another")
    figure.update_yaxes(title="pairs of ranks")
    caption = "Pairs that exchanged anything, by the bytes of all flights together."
    return Picture(theme.style(figure, height=420), caption, f"Bytes per pair of ranks{name}", half=True)


def waits_picture(one: ExchangeMap, name: str) -> Picture:
    ranks = [entry.get("rank", number) for number, entry in enumerate(one["per_rank"])]
    parts = {
        "waited for": (column(one, "wait_s"), theme.KIND_COLORS["output_wait"]),
        "packing, adding up": (column(one, "cost_s") - column(one, "wait_s"), theme.KIND_COLORS["pack"]),
        "hidden: the rank computed": (column(one, "hidden_s"), theme.KIND_COLORS["compute"]),
        "planning maps": (column(one, "build_s"), theme.KIND_COLORS["setup"]),
    }
    figure = go.Figure()
    for label, (seconds, color) in parts.items():
        figure.add_trace(go.Bar(x=ranks, y=seconds.tolist(), name=label, marker={"color": color}))
    figure.update_xaxes(title="rank")
    figure.update_yaxes(title="time [s]")
    caption = "Time in which values were under way, by what the rank did meanwhile, and of making the maps."
    return Picture(
        theme.style(figure, height=420, barmode="stack"), caption, f"Time of exchanges{name}", half=True
    )


def counts_table(one: ExchangeMap, name: str) -> Table:
    def row(label: str, entry: str, text) -> list[str]:
        values = column(one, entry)
        return [label, text(values.mean()), text(values.max()), text(values.sum())]

    def number(value: float) -> str:
        return f"{value:.1f}".removesuffix(".0")

    rows = [
        row("flights", "flights", number),
        row("messages sent", "messages", number),
        row("bytes sent", "sent_bytes", bytes_text),
        row("ranks read from", "reads_from", number),
        row("values read of others", "landing", number),
        row("memory of the map", "memory_bytes", bytes_text),
    ]
    rows[0][3] = rows[3][3] = ""  # a sum over ranks says nothing
    largest = bytes_text(column(one, "largest_bytes").max())
    notes = sorted({str(entry["note"]) for entry in one["per_rank"] if entry.get("note")})
    caption = " ".join([f"The largest message had {largest}.", repaid(one), *(f"Note: {n}." for n in notes)])
    return Table(["", "mean of ranks", "most", "sum"], rows, caption, f"Counted{name}", (1, 2, 3))


def repaid(one: ExchangeMap) -> str:
    """What making maps cost, in flights."""
    builds, flights = column(one, "builds").max(), column(one, "flights").max()
    build_s, cost_s = column(one, "build_s").max(), column(one, "cost_s").max()
    if not builds or not flights or not cost_s:
        return ""
    worth = (build_s / builds) / (cost_s / flights)
    return (
        f"The map was made {builds:.0f} time{'s' if builds > 1 else ''}, at the price of {worth:.1f} flights "
        f"each, and used for {flights / builds:.0f} flights each time."
    )


def choice_table(one: ExchangeMap, name: str, account: ExchangeAccount) -> Table:
    rows = []
    for choice in one["choices"]:
        what = f"{FLIGHTS.get(choice.get('flights', ''), '')}, {choice.get('entry_bytes', 0)} B per value"
        for tried in choice.get("tried") or []:
            chosen = tried.get("name") == choice.get("chosen")
            rows.append([what, str(tried.get("name", "")), *verdict(tried, chosen, choice)])
    caption = (
        "Median time that a flight took from the computation, on the rank where it took longest; "
        f"each transport carried some of the first flights. {not_tried(account)}"
    )
    return Table(["flights", "transport", "time", ""], rows, caption, f"Choice of the transport{name}", (2,))


def not_tried(account: ExchangeAccount) -> str:
    """The transports that `auto` leaves alone, and why."""
    others = [one for one in account.get("transports") or [] if one.get("chosen_by_auto") is False]
    compared = [str(one.get("name", "")) for one in others if not one.get("obstacle")]
    barred = [f"{one.get('name', '')}: {one['obstacle']}" for one in others if one.get("obstacle")]
    parts = [f"{', '.join(compared)} (there to be compared with)"] if compared else []
    return f"Not tried: {'; '.join(parts + barred)}." if parts or barred else ""


def verdict(tried: TriedTransport, chosen: bool, choice: Choice) -> list[str]:
    if tried.get("obstacle"):
        return ["", f"left out: {tried['obstacle']}"]
    times = choice.get("left", []).count(tried.get("name"))
    words = ["chosen"] if chosen else []
    if times:
        words.append(f"had been chosen, became slower{f' {times} times' if times > 1 else ''}")
    return [duration_text(tried["cost_s"]) if tried.get("cost_s") else "not measured", "; ".join(words)]
