# SPDX-License-Identifier: BSD-3-Clause
"""The segments of a run in its report."""

import json

from run_dirs import write_run
from tailrace.account import headline, read_account
from tailrace.report import write_report
from tailrace.report.load import load_run
from tailrace.report.performance import performance_numbers
from tailrace.report.segments_section import segments_section


def add_segment(run_dir, number: int, account: dict | None) -> None:
    segment = run_dir / "legs" / str(number)
    segment.mkdir(parents=True)
    if account is not None:
        (segment / "run.json").write_text(json.dumps(account))


def change_account(run_dir, **changes) -> None:
    path = run_dir / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_run_without_checkpoints_has_no_section(tmp_path):
    write_run(tmp_path / "run")
    assert not segments_section(load_run(tmp_path / "run")).pictures


def test_every_segment_has_a_row_the_killed_ones_too(tmp_path):
    run_dir = tmp_path / "run"
    write_run(run_dir)
    change_account(run_dir, resumed_from=40, checkpoints=1, checkpoint_s=0.25, checkpoint_bytes=3_000_000)
    stopped = {
        "status": "stopped",
        "reason": "SIGTERM",
        "steps": 20,
        "resumed_from": 0,
        "ranks": 4,
        "wall_s": 2.0,
    }
    add_segment(run_dir, 1, stopped | {"checkpoints": 2, "checkpoint_s": 0.02, "checkpoint_bytes": 10})
    add_segment(run_dir, 2, None)
    section = segments_section(load_run(run_dir))
    (table,) = section.pictures
    assert table.rows[0] == ["1", "0 to 20", "4", "stopped SIGTERM", "2.00 s", "2", "0.020 s (1.0 %)", "10 B"]
    assert "killed" in table.rows[1][3]
    assert (
        table.rows[2][:2] == ["3", "40 to 60"] and table.rows[2][5] == "1" and table.rows[2][7] == "3.00 MB"
    )
    assert "Checkpoints and segments" in write_report(run_dir).read_text()


def test_segments_come_in_the_order_of_their_numbers(tmp_path):
    run_dir = tmp_path / "run"
    write_run(run_dir)
    for number in range(1, 12):
        add_segment(run_dir, number, {"status": "stopped", "steps": number})
    (table,) = segments_section(load_run(run_dir)).pictures
    assert [row[1].split()[-1] for row in table.rows[:-1]] == [str(number) for number in range(1, 12)]


def test_the_time_of_a_step_is_that_of_the_last_segment(tmp_path):
    run_dir = write_run(tmp_path / "run")
    change_account(run_dir, steps=60, steps_planned=60, wall_s=2.0)
    per_rank = [{"compute_s": 0.2}]
    change_account(run_dir, per_rank=per_rank)
    assert "3.33 ms per step" in performance_numbers(load_run(run_dir))[0].detail
    assert headline(read_account(run_dir)).startswith("finished: 60 of 60 steps in 2.00 s")
    change_account(run_dir, resumed_from=40)
    assert "10.0 ms per step" in performance_numbers(load_run(run_dir))[0].detail
    said = headline(read_account(run_dir))
    assert said.startswith("finished: 60 of 60 steps (20 steps since step 40) in 2.00 s")
