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
from tailrace_bench.network import BASE, PING_PONG, PROGRAM, STREAMING, make_rows, percentile, ratio_text

ADAPTERS = {"mpi-blocking", "mpi-nonblocking", "mpi-persistent", "mpi-probe", "mpi-put-flush"}


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
    assert found == {(t, s, a) for t in (PING_PONG, STREAMING) for s in (8, 70000) for a in ADAPTERS}
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
