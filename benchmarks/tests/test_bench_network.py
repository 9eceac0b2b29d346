# SPDX-License-Identifier: BSD-3-Clause
"""The network benchmark: every adapter keeps order, sizes and contents; arithmetic. Nothing asserts a
time.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

from command import tailrace
from native import needs
from tailrace.bench.programs import native_program, on_ranks
from tailrace.console import CommandError
from tailrace.launch import root_permission
from tailrace.profile import read_rates
from tailrace_bench import network
from tailrace_bench.network_fit import fit
from tailrace_bench.network_peers import read_latencies, read_netpipe
from tailrace_bench.network_place import PROGRAM, Place, programs_of, reason_against_links, start_words
from tailrace_bench.network_rows import (
    BASE,
    BOTH_WAYS,
    BY_HAND,
    PING_PING,
    PING_PONG,
    STREAMING,
    effective_bandwidth,
    make_rows,
    overlap_row,
    percentile,
    protocol_of,
)
from tailrace_bench.network_tables import print_document, ratio_text

ADAPTERS = set(network.ADAPTERS)
AHEAD = {"mpi-nonblocking", "am", "am-aggregated"}  # both sides may send any number before they receive
ONE_AHEAD = AHEAD | {"mpi-put-flush", "node-memory", "heap"}
BY_TEST = {PING_PONG: ADAPTERS, STREAMING: ADAPTERS, PING_PING: ONE_AHEAD, BOTH_WAYS: AHEAD}


@pytest.fixture(autouse=True)
def waits_leave_the_cores(monkeypatch):
    """Ranks that wait for each other on a busy machine would use up the time that the other one needs."""
    monkeypatch.setenv("OMPI_MCA_mpi_yield_when_idle", "1")


def run_native(*words: object, ranks: int = 2) -> list[dict]:
    return rows_of(on_ranks(native_program(PROGRAM), ranks, 1, list(map(str, words))))


def rows_of(command: list[str]) -> list[dict]:
    environment = os.environ | root_permission()
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300, env=environment)
    return json.loads(done.stdout)["rows"]


@needs(PROGRAM)
def test_every_adapter_keeps_order_sizes_and_contents():
    rows = run_native("--tests", "check")
    assert {row["adapter"] for row in rows} == ADAPTERS
    assert len(rows) == 2 * len(ADAPTERS) and all(row["messages"] == 70 for row in rows)
    assert [row for row in rows if row["wrong"]] == []


def program_with(mpi: str) -> Path:
    """Of the build that is tested, which must be there; a build with another MPI beside it need not be."""
    tested = native_program(PROGRAM)
    if json.loads(tested.with_name("tailrace-launch.json").read_text())["implementation"] == mpi:
        return tested
    try:
        return programs_of(mpi)
    except CommandError as error:
        pytest.skip(f"only one build is there: {error}")


@needs(PROGRAM)
@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_adapters_over_a_link_between_two_namespaces(mpi):
    """Node memory is not there; MPI's windows are where its build has them. Nothing goes round the link."""
    if reason := reason_against_links():
        pytest.skip(f"no link: {reason}")
    program = program_with(mpi)
    with start_words(program, 2, Place(delay_us=50)) as words:
        command = [*words, "--tests", "pair", "--sizes", "8", "--windows", "1", "--messages", "2"]
        rows = rows_of(command)
    assert {row["adapter"] for row in rows} | {"mpi-put-flush"} == ADAPTERS - {"node-memory"}
    times = {row["adapter"]: row["seconds"][0] for row in rows if row["test"] == PING_PONG}
    # Two round trips, each way at least the delay.
    assert {adapter: s for adapter, s in times.items() if s < 2 * 2 * 50e-6} == {}


@needs(PROGRAM)
def test_the_benchmark_has_all_adapters_and_rates_for_the_profiler(tmp_path):
    path, page = tmp_path / "network.json", tmp_path / "network.html"
    sizes = ("--size", 8, "--size", 70000)
    windows = ("--windows", 6, "--messages", 16)
    answer = tailrace("bench", "network", *sizes, *windows, "--json", path, "--html", page)
    assert answer.status == 0, answer
    document = json.loads(path.read_text())
    (setup,) = document["setups"]
    eager = setup["protocol"]["eager_bytes"]
    # Both sides of the switch of the protocol, where it is within the sizes.
    measured = {8, 70000, eager, eager + 1} if eager < 70000 else {8, 70000}
    found = {(row["test"], row["size"], row["adapter"]) for row in setup["rows"]}
    expected = {(t, s, a) for t, adapters in BY_TEST.items() for s in measured for a in adapters}
    # Windows of two large messages are within what some may send ahead, that of 16 small ones are not.
    assert expected <= found <= expected | {(BOTH_WAYS, 70000, a) for a in ONE_AHEAD}
    assert all(len(row["message_s"]["samples"]) == 6 for row in setup["rows"])
    assert [size for size, _ in read_rates(path)] == sorted(measured)
    assert {row["adapter"] for row in setup["overlap"]} == ADAPTERS
    assert [row["size"] for row in setup["protocol"]["puts"]] == [8, 65536, 4194304]
    assert "openmpi" in page.read_text() or "mpich" in page.read_text()


