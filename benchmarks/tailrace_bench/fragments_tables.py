# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the benchmark of fragments, and which aims are met."""

from typing import Any

from rich.console import Console

from tailrace.bench.document import coverage_text, make_table, with_interval
from tailrace.bench.host import watch_text
from tailrace.bench.stats import from_dict
from tailrace_bench.summary import met

OURS, THREADS = "fragments, 2 x 1", "fragments, 1 x 2"
# Microseconds; bytes; % of a core.
CHAIN_AIM, HOP_AIM, STENCIL_AIM, STENCIL_THREADS_AIM = 1.0, 10.0, 5.0, 3.6
IDLE_AIM, WAITING_AIM, LIVE_AIM = 3.0, 400, 160
LATENCY_FACTOR, LATENCY_MORE = 1.1, 0.3
BALANCE_AIM = 1.1
VERDICT_AIM_MS = 1000
RIVALS = ("openmp", "starpu")


def print_document(document: dict[str, Any], console: Console) -> None:
    graphs = document["graphs"]
    console.print(coverage_text(graphs[0]["floor_us"]))
    print_peaks(document, console)
    print_graphs(graphs, console)
    if "parts" in document:
        print_graphs(document["chains"], console, "A chain of empty tasks on one core")
        print_parts(document, console)
        print_messages(document["messages"], console)
    for line in verdicts(document):
        console.print(line)
    console.print(watch_text(document["conditions"]))


def print_peaks(document: dict[str, Any], console: Console) -> None:
    units = {"memory": ("GB/s", 1e9), "empty": None}
    for kernel, rate in document["peaks"].items():
        unit = units.get(kernel, ("GFLOP/s", 1e9))
        if unit:
            console.print(f"peak of the kernel {kernel} for all systems: {rate / unit[1]:.1f} {unit[0]}")
    console.print()


def print_graphs(rows: list[dict[str, Any]], console: Console, title: str = "Task graphs") -> None:
    table = make_table(
        f"{title}: us of core time per task",
        "load",
        "system",
        "empty task",
        "over the first",
        "METG(50 %)",
        "over the first",
    )
    table.columns[1].justify = "left"
    for row in rows:
        table.add_row(
            row["load"],
            row["system"],
            with_interval(from_dict(row["floor_us"]), digits=2),
            ratio_text(row.get("floor_over_first")),
            with_interval(from_dict(row["metg_us"]), digits=2) if row["metg_us"] else "-",
            ratio_text(row.get("metg_over_first")),
        )
    console.print(table)
    console.print()


def ratio_text(value: dict[str, Any] | None) -> str:
    return with_interval(from_dict(value), digits=2) if value else ""


def print_parts(document: dict[str, Any], console: Console) -> None:
    table = make_table("Parts of a fragment", "what", "ranks", "value", "unit")
    for row in document["parts"]:
        value = with_interval(from_dict(row["value"]), digits=2)
        table.add_row(row["name"], str(row["ranks"]), value, row["unit"])
    for row in document["sizes"]:
        table.add_row(row["name"], "1", f"{row['bytes']:.0f}", "bytes")
    console.print(table)
    console.print()


def print_messages(messages: dict[str, Any], console: Console) -> None:
    table = make_table(
        f"Messages of two ranks beside raw MPI ({messages['mpi'].partition(',')[0]}), quartiles",
        "test",
        "bytes",
        "raw, us",
        "active, us",
        "ratio",
    )
    for row in messages["rows"]:
        cells = [quartiles_text(row[name]) for name in ("raw_us", "active_us", "ratio")]
        table.add_row(row["test"], str(row["bytes"]), *cells)
    console.print(table)
    console.print()


def quartiles_text(value: dict[str, float]) -> str:
    return f"{value['median']:.2f} ({value['low']:.2f} .. {value['high']:.2f})"


