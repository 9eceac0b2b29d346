# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace movie`: pictures of samples as GIF and MP4."""

import shutil

import h5py
import numpy as np
import pytest

import command
import run_dirs

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    run = run_dirs.write_run(tmp_path_factory.mktemp("movie") / "run")
    with h5py.File(run / "output.h5", "a") as file:
        add_table(file, "pts", [[5, 5, 5], [20, 15, 10]])
        add_table(file, "sheet", [[x, y, 7] for y in range(3, 9) for x in range(4, 12)])
        add_table(file, "energy", None)
    return run


def add_table(file, name, points):
    """An [[output]] table of pressure at points, or of an observable."""
    group = file.create_group(name)
    shape = (4, len(points)) if points else (4,)
    group["values"] = np.random.default_rng(1).random(shape).astype("f4")
    group["step"], group["time_s"] = np.arange(1, 5), np.arange(1, 5) * run_dirs.DT_S
    group.attrs.update(quantity="p", unit="Pa", selection="points", reduction="none")
    if points:
        group["points"] = np.array(points)


def test_a_plane_of_a_series(run, tmp_path):
    path = tmp_path / "wave.gif"
    answer = command.tailrace("movie", run, "p/1", "-o", path, "--z", "0", "--frames", "5")
    assert answer.status == 0, answer.err
    movie = Image.open(path)
    assert movie.n_frames == 5
    first = np.asarray(movie.convert("RGB"))
    movie.seek(4)
    last = np.asarray(movie.convert("RGB"))
    assert first.shape == last.shape and first.shape[1] > 300
    assert (first != last).mean() > 0.01


def test_points_that_fill_a_plane(run, tmp_path):
    path = tmp_path / "sheet.gif"
    answer = command.tailrace("movie", run, "sheet", "-o", path)
    assert answer.status == 0, answer.err
    assert Image.open(path).n_frames == 4


def test_positions_of_molecules(tmp_path):
    with h5py.File(tmp_path / "output.h5", "w") as file:
        group = file.create_group("positions")
        group["values"] = np.random.default_rng(1).random((4, 50, 3))
        group["step"], group["time_s"] = np.arange(1, 5), np.arange(1, 5) * 0.5
        group.attrs.update(quantity="position", unit="reduced", selection="all", reduction="none")
        file["tailrace_record"] = np.array([[[4]]], "u8")
    answer = command.tailrace("movie", tmp_path / "output.h5", "positions", "-o", tmp_path / "m.gif")
    assert answer.status == 0, answer.err
    movie = Image.open(tmp_path / "m.gif")
    assert movie.n_frames == 4
    picture = np.asarray(movie.convert("L"))[:-30]
    assert 100 < (picture > 60).sum() < 0.2 * picture.size


@pytest.mark.parametrize(
    ("name", "target", "said"),
    [
        ("p_max_all", "a.gif", "it is no series"),
        ("p/1", "a.avi", "a .gif or a .mp4"),
        ("q", "a.gif", "there is no q"),
        ("pts", "a.gif", "pts: recorded at scattered points. Fix: plot.trace"),
        ("energy", "a.gif", "energy: it is no field. Fix: plot.trace"),
    ],
)
def test_what_cannot_be_a_movie(run, tmp_path, name, target, said):
    answer = command.tailrace("movie", run, name, "-o", tmp_path / target)
    assert answer.status == 2 and said in answer.err
    assert not (tmp_path / target).exists()


@pytest.mark.parametrize("there", [False, True])
def test_mp4_by_ffmpeg(run, tmp_path, monkeypatch, there):
    if not there:
        monkeypatch.setattr(shutil, "which", lambda name: None)
        assert (
            "ffmpeg, which is not there"
            in command.tailrace("movie", run, "p/1", "-o", tmp_path / "a.mp4").err
        )
        return
    tool = tmp_path / "ffmpeg"  # a stand-in: what it gets is what the film is made of
    tool.write_text('#!/bin/sh\nfor last; do :; done\ncat > "$last"\necho "$@" > "$last.words"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    answer = command.tailrace("movie", run, "p/1", "-o", tmp_path / "a.mp4", "--z", "0", "--frames", "3")
    assert answer.status == 0, answer.err
    size = (tmp_path / "a.mp4.words").read_text().split("-s ")[1].split()[0]
    width, height = map(int, size.split("x"))
    assert width % 2 == height % 2 == 0
    assert (tmp_path / "a.mp4").stat().st_size == 3 * 3 * width * height
