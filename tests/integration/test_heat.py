# SPDX-License-Identifier: BSD-3-Clause
"""A moving source of heat: NPB's lines, bad input, samples, and runs that are resumed."""

import csv
import json
import re
import shutil
import signal
from pathlib import Path

import h5py
import numpy as np
import pytest

import jobs
import tailrace
from command import TAILRACE
from heat_runs import CASE, MESH, NEEDS_HEAT, assert_same, run, samples_of, start
from matrix import each_value
from tailrace.data.run import Run as Output
from tailrace.report.simulations import heat as heat_page

pytestmark = NEEDS_HEAT


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
    assert account["config"]["exchange"] == {
        "transport": "isend",
        "order": "partition_free",
        "aggregate": True,
    }
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


@pytest.mark.skipif(jobs.waits_spin(), reason="this MPI has no OpenSHMEM")
def test_openshmem_carries_a_run_and_its_resumption_to_the_same_bits(tmp_path):
    text = MESH.replace("every = 10", "every = 1")
    ended, plain = run(tmp_path, "plain", ranks=2, text=text)
    assert ended.status == 0, ended
    case, out = tmp_path / "over.toml", tmp_path / "over"
    case.write_text(text + '[exchange]\ntransport = "shmem"\n')
    slow = ["--write", "blocking", "--pace", "latency=10ms"]
    job = jobs.Job(["run", case, "-n", 3, "--out", out, *slow], command=TAILRACE)
    job.wait_for(lambda: jobs.recorded_steps(out / "output.h5") >= 15, "adaptation after step 15")
    job.send(signal.SIGTERM, rank=1)
    ended = job.wait()
    assert ended.status == 4, ended
    ended = jobs.Job(["resume", out, "-n", 2], command=TAILRACE).wait()
    assert ended.status == 0, ended
    assert json.loads((out / "run.json").read_text())["exchange"]["transport"] == "shmem"
    assert_same(plain, out)


def test_all_problems_of_a_case_come_together(tmp_path):
    text = CASE.replace('class = "S"', 'class = "S"\nlevel = 19\nvelocity = [1, 2]\nradios = 0.1')
    ended, out = run(tmp_path, "bad", "--exchange", "pigeon", text=text)
    assert ended.status == 2 and not out.exists(), ended
    for words in ("heat.level", "heat.velocity", "heat.radios", 'transport is called "pigeon"', "isend"):
        assert words in str(ended), ended
    ended, out = run(tmp_path, "unknown", text=CASE.replace('class = "S"', 'class = "Z"'))
    assert ended.status == 2 and not out.exists(), ended
    assert 'heat.class: "Z" is no class. Fix: one of S, W, A, B, C, D, E' in str(ended), ended
    for order in (1, 9):
        ended, out = run(tmp_path, "order", "--set", f"heat.order={order}", ranks=0, text=CASE)
        assert ended.status == 2 and not out.exists(), ended
        assert "heat.order" in str(ended) and f"{order}" in str(ended), ended
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


def test_a_program_with_a_distribution_of_its_own(tmp_path):
    program = jobs.HEAT.parent / "heat-distribution"
    found = {}
    for ranks, words in ((1, []), (3, []), (3, ["--set", 'heat.distribution="balanced"'])):
        out = tmp_path / f"{ranks}{len(words)}"
        ended = jobs.Job(["S", "--out", out, *words], ranks, command=[str(program)]).wait()
        assert ended.status == 0, ended
        account = json.loads((out / "run.json").read_text())
        sent = sum(one["sent_bytes"] for one in account["exchange"]["maps"][0]["per_rank"])
        found[account["config"]["heat"]["distribution"], ranks] = account["results"]["integral"], sent
    assert {integral for integral, _ in found.values()} == {found["own", 1][0]}
    assert found["own", 3][1] > found["balanced", 3][1] > 0 == found["own", 1][1]


with (Path(__file__).parents[1] / "data/heat/npb_ua.csv").open(newline="") as file:
    OF_NPB = list(csv.DictReader(file))


@pytest.mark.parametrize("row", OF_NPB, ids=lambda row: f"{row['class']} {row['radius']}")
def test_integrals_are_those_of_npb_with_other_numbers(row, tmp_path):
    keys = ("adapt_every", "steps", "cg_iterations", "radius")
    (tmp_path / "inputua.data").write_text("".join(f"{row[key]}\n" for key in keys))
    found = []
    for ranks in (1, 3):
        out = tmp_path / str(ranks)
        words = [row["class"], "--input", tmp_path / "inputua.data", "--out", out]
        ended = start(*words, ranks=ranks).wait()
        assert ended.status == 0, ended
        found.append(json.loads((out / "run.json").read_text())["results"]["integral"])
    assert found[0] == found[1] and abs(found[0] / float(row["integral"]) - 1) < 1e-9


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


