# SPDX-License-Identifier: BSD-3-Clause
"""Advice on the ranks: one slow rank, uneven load, much communication, processors that are shared."""

import numpy as np

from tailrace.report.balance import slow_ranks
from tailrace.report.load import Run
from tailrace.report.parts import Advice
from tailrace.report.writers import ranks_text
from tailrace.units import duration_text

_UNEVEN = 1.15
_SLOW = 1.3  # a rank that computes so many times as long is a warning, a less slow one a hint
_MATTERS = 0.02  # of the run: less time than that is not worth a word
_MUCH_EXCHANGE = 0.3


def rank_advice(run: Run) -> list[Advice]:
    """What is to be said about how the ranks share the work."""
    slow = _slow(run)
    return [*slow, *([] if slow else _imbalance(run)), *([] if slow else _exchange(run)), *_binding(run)]


def _slow(run: Run) -> list[Advice]:
    ranks, compute = _ranks(run), run.column("compute_s")
    slow = slow_ranks(ranks, compute)
    if not slow:
        return []
    usual = float(
        np.median([seconds for rank, seconds in zip(ranks, compute, strict=True) if rank not in slow])
    )
    longest = compute[ranks.index(slow[0])]
    if longest - usual < _MATTERS * run.wall_s:
        return []
    one = len(slow) == 1
    text = (
        f"{ranks_text(sorted(slow)).capitalize()} {'is' if one else 'are'} slow, and all others wait for "
        f"{'it' if one else 'them'}. {_why_slow(run, slow)}"
    )
    evidence = (
        f"rank {slow[0]} computes {duration_text(longest)}, {longest / usual:.2f} times "
        f"{'the median of the others' if len(ranks) > 2 else 'as long as the other'} "
        f"({duration_text(usual)})"
    )
    blame = run.analysis.blame
    if blame is not None and (lost := sum(blame.by_rank.get(rank, 0.0) for rank in slow)):
        evidence += (
            f"; the others wait {duration_text(lost)} for {'it' if one else 'them'} in exchanges, "
            "summed over ranks"
        )
    return [Advice("warning" if longest > _SLOW * usual else "hint", text, evidence)]


def _why_slow(run: Run, slow: list[int]) -> str:
    entries = {entry.get("rank"): entry for entry in run.per_rank}
    others = [entry for rank, entry in entries.items() if rank not in slow]
    cells, usual = (
        entries[slow[0]].get("cells") or 0,
        np.median([entry.get("cells") or 0 for entry in others]),
    )
    if usual and cells > 1.1 * usual:
        return (
            f"It has {cells / usual:.2f} times as many grid points: the grid is split unevenly over "
            "this number of ranks."
        )
    hosts = {entries[rank].get("host") for rank in slow}
    if hosts and hosts.isdisjoint({entry.get("host") for entry in others}):
        return (
            f"These are all ranks on {', '.join(sorted(map(str, hosts)))}: look at that node, or "
            "leave it out."
        )
    host = entries[slow[0]].get("host")
    return (
        "It has no more work than others: look for other programs on its "
        f"processor{f' on {host}' if host else ''}, and bind ranks to cores."
    )


def _imbalance(run: Run) -> list[Advice]:
    compute = run.column("compute_s")
    mean = sum(compute) / len(compute) if compute else 0.0
    if len(compute) < 2 or max(compute) < _UNEVEN * mean or max(compute) - mean < _MATTERS * run.wall_s:
        return []
    slowest = _ranks(run)[compute.index(max(compute))]
    text = "The ranks do not share the work evenly: other programs run here, or the grid is split unevenly."
    evidence = f"rank {slowest} computes {max(compute) / mean:.2f} times the mean of {duration_text(mean)}"
    return [Advice("hint", text, evidence)]


def _exchange(run: Run) -> list[Advice]:
    compute, exchange = sum(run.column("compute_s")), sum(run.column("exchange_s"))
    total = compute + exchange
    if len(run.per_rank) < 2 or not total or exchange / total < _MUCH_EXCHANGE:
        return []
    text = "Much of each step is communication. Fewer ranks with more threads each send less."
    if sum(run.column("output_wait_s")) > 0.02 * len(run.per_rank) * run.wall_s:
        text = "Much of each step is exchange, with ranks that wait for output. Look at the output first."
    evidence = f"exchange {100 * exchange / total:.0f} % of the stepping time on {len(run.per_rank)} ranks"
    return [Advice("hint", text, evidence)]


def _binding(run: Run) -> list[Advice]:
    """Ranks that are bound to the same processors of a node."""
    places: dict[tuple[str, str], list[int]] = {}
    for entry in run.account.get("binding") or []:
        if isinstance(entry, dict) and entry.get("cpus"):
            places.setdefault((str(entry.get("host")), str(entry["cpus"])), []).append(entry.get("rank", 0))
    threads = int(run.account.get("threads") or 1)
    for (host, cpus), ranks in places.items():
        if len(ranks) * threads > _count(cpus):
            text = (
                "More threads compute than there are processors bound to them. Bind ranks to cores "
                "of their own, or start fewer."
            )
            evidence = f"{ranks_text(ranks)} with {threads} threads each on processors {cpus} of {host}"
            return [Advice("hint", text, evidence)]
    return []


def _count(cpus: str) -> int:
    """How many processors a list such as 0-3,8 names."""
    total = 0
    for part in cpus.split(","):
        low, _, high = part.strip().partition("-")
        if not low.isdecimal() or (high and not high.isdecimal()):
            return 1 << 30  # unknown words: no ground for advice
        total += int(high or low) - int(low) + 1
    return total


def _ranks(run: Run) -> list[int]:
    return [entry.get("rank", number) for number, entry in enumerate(run.per_rank)]
