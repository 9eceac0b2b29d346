# SPDX-License-Identifier: BSD-3-Clause
"""Advice on exchanges: values that nothing is computed beside, uneven load, maps made too often."""

from collections.abc import Iterator

from tailrace.report.exchange_section import column
from tailrace.report.load import Run
from tailrace.report.parts import Advice
from tailrace.run_files import ExchangeMap
from tailrace.units import bytes_text, duration_text

_MATTERS = 0.05  # of the run: less waiting than that is not worth a word
_UNEVEN = 1.5


def exchange_advice(run: Run) -> list[Advice]:
    """What is to be said of each map of a run on several ranks."""
    maps = (run.account.get("exchange") or {}).get("maps") or []
    found = [one for one in maps if len(one.get("per_rank") or []) > 1]
    return [advice for one in found for rule in (_hidden, _uneven, _builds) for advice in rule(run, one)]


def _hidden(run: Run, one: ExchangeMap) -> Iterator[Advice]:
    cost, hidden = column(one, "cost_s"), column(one, "hidden_s")
    if not run.wall_s or cost.mean() < _MATTERS * run.wall_s or hidden.sum() > 0.1 * cost.sum():
        return
    text = (
        f"Exchanges of {one.get('name', 'a map')} are waited for: nothing is computed while values are "
        "under way. Compute what needs no value of other ranks between `begin_gather` and `finish`."
    )
    evidence = f"{duration_text(cost.mean())} per rank in exchanges, {duration_text(hidden.mean())} hidden"
    yield Advice("hint", text, f"{evidence}, of {duration_text(run.wall_s)}")


def _uneven(run: Run, one: ExchangeMap) -> Iterator[Advice]:
    sent, cost = column(one, "sent_bytes"), column(one, "cost_s")
    mean = sent.mean()
    if len(sent) < 3 or not mean or sent.max() < _UNEVEN * mean or cost.mean() < _MATTERS * run.wall_s:
        return
    rank = one["per_rank"][int(sent.argmax())].get("rank", 0)
    text = (
        f"Rank {rank} sends much more of {one.get('name', 'a map')} than the others. "
        "Let ownership be shared out evenly, where the simulation has a choice."
    )
    evidence = f"{bytes_text(sent.max())}, {sent.max() / mean:.2f} times the mean of {bytes_text(mean)}"
    yield Advice("hint", text, evidence)


def _builds(run: Run, one: ExchangeMap) -> Iterator[Advice]:
    build, cost = column(one, "build_s"), column(one, "cost_s")
    if build.max() < _MATTERS * run.wall_s or build.max() < cost.max():
        return
    text = f"Making maps of {one.get('name', '')} takes longer than all their flights. Rebuild less often."
    evidence = (
        f"{column(one, 'builds').max():.0f} builds in {duration_text(build.max())}, "
        f"{column(one, 'flights').max():.0f} flights in {duration_text(cost.max())}"
    )
    yield Advice("hint", text, evidence)
