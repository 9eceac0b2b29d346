# SPDX-License-Identifier: BSD-3-Clause
"""Slices, traces and animations: what they show, against h5py, and where it lies."""

from pathlib import Path

import h5py
import numpy as np
import pytest

import run_dirs
import tailrace
from tailrace.data import cuts
from tailrace.kwave import FileError

CASES = Path(__file__).resolve().parents[2] / "tests" / "data" / "ultrasound"


@pytest.fixture(scope="module")
def points():
    case = CASES / "ivp_homogeneous_index"
    return tailrace.open(case / "reference_double.h5", input=case / "input.h5")


@pytest.fixture(scope="module")
def boxes(tmp_path_factory):
    return tailrace.open(run_dirs.write_run(tmp_path_factory.mktemp("plots") / "run"))


def titles(figure) -> list[str]:
    return [annotation.text for annotation in figure.layout.annotations]


# --- slices


def test_slice_shows_the_plane_in_millimetres(boxes):
    figure = boxes.plot.slice("p_max_all", z=0.0)
    (heat,) = figure.data
    with h5py.File(boxes.path) as file:
        assert np.allclose(heat.z, file["p_max_all"][8] / 1e3)  # index 8 of 16; kPa
    assert (heat.x0, heat.dx) == pytest.approx((-12 * 0.2, 0.2)) and heat.y0 == pytest.approx(-10 * 0.2)
    assert titles(figure) == ["z = 0.00 mm"]
    colors = figure.layout.coloraxis
    assert colors.cmin == 0.0 and colors.cmax == pytest.approx(np.max(heat.z))
    assert colors.colorbar.title.text == "maximum pressure [kPa]"
    assert figure.layout.xaxis.title.text == "x [mm]" and figure.layout.yaxis.title.text == "y [mm]"


def test_waves_have_colours_centred_on_zero_and_maxima_have_not(boxes):
    wave = boxes.plot.slice("p_final", y=0.0).layout.coloraxis
    assert wave.cmin == -wave.cmax < 0
    assert wave.colorscale != boxes.plot.slice("p_max_all", y=0.0).layout.coloraxis.colorscale
    limited = boxes.plot.slice("p_final", y=0.0, limit=2e5).layout.coloraxis
    assert (limited.cmin, limited.cmax) == (-200.0, 200.0)


def test_without_a_position_the_planes_go_through_the_peak(boxes):
    figure = boxes.plot.slice("p_max_all")
    with h5py.File(boxes.path) as file:
        inside = file["p_max_all"][3:-3, 3:-3, 3:-3]
    z, y, x = np.unravel_index(inside.argmax(), inside.shape)
    places = {"x": x + 3 - 12, "y": y + 3 - 10, "z": z + 3 - 8}
    expected = {f"{axis} = {0.2 * value:.2f} mm".replace("-", "\u2212") for axis, value in places.items()}
    assert set(titles(figure)) == expected


def test_the_absorbing_layer_is_outlined_only_where_it_is_shown(boxes):
    (outline,) = boxes.plot.slice("p_max_all", z=0.0).layout.shapes
    assert (outline.x0, outline.y0) == pytest.approx((-1.9, -1.5))  # three points of 24 and of 20
    inner = tailrace.open(boxes.path, pml=False)
    assert not inner.plot.slice("p_max_all", z=0.0).layout.shapes


def test_slice_of_a_series_at_a_time(boxes):
    figure = boxes.plot.slice("p/1", z=0.0, time=5e-7)  # sample 15: step 26 is at 25 dt
    with h5py.File(boxes.path) as file:
        series = file["p/1"][()]
    assert titles(figure) == ["z = 0.00 mm, t = 500 ns"]
    assert np.allclose(figure.data[0].z, series[15, 4] / 1e3)
    with pytest.raises(FileError, match=r"a series of 50 samples\. Fix: time= between 2e-07 and 1.18e-06 s"):
        boxes.plot.slice("p/1", z=0.0)


def test_flat_boxes_need_no_position(boxes):
    figure = boxes.plot.slice("p_max/2")
    assert titles(figure) == ["y = \u22120.20 mm"]
    assert np.shape(figure.data[0].z) == (10, 18)


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("p_max_all", {"z": 1.0}, r"z = 1 m lies outside; it runs from -0.0016 to 0.0014 m"),
        ("p/1", {"z": 0.0, "time": 1.0}, r"time = 1 s lies outside"),
        ("p_max_all", {"z": 0.0, "time": 0.0}, "it is no series, time= has no meaning"),
        ("p_max/2", {"x": 0.0}, "only a line of points"),
    ],
)
def test_slices_that_cannot_be_shown(boxes, name, arguments, words):
    with pytest.raises(FileError, match=words):
        boxes.plot.slice(name, **arguments)


