# SPDX-License-Identifier: BSD-3-Clause
"""Messages as tables for the terminal."""

from rich.console import Console

from tailrace.bench.document import make_table
from tailrace.messages.balance import differences
from tailrace.messages.classes import Rates, Share, largest_size, parse_classes, shares
from tailrace.messages.counts import GROUP_LABELS, Profile, Sizes
from tailrace.units import bytes_text

ESTIMATE = "time: n / M(s) with measured rates, an estimate of how long senders are occupied"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def share_rows(found: list[Share]) -> list[list[str]]:
    return [
        [
            one.label,
            str(one.messages),
            bytes_text(one.bytes),
            *map(percent, (one.by_count, one.by_volume, one.by_time)),
        ]
        for one in found
    ]


SHARE_COLUMNS = ("size, B", "messages", "volume", "of count", "of volume", "of time")


def print_sizes(sizes: Sizes, classes: str, rates: Rates | None, title: str, console: Console) -> None:
    table = make_table(title, *SHARE_COLUMNS)
    for row in share_rows(shares(sizes, parse_classes(classes, largest_size(sizes)), rates)):
        table.add_row(*row)
    console.print(table)
    if rates:
        console.print(ESTIMATE)
    if sizes.coarse:
        count = sum(messages for _, _, messages, _ in sizes.coarse)
        console.print(f"{count} messages have sizes beyond the 4096 of a kind that are counted exactly")


def print_profile(profile: Profile, classes: str, rates: Rates | None, console: Console) -> None:
    table = make_table("Calls", "kind", "messages", "volume", "mean size")
    for (_, kind), total in profile.totals().items():
        table.add_row(
            kind, str(total.messages), bytes_text(total.bytes), bytes_text(total.bytes / total.messages)
        )
    console.print(table)
    for group in ("sent", "one_sided"):
        if (sizes := profile.sizes(group)).total.messages:
            console.print()
            print_sizes(sizes, classes, rates, f"Messages: {GROUP_LABELS[group]}", console)
    console.print()
    for line in differences(profile) or ["sent = received, for each pair of ranks"]:
        console.print(line)
