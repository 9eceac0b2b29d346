# SPDX-License-Identifier: BSD-3-Clause
"""Run directories with something wrong in them: every command that reads one ends with a status of its own
and without a traceback, and nothing that is missing goes unnoticed.
"""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import command
import run_dirs
import tailrace
from tailrace.kwave import FileError
from test_report_exchange import CHOICE, rank_of

FILES = ["run.json", "progress.json", "start.json", "output.h5", "input.h5", "trace/rank-00000.trace"]
WRONG_JSON = ["[]", "5", "null", '"text"', "{", "[" * 100_000, "\udcff", '{"wall_s": 1e999}', "NaN"]
OTHER_VALUES = [None, True, -1, 0, 10**30, 1e300, "", "text", [], [[]], [5], {}, {"a": 1}, "../x", "\0"]


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    """A run directory with one file of each kind."""
    directory = run_dirs.write_run(tmp_path_factory.mktemp("sound") / "run")
    progress = {"phase": "running", "step": 20, "steps": 60, "elapsed_s": 1.0, "remaining_s": 2.0}
    (directory / "progress.json").write_text(json.dumps(progress))
    start = {
        "program": "tailrace-ultrasound",
        "arguments": ["--case", "x.toml"],
        "directory": "/",
        "ranks": 2,
    }
    (directory / "start.json").write_text(json.dumps(start))
    return directory


def removed(path: Path, choose: random.Random) -> None:
    path.unlink()


def emptied(path: Path, choose: random.Random) -> None:
    path.write_bytes(b"")


def truncated(path: Path, choose: random.Random) -> None:
    path.write_bytes(path.read_bytes()[: choose.randrange(path.stat().st_size)])


def of_text(path: Path, choose: random.Random) -> None:
    path.write_text(choose.choice(WRONG_JSON), errors="surrogateescape")


def of_another_type(path: Path, choose: random.Random) -> None:
    others = [name for name in FILES if (path.parents[path.parent.name == "trace"] / name).is_file()]
    content = (path.parents[path.parent.name == "trace"] / choose.choice(others)).read_bytes()
    path.write_bytes(content)


def a_directory(path: Path, choose: random.Random) -> None:
    path.unlink()
    path.mkdir()