def test_samples_lie_where_files_and_python_say(tmp_path):
    """A point has the level of the element whose row of the mesh says that it holds it."""
    text = MESH.split("[[output]]")[0] + "".join(
        f'[[output]]\nname = "{name}"\nquantity = "{quantity}"\nat = [4]\n{select}\n'
        for name, quantity, select in (
            ("mesh", "mesh", ""),
            ("levels", "level", "select = {box = [[2, 3, 1], [19, 17, 14]]}"),
        )
    )
    text += "[time]\nsteps = 4\n[domain]\ncells = [48, 32, 16]\n"
    ended, out = run(tmp_path, "placed", text=text)
    assert ended.status == 0, ended
    levels = tailrace.open(out)["levels"].isel(time=0)
    rows = samples_of(out, "mesh")[4]
    z, y, x = np.meshgrid(levels.z, levels.y, levels.x, indexing="ij")
    for low, level in zip(rows[:, :3], rows[:, 3], strict=True):
        inside = [(at >= start) & (at < start + 0.5**level) for at, start in zip((x, y, z), low, strict=True)]
        assert np.all(levels.values[np.logical_and.reduce(inside)] == level)
    first = [levels[dim].values[0] for dim in "zyx"]
    assert first == pytest.approx([1.5 / 16, 3.5 / 32, 2.5 / 48])
    assert levels.x.attrs["units"] == "m"
    three = r'Format="XML">([-.e0-9]+ [-.e0-9]+ [-.e0-9]+)<'
    found = re.findall(three, (out / "output.xdmf").read_text())
    origin, spacing = ([float(number) for number in numbers.split()] for numbers in found)
    assert origin == pytest.approx(first) and spacing == pytest.approx([1 / 16, 1 / 32, 1 / 48])


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


def test_other_orders_are_class_u_and_resumed_with_their_own_alone(tmp_path):
    order = ["--set", "heat.order=6"]
    ended, whole = run(tmp_path, "whole", *order)
    assert ended.status == 0 and " Order of polynomials:               6\n" in str(ended), ended
    assert re.search(r"^ Class           = +U$", str(ended), re.M), ended
    ended, out = run(tmp_path, "killed", *order, "--fault", "kill:step=33", ranks=2)
    assert ended.status != 0, ended
    again = ["--case", tmp_path / "killed.toml", "--out", out, "--resume"]
    ended = start(*again, ranks=3).wait()
    assert ended.status == 2 and "order = 6, not 4" in ended.err, ended
    ended = start(*again, *order, ranks=3).wait()
    assert ended.status == 0, ended
    expected, found = (jobs.read_datasets(directory / "output.h5") for directory in (whole, out))
    for name, values in expected.items():
        if name != "tailrace_record":
            assert values.tobytes() == found[name].tobytes(), name
    accounts = [json.loads((directory / "run.json").read_text()) for directory in (whole, out)]
    assert accounts[0]["config"]["heat"]["order"] == accounts[0]["results"]["order"] == 6
    assert accounts[0]["results"]["integral"] == accounts[1]["results"]["integral"]


def gll_places(order: int) -> np.ndarray:
    """The points of an element along an axis, from 0 to 1."""
    slope = np.polynomial.legendre.Legendre.basis(order).deriv()
    return (np.array([-1, *np.sort(slope.roots().real), 1]) + 1) / 2


def test_records_of_the_mesh_hold_the_whole_field(tmp_path):
    ended, out = run(tmp_path, "mesh", "--set", 'heat.vtkhdf="none"', ranks=3, text=MESH)
    assert ended.status == 0 and not (out / "output.vtkhdf").exists(), ended
    results = json.loads((out / "run.json").read_text())["results"]
    elements = {one["step"]: one["elements"] for one in results["adaptations"]}
    mesh = samples_of(out, "mesh")
    assert list(mesh) == [10, 20, 30, 40, 50]
    for step, rows in mesh.items():
        assert rows.shape == (elements[min(step, 45)], 129)
        size = 0.5 ** rows[:, 3]
        assert np.isclose(np.sum(size**3), 1, rtol=1e-14) and np.all(rows[:, :3] % size[:, None] == 0)
        assert len(np.unique(rows[:, :3], axis=0)) == len(rows)
    # The integral of the last sample by the quadrature of the elements is the run's result.
    weights = np.array([1 / 10, 49 / 90, 32 / 45, 49 / 90, 1 / 10])
    factors = np.einsum("i,j,k->ijk", weights, weights, weights).ravel()
    integral = np.sum((mesh[50][:, 4:] @ factors) * (0.5 ** mesh[50][:, 3] / 2) ** 3)
    assert abs(integral / results["integral"] - 1) < 1e-10
    corners = samples_of(out, "corners")
    at = [0, 4, 20, 24, 100, 104, 120, 124]
    assert np.array_equal(corners[20], mesh[20][:, [0, 1, 2, 3, *(4 + i for i in at)]].astype(np.float32))
    assert len(corners[7]) == elements[5]