@needs(PROGRAM)
def test_only_the_adapters_that_are_asked_for_are_open():
    words = ("--sizes", 8, "--windows", 1, "--messages", 2, "--adapters", "mpi-blocking", "am")
    rows = run_native("--tests", "pair", *words)
    assert {row["adapter"] for row in rows} == {"mpi-blocking", "am"}
    rows = run_native("--tests", "group", *words)
    assert {row["adapter"] for row in rows if row["test"] == "pairs"} == {"mpi-blocking", "am"}


@needs(PROGRAM)
def test_tests_of_all_ranks_on_three():
    """Rings and polygons in each length, every pair once, collective operations of 2 and 3 ranks."""
    words = ("--sizes", 8, 20000, "--windows", 2, "--messages", 2)
    rows = run_native("--tests", "group", *words, ranks=3)
    tests = {row["test"] for row in rows}
    rings = {f"{kind} of {length}" for kind in ("ring", "polygon") for length in (2, 3)}
    assert tests == {"pairs", "any-source", "barrier", "all-reduce", "broadcast"} | rings
    for ring in rings:
        assert {row["adapter"] for row in rows if row["test"] == ring} == ONE_AHEAD
    assert {row["adapter"] for row in rows if row["test"] == "pairs"} == ADAPTERS
    assert {row["ranks"] for row in rows if row["test"] == "barrier"} == {2, 3}
    pairs = run_native("--tests", "matrix", *words, ranks=3)
    assert [(row["a"], row["b"]) for row in pairs if row["size"] == 8] == [(0, 1), (0, 2), (1, 2)]
    assert all(row["shared"] in ("core", "memory domain", "socket", "node") for row in pairs)


@needs(PROGRAM)
@pytest.mark.parametrize(
    ("words", "ranks", "said"),
    [
        (("--tests", "pair"), 1, "needs 2 ranks, not 1"),
        (("--tests", "group"), 1, "needs 2 ranks or more, not 1"),
        (("--sizes", 1 << 30), 2, "leave the largest sizes out"),
    ],
)
def test_what_cannot_be_measured_is_said(words, ranks, said):
    command = on_ranks(native_program(PROGRAM), ranks, 1, list(map(str, words)))
    environment = os.environ | root_permission()
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=environment)
    assert done.returncode == 2
    assert said in done.stderr


def test_what_work_hides_of_a_transfer():
    def hidden(alone: float, work: float, both: float) -> float:
        row = {"adapter": "x", "size": 1, "alone_s": [alone], "work_s": [work], "together_s": [both]}
        return overlap_row(row)["hidden"]["median"]

    assert hidden(2.0, 2.0, 4.0) == 0.0  # one after the other
    assert hidden(2.0, 2.0, 2.0) == 1.0  # all of it
    assert hidden(2.0, 1.0, 2.5) == pytest.approx(0.5)  # half of the shorter
    assert hidden(2.0, 2.0, 5.0) == 0.0 and hidden(2.0, 2.0, 1.0) == 1.0


def test_a_put_that_waits_for_its_target_does_not_progress():
    put = {"test": "put-progress", "size": 8, "target_waits_s": [1e-6], "computing_s": 0.02}
    rows = [
        {"test": "eager-limit", "bytes": 4096, "largest": 1 << 26},
        put | {"target_computes_s": [2e-6]},
        put | {"target_computes_s": [0.02]},
    ]
    found = protocol_of(rows)
    assert found["eager_bytes"] == 4096 and found["eager_is_limited"]
    assert [row["progresses"] for row in found["puts"]] == [True, False]


def test_effective_bandwidth_is_a_mean_over_sizes_then_geometric_ones():
    def row(test: str, size: int, seconds: float) -> dict:
        return {"adapter": "x", "test": test, "size": size, "messages": 10, "seconds": [seconds]}

    rows = [
        row("ring of 2", 8, 8e-5), row("ring of 2", 300, 1e-3),  # 1e6 and 3e6 bytes per second: 2e6
        row("ring of 3", 800, 1e-3),  # 8e6: with the other 4e6
        row("polygon of 3", 100, 1e-3),  # 1e6: with the rings 2e6
        row("pairs", 1, 1.0),
    ]  # fmt: skip
    assert effective_bandwidth(rows) == {"x": pytest.approx(2e6)}


def test_latency_bandwidth_and_rate_from_times_of_windows():
    measured = [
        {"test": test, "size": 100, "messages": 10, "adapter": adapter, "seconds": [factor * 2e-3] * 10}
        for test in (PING_PONG, STREAMING)
        for adapter, factor in ((BASE, 1.0), ("slow", 1.5))
    ]
    rows = {(row["test"], row["adapter"]): row for row in make_rows(measured)}
    assert rows[PING_PONG, BASE]["message_s"]["median"] == pytest.approx(1e-4)  # T / (2 c)
    assert rows[STREAMING, BASE]["messages_s"] == pytest.approx(5000)  # k / T
    assert rows[STREAMING, BASE]["bytes_s"] == pytest.approx(100 * 5000)  # B = M s
    slow = rows[STREAMING, "slow"]
    assert slow["over_base"]["median"] == pytest.approx(1.5)
    assert slow["overhead_s"]["median"] == pytest.approx(1e-4)
    assert ratio_text(slow) == "1.50 (1.50 .. 1.50)"


