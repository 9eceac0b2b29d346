# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace.open`: values against h5py, places against numbers worked out by hand, every kind of file."""

import json
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr

import run_dirs
import tailrace
from tailrace.data import nodes
from tailrace.data.engine import TailraceEntrypoint
from tailrace.kwave import FileError

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "data" / "ultrasound"


def open_case(name: str) -> tuple[tailrace.data.run.Run, h5py.File, h5py.File]:
    """A stored reference, opened with its input; and both files for a look by h5py."""
    output, given = CASES / name / "reference_double.h5", CASES / name / "input.h5"
    return tailrace.open(output, input=given), h5py.File(output), h5py.File(given)


def header(file: h5py.File, minor: str = "2", **scalars) -> None:
    for name, value in scalars.items():
        run_dirs.put(file, name, value)
    for name, value in {"file_type": "output", "major_version": "1", "minor_version": minor}.items():
        file.attrs[name] = np.bytes_(value)


def ramp(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


# --- coordinates and values


def test_whole_domain_fields_lie_on_kwaves_centred_grid():
    run, output, _ = open_case("ivp_homogeneous_index")  # 64 x 48 x 40 points of 0.1 mm
    field = run["p_final"]
    assert field.dims == ("z", "y", "x") and field.attrs["units"] == "Pa"
    for axis, first, last in (("x", -3.2e-3, 3.1e-3), ("y", -2.4e-3, 2.3e-3), ("z", -2.0e-3, 1.9e-3)):
        assert field[axis].values[[0, -1]] == pytest.approx([first, last], abs=1e-15)
        assert field[axis].attrs["units"] == "m"
    assert np.array_equal(field.values, output["p_final"])
    assert field.sel(x=1e-3, y=0.0, z=-1e-3, method="nearest").item() == output["p_final"][10, 24, 42]


def test_staggered_velocities_lie_half_a_cell_further():
    run, output, _ = open_case("ivp_homogeneous_index")
    assert run["ux_final"].dims == ("z", "y", "x_sg") and run["uz_final"].dims == ("z_sg", "y", "x")
    assert run["ux_final"].x_sg.values[[0, -1]] == pytest.approx([-3.15e-3, 3.15e-3], abs=1e-15)
    assert run["uz_final"].z_sg.values[0] == pytest.approx(-1.95e-3, abs=1e-15)
    assert np.array_equal(run["uy_final"].values, output["uy_final"])
    assert run["ux_final"].attrs["time_offset_s"] == pytest.approx(-1e-8)  # half of 20 ns


def test_velocities_are_half_a_step_earlier():
    """A problem that starts from a pressure is at rest at 0 s: two samples are opposite around it."""
    velocity = open_case("ivp_homogeneous_index")[0]["ux"]
    times = velocity.time.values[:2] + velocity.attrs["time_offset_s"]
    assert times == pytest.approx([-1e-8, 1e-8])
    assert np.abs(velocity[0]).max() > 0 and np.allclose(velocity[0], -velocity[1], rtol=1e-9)


@pytest.mark.parametrize(
    ("quantity", "reduction", "shifted"),
    [("ux", "none", True), ("uy", "final", True), ("ux", "max", False), ("p", "none", False)],
)
def test_velocities_of_tables_are_half_a_step_earlier(quantity, reduction, shifted, tmp_path):
    run_dirs.write_output(tmp_path / "output.h5")
    with h5py.File(tmp_path / "output.h5", "a") as file:
        group = file.create_group("mine")
        group["values"], group["points"] = ramp(1, 2), np.array([[1, 2, 3], [4, 5, 6]])
        group["step"], group["time_s"] = np.array([60]), np.array([59 * run_dirs.DT_S])
        group.attrs.update(quantity=quantity, unit="1", selection="points", reduction=reduction)
    expected = pytest.approx(-run_dirs.DT_S / 2) if shifted else None
    assert tailrace.open(tmp_path / "output.h5")["mine"].attrs.get("time_offset_s") == expected


def test_sensor_points_carry_their_coordinates():
    run, output, given = open_case("ivp_homogeneous_index")
    linear = given["sensor_mask_index"][0, 0].astype(int) - 1
    series = run["p"]
    assert series.dims == ("time", "sensor") and series.shape == (160, 200)
    assert np.array_equal(series.values, output["p"][0])
    assert np.allclose(series.x, (linear % 64 - 32) * 1e-4, atol=1e-15)
    assert np.allclose(series.y, (linear // 64 % 48 - 24) * 1e-4, atol=1e-15)
    assert np.allclose(series.z, (linear // (64 * 48) - 20) * 1e-4, atol=1e-15)
    assert set(run["uy"].coords) == {"time", "step", "x", "y_sg", "z"}
    assert np.allclose(run["uy"].y_sg - series.y.values, 5e-5, atol=1e-15)
    assert np.array_equal(run["p_rms"].values, output["p_rms"][0, 0])


def test_time_starts_at_the_first_recorded_step():
    run, _, given = open_case("tvsp_heterogeneous_nonlinear_cuboid")  # -s 41 of 170 steps
    dt = float(given["dt"][0, 0, 0])
    series = run["p/2"]
    assert series.sizes["time"] == 130
    assert series.step.values[[0, -1]].tolist() == [41, 170]
    assert series.time.values[[0, -1]] == pytest.approx([40 * dt, 169 * dt], rel=1e-6)
    assert series.time.attrs["units"] == "s"


def test_boxes_lie_where_the_input_says():
    run, output, given = open_case("tvsp_heterogeneous_nonlinear_cuboid")
    corners = given["sensor_mask_corners"][0].astype(int)
    spacing = float(given["dx"][0, 0, 0])
    for number, (x1, y1, _, x2, _, z2) in enumerate(corners, start=1):
        series = run[f"p/{number}"]
        assert np.array_equal(series.values, output[f"p/{number}"])
        assert series.x.values[[0, -1]] == pytest.approx([(x - 1 - 24) * spacing for x in (x1, x2)], rel=1e-6)
        assert series.y.values[0] == pytest.approx((y1 - 1 - 20) * spacing, rel=1e-6, abs=1e-12)
        assert series.z.values[-1] == pytest.approx((z2 - 1 - 18) * spacing, rel=1e-6, abs=1e-12)
        shifted = run[f"ux/{number}"].x_sg.values - run[f"ux_non_staggered/{number}"].x.values
        assert shifted == pytest.approx(np.full(len(shifted), spacing / 2), rel=1e-6)
    assert run["uy_max/1"].attrs["long_name"] == "maximum velocity y"
    with pytest.raises(FileError, match=r"more than once\. Fix: p/1, p/2, p/3"):
        run["p"]


def test_odd_grids_have_their_zero_in_the_middle(tmp_path):
    with h5py.File(tmp_path / "odd.h5", "w") as file:
        header(file, Nx=5, Ny=7, Nz=3, Nt=2, dt=1e-7, dx=1e-3, dy=2e-3, dz=1e-3, t_index=2)
        run_dirs.put(file, "p_final", ramp(3, 7, 5))
    field = tailrace.open(tmp_path / "odd.h5")["p_final"]
    assert field.x.values.tolist() == [-2e-3, -1e-3, 0.0, 1e-3, 2e-3]
    assert field.y.values[[0, 3, 6]].tolist() == [-6e-3, 0.0, 6e-3]


def test_two_dimensional_outputs_have_no_z(tmp_path):
    with h5py.File(tmp_path / "flat.h5", "w") as file:
        header(file, Nx=8, Ny=6, Nz=1, Nt=4, dt=1e-7, dx=1e-3, dy=1e-3, pml_x_size=2, pml_y_size=1, t_index=4)
        run_dirs.put(file, "sensor_mask_corners", np.array([[[2, 3, 1, 4, 4, 1]]], dtype=np.uint64))
        run_dirs.put(file, "p/1", ramp(4, 1, 2, 3))
        run_dirs.put(file, "uy_max/1", ramp(1, 2, 3))
        run_dirs.put(file, "p_max_all", ramp(1, 6, 8))
    run = tailrace.open(tmp_path / "flat.h5", pml=False)
    assert run["p"].dims == ("time", "y", "x") and run["p"].shape == (4, 2, 3)
    assert run["p"].x.values == pytest.approx([-3e-3, -2e-3, -1e-3]) and run["p"].y.values[0] == -1e-3
    assert run["uy_max/1"].dims == ("y_sg", "x")
    assert run["p_max_all"].dims == ("y", "x")
    assert np.array_equal(run["p_max_all"].values, ramp(6, 8)[1:-1, 2:-2])


def test_a_series_that_is_as_large_as_a_flat_grid_is_still_a_series(tmp_path):
    with h5py.File(tmp_path / "flat.h5", "w") as file:
        header(file, Nx=4, Ny=3, Nz=1, Nt=3, dt=1e-7, dx=1e-3, dy=1e-3, t_index=3)
        run_dirs.put(file, "p", ramp(1, 3, 4))
    assert tailrace.open(tmp_path / "flat.h5")["p"].dims == ("time", "sensor")


def test_the_absorbing_layer_can_be_left_out(tmp_path):
    run_dirs.write_output(tmp_path / "out.h5")
    whole, inner = tailrace.open(tmp_path / "out.h5"), tailrace.open(tmp_path / "out.h5", pml=False)
    assert np.array_equal(inner["p_max_all"].values, whole["p_max_all"].values[3:-3, 3:-3, 3:-3])
    assert inner["ux_final"].x_sg.values[0] == pytest.approx(whole["ux_final"].x_sg.values[3])
    assert inner["p/1"].shape == whole["p/1"].shape


def test_intensities_and_heat_have_units(tmp_path):
    with h5py.File(tmp_path / "fork.h5", "w") as file:
        header(file, "1", Nx=4, Ny=3, Nz=2, Nt=5, dt=1e-7, dx=1e-3, dy=1e-3, dz=1e-3, t_index=5)
        run_dirs.put(file, "sensor_mask_index", np.array([[[1, 5, 24]]], dtype=np.uint64))
        run_dirs.put(file, "Ix_avg", ramp(1, 1, 3))
        run_dirs.put(file, "Q_term", ramp(2, 3, 4))
        run_dirs.put(file, "p_c", ramp(1, 2, 12))
        file["p_c"].attrs["c_harmonics"] = 2
    run = tailrace.open(tmp_path / "fork.h5")
    assert run["Ix_avg"].dims == ("sensor",) and run["Ix_avg"].attrs["units"] == "W/m²"
    assert run["Ix_avg"].attrs["long_name"] == "mean intensity x"
    assert run["Q_term"].dims == ("z", "y", "x") and run["Q_term"].attrs["units"] == "W/m³"
    assert run["Ix_avg"].x.values == pytest.approx([-2e-3, -2e-3, 1e-3])
    with pytest.raises(FileError, match="p_c is left out: coefficients of a harmonic compression"):
        run["p_c"]


# --- runs that did not end, and run directories


def test_only_complete_samples_of_a_killed_run(tmp_path):
    run_dirs.write_output(tmp_path / "out.h5", recorded=40, closed=False)
    run = tailrace.open(tmp_path / "out.h5", input=None)
    assert run["p/1"].sizes["time"] == 30 and run["p/1"].step.values[-1] == 40
    assert "p_max_all" not in run and "p_max_all  left out" in repr(run)
    with pytest.raises(FileError, match="p_max_all is left out: the run did not close the file"):
        run["p_max_all"]
    everything = tailrace.open(tmp_path / "out.h5", incomplete=True)
    assert everything["p/1"].sizes["time"] == 50 and "p_max_all" in everything


def test_sums_of_squares_at_a_checkpoint_are_no_rms(tmp_path):
    with h5py.File(tmp_path / "segment.h5", "w") as file:
        header(file, Nx=4, Ny=3, Nz=2, Nt=5, dt=1e-7, dx=1e-3, dy=1e-3, dz=1e-3, t_index=3)
        for name in ("p_rms", "p_max"):
            run_dirs.put(file, name, ramp(1, 1, 2))
        run_dirs.put(file, "p", ramp(1, 5, 2))
    run = tailrace.open(tmp_path / "segment.h5")
    assert run["p"].sizes["time"] == 3 and "p_max" in run
    with pytest.raises(FileError, match="sum of squares"):
        run["p_rms"]


def test_a_run_directory_brings_its_input(tmp_path):
    directory = run_dirs.write_run(tmp_path / "run", mask="points")
    for path in (directory, directory / "output.h5"):
        run = tailrace.open(path)
        assert run.input == directory / "input.h5" and run.account["ranks"] == 2
        first = int(run_dirs.sensor_points()[0]) - 1
        assert run["p"].x.values[0] == pytest.approx((first % 24 - 12) * 2e-4)
    moved = shutil.copy(directory / "output.h5", tmp_path / "alone.h5")
    assert "x" not in tailrace.open(moved)["p"].coords
    assert tailrace.open(moved, input=directory / "input.h5")["p"].coords["x"].size == 30


def test_a_found_input_of_another_grid_is_not_believed(tmp_path):
    directory = run_dirs.write_run(tmp_path / "run")
    with h5py.File(directory / "input.h5", "a") as file:
        file["Nx"][...] = 99
    run = tailrace.open(directory)
    assert run.input is None and "x" not in run["p/1"].coords


def test_output_tables(tmp_path):
    with h5py.File(tmp_path / "out.h5", "w") as file:
        header(file, Nx=6, Ny=4, Nz=4, Nt=9, dt=1e-7, dx=1e-3, dy=1e-3, dz=1e-3, t_index=0)
        run_dirs.put(file, "tailrace_record", np.full((1, 1, 2), 6, dtype=np.uint64))
        for name, selection, shape in (
            ("snap", "whole", (3, 4, 4, 6)),
            ("plane", "{plane = {z = 1}}", (3, 1, 4, 6)),
            ("block", '{"box": [[1, 0, 2], [3, 3, 3]]}', (3, 2, 4, 3)),
            ("tips", "{points = [[0, 0, 0], [5, 3, 2]]}", (3, 2)),
        ):
            file[f"{name}/values"] = ramp(*shape)
            file[f"{name}/step"], file[f"{name}/time_s"] = [3, 6, 9], [2e-7, 5e-7, 8e-7]
            about = {"quantity": "ux" if name == "tips" else "p", "unit": "Pa", "selection": selection}
            file[name].attrs.update(about | {"reduction": "none"})
    run = tailrace.open(tmp_path / "out.h5")
    assert run.names == ("snap", "tips", "block", "plane")
    assert run["snap"].dims == ("time", "z", "y", "x") and run["snap"].shape == (2, 4, 4, 6)
    assert run["snap"].time.values.tolist() == [2e-7, 5e-7] and run["snap"].step.values.tolist() == [3, 6]
    assert np.array_equal(run["snap"].values, ramp(3, 4, 4, 6)[:2])
    assert run["plane"].z.values.tolist() == [-1e-3]
    assert run["block"].x.values.tolist() == [-2e-3, -1e-3, 0.0] and run["block"].z.values.tolist() == [
        0.0,
        1e-3,
    ]
    assert run["tips"].x_sg.values.tolist() == [-2.5e-3, 2.5e-3] and run["tips"].z.values.tolist() == [
        -2e-3,
        0.0,
    ]


def test_tables_of_other_simulations(tmp_path):
    account = {"status": "finished", "config": {"domain": {"cells": [6, 4, 3], "spacing_m": [10, 10, 5]}}}
    (tmp_path / "run.json").write_text(json.dumps(account))
    with h5py.File(tmp_path / "output.h5", "w") as file:
        run_dirs.put(file, "tailrace_record", np.full((1, 1, 2), 30, dtype=np.uint64))
        for name, reduction, shape in (("snap", "none", (2, 3, 4, 6)), ("loudest", "maximum", (1, 3, 4, 6))):
            file[f"{name}/values"] = ramp(*shape)
            file[f"{name}/step"], file[f"{name}/time_s"] = [10, 20][: shape[0]], [0.01, 0.02][: shape[0]]
            file[name].attrs.update({"quantity": "p", "selection": "whole", "reduction": reduction})
    run = tailrace.open(tmp_path)
    assert run["snap"].x.values.tolist() == [0, 10, 20, 30, 40, 50] and run["snap"].z.values[-1] == 10
    assert run["snap"].time.values.tolist() == [0.01, 0.02]
    assert run["loudest"].attrs["long_name"] == "maximum pressure"
    assert run["snap"].sel(x=20, y=10, z=5).values.tolist() == [24 + 6 + 2, 72 + 24 + 6 + 2]
    (tmp_path / "run.json").write_text(json.dumps(account | {"status": "failed"}))
    assert "loudest" not in tailrace.open(tmp_path)


def write_placed(directory: Path) -> Path:
    """A run as of `heat`: 4 points along each axis of a cube whose edge is 1 m, at (i + 0.5) / 4."""
    (directory / "run.json").write_text(json.dumps({"config": {"domain": {"cells": [4, 4, 4]}}}))
    with h5py.File(directory / "output.h5", "w") as file:
        run_dirs.put(file, "tailrace_record", np.full((1, 1, 1), 20, dtype=np.uint64))
        for name, about in {
            "T": {"selection": "whole"},
            "part": {"selection": '{"box":[[1,0,2],[3,3,3]]}'},
            "tips": {"selection": '{"points":[[0,1,3]]}'},
        }.items():
            shape = {"T": (2, 4, 4, 4), "part": (2, 2, 4, 3), "tips": (2, 1)}[name]
            file[f"{name}/values"], file[f"{name}/step"] = ramp(*shape), [10, 20]
            file[f"{name}/time_s"] = [0.1, 0.2]
            about |= {"origin_m": "[0.125,0.125,0.125]", "spacing_m": "[0.25,0.25,0.25]"}
            file[name].attrs.update({"quantity": "temperature", "unit": "1", "reduction": "none", **about})
    return directory


def test_points_lie_where_the_file_says(tmp_path):
    run = tailrace.open(write_placed(tmp_path))
    assert run["T"].z.values.tolist() == [0.125, 0.375, 0.625, 0.875] and run["T"].x.attrs["units"] == "m"
    assert run["part"].x.values.tolist() == [0.375, 0.625, 0.875]
    assert run["part"].z.values.tolist() == [0.625, 0.875]
    assert [float(run["tips"][axis].item()) for axis in "xyz"] == [0.125, 0.375, 0.875]
    figure = run.plot.slice("T", z=0.9, time=0.1)
    assert [annotation.text for annotation in figure.layout.annotations] == ["z = 875.00 mm, t = 100 ms"]
    assert np.array_equal(figure.data[0].z, run["T"].values[0, 3])
    (tmp_path / "run.json").write_text('{"config": {"case": {"file": "case.toml"}}}')  # as of a killed run
    killed = tailrace.open(tmp_path)
    for name in run:
        assert all(killed[name][axis].equals(run[name][axis]) for axis in "xyz")


@pytest.mark.parametrize("attribute", ["", "no JSON", "[1, 2]", '[1, 2, "3"]', "7"])
def test_places_that_make_no_sense_are_left_out(attribute, tmp_path):
    write_placed(tmp_path)
    with h5py.File(tmp_path / "output.h5", "a") as file:
        for group in ("T", "part", "tips"):
            file[group].attrs["origin_m"] = attribute
    run = tailrace.open(tmp_path)
    assert run["T"].z.values.tolist() == [0, 1, 2, 3] and run["T"].z.attrs["units"] == "points"
    figure = run.plot.slice("T", z=2, time=0.1)
    assert figure.layout.annotations[0].text == "z = 2.00 points, t = 100 ms"
    assert figure.layout.xaxis.title.text == "x [points]"
    with pytest.raises(FileError, match=r"z = 2000 points lies outside"):
        run.plot.slice("T", z=2000, time=0.1)


def test_bins_of_molecules_are_whole(tmp_path):
    """The account counts molecules along x, as a grid of one dimension."""
    (tmp_path / "run.json").write_text(json.dumps({"status": "finished", "grid": [500, 1, 1]}))
    with h5py.File(tmp_path / "output.h5", "w") as file:
        run_dirs.put(file, "tailrace_record", np.full((1, 1, 1), 20, dtype=np.uint64))
        file["density/values"], file["density/step"] = ramp(2, 3, 4, 5), [10, 20]
        file["density/time_s"] = [0.1, 0.2]
        file["density"].attrs.update({"quantity": "density", "selection": "whole", "reduction": "none"})
    density = tailrace.open(tmp_path)["density"]
    assert density.dims == ("time", "z", "y", "x") and np.array_equal(density.values, ramp(2, 3, 4, 5))


def test_tables_without_the_absorbing_layer(tmp_path):
    run_dirs.write_output(tmp_path / "out.h5")
    with h5py.File(tmp_path / "out.h5", "a") as file:
        file["inner/values"] = ramp(1, 10, 14, 18)
        file["inner/step"], file["inner/time_s"] = [60], [1.18e-6]
        file["inner"].attrs["quantity"] = "p"
    assert tailrace.open(tmp_path / "out.h5")["inner"].x.values[0] == pytest.approx(-9 * 2e-4)


# --- reading late and little


@pytest.fixture
def reads(monkeypatch) -> list[int]:
    """The number of values of every reading of a dataset."""
    sizes = []
    original = nodes.LazyArray._read

    def note(self, key):
        values = original(self, key)
        sizes.append(np.size(values))
        return values

    monkeypatch.setattr(nodes.LazyArray, "_read", note)
    return sizes


def test_values_are_read_when_they_are_used_and_no_more(reads):
    run, output, _ = open_case("ivp_homogeneous_index")
    repr(run), run.tree, run._repr_html_()
    chosen = run["p"].isel(sensor=[150, 5, 5]).sel(time=slice(1e-6, 2e-6))
    plane = run["p_final"].sel(z=0.0, method="nearest")[::-2]
    assert reads == []
    assert np.array_equal(chosen.values, output["p"][0][50:101][:, [150, 5, 5]])
    assert np.array_equal(plane.values, output["p_final"][20][::-2])
    assert reads == [2 * 51, 24 * 64]


def test_an_array_survives_the_end_of_its_run_and_notices_another_file(tmp_path):
    run_dirs.write_output(tmp_path / "out.h5")
    field, series = (tailrace.open(tmp_path / "out.h5")[name] for name in ("p_final", "p/1"))
    with h5py.File(
        tmp_path / "out.h5", "a"
    ) as file:  # A run that is resumed may write: nothing is held open.
        del file["p"]
    assert field.shape == field.values.shape
    with pytest.raises(FileError, match="replaced since it was opened"):
        series.load()


def test_the_command_line_does_not_wait_for_xarray():
    code = "import sys, tailrace.cli as cli; cli.build_app(['--help']); print('xarray' in sys.modules)"
    path = str(ROOT / "python" / "src")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": path}
    )
    assert done.stdout.strip() == "False", done.stderr


# --- xarray's own way in


def test_engine_of_xarray():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, name = project["entry-points"]["xarray.backends"]["tailrace"].partition(":")
    assert getattr(import_module(module), name) is TailraceEntrypoint
    case = CASES / "ivp_homogeneous_index"
    path, given = case / "reference_double.h5", case / "input.h5"
    dataset = xr.open_dataset(path, engine=TailraceEntrypoint, group="points", input=given)
    assert dataset.p.sizes == {"time": 160, "sensor": 200} and "x_sg" in dataset.coords
    tree = xr.open_datatree(path, engine=TailraceEntrypoint, input=given)
    assert set(tree.children) == {"domain", "points"}
    assert float(tree["domain/p_final"].max()) == float(tailrace.open(path, input=given)["p_final"].max())
    with pytest.raises(FileError, match="must be one of domain, points"):
        xr.open_dataset(path, engine=TailraceEntrypoint)
    assert not TailraceEntrypoint().guess_can_open(given)


# --- what cannot be opened


def checkpoint(path: Path) -> None:
    with h5py.File(path, "w") as file:
        header(file, Nx=2, Ny=2, Nz=2, t_index=1)
        file.attrs["file_type"] = np.bytes_("checkpoint")


def cut_short(path: Path) -> None:
    run_dirs.write_output(path)
    path.write_bytes(path.read_bytes()[:100_000])


def nothing_recorded(path: Path) -> None:
    with h5py.File(path, "w") as file:
        header(file, Nx=2, Ny=2, Nz=2, Nt=2)


def odd_shape(path: Path) -> None:
    nothing_recorded(path)
    with h5py.File(path, "a") as file:
        run_dirs.put(file, "p_max_all", ramp(2, 2))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "no such file or directory"),
        (lambda path: path.mkdir(), "not a run directory"),
        (lambda path: path.write_text("[case]"), "not an HDF5 file"),
        (run_dirs.write_input, "an input file, not an output. Fix: name the output"),
        (checkpoint, "a checkpoint: it holds the state"),
        (cut_short, "the file is truncated"),
        (nothing_recorded, "no recorded data"),
        (odd_shape, r"p_max_all has the shape \(2, 2\)"),
    ],
)
def test_files_that_are_no_outputs(tmp_path, make, words):
    path = tmp_path / "given.h5"
    make(path)
    with pytest.raises(FileError, match=words) as caught:
        tailrace.open(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_inputs_that_do_not_belong(tmp_path):
    run_dirs.write_output(tmp_path / "out.h5")
    with pytest.raises(FileError, match=r"its grid \(64, 48, 40\) is not that of"):
        tailrace.open(tmp_path / "out.h5", input=CASES / "ivp_homogeneous_index" / "input.h5")
    run_dirs.write_input(tmp_path / "points.h5", mask="points")
    with pytest.raises(FileError, match="its sensor mask is not that of"):
        tailrace.open(tmp_path / "out.h5", input=tmp_path / "points.h5")
    with pytest.raises(FileError, match=r"not a k-Wave input file \(file_type is output\)"):
        tailrace.open(tmp_path / "out.h5", input=tmp_path / "out.h5")


def test_unknown_variables(tmp_path):
    run_dirs.write_output(tmp_path / "out.h5")
    with pytest.raises(FileError, match=r"there is no ux_max\. It holds .*p_max_all"):
        tailrace.open(tmp_path / "out.h5")["ux_max"]