def test_records_of_the_mesh_are_resumed_bit_for_bit(tmp_path):
    ended, whole = run(tmp_path, "whole", text=MESH)
    assert ended.status == 0, ended
    ended, out = run(tmp_path, "killed", "--fault", "kill:step=33", ranks=2, text=MESH)
    assert ended.status != 0, ended
    killed = samples_of(out, "mesh")[20]
    assert np.array_equal(killed, samples_of(whole, "mesh")[20])
    ended = start("--case", tmp_path / "killed.toml", "--out", out, "--resume", ranks=3).wait()
    assert ended.status == 0 and "SUCCESSFUL" in str(ended), ended
    assert_same(whole, out)


@pytest.mark.parametrize(
    ("write", "ranks"), [("threads", 2), ("leaders", 3), ("ranks:1", 3), ("uring", 2), ("spawn:1", 2)]
)
def test_every_strategy_writes_the_same_bytes(tmp_path, write, ranks):
    text = CASE + MESH[MESH.index("[[output]]") : MESH.index("[checkpoint]")]
    ended, blocking = run(tmp_path, "blocking", "--write", "blocking", text=text)
    assert ended.status == 0, ended
    ended, out = run(tmp_path, "other", "--write", write, ranks=ranks, text=text)
    assert ended.status == 0, ended
    assert_same(blocking, out)


def test_bad_outputs_of_the_mesh_are_refused(tmp_path):
    text = MESH.replace("every = 10", 'every = 10\nreduce = "max"').replace(
        "at = [7, 20]", "at = [7]\nselect = {plane = {z = 1}}"
    )
    text += '[[output]]\nname = "again"\nquantity = "mesh"\nevery = 5\n'
    ended, out = run(tmp_path, "bad", text=text)
    assert ended.status == 2 and not out.exists(), ended
    for words in ("output[0].reduce", "output[1].select", "output[2].type", "any number of rows"):
        assert words in str(ended), ended


@each_value("cells, order", ["lagrange", "linear"], [3, 4, 2, 8])
def test_the_mesh_in_vtk(tmp_path, cells, order):
    """VTK's own reader finds the elements, their points and the field at each step."""
    vtk = pytest.importorskip("vtk", reason="vtk (extra `comparison`) is not installed")
    from vtk.util.numpy_support import vtk_to_numpy

    settings = ["--set", f'heat.cells="{cells}"', "--set", f"heat.order={order}"]
    ended, out = run(tmp_path, "run", *settings, ranks=2, text=MESH)
    assert ended.status == 0, ended
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(out / "output.vtkhdf"))
    reader.UpdateInformation()
    mesh = samples_of(out, "mesh")
    assert reader.GetNumberOfSteps() == len(mesh)
    per_element = 1 if cells == "lagrange" else order**3
    along = order + 1
    every = along**3
    for number, rows in enumerate(mesh.values()):
        reader.SetStep(number)
        reader.Update()
        grid = reader.GetOutputDataObject(0)
        grid = grid.GetPartition(0) if hasattr(grid, "GetPartition") else grid
        assert grid.GetNumberOfCells() == len(rows) * per_element
        field = vtk_to_numpy(grid.GetPointData().GetArray("temperature")).reshape(len(rows), every)
        assert np.array_equal(field, rows[:, 4:])
        points = vtk_to_numpy(grid.GetPoints().GetData()).reshape(len(rows), along, along, along, 3)
        size = 0.5 ** rows[:, 3]
        for axis in range(3):
            found = np.moveaxis(points[..., axis], 3 - axis, -1)
            expected = rows[:, axis, None] + size[:, None] * gll_places(order)
            assert np.allclose(found, expected[:, None, None, :], atol=1e-7)
        if cells == "lagrange":
            cell = grid.GetCell(3)
            assert cell.GetCellType() == vtk.VTK_LAGRANGE_HEXAHEDRON and cell.GetOrder(0) == order
            for i, j, k in np.ndindex(along, along, along):
                point = 3 * every + i + along * (j + along * k)
                assert cell.GetPointId(cell.PointIndexFromIJK(i, j, k)) == point
            assert np.array_equal(vtk_to_numpy(grid.GetCellData().GetArray("level")), rows[:, 3])
        else:
            volume = vtk.vtkCellSizeFilter()
            volume.SetInputData(grid)
            volume.Update()
            volumes = vtk_to_numpy(volume.GetOutput().GetCellData().GetArray("Volume"))
            assert np.isclose(volumes.sum(), 1, atol=1e-5) and volumes.min() > 0


def test_a_series_of_files_for_readers_without_time_steps(tmp_path):
    ended, out = run(tmp_path, "run", "--set", 'heat.vtkhdf="series"', text=MESH)
    assert ended.status == 0, ended
    series = json.loads((out / "output.vtkhdf.series").read_text())["files"]
    assert [one["time"] for one in series] == pytest.approx([0.025, 0.05, 0.075, 0.1, 0.125])
    last = samples_of(out, "mesh")[50]
    with h5py.File(out / series[-1]["name"]) as file:
        assert "Steps" not in file["VTKHDF"] and file["VTKHDF/NumberOfCells"][()].tolist() == [len(last)]
        assert np.array_equal(file["VTKHDF/PointData/temperature"][()].reshape(-1, 125), last[:, 4:])
