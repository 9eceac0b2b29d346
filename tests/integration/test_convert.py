# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints that pass from Tailrace's format to k-Wave's and back, and runs that resume from them."""

import json
import shutil
from pathlib import Path

import h5py
import pytest

import command
import jobs
from computations import Computation
from conftest import SENSOR_DATA
from test_checkpoint import DATA


def convert(source: Path, target: Path, to: str, *options) -> command.Answer:
    return command.tailrace("checkpoint", "convert", source, "-o", target, "--to", to, *options)


def assert_converted(*arguments) -> None:
    ended = convert(*arguments)
    assert ended.status == 0 and "the state after step" in ended.out, ended


def native(source: Path, output: Path, *options) -> list:
    return ["-i", source, "-o", output, "--quiet", *SENSOR_DATA, *options]


@pytest.fixture
def killed(small, tmp_path) -> Path:
    """A run of a case with the outputs of `SENSOR_DATA` that was killed behind its checkpoint of step 42.
    That of step 21 is complete.
    """
    commit_mark = ["p_raw", "p_max", "p_rms", "p_max_all", "p_final", "u_raw", "u_min"]
    lines = ['[case]\nsimulation = "ultrasound"', f'[input]\nfile = "{small}"', "[record]"]
    lines += [f"{name} = true" for name in commit_mark] + ["[checkpoint]\nevery = 21"]
    case, run_dir = tmp_path / "case.toml", tmp_path / "run"
    case.write_text("\n".join(lines))
    ended = jobs.run("--case", case, "--out", run_dir, "--quiet", "--fault", "kill:step=45", ranks=2)
    assert ended.status != 0, ended
    assert newest(run_dir).name in ("step-000000000021", "step-000000000042")
    return run_dir


def newest(run_dir: Path) -> Path:
    return max((run_dir / "checkpoints").glob("step-*[0-9]"))


@pytest.fixture
def segment(small, tmp_path) -> Path:
    """A run directory and k-Wave's checkpoint of step 20 beside it."""
    run_dir = tmp_path / "segment"
    state = ["--checkpoint_file", tmp_path / "segment.h5", "--checkpoint_timesteps", 20]
    ended = jobs.run(*native(small, run_dir / "out.h5", "--run-dir", run_dir, *state), ranks=3)
    assert ended.status == 0, ended
    return run_dir


def test_from_ours_to_k_wave_and_back_and_again(killed, tmp_path):
    first, second = tmp_path / "first.h5", tmp_path / "second.h5"
    assert_converted(killed, first, "kwave")
    assert_converted(first, tmp_path / "back", "tailrace", "--run", killed, "-n", "2")
    back = tmp_path / "back" / newest(killed).name
    verdict = command.tailrace("checkpoint", "verify", back)
    assert verdict.status == 0, verdict
    assert_converted(back, second, "kwave", "--run", killed)
    jobs.assert_equal_files(second, first)
    with h5py.File(first) as file:
        assert file.attrs["file_type"] == b"checkpoint" and file["t_index"][()].item() == int(back.name[5:])
        assert file["p"][()].any() and file["tailrace_accumulators/p_max_all"][()].any()
    with h5py.File(back / "state.h5") as mine, h5py.File(newest(killed) / "state.h5") as old:
        assert sorted(mine["sets/output"]) == sorted(old["sets/output"])
        assert json.loads((back / "manifest.json").read_text())["ranks"] == 2


def test_k_wave_options_resume_from_ours(killed, small, clean, tmp_path):
    state = tmp_path / "state.h5"
    assert_converted(killed, state, "kwave")
    words = ["--checkpoint_file", state, "--checkpoint_timesteps", 1000]
    ended = jobs.run(*native(small, killed / "output.h5", *words), ranks=3)
    assert ended.status == 0, ended
    jobs.assert_equal_files(killed / "output.h5", clean(1))


def test_a_run_resumes_from_k_waves(segment, small, clean):
    """The run is found by the directory in which the checkpoint is to be."""
    assert_converted(segment.with_suffix(".h5"), segment / "checkpoints", "tailrace")
    ended = jobs.run(*native(small, segment / "out.h5", "--run-dir", segment, "--resume"), ranks=2)
    assert ended.status == 0, ended
    assert jobs.account(segment)["resumed_from"] == 20
    jobs.assert_equal_files(segment / "out.h5", clean(1))


def test_what_cannot_be_converted_is_refused_with_the_reason(killed, segment, small, tmp_path):
    ours = newest(killed)
    state, target = segment.with_suffix(".h5"), tmp_path / "target.h5"
    taken = tmp_path / "taken.h5"
    taken.write_text("mine")
    damaged = tmp_path / "damaged" / ours.name
    shutil.copytree(ours, damaged)
    content = bytearray((damaged / "state.h5").read_bytes())
    content[len(content) // 2] ^= 1
    (damaged / "state.h5").write_bytes(content)
    assert_converted(state, segment / "checkpoints", "tailrace")
    here = ["--run", killed]
    for source, goes_to, to, options, words in [
        (ours, target, "mardyn", [], ["--checkpoint-format mardyn: is not known", "tailrace, kwave"]),
        (ours, taken, "kwave", [], ["taken.h5: exists"]),
        (damaged, target, "kwave", here, ["state.h5", "damaged"]),
        (ours, target, "tailrace", [], ["is a checkpoint of Tailrace already"]),
        (state, target, "kwave", [], ["no run was named, nor found", "--run DIR", "--case FILE"]),
        (small, target, "tailrace", here, ["small.h5: is no checkpoint in a format to convert from"]),
        (state, segment / "checkpoints", "tailrace", [], ["step-000000000020: exists"]),
        (state, target, "xyz", [], ["--to xyz: no simulation knows", "kwave"]),
        (state, target, "tailrace", [], ["of which run?", "--run DIR"]),
        (tmp_path, target, "kwave", here, ["no checkpoints are there"]),
    ]:
        ended = convert(source, goes_to, to, *options)
        assert ended.status == 2, (words, ended)
        assert "Fix: " in ended.err or "Name it" in ended.err, ended
        for word in words:
            assert word in ended.err, ended
    assert taken.read_text() == "mine" and not target.exists()


def test_sums_that_k_wave_left_in_its_output(tmp_path):
    """Its checkpoint alone is not enough, then."""
    data = DATA / "tvsp_dirichlet_v11_checkpoint"
    words = ["-i", data / "input.h5", "-o", tmp_path / "out.h5", "--run-dir", tmp_path / "run", "--p_rms"]
    ended = jobs.run(*words, "--benchmark", 1, "--quiet")
    assert ended.status == 0, ended
    start = json.loads((tmp_path / "run/start.json").read_text())
    start["arguments"][start["arguments"].index("--benchmark") + 1] = "200"
    (tmp_path / "run/start.json").write_text(json.dumps(start))
    refused = convert(data / "checkpoint_t120.h5", tmp_path / "run/checkpoints", "tailrace")
    assert refused.status == 2 and "holds no sums and extremes" in refused.err, refused
    start["arguments"][start["arguments"].index("--p_rms")] = "--p_raw"
    (tmp_path / "run/start.json").write_text(json.dumps(start))
    assert_converted(data / "checkpoint_t120.h5", tmp_path / "run/checkpoints", "tailrace")


def test_a_simulation_without_other_formats(tmp_path):
    computation = Computation("rehearse", tmp_path)
    assert computation.start().wait().status == 0
    ended = convert(computation.run_dir, tmp_path / "state.h5", "kwave")
    assert ended.status == 2 and "knows no other format" in ended.err, ended