def test_scattered_points_are_no_plane(points):
    with pytest.raises(FileError, match=r"recorded at scattered points\. Fix: plot.trace"):
        points.plot.slice("p_max")


def write_plane_of_points(path: Path) -> np.ndarray:
    """Five by four points of the plane z index 2, one of them missing; the series (time, y, x) on them."""
    y, x = np.mgrid[3:7, 1:6]
    linear = (2 * 8 + y) * 9 + x
    series = np.random.default_rng(3).normal(size=(3, 4, 5)).astype(np.float32)
    with h5py.File(path, "w") as file:
        for name, value in {"Nx": 9, "Ny": 8, "Nz": 6, "Nt": 3, "dt": 1e-7, "t_index": 3}.items():
            run_dirs.put(file, name, value)
        for name in ("dx", "dy", "dz"):
            run_dirs.put(file, name, 1e-3)
        run_dirs.put(file, "sensor_mask_index", (linear.ravel()[1:] + 1).astype(np.uint64)[None, None])
        for name in ("p", "ux"):
            run_dirs.put(file, name, series.reshape(1, 3, -1)[:, :, 1:])
    series[:, 0, 0] = np.nan
    return series


def test_planes_made_of_points_are_put_back_on_the_grid(tmp_path):
    series = write_plane_of_points(tmp_path / "out.h5")
    run = tailrace.open(tmp_path / "out.h5")
    field = run.unmask("p")
    assert field.dims == ("time", "z", "y", "x") and np.array_equal(field[:, 0], series, equal_nan=True)
    assert field.x.values == pytest.approx([-3e-3, -2e-3, -1e-3, 0.0, 1e-3])
    assert field.y.values[0] == pytest.approx(-1e-3) and field.z.values == pytest.approx([-1e-3])
    assert run.unmask(run["ux"].isel(time=0)).x_sg.values[0] == pytest.approx(-2.5e-3)
    figure = run.plot.slice("p", time=2e-7)
    assert titles(figure) == ["z = \u22121.00 mm, t = 200 ns"]
    assert np.allclose(figure.data[0].z, series[2], equal_nan=True)
    assert np.allclose(run.plot.animate("p").frames[1].data[0].z, series[1], equal_nan=True)


def test_what_cannot_be_put_back_on_the_grid(boxes, monkeypatch, tmp_path):
    with pytest.raises(FileError, match="no sensor points of known places"):
        boxes.unmask("p/1")
    write_plane_of_points(tmp_path / "out.h5")
    monkeypatch.setattr("tailrace.data.unmask.MAX_VALUES", 59)
    with pytest.raises(FileError, match="in a box of 1 x 4 x 5, too large"):
        tailrace.open(tmp_path / "out.h5").unmask("p")


def test_boxes_of_unknown_position_say_what_is_missing(tmp_path):
    run_dirs.write_output(tmp_path / "out.h5")
    run = tailrace.open(tmp_path / "out.h5")
    for picture in (lambda: run.plot.slice("p_max/1"), lambda: run.plot.trace("p/1")):
        with pytest.raises(FileError, match=r"not known\. Fix: open it with input="):
            picture()


def test_series_of_unknown_time_step_say_what_is_missing():
    run = tailrace.open(CASES / "ivp_homogeneous_index" / "reference_double.h5")
    assert "x" not in run["p_final"].coords and "time" not in run["p"].coords
    with pytest.raises(FileError, match=r"its time step is not known\. Fix: open it with input="):
        run.plot.trace("p")


def test_two_dimensional_fields_are_shown_whole(tmp_path):
    field = np.arange(48, dtype=np.float32).reshape(1, 6, 8)
    with h5py.File(tmp_path / "flat.h5", "w") as file:
        for name, value in {"Nx": 8, "Ny": 6, "Nz": 1, "Nt": 3, "dt": 1e-7, "dx": 1e-3, "dy": 1e-3}.items():
            run_dirs.put(file, name, value)
        run_dirs.put(file, "t_index", 3)
        run_dirs.put(file, "p_max_all", field)
        run_dirs.put(file, "sensor_mask_corners", np.array([[[1, 1, 1, 8, 6, 1]]], dtype=np.uint64))
        run_dirs.put(file, "p/1", np.stack([field, 2 * field, 3 * field]))
    run = tailrace.open(tmp_path / "flat.h5")
    figure = run.plot.slice("p_max_all")
    assert np.array_equal(figure.data[0].z, field[0]) and titles(figure) == []
    assert titles(run.plot.slice("p", time=1e-7)) == ["t = 100 ns"]
    assert len(run.plot.animate("p").frames) == 3
    with pytest.raises(FileError, match="it is two-dimensional"):
        run.plot.slice("p_max_all", z=0.0)


