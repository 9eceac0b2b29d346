# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace checkpoint` and `tailrace inspect --verify`: what they say, remove and leave."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import checkpoint_files as files
import command
import run_dirs
from native import needs
from tailrace.progress import ByteMeter

pytestmark = needs("tailrace-checkpoint")


def write_some(directory: Path, *steps: int) -> Path:
    for step in steps:
        files.write(directory / "checkpoints", step)
    return directory


def leave_partial(directory: Path, step: int) -> Path:
    place = directory / "checkpoints" / f"step-{step:012d}.partial"
    place.mkdir()
    (place / "state.h5").write_bytes(b"begun")
    return place


def names(directory: Path) -> list[str]:
    return sorted(item.name for item in (directory / "checkpoints").iterdir())


# --- what is no checkpoint


def test_foreign_directories(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "file").write_text("hello")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "manifest.json").write_text('{"format": "icons"}')
    for name, words in (
        ("notes", "no checkpoints are there"),
        ("file", "not a directory"),
        ("none", "no such directory"),
        ("other", 'format is "icons", not "tailrace checkpoint"'),
    ):
        for verb in ("list", "verify"):
            answer = command.tailrace("checkpoint", verb, tmp_path / name)
            assert answer.status == 2 and answer.err.count("\n") == 1
            assert name in answer.err and words in answer.err and "Fix: " in answer.err


def test_a_newer_version(tmp_path):
    place = files.write(tmp_path / "checkpoints", version=3, rest="something else")
    files.write(tmp_path / "checkpoints", 90)
    answer = command.tailrace("checkpoint", "verify", place)
    assert answer.status == 2 and "version is 3, this program knows 2 and older ones. Fix: " in answer.err
    assert command.tailrace("checkpoint", "verify", tmp_path).status == 2
    listed = command.tailrace("checkpoint", "list", tmp_path)
    assert listed.status == 0 and "version is 3" in listed.out
    assert command.tailrace("inspect", tmp_path, "--verify").status == 1


# --- what there is


def test_list(tmp_path):
    write_some(tmp_path, 30, 200)
    leave_partial(tmp_path, 300)
    for path in (tmp_path, tmp_path / "checkpoints"):
        lines = command.tailrace("checkpoint", "list", path).out.splitlines()
        assert [line.split()[0] for line in lines] == ["step", "30", "200", "300"]
        assert lines[2].split()[1:4] == ["gas", "400", "µs"] and "incomplete" in lines[3]
    found = json.loads(command.tailrace("checkpoint", "list", tmp_path, "--json").out)
    assert [(each["step"], each["complete"]) for each in found] == [(30, True), (200, True), (300, False)]
    assert found[0]["created"] == "2026-11-22T09:30:00+00:00" and found[0]["ranks"] == 3
    one = command.tailrace("checkpoint", "list", tmp_path / "checkpoints" / "step-000000000030")
    assert one.status == 0 and len(one.out.splitlines()) == 2


def test_list_says_how_old_they_are(tmp_path):
    created = datetime.now(UTC) - timedelta(hours=2, minutes=5, seconds=30)
    files.write(tmp_path, created=created.strftime("%Y-%m-%dT%H:%M:%SZ"))
    assert command.tailrace("checkpoint", "list", tmp_path).out.splitlines()[1].rstrip().endswith("2 h 5 min")


