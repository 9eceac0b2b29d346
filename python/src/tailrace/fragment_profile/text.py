# SPDX-License-Identifier: BSD-3-Clause
"""The profile of a fragment program on the terminal."""

from rich.console import Console
from rich.table import Table

from tailrace.fragment_profile.profile import Profile
from tailrace.fragment_profile.rules import findings
from tailrace.fragment_profile.shares import OVERHEADS
from tailrace.units import bytes_text, duration_text

TYPES_SHOWN = 10


def print_profile(profile: Profile, console: Console) -> None:
    """Totals first, in the form of the thesis, then tables."""
    print(profile.totals.text())
    for problem in profile.recorded.problems:
        console.print(f"problem: {problem}", markup=False, soft_wrap=True)
    if not profile.recorded.is_full:
        until = profile.recorded.full_until_s - profile.recorded.first_s
        console.print(
            f"\nEach fragment is known up to {duration_text(until)}; what is later is in totals and shares."
        )
    for table in (_stages(profile), _shares(profile), _efficiencies(profile), _types(profile)):
        console.print()
        console.print(table)
    for lines in (_path(profile), _what_if(profile), _values(profile)):
        if lines:
            console.print()
            for line in lines:
                console.print(line, markup=False, soft_wrap=True)


def print_findings(profile: Profile, console: Console) -> None:
    """What rules say, with the numbers they used."""
    for one in findings(profile):
        console.print()
        console.print(f"{one.rule}: {one.text}", markup=False, soft_wrap=True)
        console.print(f"  {one.evidence()}", markup=False, soft_wrap=True)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    return table


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _stages(profile: Profile) -> Table:
    table = _table("Stages", "stage", "stays", "median", "99 %", "longest", "most at once")
    for one in profile.stages:
        times = [
            duration_text(value) if one.count else "-" for value in (one.median_s, one.p99_s, one.longest_s)
        ]
        table.add_row(one.stage, f"{one.count:,}", *times, f"{one.max_at_once:,}")
    uncertain = profile.stages[0].uncertain
    if uncertain:
        error = duration_text(profile.recorded.clock_error_s)
        table.caption = f"{uncertain:,} distributions are not longer than the clocks are off ({error})"
    return table


def _shares(profile: Profile) -> Table:
    table = _table("Threads", "rank, thread", "wall", "useful", "idle", *OVERHEADS)
    for one in profile.shares.threads:
        wall = one.wall_s
        parts = [one.useful_s, one.idle_s, *(one.overhead_s[name] for name in OVERHEADS)]
        shares = [percent(part, wall) for part in parts]
        table.add_row(f"{one.rank} {one.thread}", duration_text(wall), *shares)
    return table


def _efficiencies(profile: Profile) -> Table:
    table = _table("Efficiencies", "", "")
    for name, value in profile.shares.efficiencies().items():
        table.add_row(name.replace("_", " "), "-" if value is None else f"{100 * value:.1f} %")
    granularity, overhead = profile.shares.granularity_s, profile.shares.overhead_per_fragment_s
    table.add_row("useful time of a body", "-" if granularity is None else duration_text(granularity))
    table.add_row("overhead per fragment", "-" if overhead is None else duration_text(overhead))
    return table


def _types(profile: Profile) -> Table:
    table = _table("Fragments by type", "type", "kind", "place", "fragments", "useful")
    for one in profile.types[:TYPES_SHOWN]:
        useful = duration_text(one["useful_s"]) if one["kind"] == "body" else ""
        table.add_row(one["type"], one["kind"], one["place"], f"{one['fragments']:,}", useful)
    return table


def _path(profile: Profile) -> list[str]:
    path = profile.path
    if path is None or not path.length_s:
        return []
    names = profile.recorded.type_names()
    parts = [
        f"{names[number]} {duration_text(seconds)} ({count:,})"
        for number, (count, seconds) in list(path.by_type.items())[:5]
        if seconds
    ]
    bound = profile.shares.useful_s / path.length_s
    limit = (
        f"All useful work is {bound:.2f} times as long: more threads than that cannot help."
        if bound > 1
        else "It is longer than all useful work: transfers between ranks take more than they gain."
    )
    return [
        f"Critical path: {duration_text(path.length_s)} over {path.fragments:,} fragments, of it transfers "
        f"{duration_text(path.transfer_s)}: {', '.join(parts)}",
        limit,
    ]


def _what_if(profile: Profile) -> list[str]:
    found = profile.what_if
    if found is None:
        return []
    lines = [
        f"Replayed as it was: {duration_text(found.as_it_was_s)}, measured {duration_text(found.measured_s)} "
        f"({100 * found.error:+.1f} %). It would take"
    ]
    for name, seconds in found.cases.items():
        low, high = found.gain(name)
        lines.append(f"  {duration_text(seconds)} with {name}: {low:.2f} to {high:.2f} times as fast")
    return lines


def _values(profile: Profile) -> list[str]:
    found = profile.values
    if not found.written and not found.live_at_end:
        return []
    lines = [
        f"Values: {found.written:,} written ({bytes_text(found.bytes)}), {found.peak_count:,} at once at "
        f"most ({bytes_text(found.peak_bytes)}), {found.live_at_end:,} left at the end "
        f"({bytes_text(found.live_bytes_at_end)})"
    ]
    if len(found.latency_s):
        details = found.as_dict()["request_latency_s"]
        lines.append(
            f"  from another rank in {duration_text(details['median'])} (99 %: "
            f"{duration_text(details['p99'])}), {int(found.transfers.sum()):,} transfers"
        )
    return lines
