# SPDX-License-Identifier: BSD-3-Clause
"""The planner on real runs: auto says what it took and why; `tailrace plan` leaves only its answer."""

import json
import platform
from itertools import pairwise
from pathlib import Path

import pytest

import command
import jobs

CASE = """
[case]
simulation = "rehearse"
[domain]
cells = [12, 10, 9]
[time]
steps = {steps}
[rehearse]
compute_ms = 2.0
"""


def account(directory: Path) -> dict:
    return json.loads((directory / "run.json").read_text())


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_auto_is_the_default_and_accounts_for_itself(ranks, tmp_path):
    out = tmp_path / "run"
    load = ["--cells", "12,10,9", "--steps", 40, "--compute-ms", 2, "--verify"]
    ended = jobs.rehearse("--out", out, *load, ranks=ranks)
    assert ended.status == 0, ended
    assert "output from step" in ended.out
    assert account(out)["strategy"] == "auto"
    plan = account(out)["plan"]
    assert plan["mode"] == "auto"
    steps = [decision["step"] for decision in plan["decisions"]]
    assert steps == sorted(steps) and len(steps) >= 2
    assert plan["decisions"][0]["strategy"] == "threads:2"
    changes = [
        b["step"]
        for a, b in pairwise(plan["decisions"])
        if a["strategy"] != b["strategy"] and not b["reason"].endswith(": dropped")
    ]
    assert all(later - earlier >= 10 for earlier, later in pairwise(changes))
    assert plan["decisions"][1]["predicted_output_s"] > 0
    # With how many buffers depends on what else the machine does.
    predicted = {entry["strategy"].split(":")[0] for entry in plan["predictions"]}
    assert {"blocking", "threads", "uring"} <= predicted
    assert plan["measured"]["bytes_per_output"] == 12 * 10 * 9 * 8
    assert plan["reasons"]


def test_a_run_begins_where_the_last_one_with_such_outputs_has_ended(tmp_path, monkeypatch):
    monkeypatch.setenv("TAILRACE_TUNING", str(tmp_path / "tuning"))
    load = ["--cells", "12,10,9", "--steps", 40, "--compute-ms", 2]
    decisions = []
    for name in ("first", "second"):
        ended = jobs.rehearse("--out", tmp_path / name, *load)
        assert ended.status == 0, ended
        decisions.append(account(tmp_path / name)["plan"]["decisions"])
    (history,) = (tmp_path / "tuning").glob("*.json")
    assert history.stem == platform.node()
    (kind,) = json.loads(history.read_text())["kinds"].values()
    assert kind["strategy"] in {decision["strategy"] for decision in decisions[1]}
    assert "last run with such outputs" not in decisions[0][0]["reason"]
    assert "last run with such outputs" in decisions[1][0]["reason"]
    assert decisions[1][0]["strategy"] in {decision["strategy"] for decision in decisions[0]}


def test_a_quiet_program_keeps_the_decision_for_the_summary_of_the_run(tmp_path):
    load = ["--cells", "8", "--steps", 40, "--compute-ms", 2]
    ended = jobs.rehearse("--out", tmp_path / "native", *load, "--quiet")
    assert (ended.status, ended.out) == (0, ""), ended
    assert len(account(tmp_path / "native")["plan"]["decisions"]) >= 2
    case = tmp_path / "case.toml"
    case.write_text(CASE.format(steps=40))
    ended = jobs.tailrace("run", case, "--out", tmp_path / "run", "--no-report")
    assert ended.status == 0, ended
    last = account(tmp_path / "run")["plan"]["decisions"][-1]
    assert f"strategy: {last['strategy']} (chosen automatically: " in ended.out


def test_a_strategy_that_is_named_is_not_planned(tmp_path):
    out = tmp_path / "run"
    ended = jobs.rehearse("--out", out, "--cells", "8", "--steps", 12, "--write", "threads")
    assert ended.status == 0, ended
    assert "output from step" not in ended.out
    assert account(out)["plan"] == {"mode": "fixed"}


def test_plan_predicts_and_removes_what_it_wrote(tmp_path):
    case = tmp_path / "case.toml"
    case.write_text(CASE.format(steps=60))
    ended = command.tailrace("plan", case, "-n", "2", "-t", "1", "--dir", tmp_path, "--json")
    assert ended.status == 0, ended
    found = json.loads(ended.out)
    assert found["measured_steps"] < 60
    assert found["choice"] in {entry["strategy"] for entry in found["predictions"] if entry["possible"]}
    by_name = {entry["strategy"].split(":")[0]: entry for entry in found["predictions"]}
    assert by_name["ranks"]["run_s"] > 0 and not by_name["ranks"]["possible"]
    assert "start it with --write ranks:1 and one rank" in by_name["ranks"]["reason"]
    assert by_name["spawn"]["extra_processes"] == 1 and by_name["threads"]["extra_processes"] == 0
    if by_name["uring"]["possible"]:  # then it was tried, too
        assert found["measured"]["queue"]["write_s"] > 0 and found["measured"]["queue"]["submit_s"] > 0
    blocking = next(entry for entry in found["predictions"] if entry["strategy"] == "blocking")
    assert blocking["run_s"] == pytest.approx(60 * blocking["per_output_s"])
    assert [path.name for path in tmp_path.iterdir()] == ["case.toml"]


def test_plan_of_a_case_with_few_outputs_says_so(tmp_path):
    case = tmp_path / "case.toml"
    case.write_text(CASE.format(steps=3))
    ended = command.tailrace("plan", case, "--dir", tmp_path)
    assert ended.status == 1, ended
    assert "too few outputs to measure" in ended.out


def test_nothing_is_decided_before_a_write_is_complete(tmp_path):
    """Small outputs are gathered while the writer is busy, and a slow device keeps it busy from the start."""
    load = ["--cells", "32", "--select", "boxes:64", "--steps", "30", "--compute", "none", "--write", "auto"]
    ended = jobs.rehearse("--out", tmp_path / "run", *load, "--pace", "latency=5ms", "--quiet")
    assert ended.status == 0, ended
    decisions = jobs.account(tmp_path / "run")["plan"]["decisions"]
    assert not [one for one in decisions if " 0 s of writing" in one["reason"]], decisions
    assert "blocking" not in {one["strategy"] for one in decisions}, decisions
