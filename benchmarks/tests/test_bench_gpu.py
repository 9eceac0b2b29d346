# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench gpu`: refused without a device, its whole way on an emulated one. No time is asserted."""

import json

import pytest

from native import needs
from tailrace.doctor import devices_here
from test_bench import command


def test_without_a_device_nothing_is_measured(tmp_path):
    if devices_here()[0]:
        pytest.skip("there is a device here")
    ended = command("bench", "gpu", "--json", str(tmp_path / "gpu.json"))
    assert ended.returncode == 2
    assert "tailrace bench gpu: there is no device to measure here: none: " in ended.stderr
    assert not (tmp_path / "gpu.json").exists()


@needs("tailrace-ultrasound")
@needs("tailrace-seismic")
def test_every_work_is_right_before_it_is_measured(tmp_path):
    found = tmp_path / "gpu.json"
    words = ["--device", "emulated", "--pairs", "1", "--steps", "5", "--json", str(found)]
    grids = ["--seismic-grid", "17", "--ultrasound-grid", "16", "--ultrasound-grid", "24x18"]
    ended = command("bench", "gpu", *grids, *words)
    assert ended.returncode == 0, ended.stderr
    rows = json.loads(found.read_text())["rows"]
    assert [row["grid"] for row in rows] == [[17] * 3] * 3 + [[16] * 3] * 4 + [[24, 18, 1]] * 4
    for row in rows:
        assert 0 < row["difference"] < 1e-5 and row["step_s"]["median"] > 0
    assert [rows[first]["over_first"]["median"] for first in (0, 3, 7)] == [1.0] * 3
    assert "24 x 18" in ended.stdout and "14 transforms" in ended.stdout and "ten arrays" in ended.stdout
