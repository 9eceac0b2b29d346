# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints on two levels: what is on the nodes only, a node that is lost, and the end of a run."""

import contextlib
import json
import random
import shutil
import signal
from functools import partial
from pathlib import Path

import pytest

import command
import jobs
from computations import CASES, OFTEN, Computation, kill_three_times
from matrix import each_value
from test_resume import kill_at_random

RANKS = 3
COPY_EVERY = [1, 2, 100]
SLOW = ['rehearse.compute="memory"', "rehearse.compute_ms=20"]


@pytest.fixture(autouse=True)
def nodes_of_one_rank(monkeypatch):
    monkeypatch.setenv("TAILRACE_RANKS_PER_NODE", "1")


class Local(Computation):
    """A computation with nodes whose devices are directories beside the run."""

    def __init__(self, simulation: str, directory: Path, *settings: str) -> None:
        self.place = directory / "local"
        slow = SLOW if simulation == "rehearse" else []
        super().__init__(simulation, directory, f'checkpoint.local="{self.place}"', *slow, *settings)

    def killed(self) -> "Local":
        ended = self.start("--fault", "kill:step=33", ranks=RANKS).wait()
        assert ended.status != 0, ended
        return self

    def steps_on_nodes(self) -> list[int]:
        """Of which every rank has left a whole part."""
        parts = [json.loads(path.read_text()) for path in self.place.rglob("part-*.json")]
        steps = {part["step"] for part in parts}
        return sorted(
            step for step in steps if len({part["rank"] for part in parts if part["step"] == step}) == RANKS
        )

    def lose_node(self, number: int) -> None:
        (node,) = self.place.glob(f"tailrace-*/node-{number}")
        shutil.rmtree(node)

    def resume(self, ranks: int) -> jobs.Ended:
        return self.start("--resume", ranks=ranks).wait()

    def resumed_from(self) -> int:
        return jobs.account(self.run_dir)["resumed_from"]


@each_value("simulation, ranks", list(CASES), [1, 2, 3])
def test_from_the_nodes_alone(simulation, ranks, tmp_path, whole):
    """Nothing has come to the shared file system yet."""
    run = Local(simulation, tmp_path, "checkpoint.copy_every=100").killed()
    assert run.steps_saved() == []
    newest = run.steps_on_nodes()[-1]
    assert newest in (21, 28)
    ended = run.resume(ranks)
    assert ended.status == 0, ended
    assert run.resumed_from() == newest
    whole.assert_reached(simulation, run.datasets())
    assert not any(run.place.iterdir())
    assert not (run.run_dir / "checkpoints" / "local.json").exists()


@pytest.mark.parametrize(("simulation", "compress"), [("rehearse", "none"), ("particles", "zstd")])
def test_a_lost_node_and_its_partner(simulation, compress, tmp_path, whole):
    if compress != "none":
        jobs.needs_zstd()
    settings = ["checkpoint.copy_every=100", "checkpoint.partner=true", f'checkpoint.compress="{compress}"']
    run = Local(simulation, tmp_path, *settings).killed()
    newest = run.steps_on_nodes()[-1]
    run.lose_node(1)
    ended = run.resume(2)
    assert ended.status == 0, ended
    assert run.resumed_from() == newest
    whole.assert_reached(simulation, run.datasets())


def test_a_lost_node_without_a_partner(tmp_path, whole):
    """The shared file system has an older one."""
    run = Local("rehearse", tmp_path, "checkpoint.copy_every=2").killed()
    shared = run.steps_saved()
    assert shared[-1] in (14, 28), shared
    run.lose_node(2)
    ended = run.resume(2)
    assert ended.status == 0, ended
    assert run.resumed_from() == shared[-1]
    if shared[-1] < 28:
        assert "is left out: 1 of 3 parts are missing or damaged, of ranks 2" in ended.err, ended
    whole.assert_reached("rehearse", run.datasets())


def test_a_lost_node_and_nothing_else(tmp_path):
    run = Local("rehearse", tmp_path, "checkpoint.copy_every=100").killed()
    run.lose_node(0)
    ended = run.resume(2)
    assert ended.status == 2, ended
    assert "of ranks 0" in ended.err and "no checkpoint to resume from" in ended.err, ended


