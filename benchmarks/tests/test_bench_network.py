# SPDX-License-Identifier: BSD-3-Clause
"""The network benchmark: every adapter keeps order, sizes and contents; arithmetic. Nothing asserts a
time.
"""

import json
import os
import subprocess

import pytest

from command import tailrace
from native import needs
from tailrace.bench.programs import native_program, on_ranks
from tailrace.launch import root_permission
from tailrace.profile import read_rates
from tailrace_bench.network import (
    BASE,
    BOTH_WAYS,
    PING_PING,
    PING_PONG,
    PROGRAM,
    STREAMING,
    make_rows,
    percentile,
    ratio_text,
)
from tailrace_bench.network_fit import fit
from tailrace_bench.network_peers import read_latencies, read_netpipe

ADAPTERS = {
    "mpi-blocking", "mpi-nonblocking", "mpi-persistent", "mpi-probe", "mpi-put-flush", "node-memory", "am",
    "am-aggregated",
}  # fmt: skip
AHEAD = {"mpi-nonblocking", "am", "am-aggregated"}  # both sides may send any number before they receive
ONE_AHEAD = AHEAD | {"mpi-put-flush", "node-memory"}
BY_TEST = {PING_PONG: ADAPTERS, STREAMING: ADAPTERS, PING_PING: ONE_AHEAD, BOTH_WAYS: AHEAD}


@needs(PROGRAM)
def test_every_adapter_keeps_order_sizes_and_contents():
    command = on_ranks(native_program(PROGRAM), 2, 1, ["--check"])
    environment = os.environ | root_permission()
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300, env=environment)
    rows = json.loads(done.stdout)["rows"]
    assert {row["adapter"] for row in rows} == ADAPTERS
    assert len(rows) == 2 * len(ADAPTERS) and all(row["messages"] == 70 for row in rows)
    assert [row for row in rows if row["wrong"]] == []


@needs(PROGRAM)
def test_the_benchmark_has_all_adapters_and_rates_for_the_profiler(tmp_path):
    path = tmp_path / "network.json"
    answer = tailrace("bench", "network", "--size", 8, "--size", 70000, "--windows", 6, "--json", path)
    assert answer.status == 0, answer
    document = json.loads(path.read_text())
    found = {(row["test"], row["size"], row["adapter"]) for row in document["rows"]}
    expected = {(t, s, a) for t, adapters in BY_TEST.items() for s in (8, 70000) for a in adapters}
    # Windows of two large messages are within what some may send ahead, that of 64 small ones are not.
    assert expected <= found <= expected | {(BOTH_WAYS, 70000, a) for a in ONE_AHEAD}
    assert all(len(row["message_s"]["samples"]) == 6 for row in document["rows"])
    assert [size for size, _ in read_rates(path)] == [8, 70000]


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


def test_a_peer_that_is_none_is_said():
    answer = tailrace("bench", "network", "--size", 8, "--windows", 6, "--peer", "nothing")
    assert answer.status == 2
    assert "NAME=COMMAND" in answer.err