def test_arrays_made_from_variables_can_be_shown(boxes):
    ratio = boxes["p_max_all"] / 2
    ratio.attrs = boxes["p_max_all"].attrs | {"long_name": "half of it"}
    figure = boxes.plot.slice(ratio, z=0.0)
    assert figure.layout.coloraxis.colorbar.title.text == "half of it [kPa]"


# --- traces


def test_traces_of_chosen_sensors(points):
    figure = points.plot.trace("p", sensor=[0, 5])
    with h5py.File(points.path) as file:
        series = file["p"][0]
    assert [line.name.split(" (")[0] for line in figure.data] == ["sensor 0", "sensor 5"]
    for line, number in zip(figure.data, (0, 5), strict=True):
        assert np.allclose(np.asarray(line.x), np.arange(160) * 0.02)  # microseconds
        scale = 1e3 if "kPa" in figure.layout.yaxis.title.text else 1.0
        assert np.allclose(np.asarray(line.y) * scale, series[:, number])
    assert figure.layout.xaxis.title.text == "time [\u00b5s]"


def test_traces_without_a_choice_are_a_few(points):
    figure = points.plot.trace("uz")
    assert [line.name.split(" (")[0] for line in figure.data] == [
        f"sensor {n}" for n in (0, 49, 99, 149, 199)
    ]
    assert figure.layout.yaxis.title.text.startswith("velocity z [")


def test_more_traces_than_colours(points):
    assert len(points.plot.trace("p", sensor=range(8)).data) == 8


def test_traces_in_boxes_by_position(boxes):
    figure = boxes.plot.trace("p/1", x=[0.0, 0.4e-3], y=0.0)
    assert [line.name for line in figure.data] == ["(0.00, 0.00, 0.00) mm", "(0.40, 0.00, 0.00) mm"]
    with h5py.File(boxes.path) as file:
        series = file["p/1"][:, 4, 5, [3, 5]]
    factor = {"k": 1e3, "P": 1.0, "M": 1e6}[figure.layout.yaxis.title.text.split("[")[1][0]]
    for line, expected in zip(figure.data, series.T, strict=True):
        assert np.allclose(np.asarray(line.y) * factor, expected, atol=1.0)


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("p/1", {"sensor": 1}, r"recorded in a box\. Fix: choose with x, y, z"),
        ("p/1", {"x": 1.0}, "x = 1 m lies outside"),
        ("p/1", {"x": [0.0, 1e-4], "y": [0.0, 0.0, 0.0]}, "lists of one length"),
        ("p_max_all", {}, r"it is no series\. Fix: plot.slice"),
    ],
)
def test_traces_that_cannot_be_shown(boxes, name, arguments, words):
    with pytest.raises(FileError, match=words):
        boxes.plot.trace(name, **arguments)


def test_sensors_that_are_not_there(points):
    with pytest.raises(FileError, match="sensor 200 is not there; sensors count from 0 to 199"):
        points.plot.trace("p", sensor=[0, 200])
    with pytest.raises(FileError, match="choose with sensor="):
        points.plot.trace("p", x=0.0)


# --- animations


def test_animation_of_a_flat_box(boxes):
    figure = boxes.plot.animate("p/2", frames=10)
    with h5py.File(boxes.path) as file:
        series = file["p/2"][:, :, 0]
    chosen = [0, 5, 10, 16, 21, 27, 32, 38, 43, 49]
    peak = np.abs(series[chosen]).max()
    factor = 1e3 if peak < 1e6 else 1e6
    assert len(figure.frames) == 10
    for frame, number in zip(figure.frames, chosen, strict=True):
        assert np.allclose(frame.data[0].z, series[number] / factor, atol=1e-6)
    labels = [step.label for step in figure.layout.sliders[0].steps]
    assert labels[0] == "200 ns" and labels[-1] == "1.18 \u00b5s"
    assert figure.layout.coloraxis.cmax == pytest.approx(peak / factor) == -figure.layout.coloraxis.cmin


