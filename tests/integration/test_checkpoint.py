# SPDX-License-Identifier: BSD-3-Clause
"""Runs in segments: triggers, signals, and kill -9 at any moment; every one ends as a run without a stop."""

import contextlib
import json
import os
import shutil
import signal
import time
from pathlib import Path

import h5py
import pytest

import jobs
from conftest import SENSOR_DATA
from kwave_input import STEPS, small_input
from matrix import each_value
from test_kill import ranks_under_way

DATA = Path(__file__).resolve().parents[1] / "data" / "ultrasound"
MAX_SEGMENTS = 60
SLOW = ["--pace", "latency=5ms"]
COUNTED = ["--write", "blocking"]  # writes that a number is to single out: in the background they merge


class Segments:
    """The files of one run in segments, and the command line that all its segments have in common."""

    def __init__(self, source: Path, directory: Path, *options: str, steps: int | None = 7) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.output, self.state = directory / "out.h5", directory / "state.h5"
        files = ["-i", source, "-o", self.output, "--checkpoint_file", self.state]
        trigger = [] if steps is None else ["--checkpoint_timesteps", steps]
        self.words = [*files, *trigger, "--quiet", *SENSOR_DATA, *options]

    def start(self, ranks: int, *more: str) -> jobs.Job:
        return jobs.Job([*self.words, *more], ranks)

    def run(self, ranks: int, *more: str) -> jobs.Ended:
        ended = self.start(ranks, *more).wait()
        assert ended.status == 0, ended
        return ended

    def run_to_the_end(self, ranks: int, *more: str) -> int:
        """Segments until one finishes; returns their number."""
        for segment in range(1, MAX_SEGMENTS):
            self.run(ranks, *more)
            if not self.state.exists():
                return segment
        raise AssertionError("the run does not end")

    def steps_saved(self) -> int:
        with h5py.File(self.state, "r") as file:
            return int(file["t_index"][()].item())


def assert_finished(segments: Segments, clean: Path) -> None:
    jobs.assert_equal_files(segments.output, clean)
    assert jobs.recorded_steps(segments.output) == STEPS
    assert not segments.state.exists()
    left = [path.name for path in segments.output.parent.iterdir() if path.name.endswith(".partial")]
    assert not left


def test_timesteps_are_those_of_each_segment(small, clean, tmp_path):
    segments = Segments(small, tmp_path, steps=25)
    segments.run(2)
    assert segments.steps_saved() == 25
    segments.run(1)
    assert segments.steps_saved() == 50
    segments.run(3)
    assert_finished(segments, clean(1))


def test_interval_ends_a_segment(small, clean, tmp_path):
    """Counted from the start of the segment; the first of both triggers wins."""
    segments = Segments(small, tmp_path, "--checkpoint_interval", "1", steps=None)
    ended = segments.start(2, "--pace", "latency=50ms", "--write", "blocking").wait()
    assert ended.status == 0, ended
    assert 0 < segments.steps_saved() < STEPS
    segments.words = [word if word != "1" else "1000" for word in segments.words]
    before = segments.steps_saved()
    segments.run(3, "--checkpoint_timesteps", "4")
    assert segments.steps_saved() == before + 4
    segments.run(1)
    assert_finished(segments, clean(1))


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_signal_saves_the_state_too(ranks, small, clean, tmp_path):
    """The exit status is that of a stop without checkpoints."""
    segments = Segments(small, tmp_path, steps=1000)
    job = segments.start(ranks, "--pace", "latency=20ms")
    job.wait_for(lambda: jobs.recorded_steps(segments.output) >= 5, "recorded step")
    job.send(signal.SIGTERM, rank=ranks - 1)
    ended = job.wait()
    assert ended.status == 1, ended
    assert 5 <= segments.steps_saved() < STEPS
    segments.run(2)
    assert_finished(segments, clean(1))


def test_times_add_up(small, tmp_path):
    segments = Segments(small, tmp_path, steps=20)

    def simulated() -> float:
        with h5py.File(segments.output, "r") as file:
            return float(file.attrs["simulation_phase_execution_time"].decode().rstrip("s"))

    times = []
    while not times or segments.state.exists():
        segments.run(1, *SLOW, "--write", "blocking")
        times.append(simulated())
    assert len(times) == 3
    min_s = 20 * 5e-3  # a segment's sleep for its writes
    assert times[0] >= min_s
    assert times[1] >= times[0] + min_s
    assert times[2] >= times[1] + min_s


def test_an_old_output_without_a_checkpoint_is_replaced(small, clean, tmp_path):
    segments = Segments(small, tmp_path, steps=1000)
    segments.output.write_text("something else")
    segments.run(2)
    assert_finished(segments, clean(1))


@pytest.mark.parametrize(
    ("spoil", "reported"),
    [
        (lambda segments: segments.output.unlink(), "out.h5: cannot be opened: No such file or directory"),
        (lambda segments: segments.state.write_text("no HDF5"), "state.h5: is not an HDF5 file"),
        (lambda segments: os.truncate(segments.state, 5000), "state.h5: is damaged or truncated"),
        (
            lambda segments: small_input((20, 20, 18)).write(segments.state),
            'file_type is "input", not "checkpoint"',
        ),
    ],
)
def test_a_broken_pair_is_one_message(spoil, reported, small, tmp_path):
    segments = Segments(small, tmp_path)
    segments.run(2)
    spoil(segments)
    ended = segments.start(2).wait()
    assert ended.status == 1, ended
    assert len(jobs.messages(ended)) == 1, ended
    assert reported in ended.err
    assert "Fix: " in ended.err


