# SPDX-License-Identifier: BSD-3-Clause
"""A moving source of heat: NPB's lines, bad input, samples, and runs that are resumed."""

import json
import os
import re
import shutil

import numpy as np
import pytest

import jobs
from tailrace.data.run import Run as Output
from tailrace.report.simulations import heat as heat_page

pytestmark = pytest.mark.skipif(
    jobs.HEAT is None and "CI" not in os.environ, reason="heat is not built: p4est for this MPI is missing"
)

CASE = """
[case]
simulation = "heat"
[heat]
class = "S"
[domain]
cells = [20, 18, 16]
[[output]]
name = "plane"
quantity = "temperature"
select = {plane = {z = 7}}
every = 5
type = "float64"
initial = true
[[output]]
name = "levels"
quantity = "level"
every = 10
[[output]]
name = "source"
quantity = "source"
select = {points = [[9, 6, 5], [12, 9, 8]]}
every = 4
type = "float64"
[[output]]
name = "last"
quantity = "temperature"
reduce = "final"
type = "float64"
[[output]]
name = "highest"
quantity = "temperature"
reduce = "max"
select = {box = [[5, 5, 5], [14, 12, 11]]}
[checkpoint]
every = 20
"""


def start(*words, ranks: int = 1) -> jobs.Job:
    return jobs.Job([*words], ranks, command=[str(jobs.HEAT)])


def run(tmp_path, name: str, *words, ranks: int = 1, text: str = CASE):
    case = tmp_path / f"{name}.toml"
    case.write_text(text)
    out = tmp_path / name
    ended = start("--case", case, "--out", out, *words, ranks=ranks).wait()
    return ended, out


def test_a_class_prints_what_scripts_for_npb_read(tmp_path):
    ended = start("S", "--out", tmp_path / "run", "--verbose", "--exchange", "isend", ranks=3).wait()
    assert ended.status == 0, ended
    assert re.search(r"^ Verification    = +SUCCESSFUL$", str(ended), re.M), ended
    assert re.search(r"^ Class           = +S$", str(ended), re.M)
    assert "  Step   15: elements refined, merged, total:     0     64    190\n" in str(ended)
    results = json.loads((tmp_path / "run" / "run.json").read_text())["results"]
    assert results["verified"] is True and results["element_steps"] == 9080
    assert results["difference"] < 2e-12
    check_exchange(json.loads((tmp_path / "run" / "run.json").read_text()))


def check_exchange(account):
    """What run.json says of the exchanges of three ranks agrees with itself and with the method's counts."""
    found = account["exchange"]
    assert (found["transport"], found["asked_by"], found["order"]) == ("isend", "case", "partition_free")
    assert account["config"]["exchange"] == {"transport": "isend", "order": "partition_free"}
    assert {"isend", "persistent"} <= {one["name"] for one in found["transports"] if not one["obstacle"]}
    (mortars,) = found["maps"]
    assert mortars["name"] == "mortars" and mortars["choices"] == []  # nothing was chosen: it was asked for
    ranks = mortars["per_rank"]
    assert [one["rank"] for one in ranks] == [0, 1, 2]
    for one in ranks:
        # In each of 50 steps 12 gathers and 11 scatter-adds, an average, and the diagonal of each mesh.
        assert one["flights"] >= 50 * 24 and one["flights"] == ranks[0]["flights"]
        assert one["messages"] == sum(messages for _, messages, _ in one["sent"])
        assert one["sent_bytes"] == sum(size for _, _, size in one["sent"])
        assert one["rank"] not in [to for to, _, _ in one["sent"]]
        assert 0 < one["wait_s"] <= one["cost_s"] and one["hidden_s"] >= 0 and one["builds"] > 2


def test_all_problems_of_a_case_come_together(tmp_path):
    text = CASE.replace('class = "S"', 'class = "S"\nlevel = 19\nvelocity = [1, 2]\nradios = 0.1')
    ended, out = run(tmp_path, "bad", "--exchange", "pigeon", text=text)
    assert ended.status == 2 and not out.exists(), ended
    for words in ("heat.level", "heat.velocity", "heat.radios", 'transport is called "pigeon"', "isend"):
        assert words in str(ended), ended
    ended, out = run(tmp_path, "unknown", text=CASE.replace('class = "S"', 'class = "Z"'))
    assert ended.status == 2 and not out.exists(), ended
    assert 'heat.class: "Z" is no class. Fix: one of S, W, A, B, C, D, E' in str(ended), ended
    ended, _ = run(tmp_path, "none", text='[case]\nsimulation = "heat"\n')
    assert ended.status == 2
    for key in ("heat.level", "heat.radius", "time.steps"):
        assert key in str(ended), ended


def test_more_sampling_points_than_memory_are_refused_before_any_is_taken(tmp_path):
    text = CASE.replace("[20, 18, 16]", "[2147483648, 18, 16]")
    for words in (["--check"], []):
        ended, out = run(tmp_path, "large", *words, ranks=0, text=text)
        assert ended.status == 2 and not out.exists(), ended
        assert "domain.cells = [2147483648, 18, 16]: the run takes at least" in ended.err, ended
        assert "points at most" in ended.err, ended