def test_animation_of_a_plane_in_a_box(boxes, tmp_path):
    figure = boxes.plot.animate("p/1", z=0.0, frames=4)
    assert titles(figure) == ["z = 0.00 mm"] and len(figure.frames) == 4
    figure.write_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "Plotly.addFrames" in text and len(text) > 1_000_000  # with plotly itself
    with pytest.raises(FileError, match=r"an animation shows one plane\. Fix: give x=, y= or z="):
        boxes.plot.animate("p/1")
    with pytest.raises(FileError, match="no series"):
        boxes.plot.animate("p_max_all", z=0.0)


def test_large_planes_of_animations_are_thinned_out(boxes, monkeypatch):
    monkeypatch.setattr("tailrace.data.plots.ANIMATION_VALUES", 2 * 36)
    figure = boxes.plot.animate("p/2", frames=2)
    assert np.shape(figure.frames[0].data[0].z) == (5, 6)  # of 10 x 18, at most 6 each way
    assert figure.data[0].dx == pytest.approx(0.6) and figure.data[0].dy == pytest.approx(0.4)


# --- quantities without a place


@pytest.fixture
def observables(tmp_path):
    """A temperature over time, and positions of two molecules."""
    with h5py.File(tmp_path / "output.h5", "w") as file:
        for name, shape in {"observables/temperature": (5,), "position": (5, 2, 3)}.items():
            group = file.create_group(name)
            group["values"] = np.arange(float(np.prod(shape))).reshape(shape)
            group["step"], group["time_s"] = np.arange(1, 6), np.arange(1, 6) * 0.5
            group.attrs.update(quantity=name.split("/")[-1], unit="K", selection="all", reduction="none")
        file["tailrace_record"] = np.array([[[5]]], "u8")
    return tailrace.open(tmp_path / "output.h5")


def test_trace_of_a_named_quantity(observables):
    (line,) = observables.plot.trace("temperature").data
    assert np.array_equal(line.y, np.arange(5.0)) and np.allclose(line.x, np.arange(1, 6) * 0.5)


@pytest.fixture
def molecules(tmp_path):
    """What a run in reduced units holds: an observable, positions, bins."""
    (tmp_path / "run.json").write_text('{"status": "finished", "grid": [2, 1, 1]}')
    with h5py.File(tmp_path / "output.h5", "w") as file:
        shapes = {"observables/temperature": (5,), "positions": (5, 2, 3), "dz": (5, 4, 1, 1)}
        for name, shape in shapes.items():
            group = file.create_group(name)
            group["values"] = np.arange(float(np.prod(shape))).reshape(shape) * 1e-3
            group["step"], group["time_s"] = np.arange(1, 6), np.arange(1, 6) * 0.005
            about = {"quantity": name.split("/")[-1], "unit": "reduced", "selection": "whole"}
            group.attrs.update(about | {"reduction": "none"})
        file["tailrace_record"] = np.array([[[5]]], "u8")
    return tailrace.open(tmp_path)


def test_reduced_units_have_no_prefixes(molecules):
    assert molecules["temperature"].time.attrs["units"] == "reduced"
    figure = molecules.plot.trace("temperature")
    (line,) = figure.data
    assert np.allclose(line.x, np.arange(1, 6) * 0.005) and np.allclose(line.y, np.arange(5) * 1e-3)
    assert figure.layout.xaxis.title.text == "time"
    assert figure.layout.yaxis.title.text == "temperature"
    assert not any(unit in line.hovertemplate for unit in ("ms", "reduced"))
    with pytest.raises(FileError, match=r"Fix: time= between 0\.005 and 0\.025$"):
        cuts.at_time(molecules["positions"], None)


@pytest.mark.parametrize(
    ("kind", "name", "arguments", "words"),
    [
        ("slice", "dz", {"time": 0.005}, "not known. Fix: its bins are equal parts of the box"),
        (
            "slice",
            "positions",
            {},
            "no field. Fix: plot.trace, with one of molecule, component chosen by isel",
        ),
        (
            "trace",
            "positions",
            {"sensor": [0]},
            "not recorded at sensors. Fix: choose along molecule, component",
        ),
        ("trace", "temperature", {"sensor": 0}, "not recorded at sensors. Fix: leave sensor= out"),
    ],
)
def test_what_molecules_have_no_pictures_of(molecules, kind, name, arguments, words):
    with pytest.raises(FileError, match=words) as error:
        getattr(molecules.plot, kind)(name, **arguments)
    assert "copy_sensor_mask" not in str(error.value)


def test_a_trace_has_one_value_per_time(observables):
    with pytest.raises(FileError, match=r"choose along .* with isel"):
        observables.plot.trace("position")
    chosen = observables["position"]
    (line,) = observables.plot.trace(chosen.isel(molecule=1, component=2)).data
    assert np.array_equal(line.y, [5, 11, 17, 23, 29])
