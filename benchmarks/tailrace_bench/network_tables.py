# SPDX-License-Identifier: BSD-3-Clause
"""The network benchmark on the console."""

from typing import Any

from rich.console import Console
from rich.table import Table

from tailrace.bench.document import make_table, with_interval
from tailrace.bench.host import watch_text
from tailrace.bench.stats import Spread, from_dict
from tailrace.units import bytes_text, significant
from tailrace_bench.network_rows import ANY_SOURCE, BASE, PAIR_TESTS, PAIRS, base_of

Row = dict[str, Any]


def microseconds(value: float) -> str:
    return significant(1e6 * value)


def rate_text(bytes_s: float) -> str:
    return f"{bytes_text(bytes_s)}/s" if bytes_s else ""


def ratio_text(row: Row) -> str:
    """No verdict where the times have a long tail."""
    if row["adapter"] == base_of(row["test"]) or row["over_base"] is None:
        return ""
    found: Spread = from_dict(row["over_base"])
    return with_interval(found, digits=2) if row["steady"] else "unsteady: p99 > 10 medians"


def print_document(document: dict[str, Any], console: Console) -> None:
    for setup in document["setups"]:
        console.print(f"[bold]{setup['name']}[/bold]: {setup['mpi']}", highlight=False)
        console.print()
        for table in tables_of(setup):
            console.print(table)
            console.print()
    if document["peers"]:
        console.print(peers_table(document["peers"]))
        console.print()
    if document["skipped"]:
        console.print(f"skipped: {document['skipped']}", highlight=False)
    console.print(watch_text(document["conditions"]))


def tables_of(setup: dict[str, Any]) -> list[Table]:
    found = [messages_table(test, "µs per message", setup["rows"]) for test in PAIR_TESTS]
    found += [loggp_table(setup["loggp"]), overlap_table(setup["overlap"])]
    found += protocol_tables(setup["protocol"])
    others = dict.fromkeys(row["test"] for row in setup["group"] if row["test"] not in (PAIRS, ANY_SOURCE))
    for test in (PAIRS, ANY_SOURCE, *others):
        found.append(messages_table(test, "µs per message, of the slowest rank", setup["group"]))
    found += [bandwidth_table(setup["effective_bandwidth"]), collectives_table(setup["collectives"])]
    found += [matrix_table(setup["matrix"]), levels_table(setup["levels"])]
    found.append(by_hand_table(setup["by_hand"]))
    return [table for table in found if table.row_count]


def messages_table(test: str, unit: str, rows: list[Row]) -> Table:
    columns = ("size", "adapter", "min", "median", "p99", "mean", "per s", f"over {base_of(test)}")
    table = make_table(f"{test}, {unit}", *columns)
    table.columns[1].justify = "left"
    for row in rows:
        if row["test"] == test:
            times = map(microseconds, times_of(row))
            size = bytes_text(row["size"])
            table.add_row(size, row["adapter"], *times, rate_text(row["bytes_s"]), ratio_text(row))
    return table


def times_of(row: Row) -> tuple[float, float, float, float]:
    return row["min_s"], row["message_s"]["median"], row["p99_s"], row["mean_s"]


def loggp_table(found: dict[str, Any]) -> Table:
    table = make_table("LogGP: t(s) = L + G s", "adapter", "gap, µs", "bytes from", "to", "L, µs", "1/G")
    for adapter, one in found.items():
        for number, part in enumerate(one["ranges"]):
            rate = f"{bytes_text(part['bytes_s'])}/s" if part["bytes_s"] else "-"
            first = (adapter, microseconds(one["gap_s"])) if number == 0 and one["gap_s"] else ("", "")
            table.add_row(
                *first, str(part["first"]), str(part["last"]), microseconds(part["latency_s"]), rate
            )
    return table


def overlap_table(rows: list[Row]) -> Table:
    table = make_table("overlap", "size", "adapter", "transfer, µs", "work, µs", "hidden, %")
    table.columns[1].justify = "left"
    for row in rows:
        hidden = with_interval(from_dict(row["hidden"]), 100, 0)
        times = (microseconds(row["transfer_s"]), microseconds(row["work_s"]))
        table.add_row(bytes_text(row["size"]), row["adapter"], *times, hidden)
    return table


def protocol_tables(protocol: dict[str, Any]) -> list[Table]:
    eager = make_table("sent without the receiver", "largest message")
    if "eager_bytes" in protocol:
        size = protocol["eager_bytes"]
        limit = f"{size} B" if protocol["eager_is_limited"] else f"{bytes_text(size)} or more"
        eager.add_row("none" if size < 0 else limit)
    columns = ("size", "target waits, µs", "target computes, µs", "of, µs", "complete meanwhile")
    puts = make_table("a put and its flush", *columns)
    for row in protocol["puts"]:
        times = (row["target_waits_s"], row["target_computes_s"], row["computing_s"])
        puts.add_row(bytes_text(row["size"]), *map(microseconds, times), "yes" if row["progresses"] else "no")
    return [eager, puts]


def bandwidth_table(found: dict[str, float]) -> Table:
    table = make_table("effective bandwidth of a rank, rings and polygons", "adapter", "per s")
    for adapter, speed in found.items():
        table.add_row(adapter, rate_text(speed))
    return table


def collectives_table(rows: list[Row]) -> Table:
    columns = ("operation", "ranks", "size", "by", "min", "median", "p99", "mean", "over mpi")
    table = make_table("collective operations, µs", *columns)
    for row in rows:
        times = map(microseconds, times_of(row))
        what = (row["test"], str(row["ranks"]), bytes_text(row["size"]), row["adapter"])
        table.add_row(*what, *times, ratio_text(row))
    return table


def matrix_table(rows: list[Row]) -> Table:
    columns = ("ranks", "share", "size", "median", "interval")
    table = make_table(f"each two ranks, ping-pong of {BASE}, µs", *columns)
    for row in rows:
        low, high = row["message_s"]["interval"]
        times = (microseconds(row["message_s"]["median"]), f"{microseconds(low)} .. {microseconds(high)}")
        table.add_row(f"{row['a']} and {row['b']}", row["shared"], bytes_text(row["size"]), *times)
    return table


def levels_table(rows: list[Row]) -> Table:
    table = make_table(f"thread support, ping-pong of {BASE}, 8 B", "level", "median, µs", "over single")
    for row in rows:
        ratio = with_interval(from_dict(row["over_first"]), digits=2)
        table.add_row(row["level"], microseconds(row["message_s"]["median"]), ratio)
    return table


STATISTICS = {"min_s": "best", "mean_s": "mean"}


def peers_table(rows: list[Row]) -> Table:
    title = "ping-pong beside others in turns, µs, medians of the turns"
    table = make_table(title, "peer", "of its times", "size", "peer", f"our {BASE}", "ours over peer")
    for row in rows:
        times = (microseconds(row[key]["median"]) for key in ("peer_s", "ours_s"))
        ratio = with_interval(from_dict(row["ratio"]), digits=2)
        table.add_row(row["peer"], STATISTICS[row["statistic"]], bytes_text(row["size"]), *times, ratio)
    return table


def by_hand_table(rows: list[Row]) -> Table:
    title = f"ping-pong of {BASE} through its endpoint and in a loop by hand, µs"
    table = make_table(title, "size", "endpoint", "by hand", "endpoint over by hand")
    for row in rows:
        times = (microseconds(row[key]["median"]) for key in ("endpoint_s", "by_hand_s"))
        table.add_row(bytes_text(row["size"]), *times, with_interval(from_dict(row["ratio"]), digits=3))
    return table