def test_a_stop_in_good_order_leaves_all_in_the_run_directory(tmp_path, whole):
    run = Local("rehearse", tmp_path, "checkpoint.copy_every=100", "checkpoint.partner=true")
    job = run.start(ranks=RANKS)
    job.wait_for(lambda: len(list(run.place.rglob("part-*.json"))) >= RANKS, "checkpoint on the nodes")
    job.send(signal.SIGTERM, rank=1)
    ended = job.wait()
    assert ended.status == 4, ended
    assert run.steps_saved() == [jobs.account(run.run_dir)["steps"]]
    assert not any(run.place.iterdir())
    ended = command.tailrace("checkpoint", "verify", run.run_dir)
    assert ended.status == 0, ended
    ended = run.resume(1)
    assert ended.status == 0, ended
    whole.assert_reached("rehearse", run.datasets())


def test_a_node_that_cannot_be_written_to(tmp_path):
    run = Local("rehearse", tmp_path)
    run.place.write_text("in the way")
    ended = run.start(ranks=2).wait()
    assert ended.status == 0, ended
    assert "a checkpoint was left out" in ended.err and str(run.place) in ended.err


class Killed(Local):
    """One that may resume from what is on the nodes as well."""

    def __init__(
        self, simulation: str, directory: Path, copy_every: int, partner: bool, compress: str
    ) -> None:
        settings = [OFTEN, f"checkpoint.copy_every={copy_every}", f'checkpoint.compress="{compress}"']
        super().__init__(simulation, directory, *settings, *["checkpoint.partner=true"] * partner)

    @classmethod
    def by_chance(cls, directory: Path, chance: random.Random) -> "Killed":
        compress = "zstd" if chance.random() < 0.3 and jobs.knows_zstd() else "none"
        copy_every, partner = chance.choice(COPY_EVERY), chance.random() < 0.5
        return cls(chance.choice(list(CASES)), directory, copy_every, partner, compress)

    def steps_saved(self) -> list[int]:
        """In either place; of those on the nodes, for which every rank that wrote has a part."""
        return sorted({*super().steps_saved(), *self.complete_on_nodes()})

    def complete_on_nodes(self) -> set[int]:
        note = self.run_dir / "checkpoints" / "local.json"
        segment = json.loads(note.read_text())["run"] if note.exists() else "none"
        ranks: dict[tuple[int, int], set[int]] = {}
        for path in self.place.glob(f"tailrace-{segment}/*/*/part-*.json"):
            with contextlib.suppress(ValueError, OSError):  # it is being written, or removed
                part = json.loads(path.read_text())
                ranks.setdefault((part["step"], part["ranks"]), set()).add(part["rank"])
        return {step for (step, count), found in ranks.items() if len(found) == count}


@each_value(
    "simulation, copy_every, partner, compress", list(CASES), COPY_EVERY, [False, True], ["none", "zstd"]
)
def test_killed_again_and_again_between_the_levels(
    simulation, copy_every, partner, compress, tmp_path, whole
):
    if compress != "none":
        jobs.needs_zstd()
    computation = Killed(simulation, tmp_path, copy_every, partner, compress)
    kill_three_times(computation, RANKS)
    whole.assert_reached(simulation, computation.datasets())


@pytest.mark.full
@pytest.mark.parametrize("seed", range(2000, 2100))
def test_killed_at_any_moment_between_the_levels_often(seed, tmp_path, whole):
    kill_at_random(seed, whole, partial(Killed.by_chance, tmp_path))


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ('checkpoint.local="scratch"', ["checkpoint.local", "no absolute path"]),
        ("checkpoint.partner=true", ["checkpoint.partner", "checkpoint.local = "]),
    ],
)
def test_what_the_case_says_wrongly(setting, words, tmp_path):
    ended = Computation("rehearse", tmp_path, setting).start().wait()
    assert ended.status == 2, ended
    for word in words:
        assert word in ended.err, ended
