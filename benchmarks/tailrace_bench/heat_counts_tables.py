# SPDX-License-Identifier: BSD-3-Clause
"""The tables of what `heat` sends, counted."""

from typing import Any

from rich.console import Console

from tailrace.bench.document import make_table
from tailrace.units import bytes_text
from tailrace_bench.heat_counts import WEAK_GROWTH, WEAK_RULES, growth
from tailrace_bench.summary import met

PARTS = {
    "transfer": "elements to new ranks",
    "surroundings": "elements at rims",
    "numbering": "keys of points, and their numbers",
    "map": "numbers asked of owners",
}
WEAK_COLUMNS = {
    "messages": "messages of a gather",
    "bytes": "its bytes",
    "contribution_bytes": "of contributions",
    "change_messages": "messages of a change",
    "change_bytes": "its bytes",
    "map_bytes": "memory of maps",
    "memory_bytes": "memory of a process",
}


def print_document(document: dict[str, Any], console: Console) -> None:
    settings = document["settings"]
    console.print(
        f"Class {settings['npb_class']}, the mesh after step {settings['middle']}: {document['elements']} "
        f"elements, {document['points']} mortar points"
    )
    print_rules(document["rows"], console)
    print_memory(document["rows"], console)
    print_changes(document["changes"], document["rows"], console)
    if document["weak"]:
        print_weak(document["weak"], console)
    for line in verdicts(document):
        console.print(line)


def print_rules(rows: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "Values that a rank reads of others, and contributions that it sends: inspected. The last column: "
        "whether the\nprogram counted the same on as many ranks. Most read, most read of: over the mean",
        "ranks, rule",
        "per point",
        "elsewhere",
        "read, mean; most",
        "contributions",
        "messages",
        "most read",
        "most read of",
        "products read",
        "program",
    )
    for row in rows:
        seen, elsewhere = row["inspected"], row["counted_elsewhere"]
        table.add_row(
            f"{row['ranks']}, {row['rule']}",
            f"{seen['remote_per_point']:.3f}",
            "" if elsewhere is None else f"{elsewhere:.3f}",
            mean_and_most(seen["reads"], row["ranks"], 0),
            mean_and_most(seen["contributions"], row["ranks"], 0),
            mean_and_most(seen["messages"], row["ranks"], 1),
            f"{seen['reads_max_over_mean']:.2f}",
            f"{seen['read_max_over_mean']:.2f}",
            mean_and_most(seen["products"], row["ranks"], 0) if seen["products"]["most"] else "",
            verdict(row),
        )
    console.print(table)
    console.print()


def mean_and_most(found: dict[str, int], ranks: int, digits: int) -> str:
    return f"{found['total'] / ranks:.{digits}f}; {found['most']}"


def verdict(row: dict[str, Any]) -> str:
    """Whether what the program counted is what was inspected."""
    if row["differs"] is None:
        return "not run"
    return "same" if not row["differs"] else "differs: " + ", ".join(row["differs"])


def print_memory(rows: list[dict[str, Any]], console: Console) -> None:
    """Means and most of a rank; of the program, with what its transport keeps."""
    table = make_table(
        "Memory of a rank: mean; most",
        "ranks, rule",
        "map, inspected",
        "maps of the program",
        "process",
    )
    for row in rows:
        cells = [bytes_pair(row["inspected"]["map_bytes"], row["ranks"])]
        if row["real"] is not None:
            cells += [bytes_pair(row["real"][name], row["ranks"]) for name in ("map_bytes", "memory_bytes")]
        table.add_row(f"{row['ranks']}, {row['rule']}", *cells)
    console.print(table)
    console.print()


def bytes_pair(found: dict[str, int], ranks: int) -> str:
    return f"{bytes_text(found['total'] / ranks)}; {bytes_text(found['most'])}"


def print_changes(changes: list[dict[str, Any]], rows: list[dict[str, Any]], console: Console) -> None:
    """What all ranks send, and the one with the most of each; the maps by the rule of the lowest rank."""
    title = "The change to this mesh: sums over ranks (most of a rank); rule touching"
    table = make_table(title, "ranks, what is sent", "items", "messages", "bytes", "program")
    for row in changes:
        (of_maps,) = [r for r in rows if (r["ranks"], r["rule"]) == (row["ranks"], "touching")]
        parts = row["inspected"] | {"map": of_maps["inspected"]["map"]}
        for part, name in PARTS.items():
            sent = parts[part]
            cells = [f"{sent[what]} ({sent['max_' + what]})" for what in ("items", "messages")]
            cells.append(f"{bytes_text(sent['bytes'])} ({bytes_text(sent['max_bytes'])})")
            cells.append(verdict(of_maps if part == "map" else row))
            table.add_row(f"{row['ranks']}, {name}", *cells)
    console.print(table)
    console.print()


def print_weak(weak: list[dict[str, Any]], console: Console) -> None:
    title = "As many elements on each rank: means over ranks, counted by the program"
    table = make_table(title, "class, ranks, rule", "elements", *WEAK_COLUMNS.values())
    for row in weak:
        cells = [f"{row[name]:.1f}" if "messages" in name else bytes_text(row[name]) for name in WEAK_COLUMNS]
        name = f"{row['class']}, {row['ranks']}, {row['rule']}"
        table.add_row(name, f"{row['elements']:.0f}", *cells)
    console.print(table)
    console.print()


def verdicts(document: dict[str, Any]) -> list[str]:
    compared = [row for row in [*document["rows"], *document["changes"]] if row["differs"] is not None]
    same = sum(not row["differs"] for row in compared)
    lines = [f"counted by the program and by inspection alike: {same} of {len(compared)} rows"]
    for rule in WEAK_RULES:
        rows = [row for row in document["weak"] if row["rule"] == rule]
        for name in WEAK_COLUMNS if rows else ():
            ratio = growth(rows, name)
            flat = abs(ratio - 1) <= WEAK_GROWTH
            lines.append(
                f"aim: {WEAK_COLUMNS[name]} per element flat within {100 * WEAK_GROWTH:.0f} %, {rule}, "
                f"{rows[0]['ranks']} to {rows[-1]['ranks']} ranks: {100 * (ratio - 1):+.0f} %, {met(flat)}"
            )
    return lines