def with_other_bytes(path: Path, choose: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(choose.choice([1, 4, 64])):
        content[choose.randrange(len(content))] = choose.randrange(256)
    path.write_bytes(content)


def with_another_entry(path: Path, choose: random.Random) -> None:
    """Of a JSON file: one value, at any depth, is something else."""
    try:
        table = json.loads(path.read_text())
    except ValueError:
        table = None
    if not isinstance(table, dict):
        return with_other_bytes(path, choose)
    place = table
    while True:
        key = choose.choice(list(place) if isinstance(place, dict) else range(len(place)))
        if not (isinstance(place[key], dict | list) and place[key]) or choose.random() < 0.3:
            break
        place = place[key]
    place[key] = choose.choice(OTHER_VALUES)
    path.write_text(json.dumps(table))


DAMAGES: list[Callable[[Path, random.Random], None]] = [
    removed, emptied, truncated, of_text, of_another_type, a_directory, with_other_bytes, with_another_entry,
]  # fmt: skip
COMMANDS = [
    ("inspect",),
    ("inspect", "--verify"),
    ("inspect", "--json"),
    ("report",),
    ("trace", "export"),
    ("checkpoint", "list"),
    ("checkpoint", "verify"),
    ("resume",),
]


def ends_in_order(*words: object) -> command.Answer:
    answer = command.tailrace(*words)
    assert answer.status in (0, 1, 2), (words, answer)
    assert "Traceback" not in answer.err, (words, answer.err)
    assert answer.status != 2 or answer.err.strip(), words
    return answer


def opens_in_order(directory: Path) -> None:
    """In Python one type of error says all."""
    try:
        run = tailrace.open(directory)
        for name in run:
            run[name].load()
    except FileError as error:
        assert str(error)


def damaged(sound: Path, target: Path, seed: int) -> str:
    """A copy with damage; returns what was done."""
    choose = random.Random(seed)
    shutil.copytree(sound, target)
    done = []
    for _ in range(choose.choice([1, 1, 1, 2])):
        name, damage = choose.choice(FILES), choose.choice(DAMAGES)
        if (target / name).is_file() and (target / name).stat().st_size:
            damage(target / name, choose)
            done.append(f"{name} {damage.__name__}")
    return ", ".join(done)


def check(sound: Path, target: Path, seed: int) -> None:
    done = damaged(sound, target, seed)
    try:
        ends_in_order(*COMMANDS[seed % len(COMMANDS)], target)
        opens_in_order(target)
    except Exception as error:
        raise AssertionError(f"seed {seed}: {done}") from error
    shutil.rmtree(target)


@pytest.mark.parametrize("damage", [removed, emptied, of_text, a_directory], ids=lambda one: one.__name__)
def test_each_file_is_damaged(sound, tmp_path, damage):
    first = DAMAGES.index(damage)
    for number, name in enumerate(FILES):
        target = tmp_path / str(number)
        shutil.copytree(sound, target)
        damage(target / name, random.Random(number))
        ends_in_order("inspect", "--verify", target)
        ends_in_order(*COMMANDS[(first + number) % len(COMMANDS)], target)


def test_some_damage_at_random(sound, tmp_path):
    for seed in range(24):
        check(sound, tmp_path / "run", seed)


MAP = {"name": "mortars", "choices": [CHOICE], "per_rank": [rank_of(rank, 2) for rank in range(2)]}
PROBLEM = {
    "file": "a.fa",
    "line": 3,
    "column": 5,
    "severity": "error",
    "code": "SEM3",
    "text": "waits",
    "notes": [""],
}
# What accounts of these have that those of waves and molecules do not.
OTHER_ACCOUNTS = {
    "heat": {
        "results": {"verified": True, "integral": 0.1, "difference": 1e-13, "adaptations": [[5, 64, 0, 120]]},
        "exchange": {"transport": "auto", "asked_by": "case", "order": "fixed", "maps": [MAP]},
    },
    "fragments": {
        "status": "failed",
        "problems": [PROBLEM],
        "error": {"kind": "program", "message": "a.fa:3:5: waits"},
        "config": {"program": {"file": "a.fa", "sha256": "00", "arguments": ["6"], "defines": []}},
    },
}


@pytest.mark.parametrize("simulation", OTHER_ACCOUNTS)
def test_damage_of_what_only_some_accounts_have(simulation, tmp_path):
    changes = OTHER_ACCOUNTS[simulation] | {"simulation": simulation}
    run = run_dirs.write_run(tmp_path / "run", **changes)
    account = json.loads((run / "run.json").read_text())
    for seed in range(6):
        choose = random.Random(seed)
        (run / "run.json").write_text(json.dumps({name: account[name] for name in changes}))
        with_another_entry(run / "run.json", choose)
        damaged = json.loads((run / "run.json").read_text())
        (run / "run.json").write_text(json.dumps(account | damaged))
        words = choose.choice([("report",), ("inspect",), ("inspect", "--verify"), ("list",)])
        assert ends_in_order(*words, run), damaged


@pytest.mark.full
@pytest.mark.parametrize("batch", range(20))
def test_much_damage_at_random(sound, tmp_path, batch):
    for seed in range(100 * batch, 100 * batch + 100):
        check(sound, tmp_path / "run", seed)


@pytest.mark.parametrize("text", ["[]", "5", "{", ""])
def test_a_damaged_account_is_a_problem(sound, tmp_path, text):
    target = shutil.copytree(sound, tmp_path / "run")
    (target / "run.json").write_text(text)
    answer = command.tailrace("inspect", target)
    assert answer.status == 1
    assert "run.json: damaged" in answer.out.replace("\n", "")


def test_an_entry_of_another_type_is_named(sound, tmp_path):
    target = shutil.copytree(sound, tmp_path / "run")
    account = json.loads((target / "run.json").read_text())
    (target / "run.json").write_text(json.dumps(account | {"wall_s": "long", "per_rank": {}}))
    answer = command.tailrace("inspect", "--json", target)
    assert answer.status == 1
    problems = " ".join(json.loads(answer.out)["problems"])
    assert 'wall_s is "long", not a number' in problems
    assert "per_rank is {}, not a list" in problems


@pytest.mark.parametrize("options", [(), ("--verify",)])
def test_a_missing_output_of_a_finished_run_is_a_problem(sound, tmp_path, options):
    target = shutil.copytree(sound, tmp_path / "run")
    (target / "output.h5").unlink()
    answer = command.tailrace("inspect", *options, target)
    assert answer.status == 1
    assert "output.h5: it is missing, though the run has finished" in answer.out.replace("\n", "")


def test_a_report_says_what_is_damaged(sound, tmp_path):
    target = shutil.copytree(sound, tmp_path / "run")
    (target / "run.json").write_text("[]")
    answer = command.tailrace("report", target)
    assert answer.status == 0
    assert "run.json: damaged" in answer.err
    assert "run.json: damaged" in (target / "report.html").read_text()


@pytest.mark.parametrize("target", ["/", "/nowhere/page.html", "/dev/null/page.html"])
def test_a_page_that_cannot_be_written(sound, target):
    answer = command.tailrace("report", sound, "-o", target)
    assert answer.status == 2
    assert answer.err.startswith(f"tailrace: {target}")
    assert "Traceback" not in answer.err


def test_what_cannot_be_written_elsewhere(sound):
    assert "Traceback" not in command.tailrace("trace", "export", sound, "-o", "/").err
    assert command.tailrace("trace", "export", sound, "-o", "/").status == 2
