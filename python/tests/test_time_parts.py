# SPDX-License-Identifier: BSD-3-Clause
"""How the time of a run is split."""

import pytest

from tailrace import time_parts
from tailrace.account import summary, time_line

# The quickstart beside other programs: 15 of 123 seconds were copying, and in no part of the summary.
LOADED = {"compute_s": 103.0, "exchange_s": 0.05, "output_wait_s": 0.12, "pack_s": 15.0, "setup_s": 3.8}
WALL_S = 122.9


def test_the_parts_add_up_to_the_wall_time():
    ranks = [LOADED, LOADED | {"compute_s": 90.0, "exchange_s": 12.0, "checkpoint_s": 1.0}]
    parts = time_parts.parts_s(ranks, WALL_S)
    assert sum(parts.values()) == pytest.approx(WALL_S, rel=1e-9)
    assert parts["compute"] == 96.5 and parts["output"] == pytest.approx(15.12)
    assert parts["other"] < 0.01 * WALL_S


def test_what_output_costs_is_waiting_and_copying(tmp_path):
    account = {"status": "finished", "wall_s": WALL_S, "per_rank": [LOADED], "output_bytes": 1000}
    line = next(line for line in summary(tmp_path, account) if "output:" in line)
    assert "12.3 % of run time visible" in line
    assert (
        time_line(account)
        == "compute 1 min 43 s, exchange 50.0 ms, output 15.1 s, set-up 3.80 s, other 930 ms"
    )


def test_the_hidden_fraction_counts_copying():
    assert time_parts.hidden_fraction([LOADED | {"write_s": 5.0}]) == pytest.approx(1 - 15.12 / 20.0)
    assert time_parts.hidden_fraction([LOADED | {"write_s": 0.0}]) is None
    assert time_parts.hidden_fraction([]) is None