# At its last step the second segment below writes samples, then the checkpoint, then reductions. A moment is
# the number of the write that is struck, in its file; whether that leaves a partial checkpoint; and the step
# to resume from. Before that step the segment has put more bytes than a checkpoint holds into the output.
IN_OUTPUT = ",after=400000"
MOMENTS = {
    "the samples": ("4", False, 20),
    "the reductions in the checkpoint": ("9", True, 20),
    "the last array of the checkpoint": ("21", True, 20),
    "the unfinished reductions in the output": ("19" + IN_OUTPUT, False, 40),
}


@each_value("moment, kill_target", list(MOMENTS), [0, 1])
def test_killed_in_the_middle_of_writing(moment, kill_target, small, clean, tmp_path):
    """Half of a write is done. Whatever it was, there is a checkpoint, and the output has what it needs."""
    nth, partial_checkpoint, step = MOMENTS[moment]
    segments = Segments(small, tmp_path, steps=20)
    segments.run(2)
    ended = segments.start(2, *COUNTED, "--fault", f"kill:rank={kill_target},step=40,nth={nth}").wait()
    assert ended.status != 0, ended
    assert Path(f"{segments.state}.partial").exists() == partial_checkpoint
    assert segments.steps_saved() == step
    segments.run_to_the_end(2 - kill_target)
    assert_finished(segments, clean(1))


def test_killed_within_a_segment(small, clean, tmp_path):
    """In the middle of a write of step 30, ten after the checkpoint."""
    segments = Segments(small, tmp_path, steps=20)
    segments.run(2)
    ended = segments.start(3, *COUNTED, "--fault", "kill:rank=1,step=30").wait()
    assert ended.status != 0, ended
    assert segments.steps_saved() == 20
    segments.run_to_the_end(2)
    assert_finished(segments, clean(1))


def segments_after_k_wave(directory: Path) -> Segments:
    """The state that k-Wave's own binary left, whose reductions are in the output alone."""
    source = DATA / "tvsp_dirichlet_v11_checkpoint"
    segments = Segments(source / "input.h5", directory, steps=1000)
    shutil.copy(source / "checkpoint_t120.h5", segments.state)
    shutil.copy(source / "output_after_leg1.h5", segments.output)
    arguments = json.loads((source / "case.json").read_text())["args"]
    segments.words = [word for word in segments.words if word not in SENSOR_DATA] + arguments
    return segments


def test_killed_while_reductions_replace_those_of_k_wave(tmp_path):
    """The output holds half of the final reductions then, and no longer those of the first segment."""
    whole = segments_after_k_wave(tmp_path / "whole")
    whole.run(2)
    segments = segments_after_k_wave(tmp_path / "killed")
    ended = segments.start(2, *COUNTED, "--fault", "kill:rank=1,step=200,nth=6").wait()
    assert ended.status != 0, ended
    assert segments.state.exists()
    found, final = jobs.read_datasets(segments.output), jobs.read_datasets(whole.output)
    assert (found["p_rms"] == final["p_rms"]).all(), "the blow came too early for this test"
    assert not (found["ux_max_all"] == final["ux_max_all"]).all(), "the blow came too late for this test"
    segments.run(3)
    jobs.assert_equal_files(segments.output, whole.output)
    assert not segments.state.exists()


def killed_at_random(source: Path, clean: Path, directory: Path, ranks: int, delays: list[float]) -> int:
    """Every segment is killed after a delay, as long as there are delays; returns how many blows struck."""
    segments = Segments(source, directory, *SLOW)
    blows = 0
    for number, delay_s in enumerate(delays):
        job = segments.start(ranks)
        with contextlib.suppress(AssertionError):  # over before all ranks were seen
            job.wait_for(lambda started=job: ranks_under_way(started) == ranks, "rank")
        time.sleep(delay_s)
        pids = job.rank_processes()
        if job.process.poll() is None and len(pids) == ranks:
            job.blow = time.monotonic()
            with contextlib.suppress(ProcessLookupError):
                os.kill(pids[number % ranks], signal.SIGKILL)
        ended = job.wait()
        assert ended.status == 0 or ended.seconds < jobs.ENDS_WITHIN_S, ended
        blows += ended.status != 0
        if segments.output.exists() and not segments.state.exists() and ended.status == 0:
            break  # the last segment got through
    if (
        segments.state.exists()
        or not segments.output.exists()
        or jobs.recorded_steps(segments.output) < STEPS
    ):
        segments.run_to_the_end(ranks)
    assert_finished(segments, clean)
    return blows


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_killed_again_and_again(ranks, small, clean, tmp_path):
    """In the middle of a write before the first checkpoint, between two, and in the last segment."""
    segments = Segments(small, tmp_path, steps=25)
    for step, saved in ((10, None), (30, 25), (55, 50)):
        if saved is not None:
            segments.run(ranks)
            assert segments.steps_saved() == saved
        ended = segments.start(ranks, *COUNTED, "--fault", f"kill:rank={ranks - 1},step={step}").wait()
        assert ended.status != 0 and ended.seconds < jobs.ENDS_WITHIN_S, ended
    segments.run(ranks)
    assert_finished(segments, clean(1))


@pytest.mark.full
@pytest.mark.parametrize("ranks", [2, 3])
def test_killed_at_many_moments(ranks, small, clean, tmp_path):
    whole = clean(1)
    for number in range(12):
        delays = [0.011 * ((number * 5 + segment * 3) % 23) for segment in range(8)]
        killed_at_random(small, whole, tmp_path / str(number), ranks, delays)
