# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace list`."""

import json
import os
import shutil
import time

import command
import run_dirs


def test_runs_below_a_directory(tmp_path):
    run_dirs.write_run(tmp_path / "a" / "first", started="2026-11-20T13:00:00+00:00")
    run_dirs.write_run(tmp_path / "second", status="stopped", steps=20, started="2026-11-21T09:30:00+00:00")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "run.json").write_text("[]")
    inside = tmp_path / "second" / "segments" / "1"
    inside.mkdir(parents=True)
    shutil.copy(tmp_path / "second" / "run.json", inside)
    found = json.loads(command.tailrace("list", "--json", tmp_path).out)
    assert [(entry["path"].split("/")[-1], entry["status"]) for entry in found] == [
        ("damaged", "damaged"),
        ("first", "finished"),
        ("second", "stopped"),
    ]
    assert (found[2]["steps"], found[2]["steps_planned"]) == (20, 60)
    files = (tmp_path / "a" / "first").rglob("*")
    assert found[1]["size_bytes"] == sum(path.stat().st_size for path in files if path.is_file())
    shown = command.tailrace("list", tmp_path).out
    assert "20 of 60" in shown and "2026-11-20 13:00" in shown and "segments" not in shown


def test_a_run_without_an_account_is_running_or_was_killed(tmp_path):
    (tmp_path / "progress.json").write_text('{"phase": "running", "step": 7, "steps": 9}')
    entry = json.loads(command.tailrace("list", "--json", tmp_path).out)[0]
    assert (entry["status"], entry["steps"], entry["steps_planned"]) == ("running", 7, 9)
    long_ago = time.time() - 3600
    os.utime(tmp_path / "progress.json", (long_ago, long_ago))
    assert json.loads(command.tailrace("list", "--json", tmp_path).out)[0]["status"] == "killed"


def test_a_run_without_an_account_began_when_it_wrote_how(tmp_path):
    (tmp_path / "start.json").write_text("{}")
    os.utime(tmp_path / "start.json", (1_800_000_000, 1_800_000_000))
    entry = json.loads(command.tailrace("list", "--json", tmp_path).out)[0]
    assert (entry["status"], entry["started"]) == ("killed", "2027-01-15T08:00:00+00:00")


def test_nothing_to_list(tmp_path):
    assert "no runs" in command.tailrace("list", tmp_path).out
    missing = command.tailrace("list", tmp_path / "nowhere")
    assert missing.status == 2 and "there is no such directory" in missing.err
