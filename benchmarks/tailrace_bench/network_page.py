# SPDX-License-Identifier: BSD-3-Clause
"""The network benchmark as a page: each test with its MPIs and places side by side, then all tables."""

from math import log10
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import rich.table

from tailrace.bench.host import watch_text
from tailrace.figures import theme
from tailrace.report.page import write_page as write_report_page
from tailrace.report.parts import Picture, Section, Table
from tailrace_bench.network_rows import PAIR_TESTS
from tailrace_bench.network_tables import peers_table, tables_of

DASHES = ("solid", "dot", "dash")
SMALLEST = 0.5  # bytes, where a logarithmic axis puts an empty message


def write_page(document: dict[str, Any], path: Path) -> None:
    setups = document["setups"]
    sections = [pictures_section(test, setups) for test in PAIR_TESTS if has_rows(test, setups)]
    sections += [tables_section(number, setup) for number, setup in enumerate(setups)]
    if document["peers"]:
        peers = Section("peers", "Beside others", pictures=[page_table(peers_table(document["peers"]))])
        sections.append(peers)
    facts = [(setup["name"], setup["mpi"]) for setup in setups]
    facts += [(key, str(value)) for key, value in document["machine"].items()]
    facts.append(("conditions", watch_text(document["conditions"])))
    if document["skipped"]:
        facts.append(("skipped", document["skipped"]))
    subtitle = "; ".join(setup["name"] for setup in setups)
    write_report_page(path, "Messages between two ranks", subtitle, sections, facts=facts)


def has_rows(test: str, setups: list[dict[str, Any]]) -> bool:
    return any(row["test"] == test for setup in setups for row in setup["rows"])


def pictures_section(test: str, setups: list[dict[str, Any]]) -> Section:
    """All with the same axis and the same line for an adapter, so that they can be compared by eye."""
    adapters = list(dict.fromkeys(row["adapter"] for setup in setups for row in setup["rows"]))
    times = [row["message_s"]["median"] for setup in setups for row in setup["rows"] if row["test"] == test]
    section = Section(test, test.capitalize())
    half = len(setups) > 1
    for setup in setups:
        figure = lines(test, setup["rows"], adapters)
        low, high = 0.7e6 * min(times), 1.4e6 * max(times)
        figure.update_yaxes(range=[log10(low), log10(high)])
        section.pictures.append(Picture(figure, "Medians of a message.", setup["name"], half))
    return section


def lines(test: str, rows: list[dict[str, Any]], adapters: list[str]) -> go.Figure:
    figure = go.Figure()
    for number, adapter in enumerate(adapters):
        own = [row for row in rows if (row["test"], row["adapter"]) == (test, adapter)]
        if not own:
            continue
        colour = theme.LINES[number % len(theme.LINES)]
        figure.add_scatter(
            x=[max(row["size"], SMALLEST) for row in own],
            y=[1e6 * row["message_s"]["median"] for row in own],
            name=adapter,
            mode="lines+markers",
            line={"color": colour, "dash": DASHES[number // len(theme.LINES)]},
            customdata=[row["size"] for row in own],
            hovertemplate="%{customdata} B: %{y:.4g} µs<extra>" + adapter + "</extra>",
        )
    figure.update_xaxes(type="log", title="bytes")
    figure.update_yaxes(type="log", title="µs")
    return theme.style(figure, height=380)


def tables_section(number: int, setup: dict[str, Any]) -> Section:
    tables = [page_table(table) for table in tables_of(setup)]
    return Section(f"tables-{number}", f"Tables: {setup['name']}", pictures=list(tables))


def page_table(table: rich.table.Table) -> Table:
    """A table of the console on the page."""
    columns = [str(column.header) for column in table.columns]
    rows = [list(cells) for cells in zip(*(column.cells for column in table.columns), strict=True)]
    numeric = tuple(i for i, column in enumerate(table.columns) if column.justify == "right")
    return Table(columns, [[str(cell) for cell in row] for row in rows], "", str(table.title), numeric)