def verdicts(document: dict[str, Any]) -> list[str]:
    """Which aims are met, of those that speak of what was measured."""
    lines = metg_verdicts(document["graphs"])
    if "parts" not in document:
        return lines
    parts = {row["name"]: row["value"]["median"] for row in document["parts"]}
    sizes = {row["name"]: row["bytes"] for row in document["sizes"]}
    lines += [verdict("empty fragment of a chain", parts["chain"], CHAIN_AIM, "us")]
    lines += [verdict("hop to the other rank", parts["hop"], HOP_AIM, "us")]
    lines += [verdict("idle rank", parts["idle rank"], IDLE_AIM, "% of a core")]
    for name in ("verdict: missing value", "verdict: cycle"):
        lines += [verdict(name, parts[name], VERDICT_AIM_MS, "ms")]
    for name in ("unbalanced tree, balance auto", "unbalanced graph, balance auto"):
        lines += [verdict(name, parts[name], BALANCE_AIM, "of the ideal")]
    for name, size in sizes.items():
        if "all share" not in name and "is over" not in name:
            lines.append(verdict(name, size, LIVE_AIM if name.startswith("live") else WAITING_AIM, "bytes"))
    return lines + message_verdicts(document["messages"]["rows"])


def verdict(what: str, value: float, aim: float, unit: str) -> str:
    return f"aim: {what} at most {aim:g} {unit}: {value:.3g}, {met(value <= aim)}"


def metg_verdicts(rows: list[dict[str, Any]]) -> list[str]:
    found = {(row["load"], row["system"]): row["metg_us"]["median"] for row in rows if row["metg_us"]}
    lines = [
        verdict(f"METG(50 %) of stencil_1d, {system}", found["stencil_1d", system], aim, "us")
        for system, aim in ((OURS, STENCIL_AIM), (THREADS, STENCIL_THREADS_AIM))
        if ("stencil_1d", system) in found
    ]
    for load in dict.fromkeys(row["load"] for row in rows):
        rivals = {
            system: value for (of, system), value in found.items() if of == load and system.startswith(RIVALS)
        }
        own = [found[load, system] for system in (OURS, THREADS) if (load, system) in found]
        if own and rivals:
            least = min(rivals, key=lambda system: rivals[system])
            text = f"{min(own):.3g}, {least} {rivals[least]:.3g}, {met(min(own) < rivals[least])}"
            lines.append(f"aim: METG(50 %) of {load} below OpenMP tasks and StarPU: {text}")
    return lines


def message_verdicts(rows: list[dict[str, Any]]) -> list[str]:
    lines = []
    for row in rows:
        raw, active = row["raw_us"]["median"], row["active_us"]["median"]
        if (row["test"], row["bytes"]) == ("round trip", 8):
            limit = LATENCY_FACTOR * raw / 2 + LATENCY_MORE
            lines.append(verdict("latency of 8 bytes", active / 2, limit, "us"))
        if row["test"] == "stream":
            rates = f"{1 / active:.3g} million per s, raw {1 / raw:.3g}, {met(active < raw)}"
            lines.append(f"aim: rate of {row['bytes']} bytes above raw MPI: {rates}")
    return lines


def print_counts(document: dict[str, Any], console: Console) -> None:
    columns = {
        "messages_per_fragment": ("messages per fragment", "{:.3f}"),
        "bytes_per_fragment": ("bytes per fragment", "{:.1f}"),
        "forwarded_per_fragment": ("forwarded per fragment", "{:.4f}"),
        "max_over_mean_executed": ("most executed / mean", "{:.4f}"),
        "heap_bytes_per_rank": ("heap per rank, bytes", "{:.0f}"),
        "messages_per_block_end": ("messages per end of a block", "{:.2f}"),
        "messages_of_a_sum_per_rank": ("messages of a wave, at most", "{:.0f}"),
    }
    table = make_table(
        "A stencil with as many points on each rank", "ranks", *(name for name, _ in columns.values())
    )
    for row in document["rows"]:
        cells = [form.format(row[key]) for key, (_, form) in columns.items()]
        table.add_row(str(row["ranks"]), *cells)
    growth = document["exponents"]
    if growth:
        cells = [f"{growth[key]:.2f}" if key in growth else "" for key in columns]
        table.add_row("grows as ranks to the power", *cells)
    console.print(table)
