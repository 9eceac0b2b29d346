# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench fragments` and `bench poisson`: arithmetic, documents, bad input, and that no system gets a
number for a wrong result. Nothing here asserts a time.
"""

import json
import os
import subprocess
import sys

import pytest

from native import needs
from tailrace.bench import stats
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.console import CommandError
from tailrace_bench import fragments, fragments_tables, poisson, poisson_tables, task_graphs
from tailrace_bench.task_graphs import PROGRAM, System
from test_bench import command

# Executes 20 tasks a thousand times as slowly as asked; more iterations take longer.
PEER = "import sys; n = int(sys.argv[1]); print('Total Tasks', 20, 'Elapsed Time', 1e-3 * (1 + n), 'seconds')"


def test_shortest_efficient_task():
    # 10 tasks on 2 cores; the peak is 100 per second.
    seconds = {4: 4.0, 2: 2.0, 1: 1.5, 0: 1.0}
    work = {number: 100.0 * number for number in seconds}
    # Efficiencies 1, 1, 2 / 3, 0 at 8e5, 4e5, 3e5, 2e5 us: half lies at three quarters of the logarithm.
    found = task_graphs.metg_us(seconds, work, 10, 2, 100.0)
    assert found == pytest.approx(2e5 * 1.5**0.75)
    # Never efficient; always efficient.
    assert task_graphs.metg_us(seconds, work, 10, 2, 1000.0) is None
    assert task_graphs.metg_us({4: 4.0, 2: 2.0}, work, 10, 2, 100.0) == pytest.approx(4e5)


def test_iterations_get_shorter():
    assert task_graphs.iterations_of("compute", 8) == [32768, 4096, 512, 64, 0]
    assert task_graphs.iterations_of("memory", 8) == [512, 64, 8, 1, 0]
    assert task_graphs.iterations_of("empty", 2) == [0]


def test_systems_have_all_cores():
    found = task_graphs.systems_on(2, ("fragments", "mpi", "openmp"))
    assert [(one.label, one.ranks, one.workers) for one in found] == [
        ("fragments, 2 x 1", 2, 1),
        ("fragments, 1 x 2", 1, 2),
        ("mpi, 2 x 1", 2, 1),
        ("openmp, 1 x 2", 1, 2),
    ]


def test_what_peers_print():
    expected = {"tasks": 2000, "seconds": 0.125}
    for text in ("tasks 2000\nseconds 0.125", "Total Tasks 2000\nElapsed Time 1.25e-01 seconds\n"):
        assert task_graphs.read_peer(text, "peer") == expected
    with pytest.raises(CommandError, match="--peer slow: the program did not print its tasks and seconds"):
        task_graphs.read_peer("tasks 2000 in no time", "slow")
    rows = [{"tasks": 20}]
    with pytest.raises(CommandError, match="slow executed 20 tasks, the others 2000"):
        task_graphs.check_tasks(System("slow"), rows, {System("own"): task_graphs.Samples(tasks=2000)})


def test_growth_with_ranks():
    rows = [{"ranks": n, "fragments": n, "messages": 3.0, "bytes": 2.0 * n, "none": 0} for n in (2, 4, 8)]
    assert fragments.exponents(rows) == pytest.approx({"messages": 0.0, "bytes": 1.0})
    assert fragments.exponents(rows[:1]) == {}


def test_verdicts_of_graphs():
    def row(load: str, system: str, metg: float) -> dict:
        return {"load": load, "system": system, "metg_us": stats.spread([metg]).as_dict()}

    rows = [row("stencil_1d", "fragments, 2 x 1", 6.0), row("stencil_1d", "fragments, 1 x 2", 3.0)]
    rows += [row("stencil_1d", "openmp, 1 x 2", 3.5), row("stencil_1d", "starpu, 1 x 2", 50.0)]
    assert fragments_tables.metg_verdicts([*rows, {"load": "dom", "system": "tbb", "metg_us": None}]) == [
        "aim: METG(50 %) of stencil_1d, fragments, 2 x 1 at most 5 us: 6, missed",
        "aim: METG(50 %) of stencil_1d, fragments, 1 x 2 at most 3.6 us: 3, met",
        "aim: METG(50 %) of stencil_1d below OpenMP tasks and StarPU: 3, openmp, 1 x 2 3.5, met",
    ]
    quartiles = {"low": 0.0, "median": 1.0, "high": 2.0}
    message = {"test": "round trip", "bytes": 8, "raw_us": quartiles, "active_us": quartiles}
    assert fragments_tables.message_verdicts([message]) == [
        "aim: latency of 8 bytes at most 0.85 us: 0.5, met"
    ]


@needs("tailrace-bench-graphs")
def test_a_wrong_output_is_found_by_every_system():
    program = native_program(PROGRAM)
    systems = task_graphs.systems_on(2, task_graphs.built_in(Runner()))
    assert {"fragments", "mpi", "openmp"} <= {system.name for system in systems}
    words = ["--width", "4", "--steps", "9", "--graphs", "2", "--pattern"]
    for system in systems:
        of = ["--system", system.name, "-t", str(system.workers), *words]
        for pattern in ("stencil_1d", "fft"):
            right = on_ranks(program, system.ranks, system.workers, [*of, pattern])
            found = json.loads(Runner().run(right, system.workers).output)["rows"]
            assert [row["tasks"] for row in found] == [2 * 4 * 9]
        planted = on_ranks(program, system.ranks, system.workers, [*of, "dom", "--plant"])
        with pytest.raises(
            CommandError, match=r"wrong input: point . of step 5 of graph 0 reads point 0 of step 4"
        ):
            Runner().run(planted, system.workers)


@needs("tailrace-bench-graphs", "tailrace-bench-fragments", "tailrace-bench-messages")
def test_fragments_benchmark(tmp_path):
    file = tmp_path / "fragments.json"
    peer = f'slow={sys.executable} -c "{PEER}" {{iterations}}'
    options = ["--kernel", "imbalanced", "--quick", "--steps", "10", "--pairs", "1", "--cores", "2"]
    options += ["--system", "fragments", "--system", "mpi", "--peer", peer, "--json", str(file)]
    done = command("bench", "fragments", *options, "--pattern", "tree", "--no-parts")
    assert done.returncode == 3, done.stdout
    assert "slow executed 20 tasks, the others 19" in done.stderr and not file.exists()
    done = command("bench", "fragments", *options, "--pattern", "stencil_1d")
    assert done.returncode == 0, done.stderr
    assert "METG(50 %)" in done.stdout and "aim: hop to the other rank" in done.stdout
    found = json.loads(file.read_text())
    assert [row["system"] for row in found["graphs"]] == [
        "fragments, 2 x 1",
        "fragments, 1 x 2",
        "mpi, 2 x 1",
        "slow",
    ]
    own, slow = found["graphs"][0], found["graphs"][3]
    assert own["tasks"] == 20 and own["floor_us"]["median"] > 0 and found["peaks"]["imbalanced"] > 0
    assert slow["floor_us"]["median"] == pytest.approx(1e6 * 1e-3 * 2 / 20)
    expected = slow["floor_us"]["median"] / own["floor_us"]["median"]
    assert slow["floor_over_first"]["median"] == pytest.approx(expected)
    assert {"chain", "independent", "structured", "hop", "request", "termination", "idle rank"} < {
        row["name"] for row in found["parts"]
    }
    assert [row["system"] for row in found["chains"]] == ["fragments", "mpi"]
    sizes = {row["name"]: row["bytes"] for row in found["sizes"]}
    own_names, shared = (
        sizes[f"waiting fragment, two inputs {of}"] for of in ("of its own", "that all share")
    )
    assert own_names == pytest.approx(shared, rel=0.02)  # a name that one fragment waits for has no entry
    assert shared > sizes["live data fragment, a real"] > 8


@needs("tailrace-bench-fragments", "tailrace-bench-messages")
def test_counts(tmp_path):
    file = tmp_path / "counts.json"
    ranks = ["--counted-ranks", "2", "--counted-ranks", "4"]
    done = command("bench", "fragments", "--counts", *ranks, "--json", str(file))
    assert done.returncode == 0, done.stderr
    found = json.loads(file.read_text())
    two, four = found["rows"]
    # A stencil of 4 points per rank and 30 steps: an inner rank asks for 2 values in all steps but the first,
    # and gives 2; both are a question and an answer.
    assert (two["fragments"], four["fragments"]) == (240, 480)
    for row, sides in ((two, 2), (four, 6)):
        # Told one by one, each takes a message to each other rank; how many travel together depends on time.
        assert 0 < row["messages_per_block_end"] < row["ranks"] - 1
        assert row["messages_per_fragment"] * row["fragments"] == pytest.approx(sides * 29 * 2, rel=0.15)
        assert row["messages_of_a_sum_per_rank"] in (1, 2, 3) and row["heap_bytes_per_rank"] > 1e4
    assert set(found["exponents"]) >= {"messages_per_fragment", "heap_bytes_per_rank"}


def test_bad_input():
    for options, message in (
        (["--pattern", "star"], "--pattern star: unknown. Choose one of trivial, no_comm"),
        (["--kernel", "gpu"], "--kernel gpu: unknown"),
        (["--width", "2", "--radix", "3"], "--radix 3: above the width 2"),
        (["--counted-ranks", "4"], "--counted-ranks has no meaning without --counts"),
        (["--peer", "mine"], "--peer mine: write NAME=COMMAND"),
        (["--peer", "mine=run {size}"], "{size} is not known"),
        (["--peer", "mine=run -n 2"], "without {iterations} all tasks have one length"),
        (["--peer", "mine=run 'x {iterations}"], "ends within a quotation"),
        (["--json", "/nowhere/at/all.json"], "--json /nowhere/at/all.json: cannot be written"),
    ):
        done = command("bench", "fragments", *options)
        assert done.returncode == 2 and message in " ".join(done.stderr.split()), done.stderr
    done = command("bench", "poisson", "--case", "64x64/16")
    assert done.returncode == 2 and "--case 64x64/16: write cells and blocks like" in done.stderr


@needs("tailrace-bench-graphs")
def test_unknown_systems():
    with pytest.raises(CommandError, match=r"--system cilk: not in this build. Choose from fragments, mpi"):
        fragments.known_systems(("cilk",), task_graphs.built_in(Runner()))
    done = subprocess.run(
        [str(native_program(PROGRAM)), "--system", "mpi", "-t", "2"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and "mpi does not run on 1 ranks x 2 threads" in done.stderr


def test_cases_of_poisson():
    case = poisson.parse_case("33x29x41/10x9x14")
    assert (case.cells, case.blocks, case.name) == ((33, 29, 41), (10, 9, 14), "33x29x41/10x9x14")
    flat = poisson.parse_case("2048x2048/128x128")
    assert (flat.cells, flat.blocks) == ((2048, 2048, 1), (128, 128, 1))
    assert poisson.example().name == "1023x767/128x128"
    for text in ("64x64", "64x64/16x16x16", "0x64/16x16", "64/16"):
        with pytest.raises(CommandError, match="write cells and blocks like"):
            poisson.parse_case(text)


@needs("tailrace-bench-poisson")
def test_poisson_benchmark(tmp_path):
    file = tmp_path / "poisson.json"
    options = ["--case", "23x17/5x4", "--method", "cg", "--layout", "1x2", "--layout", "2x1", "--sweeps", "3"]
    options += ["--slowed"] if len(os.sched_getaffinity(0)) > 1 else []
    done = command("bench", "poisson", *options, "--pairs", "1", "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "time over plain MPI, 2 x 1: geometric mean" in done.stdout
    threads, ranks, *slowed = json.loads(file.read_text())["rows"]
    assert threads["name"] == "23x17/5x4, cg, 1 x 2" and threads["block_count"] == 5 * 5
    # Threads are compared with as many ranks.
    assert threads["mpi_s"]["samples"] == ranks["mpi_s"]["samples"]
    for row in (threads, ranks, *slowed):
        expected = row["fragments_s"]["median"] / row["mpi_s"]["median"]
        assert row["ratio"]["median"] == pytest.approx(expected)


def test_verdicts_of_poisson():
    row = {"name": "large", "cells": [2048, 2048, 1], "blocks": [128, 128, 1], "ranks": 2, "method": "cg"}
    row["ratio"] = stats.spread([1.04]).as_dict()
    other = row | {"ranks": 1}
    assert poisson_tables.verdicts([row, other]) == ["aim: at most 1.05 times plain MPI, large: 1.04, met"]
    slowed = row | {"name": "large, balance auto", "slowed": True}
    expected = ["aim: faster than plain MPI, large, balance auto: 1.04, missed"]
    assert poisson_tables.verdicts([slowed, slowed | {"name": "large, balance off"}]) == expected
