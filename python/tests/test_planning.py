# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace plan` with a native program in miniature: the table, the JSON, and that nothing stays."""

import json
from pathlib import Path

import pytest

import command
from tailrace.account import summary
from tailrace.planning import conclusion
from test_run import INSTALLED, enter, make_programs, write_case


@pytest.fixture(params=INSTALLED, ids=lambda item: item[0])
def place(request, tmp_path, monkeypatch):
    kind, mpiexec = request.param
    make_programs(tmp_path / "bin", {"implementation": kind, "version": "1", "mpiexec": mpiexec})
    return enter(tmp_path, monkeypatch)


def plan(*arguments: str) -> command.Answer:
    return command.tailrace("plan", *arguments)


def left_behind() -> list[str]:
    return sorted(path.name for path in Path().iterdir() if path.name.startswith((".tailrace", "runs")))


def test_table_names_the_choice_and_what_is_impossible(place):
    done = plan(write_case('mode = "plan"'), "-n", "2", "-t", "1")
    assert done.status == 0, done.err
    assert "case.toml on 2 ranks x 1 thread, measured over 10 steps" in done.out
    assert "auto takes threads:2: 7.34 s for 8 outputs instead of 9.45 s with blocking" in done.out
    lines = [line for line in done.out.splitlines() if "blocking" in line or "threads:2" in line]
    assert any("*" in line and "threads:2" in line and "7.84 s" in line for line in lines)
    assert any("*" not in line and "blocking" in line and "9.95 s" in line for line in lines)
    assert "the job has no dedicated ranks" in done.out
    assert "more processes" in done.out
    (dedicated,) = (line for line in done.out.splitlines() if "ranks:1" in line)
    assert [cell.strip() for cell in dedicated.split("│")][7] == "1"
    assert "onto the device" in done.out
    assert left_behind() == []


def test_json_has_everything_sorted_by_time(place):
    done = plan(write_case('mode = "plan"'), "-n", "2", "--json")
    found = json.loads(done.out)
    assert (found["choice"], found["ranks"], found["setup_s"]) == ("threads:2", 2, 0.5)
    assert [entry["strategy"] for entry in found["predictions"]] == ["threads:2", "blocking", "ranks:1"]
    assert found["predictions"][0]["total_s"] == pytest.approx(7.84)
    assert found["measured"]["bytes_per_output"] == 16 << 20
    assert found["rates"]["write_flushed_bytes_s"] > 0 and found["rates"]["copy_bytes_s"] > 0


def test_measures_on_the_file_system_asked_for(place):
    Path("disk").mkdir()
    done = plan(write_case('mode = "plan"'), "--dir", "disk", "--json")
    assert done.status == 0, done.err
    assert list(Path("disk").iterdir()) == []
    refused = plan(write_case(), "--dir", "nowhere")
    assert refused.status == 2 and "--dir nowhere: there is no such directory" in refused.err


def test_too_few_outputs_are_an_answer(place):
    done = plan(write_case('mode = "plan too short"'))
    assert done.status == 1
    assert "too few outputs to measure" in done.out
    assert "auto stays with threads:2" in done.out
    assert left_behind() == []


def test_a_sink_that_stays_with_one_strategy_is_an_answer(place):
    done = plan(write_case('mode = "plan one sink"'), "--json")
    assert done.status == 1
    assert json.loads(done.out)["reasons"] == ["the sink moves data between ranks"]


def test_bad_case_and_failing_run(place):
    bad = plan(write_case('problem = "time.steps: -1 is not positive"'))
    assert bad.status == 2
    assert "time.steps: -1 is not positive" in bad.err
    failed = plan(write_case('mode = "exit"\nstatus = 3'))
    assert failed.status == 3
    assert "the run for measuring failed: as the case asks" in failed.err
    assert left_behind() == []


def test_the_summary_of_a_run_says_what_auto_chose_and_why(tmp_path):
    plan = {"mode": "auto", "decisions": [{"step": 0, "strategy": "threads:2"}], "reasons": []}
    account = {"status": "finished", "wall_s": 10.0, "output_bytes": 107_000_000, "plan": plan}
    account |= {
        "per_rank": [{"output_wait_s": 0.006, "pack_s": 0.004}],
        "output_write_s": 0.05,
        "strategy": "blocking",
    }
    begin = "  output: 107 MB, 0.1 % of run time visible; strategy: "

    def line() -> str:
        return summary(tmp_path, account)[-1]

    assert line() == begin + "threads:2 (chosen automatically: output is small)"
    account["output_write_s"] = 5.0
    assert line() == begin + "threads:2 (chosen automatically: too few outputs to measure)"
    plan["decisions"].append({"step": 6, "strategy": "uring"})
    plan["reasons"] = ["2 s for 9 outputs"]
    assert line() == begin + "uring (chosen automatically: the fastest by prediction)"
    plan["mode"] = "fixed"
    assert line() == begin + "blocking"


def predicted(strategy: str, total_s: float, possible: bool = True) -> dict:
    return {"strategy": strategy, "total_s": total_s, "possible": possible}


def test_where_nothing_is_to_be_chosen_the_plan_says_so():
    found = {"choice": "blocking", "reasons": ["9 s for 4 outputs"]}
    near = [
        predicted("blocking", 10.0),
        predicted("threads:2", 10.1),
        predicted("ranks:1", 1.0, possible=False),
    ]
    assert "no difference worth choosing" in conclusion(found | {"predictions": near})
    far = [predicted("blocking", 10.0), predicted("threads:2", 12.0)]
    assert conclusion(found | {"predictions": far}) == "auto takes blocking: 9 s for 4 outputs"