def test_npb_input_makes_class_u(tmp_path):
    (tmp_path / "inputua.data").write_text("5\n10\n10\n0.05d0 radius\n")
    words = ["S", "--input", tmp_path / "inputua.data", "-o", tmp_path / "out.h5"]
    ended = start(*words).wait()
    assert ended.status == 0 and "No verification performed" in str(ended), ended
    assert re.search(r"^ Class           = +U$", str(ended), re.M), ended
    (tmp_path / "inputua.data").write_text("5\nmany\n10\n")
    ended = start(*words, "--overwrite").wait()
    assert ended.status == 2 and "line 2" in str(ended) and "line 4" in str(ended), ended


def test_converged_steps_are_class_u_and_end_at_their_bound(tmp_path):
    text = CASE.replace('class = "S"', 'class = "S"\nsolver = "converged"').split("[[output]]")[0]
    words = ["--set", "time.steps=6"]
    ended, out = run(tmp_path, "converged", *words, ranks=2, text=text)
    assert ended.status == 0 and "1000 at most, to a tolerance of 1e-10" in str(ended), ended
    assert re.search(r"^ Class           = +U$", str(ended), re.M), ended
    assert re.search(r"^ Verification    = +NOT PERFORMED$", str(ended), re.M), ended
    account = json.loads((out / "run.json").read_text())
    assert account["config"]["heat"]["cg_tolerance"] == 1e-10
    assert account["results"]["element_iterations"] > 10 * account["results"]["element_steps"]
    ended, out = run(tmp_path, "bound", *words, "--set", "heat.cg_iterations=4", text=text)
    assert ended.status == 3 and "step 1: 4 iterations of conjugate gradients" in ended.err, ended
    assert "Verification" not in str(ended)
    ended, out = run(tmp_path, "npb", "--set", "heat.cg_tolerance=1e-6", ranks=0, text=CASE)
    assert ended.status == 2 and not out.exists(), ended
    assert 'heat.cg_tolerance: belongs to heat.solver = "converged"' in str(ended), ended


def test_samples_are_the_same_on_any_ranks_and_right(tmp_path):
    ended, one = run(tmp_path, "one")
    assert ended.status == 0, ended
    # The older name of exchange.transport is read too.
    older = CASE.replace('class = "S"', 'class = "S"\ntransport = "shared"')
    ended, many = run(tmp_path, "many", "--write", "threads", ranks=3, text=older)
    assert ended.status == 0, ended
    found, again = (jobs.read_datasets(out / "output.h5") for out in (one, many))
    for name, values in found.items():
        if name != "tailrace_record":
            assert values.tobytes() == again[name].tobytes(), name
    levels = found["levels/values"]
    assert levels.min() >= 1 and levels.max() == 4
    mesh = heat_page.mesh_in_plane(Output(one))
    for plane, drawn in zip(levels[:, :, 9], mesh.figure.data, strict=True):
        # Squares of 6 numbers each, which fill the unit square as far as points meet them.
        corners = np.reshape([np.nan if at is None else at for at in drawn.x], (-1, 6))
        sizes = corners[:, 1] - corners[:, 0]
        assert set(np.log2(1 / sizes)) == set(plane.ravel()) and np.nanmax(corners) == 1
        assert 0.9 < np.sum(sizes**2) <= 1
    # The source by its definition, at the times of its samples.
    for sample, step in enumerate(found["source/step"]):
        centre = np.array([3 / 7, 2 / 7, 2 / 7]) + 3 * 0.0025 * step
        values = np.ravel(found["source/values"][sample])
        for point, value in zip([(9, 6, 5), (12, 9, 8)], values, strict=True):
            away = np.linalg.norm((np.array(point) + 0.5) / [20, 18, 16] - centre)
            expected = np.cos(np.pi * away / 0.04) + 1 if away <= 0.04 else 0
            assert abs(value - expected) < 1e-9
    assert np.abs(found["plane/values"][0]).max() == 0  # step 0
    last_plane = np.squeeze(found["plane/values"][-1])
    assert np.array_equal(last_plane, np.squeeze(found["last/values"])[7])
    assert np.abs(last_plane).max() > 0


def test_stopped_and_resumed_on_other_ranks(tmp_path):
    ended, whole = run(tmp_path, "whole")
    assert ended.status == 0, ended
    ended, out = run(tmp_path, "killed", "--fault", "kill:step=33", ranks=2)
    assert ended.status != 0 and "Verification" not in str(ended), ended
    other = ["--set", 'heat.distribution="cyclic"']
    ended = start("--case", tmp_path / "killed.toml", "--out", out, "--resume", *other, ranks=3).wait()
    assert ended.status == 0 and "SUCCESSFUL" in str(ended), ended
    expected, found = (jobs.read_datasets(directory / "output.h5") for directory in (whole, out))
    for name, values in expected.items():
        if name != "tailrace_record":
            assert values.tobytes() == found[name].tobytes(), name
    accounts = [json.loads((directory / "run.json").read_text())["results"] for directory in (whole, out)]
    assert accounts[0]["integral"] == accounts[1]["integral"]
    assert accounts[0]["adaptations"] == accounts[1]["adaptations"]
    maps = json.loads((out / "run.json").read_text())["exchange"]["maps"]
    assert [one["name"] for one in maps] == ["mortars", "products"]
    shutil.rmtree(out)
