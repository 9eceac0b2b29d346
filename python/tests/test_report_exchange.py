# SPDX-License-Identifier: BSD-3-Clause
"""The report's section on exchanges, of accounts made by hand."""

import json

import pytest

import run_dirs
from tailrace.report import write_report
from tailrace.report.exchange_advice import exchange_advice
from tailrace.report.exchange_section import exchange_section
from tailrace.report.load import load_run
from tailrace.report.parts import Picture, Table


def rank_of(rank: int, ranks: int, **changes) -> dict:
    """A rank that sends 10 messages of 800 bytes to each neighbour in a ring."""
    to = sorted({(rank + 1) % ranks, (rank - 1) % ranks} - {rank})
    return {
        "rank": rank,
        "flights": 10,
        "messages": 10 * len(to),
        "sent_bytes": 8000 * len(to),
        "largest_bytes": 800,
        "reads_from": len(to),
        "read_by": len(to),
        "owned": 1000,
        "landing": 100 * len(to),
        "memory_bytes": 20000,
        "builds": 2,
        "build_s": 0.004,
        "cost_s": 0.010,
        "wait_s": 0.008,
        "hidden_s": 0.03,
        "sent": [[peer, 10, 8000] for peer in to],
    } | changes


CHOICE = {
    "flights": "gather",
    "entry_bytes": 8,
    "chosen": "isend",
    "left": ["shared"],
    "tried": [
        {"name": "isend", "obstacle": "", "cost_s": 2e-5},
        {"name": "shared", "obstacle": "", "cost_s": 3e-5},
        {"name": "neighbour", "obstacle": "it loses messages", "cost_s": 0},
    ],
}


def run_with(tmp_path, per_rank, **changes):
    account = {
        "transport": "auto",
        "asked_by": "case",
        "order": "fixed",
        "maps": [{"name": "mortars", "choices": [CHOICE], "per_rank": per_rank}],
    }
    return load_run(run_dirs.write_run(tmp_path / "run", exchange=account | changes))


def parts_of(run, kind):
    return {part.heading: part for part in exchange_section(run).pictures if isinstance(part, kind)}


def test_who_sends_what_to_whom_and_what_was_chosen(tmp_path):
    run = run_with(tmp_path, [rank_of(rank, 4) for rank in range(4)])
    pictures, tables = parts_of(run, Picture), parts_of(run, Table)
    matrix = pictures["From whom to whom"].figure.data[0].z
    assert [list(row) for row in matrix] == [
        [8000.0 * ((a - b) % 4 in (1, 3)) for b in range(4)] for a in range(4)
    ]
    waited = {trace.name: trace.y[2] for trace in pictures["Time of exchanges"].figure.data}
    assert waited["waited for"] == 0.008 and waited["hidden: the rank computed"] == 0.03
    assert waited["packing, adding up"] == pytest.approx(0.002)
    counted = {row[0]: row[1:] for row in tables["Counted"].rows}
    assert counted["flights"] == ["10", "10", ""] and counted["messages sent"] == ["20", "20", "80"]
    # A build took 2 ms, a flight 1 ms.
    assert "at the price of 2.0 flights each, and used for 5 flights" in tables["Counted"].caption
    rows = {row[1]: row[2:] for row in tables["Choice of the transport"].rows}
    assert rows["isend"] == ["20.0 µs", "chosen"]
    assert rows["shared"][1] == "had been chosen, became slower"
    assert rows["neighbour"] == ["", "left out: it loses messages"]
    page = write_report(run.directory).read_text()
    assert "Exchanges between ranks" in page and "left out: it loses messages" in page


def test_what_was_not_tried_is_named_with_the_reason_and_so_is_what_is_not_as_asked_for(tmp_path):
    transports = [
        {"name": "isend", "obstacle": "", "chosen_by_auto": True},
        {"name": "get", "obstacle": "", "chosen_by_auto": False},
        {"name": "shmem", "obstacle": "it ends in signal 11", "chosen_by_auto": False},
    ]
    ranks = [rank_of(rank, 2) | {"note": "no shared memory"} for rank in range(2)]
    run = run_with(tmp_path, ranks, transports=transports, aggregate=False)
    tables = parts_of(run, Table)
    caption = tables["Choice of the transport"].caption
    assert "Not tried: get (there to be compared with); shmem: it ends in signal 11." in caption
    assert "Note: no shared memory." in tables["Counted"].caption
    assert "Every word of 8 bytes was put or got by itself" in exchange_section(run).lead


def test_many_ranks_become_a_histogram(tmp_path):
    run = run_with(tmp_path, [rank_of(rank, 65) for rank in range(65)])
    bars = parts_of(run, Picture)["Bytes per pair of ranks"].figure.data[0]
    assert list(bars.x) == [8000.0] * 130


def test_a_transport_that_was_asked_for(tmp_path):
    ranks = [rank_of(rank, 2) for rank in range(2)]
    run = run_with(tmp_path, ranks, transport="isend", asked_by="TAILRACE_EXCHANGE")
    assert "The transport was isend, asked for by the environment" in exchange_section(run).lead


@pytest.mark.parametrize("exchange", [None, {}, {"maps": []}, {"maps": [{"name": "x", "per_rank": [{}]}]}])
def test_nothing_to_say(tmp_path, exchange):
    run = load_run(run_dirs.write_run(tmp_path / "run", exchange=exchange))
    assert exchange_section(run).pictures == [] and exchange_advice(run) == []


def test_advice_has_its_numbers(tmp_path):
    fine = run_with(tmp_path, [rank_of(rank, 4) for rank in range(4)])
    assert exchange_advice(fine) == []
    slow = [rank_of(rank, 4, cost_s=0.3, hidden_s=0.0, build_s=0.5) for rank in range(4)]
    slow[2]["sent_bytes"] = 60000
    account = fine.account["exchange"] | {"maps": [{"name": "mortars", "per_rank": slow}]}
    (fine.directory / "run.json").write_text(json.dumps(fine.account | {"exchange": account}))
    hidden, uneven, builds = exchange_advice(load_run(fine.directory))
    assert "nothing is computed while values are under way" in hidden.text and "300 ms" in hidden.evidence
    assert "Rank 2 sends much more" in uneven.text and "2.22 times" in uneven.evidence
    assert "takes longer than all their flights" in builds.text and "2 builds in 500 ms" in builds.evidence