def test_without_what_it_is_compared_with_an_adapter_has_times_only():
    (row,) = make_rows([{"test": STREAMING, "size": 1, "messages": 1, "adapter": "am", "seconds": [1.0] * 6}])
    assert row["message_s"]["median"] == 1.0
    assert row["over_base"] is None and ratio_text(row) == ""


def test_a_long_tail_gets_no_verdict():
    times = [1e-3] * 50 + [1.0] * 2
    (_, row) = make_rows(
        [
            {"test": STREAMING, "size": 1, "messages": 1, "adapter": name, "seconds": times}
            for name in (BASE, "other")
        ]
    )
    assert not row["steady"] and "unsteady" in ratio_text(row)
    assert percentile(list(range(1, 101)), 0.99) == 99 and percentile([5.0], 0.99) == 5.0


def test_the_fit_finds_latency_bandwidth_and_the_switch_of_the_protocol():
    sizes = [0, *(1 << power for power in range(22))]
    seconds = [1e-6 + size / 2e9 if size <= 4096 else 5e-6 + size / 8e9 for size in sizes]
    small, large = fit(sizes, seconds)
    assert (small.first, small.last, large.first) == (0, 4096, 8192)
    assert small.latency_s == pytest.approx(1e-6) and small.per_byte_s == pytest.approx(1 / 2e9)
    assert large.latency_s == pytest.approx(5e-6) and large.per_byte_s == pytest.approx(1 / 8e9)
    assert small.seconds(100) == pytest.approx(1e-6 + 100 / 2e9)


def test_one_line_is_one_range():
    sizes = [1 << power for power in range(20)]
    (one,) = fit(sizes, [2e-6 + size / 1e9 for size in sizes])
    assert one.latency_s == pytest.approx(2e-6)
    assert fit([8], [1e-6]) == []


def test_outputs_of_others_are_read():
    assert read_netpipe("       8 61.03515625   0.00000100\n      64 488.28125 0.00000100\n") == {
        8: pytest.approx(1e-6), 64: pytest.approx(1e-6)
    }  # fmt: skip
    osu = "# OSU MPI Latency Test v7.0\n# Size  Latency (us)\n0   0.25\n8   1.50\n"
    assert read_latencies(osu) == {0: pytest.approx(0.25e-6), 8: pytest.approx(1.5e-6)}
    imb = "#bytes #repetitions t[usec] Mbytes/sec\n 0 1000 0.50 0.00\n 8 1000 0.75 10.67\n"
    assert read_latencies(imb) == {0: pytest.approx(0.5e-6), 8: pytest.approx(0.75e-6)}


@needs(PROGRAM)
def test_a_peer_and_a_loop_by_hand_take_turns_with_the_endpoint(monkeypatch, tmp_path):
    """The peer says that 8 bytes take 0.25 us, and nothing of 64."""
    monkeypatch.setattr(network, "PEER_ROUNDS", 2)
    command = "printf '8 0.25 '"
    request = network.Request(
        (8, 64), 6, 4, peers=(f"mine={command}",), tests=("pair", BY_HAND), adapters=(BASE,)
    )
    document = network.measure(request)
    (row,) = document["peers"]
    assert (row["peer"], row["size"], row["statistic"]) == ("mine", 8, "mean_s")
    assert row["peer_s"]["samples"] == [0.25e-6, 0.25e-6]
    ours = row["ours_s"]["samples"]
    assert row["ratio"]["samples"] == [pytest.approx(one / 0.25e-6) for one in ours]
    hands = document["setups"][0]["by_hand"]
    assert [one["size"] for one in hands] == [8, 64]
    assert all(len(one["ratio"]["samples"]) == 6 for one in hands)
    console = Console(record=True, width=200)
    print_document(document, console)
    text = console.export_text()
    assert "endpoint over by hand" in text and "mine" in text


def test_a_peer_that_is_none_is_said():
    answer = tailrace("bench", "network", "--size", 8, "--windows", 6, "--peer", "nothing")
    assert answer.status == 2
    assert "NAME=COMMAND" in answer.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--mpi", "none"), "no build with it"),
        (("--host", "a"), "give it twice"),
        (("--host", "localhost:1", "--host", "no-such-host.invalid"), "does not answer"),
        (("--test", "nothing"), "Choose one of pair, overlap"),
        (("--test", "group", "--peer", "netpipe"), "no ping-pong to compare with"),
        (("--adapter", "pigeon"), "Choose one of mpi-blocking"),
        (("--adapter", "am", "--peer", "netpipe"), "add --adapter mpi-blocking"),
    ],
)
def test_bad_options_have_one_message(words, said):
    answer = tailrace("bench", "network", "--size", 8, "--windows", 6, *words)
    assert answer.status == 2
    assert said in answer.err