def test_list_of_a_run_that_has_none_yet(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    answer = command.tailrace("checkpoint", "list", tmp_path)
    assert answer.status == 0 and "no checkpoints yet" in answer.out
    assert command.tailrace("checkpoint", "verify", tmp_path).status == 2


def test_list_shows_damage_that_a_short_look_finds(tmp_path):
    write_some(tmp_path, 10, 20)
    (tmp_path / "checkpoints" / "step-000000000010" / "state.h5").write_bytes(b"short")
    answer = command.tailrace("checkpoint", "list", tmp_path)
    assert answer.status == 1 and "it has 5 bytes" in answer.out


def test_verify_finds_the_damaged_one(tmp_path):
    write_some(tmp_path, 10, 20)
    leave_partial(tmp_path, 30)
    answer = command.tailrace("checkpoint", "verify", tmp_path)
    assert answer.status == 0 and answer.out.count("sound") == 2
    place = tmp_path / "checkpoints" / "step-000000000020"
    files.change(place / "state.h5", files.places(place / "state.h5")["solver/p", "data"][0])
    answer = command.tailrace("checkpoint", "verify", tmp_path)
    assert answer.status == 1 and "set solver/p, cell x 0 to 4" in answer.out
    assert "Fix: resume from" in answer.out and "step-000000000010" in answer.out.splitlines()[-1]
    document = json.loads(command.tailrace("checkpoint", "verify", tmp_path, "--json").out)
    assert not document["sound"] and [each["sound"] for each in document["checkpoints"]] == [True, False]
    assert document["checkpoints"][1]["damage"][0]["set"] == "solver/p"
    assert (
        command.tailrace("checkpoint", "verify", tmp_path / "checkpoints" / "step-000000000010").status == 0
    )


def test_a_renamed_copy_can_be_verified(tmp_path):
    place = files.write(tmp_path).rename(tmp_path / "kept")
    assert command.tailrace("checkpoint", "verify", place).status == 0


def test_inspect_verifies_checkpoints_too(tmp_path):
    directory = run_dirs.write_run(tmp_path / "run")
    write_some(directory, 10)
    answer = json.loads(command.tailrace("inspect", directory, "--verify", "--json").out)
    assert answer["ok"] and answer["checkpoints"][0]["sound"]
    place = directory / "checkpoints" / "step-000000000010"
    files.change(place / "manifest.json", 30)
    assert command.tailrace("inspect", directory).status == 0
    answer = command.tailrace("inspect", directory, "--verify")
    assert answer.status == 1 and "manifest.json: its bytes are not those" in answer.out
    assert command.tailrace("inspect", place, "--verify").status == 1
    assert not json.loads(command.tailrace("inspect", directory, "--verify", "--json").out)["ok"]


def test_prune_keeps_the_newest_by_their_steps(tmp_path):
    write_some(tmp_path, 9, 100, 20, 1000)
    leave_partial(tmp_path, 20)
    leave_partial(tmp_path, 1100)
    before = names(tmp_path)
    answer = command.tailrace("checkpoint", "prune", tmp_path, "--keep", 2, "--dry-run")
    assert answer.status == 0 and names(tmp_path) == before
    gone = [line.split()[2] for line in answer.out.splitlines() if line.startswith("would remove")]
    assert gone == [
        "step-000000000020.partial",
        "step-000000001100.partial",
        "step-000000000009",
        "step-000000000020",
    ]
    answer = command.tailrace("checkpoint", "prune", tmp_path, "--keep", 2)
    assert answer.status == 0 and answer.out.count("removed") == 4
    assert names(tmp_path) == ["step-000000000100", "step-000000001000"]
    assert command.tailrace("checkpoint", "prune", tmp_path, "--keep", 2).out.count("removed") == 0


def test_prune_does_not_count_what_is_damaged_or_unknown(tmp_path):
    write_some(tmp_path, 10, 20, 30, 40)
    files.write(tmp_path / "checkpoints", 5, version=3)
    (tmp_path / "checkpoints" / "step-000000000040" / "state.h5").write_bytes(b"short")
    (tmp_path / "checkpoints" / "step-000000000010" / "manifest.json").unlink()
    answer = command.tailrace("checkpoint", "prune", tmp_path, "--keep", 2)
    assert answer.status == 0 and answer.out.count("not counted") == 2
    assert names(tmp_path) == [f"step-{step:012d}" for step in (5, 20, 30, 40)]


def test_prune_with_fewer_than_are_to_stay(tmp_path):
    write_some(tmp_path, 10, 20)
    (tmp_path / "checkpoints" / "step-000000000020" / "manifest.json").unlink()
    assert command.tailrace("checkpoint", "prune", tmp_path, "--keep", 2).status == 0
    assert names(tmp_path) == ["step-000000000010", "step-000000000020"]


def test_prune_leaves_all_but_checkpoints_and_needs_a_number(tmp_path):
    write_some(tmp_path, 10, 20)
    (tmp_path / "checkpoints" / "step-12").mkdir()
    (tmp_path / "checkpoints" / "notes.partial").mkdir()
    for words in ((), ("--keep", 0), ("--keep", "all")):
        assert command.tailrace("checkpoint", "prune", tmp_path, *words).status == 2
    assert command.tailrace("checkpoint", "prune", tmp_path, "--keep", 1).status == 0
    assert names(tmp_path) == ["notes.partial", "step-000000000020", "step-12"]


def test_a_removal_that_is_interrupted_leaves_no_complete_checkpoint(tmp_path, monkeypatch):
    write_some(tmp_path, 10, 20)

    def stop(path):
        raise OSError(5, "Input/output error", str(path))

    monkeypatch.setattr("shutil.rmtree", stop)
    answer = command.tailrace("checkpoint", "prune", tmp_path, "--keep", 1)
    assert answer.status == 2 and "step-000000000010" in answer.err
    assert names(tmp_path) == ["step-000000000010.partial", "step-000000000020"]


def test_the_meter_waits_before_it_speaks():
    said, now = [], [0.0]
    display = type("Display", (), {"show": lambda self, progress: said.append(progress)})()
    meter = ByteMeter(display, "verifying", 4_000_000, lambda: now[0])
    for second in (1.0, 2.5, 2.6, 4.0):
        now[0] = second
        meter.advance(1_000_000)
    assert [each["position"] for each in said] == ["2.00 MB of 4.00 MB", "4.00 MB of 4.00 MB"]
    assert said[0]["remaining_s"] == pytest.approx(2.5)
