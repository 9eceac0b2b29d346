# SPDX-License-Identifier: BSD-3-Clause
"""The Python of docs/howto/analyse.md runs unchanged there."""

import re
from pathlib import Path

import h5py
import pytest

import run_dirs

HOWTO = Path(__file__).resolve().parents[2] / "docs" / "howto" / "analyse.md"


def test_snippets_of_the_howto_run(tmp_path, monkeypatch):
    monkeypatch.setattr(run_dirs, "DT_S", 2e-7)  # about the times of the real quickstart
    run_dirs.write_run(tmp_path / "runs" / "quickstart")
    run_dirs.write_input(tmp_path / "kwave_input.h5", mask="points")
    run_dirs.write_output(tmp_path / "kwave_output.h5", mask="points")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", HOWTO.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    names: dict = {}
    for block in blocks:
        exec(compile(block, str(HOWTO), "exec"), names)
    with h5py.File("runs/quickstart/output.h5") as file:
        middle = file["p/1"][:, 4, 5, 3]  # the grid's middle (12, 10, 8) in the box that starts at (9, 5, 4)
    assert names["peak_pa"] == middle.max()
    assert names["at_s"] == pytest.approx((run_dirs.START - 1 + middle.argmax()) * 2e-7)
    assert (tmp_path / "slices.html").stat().st_size > 1_000_000
    assert "addFrames" in (tmp_path / "movie.html").read_text()
