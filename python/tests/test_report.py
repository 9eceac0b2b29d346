# SPDX-License-Identifier: BSD-3-Clause
"""The report: numbers behind the pictures, pages for every kind of run, nothing from the network."""

import json
import re
import tomllib
from html.parser import HTMLParser

import h5py
import numpy as np
import pytest
import xarray as xr

import command
import run_dirs
import tailrace
from packed_parts import unpacked
from tailrace import kwave
from tailrace.data import cuts
from tailrace.data.cuts import find_peak, planes_through
from tailrace.figures import theme
from tailrace.figures.fields import Series, amplitude_spectrum, thin_out
from tailrace.report import simulations, write_report
from tailrace.report.advice import advise
from tailrace.report.load import load_run
from tailrace.report.page import reproduce_command
from tailrace.report.simulations import general, heat, molecules
from tailrace.report.simulations.sensors import collect_series
from tailrace.report.simulations.ultrasound import width_at_half
from tailrace.report.toml_text import toml_text


class Page(HTMLParser):
    """Collects what the tests look at."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.figures, self.words, self._stack = [], [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        self._stack.append((tag, attributes))

    def handle_endtag(self, tag):
        while self._stack and self._stack.pop()[0] != tag:
            pass

    def handle_data(self, data):
        tag, attributes = self._stack[-1] if self._stack else ("", {})
        if attributes.get("id", "").endswith("-data"):
            self.figures.append(unpacked(data))
        elif tag not in ("script", "style"):
            self.words += data


def page_of(directory):
    return Page(write_report(directory).read_text())


def figure(page, axis_title):
    """The figures with an axis of this title."""
    return [one for one in page.figures if axis_title in json.dumps(one["layout"])]


# --- the whole page


def test_page_of_a_finished_run(tmp_path):
    page = page_of(run_dirs.write_run(tmp_path / "run"))
    for words in (
        "A pulse <b>& more</b>",
        "finished",
        "995 kPa",
        "Where the time went",
        "Advice",
        "GCC 12.2.0",
    ):
        assert words in page.words, words
    assert "tailrace run case.toml -n 2 -t 1 --write=threads:2 --sink=hdf5" in page.words
    assert len(page.figures) == 12
    assert figure(page, "maximum pressure [kPa]") and figure(page, "sound speed [m/s]")


def test_page_asks_nothing_from_the_network(tmp_path):
    text = write_report(run_dirs.write_run(tmp_path / "run")).read_text()
    page = Page(text)
    assert not [tag for tag, attributes in page.tags if tag == "script" and "src" in attributes]
    assert not [tag for tag, attributes in page.tags if tag in ("img", "iframe", "object")]
    links = [attributes["href"] for tag, attributes in page.tags if tag in ("link", "a")]
    assert [link for link in links if not link.startswith("#")] == ["data:,"]
    ids = {attributes.get("id") for _, attributes in page.tags}
    assert {"#result", "#advice", "#case"} <= set(links) <= {f"#{name}" for name in ids} | {"data:,"}
    style = re.search(r"<style>(.*?)</style>", text, re.S).group(1)
    assert "url(" not in style and "@import" not in style


def test_scripts_cannot_be_ended_by_the_title(tmp_path):
    directory = run_dirs.write_run(tmp_path / "run", title="</script><script>alert(1)</script>")
    page = page_of(directory)
    assert "</script><script>alert(1)</script>" in page.words


def test_output_tables_are_shown(tmp_path):
    directory = run_dirs.write_run(tmp_path / "run")
    with h5py.File(directory / "output.h5", "a") as file:
        nz, ny, nx = (int(file[name][0, 0, 0]) for name in ("Nz", "Ny", "Nx"))
        steps = int(file["Nt"][0, 0, 0])
        ramp = np.arange(2 * nz * ny * nx, dtype=np.float32).reshape(2, nz, ny, nx)
        whole, loud = "whole", json.dumps({"box": [[1, 2, 3], [nx - 1, ny - 1, 3]]})
        points = json.dumps({"points": [[1, 2, 3], [4, 5, 6]]})
        for name, values, selection, reduction in (
            ("spots", ramp[:, 0, 0, :2], points, "none"),
            ("loudest_spots", ramp[:1, 0, 0, :2], points, "max"),
            ("snap", ramp, whole, "none"),
            ("loud", ramp[:1, 3:4, 2:, 1:], loud, "max"),
        ):
            file[f"{name}/values"] = values
            file[f"{name}/step"] = [steps - 1, steps][: len(values)]
            file[f"{name}/time_s"] = [0.0, 1e-7][: len(values)]
            about = {"quantity": "p", "unit": "Pa", "selection": selection, "reduction": reduction}
            file[name].attrs.update(about)
    page = page_of(directory)
    assert "Output snap: pressure" in page.words and "Output loud: maximum pressure" in page.words
    assert f"at step {steps}, the last of 2 samples" in page.words
    assert "Output spots: pressure" in page.words and "point 1 at (" in page.words
    assert f"Not shown here: loudest_spots. tailrace inspect {directory} lists them" in page.words
    assert len(page.figures) == 15


@pytest.mark.parametrize("ranks", [1, 2, 7, 40])
def test_any_number_of_ranks(tmp_path, ranks):
    page = page_of(run_dirs.write_run(tmp_path / "run", ranks=ranks))
    assert "finished" in page.words


def test_sensor_points(tmp_path):
    page = page_of(run_dirs.write_run(tmp_path / "run", mask="points"))
    assert "loudest" in json.dumps(page.figures)
    assert "point" in page.words


def test_boxes_alone(tmp_path):
    directory = run_dirs.write_run(tmp_path / "run")
    with h5py.File(directory / "output.h5", "a") as file:
        for name in ("p_max_all", "p_final", "ux_final"):
            del file[name]
    page = page_of(directory)
    assert "Maximum pressure, box 1" in page.words and "Maximum pressure, box 2" in page.words


def test_no_pressure_at_all(tmp_path):
    directory = run_dirs.write_run(tmp_path / "run")
    run_dirs.write_output(directory / "output.h5", pressure_streams=False)
    page = page_of(directory)
    assert "Velocity x at the end" in page.words
    with h5py.File(directory / "output.h5", "a") as file:
        del file["ux_final"]
    (directory / "input.h5").unlink()
    assert "No pressure or velocity was recorded" in page_of(directory).words


def test_killed_run_shows_what_was_recorded(tmp_path):
    directory = run_dirs.write_run(tmp_path / "run")
    run_dirs.write_output(directory / "output.h5", recorded=40, closed=False)
    (directory / "run.json").unlink()
    (directory / "progress.json").write_text('{"phase": "running", "step": 41, "steps": 60}')
    trace = directory / "trace" / "rank-00000.trace"
    trace.write_bytes(trace.read_bytes()[:-77])
    page = page_of(directory)
    for words in (
        "killed",
        "40 of 60 steps are recorded",
        "41 of 60",
        "Maximum pressure so far",
        "left no account",
    ):
        assert words in page.words, words


def test_failed_run_names_the_error(tmp_path):
    error = {
        "kind": "io",
        "message": "write failed: No space left on device",
        "rank": 1,
        "path": "output.h5",
        "offset": 0,
    }
    directory = run_dirs.write_run(tmp_path / "run", status="failed", error=error, steps=40)
    run_dirs.write_output(directory / "output.h5", recorded=40, closed=False)
    page = page_of(directory)
    assert page.words.count("No space left on device") == 2
    assert "rank 1" in page.words and "40 of 60 steps" in page.words


def test_damaged_output_still_gives_a_page(tmp_path):
    directory = run_dirs.write_run(tmp_path / "run")
    (directory / "output.h5").write_bytes((directory / "output.h5").read_bytes()[:1000])
    assert "truncated" in page_of(directory).words
    (directory / "output.h5").unlink()
    assert "There is no output file" in page_of(directory).words


def test_run_that_died_without_an_account_of_its_own(tmp_path):
    """The launcher then writes a short run.json: no totals, the case by its file name."""
    directory = run_dirs.write_run(tmp_path / "run")
    run_dirs.write_output(directory / "output.h5", recorded=40, closed=False)
    (directory / "input.h5").rename(tmp_path / "in.h5")
    (tmp_path / "case.toml").write_text('[case]\nsimulation = "ultrasound"\n[input]\nfile = "in.h5"\n')
    account = {
        "status": "failed",
        "reason": "rank 1 was killed by SIGKILL",
        "error": {"kind": "killed", "message": "rank 1 was killed by SIGKILL", "rank": 1},
        "config": {"case": {"file": str(tmp_path / "case.toml")}, "set": []},
        "strategy": None,
        "ranks": 2,
        "threads": 1,
    }
    (directory / "run.json").write_text(json.dumps(account))
    page = page_of(directory)
    for words in (
        "SIGKILL",
        "40 of 60 steps are recorded",
        "of the run taken by output",
        "Medium",
        "case.toml -n 2",
    ):
        assert words in page.words, words


def test_initial_pressure(tmp_path):
    directory = run_dirs.write_run(tmp_path / "run")
    with h5py.File(directory / "input.h5", "a") as file:
        run_dirs.put(file, "p0_source_input", np.abs(run_dirs.pressure(5)))
    assert "Initial pressure" in page_of(directory).words


def test_only_an_output_file(tmp_path):
    run_dirs.write_output(tmp_path / "output.h5")
    assert "Maximum pressure" in page_of(tmp_path).words


def test_not_a_run_directory(tmp_path):
    with pytest.raises(kwave.FileError, match="not a run directory"):
        write_report(tmp_path)


def test_command(tmp_path):
    directory = run_dirs.write_run(tmp_path / "run")
    answer = command.tailrace("report", directory, "-o", tmp_path / "page.html")
    assert answer.status == 0 and answer.out.strip() == str(tmp_path / "page.html")
    answer = json.loads(command.tailrace("report", directory, "--json").out)
    assert answer["report"] == str(directory / "report.html") and answer["size_bytes"] < 8_000_000
    bad = command.tailrace("report", tmp_path / "nothing")
    assert bad.status == 2 and "no such directory" in bad.err
    unwritable = command.tailrace("report", directory, "-o", tmp_path / "missing/page.html")
    assert unwritable.status == 2


# --- fields


@pytest.fixture
def output(tmp_path):
    run_dirs.write_output(tmp_path / "output.h5")
    run_dirs.write_input(tmp_path / "input.h5")
    return tailrace.open(tmp_path / "output.h5", tmp_path / "input.h5")


def test_peak_and_planes(output):
    array = output["p_max_all"]
    peak = find_peak(array, output.source.grid.pml)
    values = array.values
    z, y, x = np.unravel_index(values.argmax(), values.shape)
    assert peak.index == {"x": x, "y": y, "z": z} and peak.value == values.max()
    planes = planes_through(array, peak.index)
    assert [plane.normal for plane in planes] == [2, 1, 0]
    assert np.array_equal(planes[0].values, values[z])
    assert np.array_equal(planes[1].values, values[:, y])
    assert np.array_equal(planes[2].values, values[:, :, x])
    assert planes[0].along[12] == 0.0 and planes[0].along[13] == pytest.approx(0.2)


def test_peak_leaves_the_absorbing_layer_out(output, monkeypatch):
    field = np.zeros(run_dirs.GRID[::-1], dtype=np.float32)
    field[1, 1, 1], field[8, 9, 10] = 5.0, 2.0
    array = output["p_max_all"].copy(data=field)
    for block_bytes in (cuts.BLOCK_BYTES, 1):
        monkeypatch.setattr(cuts, "BLOCK_BYTES", block_bytes)
        assert find_peak(array, output.source.grid.pml).index == {"x": 10, "y": 9, "z": 8}
        assert find_peak(array).index == {"x": 1, "y": 1, "z": 1}
    assert find_peak(-array, signed=True).value == 5.0 and find_peak(-array).value == 0.0


def test_series_are_taken_at_the_loudest_points(output):
    series = collect_series(output)
    assert series[0].label == "box 1, loudest point"
    assert series[0].time_s[0] == pytest.approx((run_dirs.START - 1) * run_dirs.DT_S)
    place = zip(series[0].position_mm, run_dirs.GRID, strict=True)
    x, y, z = (round(mm * 1e-3 / run_dirs.SPACING_M) + size // 2 for mm, size in place)
    whole = np.array([run_dirs.pressure(step)[z, y, x] for step in range(run_dirs.START, run_dirs.STEPS + 1)])
    assert np.allclose(series[0].values, whole)


def test_pages_of_simulations_are_found_by_name():
    assert simulations.page_of("molecules") is molecules
    for name in ("rehearse", "", "no module", "general"):
        assert simulations.page_of(name) is general


def test_elements_of_a_plane_are_found_by_the_levels_of_its_points():
    at = (np.arange(8) + 0.5) / 8
    levels = np.ones((8, 8))
    levels[:4, 4:] = 2  # the quarter with low y and high x is split once more
    found = heat.squares_of(levels, at, at)
    assert found == sorted(
        [(0.0, 0.0, 0.5), (0.0, 0.5, 0.5), (0.5, 0.5, 0.5)]
        + [(x, y, 0.25) for x in (0.5, 0.75) for y in (0.0, 0.25)]
    )


def test_colours_run_around_zero_or_from_the_lowest_value():
    levels = np.array([[[2.0, 2.0], [5.0, 3.0]]])
    assert general.colours_of(levels) == {"colorscale": theme.SEQUENTIAL, "cmin": 2.0, "cmax": 5.0}
    waves = general.colours_of(np.array([[[-1.0, 1.0], [1.0, -1.0]]]))
    assert waves == {"colorscale": theme.DIVERGING, "cmin": -1.0, "cmax": 1.0}
    assert general.colours_of(np.zeros((2, 2, 2))) is None


def test_width_at_half_interpolates():
    position = np.linspace(-2, 2, 401)
    width = width_at_half(position, np.exp(-(position**2)), 200)
    assert width == pytest.approx(2 * np.sqrt(np.log(2)), rel=1e-4)
    assert width_at_half(position, 1 + 0 * position, 200) is None


def test_spectrum_shows_the_amplitude_of_a_sine():
    time_s = np.arange(400) * 1e-8
    frequency, amplitude = amplitude_spectrum(Series("x", time_s, 3e5 * np.sin(2e6 * np.pi * time_s)))
    assert frequency[amplitude.argmax()] == pytest.approx(1e6, rel=0.01)
    assert amplitude.max() == pytest.approx(3e5, rel=0.01)


def test_thinning_keeps_extremes():
    values = np.random.default_rng(3).normal(size=50_000)
    time_s, kept = thin_out(np.arange(50_000.0), values)
    assert len(kept) <= 4100 and np.all(np.diff(time_s) > 0)
    assert (kept.min(), kept.max()) == (values.min(), values.max())


# --- times


def test_totals_and_hidden_fraction_come_from_the_traces_of_a_killed_run(tmp_path):
    run_dirs.write_run(tmp_path / "run", slow_writer=True)
    recorded = load_run(tmp_path / "run")
    (tmp_path / "run" / "run.json").unlink()
    rebuilt = load_run(tmp_path / "run")
    assert rebuilt.hidden == pytest.approx(recorded.hidden, rel=1e-6)
    assert 0 < recorded.hidden < 1
    assert rebuilt.wall_s == pytest.approx(recorded.wall_s, rel=1e-6)


# --- advice, command, configuration


def advice_for(tmp_path, changes=None, **entries):
    directory = run_dirs.write_run(tmp_path / "run", **(changes or {}))
    account = json.loads((directory / "run.json").read_text())
    for entry in account["per_rank"]:
        entry.update(entries)
    (directory / "run.json").write_text(json.dumps(account))
    return {entry.level: entry for entry in advise(load_run(directory))}


def test_advice_when_hidden(tmp_path):
    assert "hidden 95 %" in advice_for(tmp_path)["good"].evidence


def test_advice_when_the_writer_is_the_bottleneck(tmp_path):
    found = advice_for(tmp_path, output_wait_s=0.7, write_s=1.2)["warning"]
    assert "writer is the bottleneck" in found.text and "hidden 41 %" in found.evidence


def test_advice_for_blocking_output(tmp_path):
    found = advice_for(tmp_path, {"strategy": "blocking"}, output_wait_s=0.3, write_s=0.3)["warning"]
    assert "--write threads" in found.text


def test_advice_on_copying_beside_threads_that_spin(tmp_path):
    found = advice_for(tmp_path, {"threads": 2}, pack_s=0.2)["hint"]
    assert "OMP_WAIT_POLICY=passive" in found.text and "400 ms" in found.evidence


def test_one_thread_has_none_that_spin(tmp_path):
    assert all("OMP_WAIT" not in one.text for one in advice_for(tmp_path, pack_s=0.2).values())


def test_advice_on_memory(tmp_path):
    assert "predicted 100 MB" in advice_for(tmp_path, predicted_memory_bytes=100_000_000)["hint"].evidence


def test_command_as_recorded_or_put_together(tmp_path):
    words = [
        "/x/tailrace-seismic",
        "--case",
        "my case.toml",
        "--out",
        "runs/a",
        "-t",
        "1",
        "--set",
        "a.b=c d",
    ]
    words += ["--overwrite", "--quiet", "--write=threads", "--resume"]
    account = {"command": words, "case_file": "/y/my case.toml", "ranks": 2, "threads": 3}
    run = load_run(run_dirs.write_run(tmp_path / "a", **account))
    # Without --out: the directory of this run exists, and would be refused.
    expected = "tailrace run '/y/my case.toml' -n 2 -t 3 --set 'a.b=c d' --write=threads"
    assert reproduce_command(run) == expected
    kwave = load_run(run_dirs.write_run(tmp_path / "b", command="tailrace-ultrasound -i in.h5 -o out.h5"))
    assert reproduce_command(kwave) == "mpirun -n 2 tailrace-ultrasound -i in.h5 -o out.h5"


def test_configuration_is_valid_toml():
    config = {
        "case": {"title": 'a "b"\nc', "n": 3, "x": 1e-7, "on": True, "list": [1, [2, 3]]},
        "output": [{"name": "p", "select": {"box": [[0, 0, 0], [1, 1, 1]]}}, {"name": "q"}],
        "deep": {"inner": {"value": 1}},
    }
    assert tomllib.loads(toml_text(config)) == config


# --- molecules


def test_a_profile_reaches_from_side_to_side_of_the_box():
    about = {"quantity": "density", "reduction": "none"}
    bins = xr.DataArray(np.array([[2.0, 4.0]]).reshape(1, 2, 1, 1), dims=("time", "z", "y", "x"), attrs=about)
    bins = bins.rename("dz").assign_coords(step=("time", [10]))
    (line,) = molecules._profile(bins, np.array([8.0, 8.0, 12.0])).figure.data
    assert list(line.x) == [0, 3, 9, 12] and list(line.y) == [2, 2, 4, 4]


def test_a_cut_is_the_mean_of_a_slab():
    """A cell holds a molecule or none; a slab of them is a density."""
    bins = np.zeros((10, 4, 3))
    bins[4, 1, 2], bins[5, 1, 2] = 2.0, 4.0
    plane, slab = molecules._middle_slab(bins, normal=2)
    assert slab == 2 and plane.shape == (4, 3) and plane[1, 2] == 3.0


def test_the_energy_is_no_tile_where_a_thermostat_changes_it():
    series = {name: xr.DataArray(np.array([1.0, 2.0])) for name in ("temperature", "total_energy")}
    free, heated = (molecules._numbers(series, heated=heated) for heated in (False, True))
    assert [number.label for number in free] == ["temperature", "largest change of the total energy"]
    assert [number.label for number in heated] == ["temperature"]
    assert "\u03b5/k" in heated[0].detail
