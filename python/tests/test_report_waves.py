# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of waves, of a run directory made by hand."""

import json

import h5py
import numpy as np
import pytest

from tailrace.figures.fields import in_steps
from tailrace.report.load import load_run
from tailrace.report.result import result_section
from tailrace.report.simulations import general

CELLS = (8, 6, 5)


@pytest.fixture
def run(tmp_path):
    """Ten samples of a plane and of four receivers, of which seven are recorded, over a model in a file."""
    with h5py.File(tmp_path / "output.h5", "w") as file:
        for name, selection, values in [
            ("section", '{"box": [[0, 3, 0], [7, 3, 4]]}', np.arange(400.0).reshape(10, 5, 1, 8)),
            ("line", "points", np.sin(np.arange(40.0)).reshape(10, 4)),
        ]:
            group = file.create_group(name)
            group["values"] = values.astype("f4")
            group["step"], group["time_s"] = np.arange(1, 11), np.arange(1, 11) * 0.001
            group.attrs.update(quantity="p", unit="1", selection=selection, reduction="none")
        file["line/points"] = [[x, 3, 1] for x in (1, 2, 5, 7)]
        file["tailrace_record"] = np.array([[[7, 9]]], "u8")
    with h5py.File(tmp_path / "model.h5", "w") as file:
        file["vp"] = np.full(CELLS[::-1], 2000.0)
    config = {
        "domain": {"cells": list(CELLS), "spacing_m": [10.0, 10.0, 20.0]},
        "time": {"dt_s": 0.001},
        "source": {"cell": [4, 3, 1]},
        "model": {"vp_m_s": "model.h5:/vp"},
    }
    account = {"simulation": "seismic", "config": config, "case_file": str(tmp_path / "case.toml")}
    (tmp_path / "run.json").write_text(json.dumps(account))
    return tmp_path


def pictures(directory):
    section, _ = result_section(load_run(directory))
    assert section.notes == []
    return {picture.heading: picture for picture in section.pictures}


def test_fronts_gather_and_medium_are_shown(run):
    found = pictures(run)
    assert list(found) == [
        "Wave fronts: output section",
        "Shot gather: output line",
        "Medium, source and receivers",
    ]


def test_fronts_show_recorded_samples_in_their_plane(run):
    figure = pictures(run)["Wave fronts: output section"].figure
    maps = [trace for trace in figure.data if trace.type == "heatmap"]
    assert len(maps) == general.MAX_FRONTS
    last = np.asarray(maps[-1].z)
    seventh = np.arange(240.0, 280.0).reshape(5, 8)  # z downwards
    assert np.abs(last - seventh).max() <= 279.0 / 2000 + 1e-4
    assert list(maps[0].y) == [0, 20, 40, 60, 80] and maps[0].x[-1] == 70
    stars = [trace for trace in figure.data if trace.type == "scatter"]
    assert (stars[0].x[0], stars[0].y[0]) == (40, 20)


def test_fields_are_shown_in_steps_of_a_thousandth():
    values = np.random.default_rng(1).normal(size=10000)
    shown = in_steps(values)
    assert len(np.unique(shown)) <= 2001
    assert np.abs(shown - values).max() <= 0.5001e-3 * np.abs(values).max()
    assert in_steps(np.zeros((2, 3))).tolist() == np.zeros((2, 3)).tolist()
    assert np.isnan(in_steps(np.array([np.nan, 1.0]))).tolist() == [True, False]


def test_the_gather_has_time_downwards_and_places_of_receivers(run):
    (gather,) = pictures(run)["Shot gather: output line"].figure.data
    assert list(gather.x) == [10, 20, 50, 70] and np.asarray(gather.z).shape == (7, 4)
    assert list(gather.y) == pytest.approx(np.arange(1, 8) * 0.001)


def change(directory, **changes):
    account = json.loads((directory / "run.json").read_text())
    (directory / "run.json").write_text(json.dumps(account | changes))


def test_other_simulations_have_no_medium(run):
    change(run, simulation="another")
    assert list(pictures(run)) == ["Wave fronts: output section", "Shot gather: output line"]


def test_a_case_without_a_grid_shows_nothing(run):
    change(run, config={"domain": {"cells": 5}})
    section, _ = result_section(load_run(run))
    assert section.pictures == [] and "does not describe a grid" in section.notes[0]


def test_a_plane_is_shown_once(run):
    """Of two outputs of one quantity in one plane, the one with more samples."""
    with h5py.File(run / "output.h5", "a") as file:
        group = file.create_group("snapshots")
        group["values"] = np.arange(720.0).reshape(3, 5, 6, 8).astype("f4")
        group["step"], group["time_s"] = [2, 4, 6], [0.002, 0.004, 0.006]
        group.attrs.update(quantity="p", unit="1", selection="whole", reduction="none")
    section, _ = result_section(load_run(run))
    headings = [picture.heading for picture in section.pictures]
    assert [one for one in headings if "Wave fronts" in one] == ["Wave fronts: output section"]
    assert [note.split(".")[0] for note in section.notes] == ["Not shown here: snapshots"]


def test_a_grid_without_a_spacing_is_shown_in_points(run):
    change(run, simulation="another", grid=list(CELLS), config={})
    found = pictures(run)
    assert list(found) == ["Fields: output section", "Series at points: output line"]
    figure = found["Fields: output section"].figure
    assert figure.layout.xaxis.title.text is None or "[points]" in str(figure.layout)
    assert "[m]" not in str(figure.layout)
    assert found["Fields: output section"].caption.startswith("In the plane y = 3 points")


def test_scales_have_units(run):
    with h5py.File(run / "output.h5", "a") as file:
        for name in ("section", "line"):
            file[name].attrs["unit"] = "Pa"
    for heading, picture in pictures(run).items():
        if "output" in heading:
            assert "[Pa]" in picture.figure.to_json(), heading


def test_the_residual_of_poisson_is_drawn_over_the_sweeps(run):
    with h5py.File(run / "output.h5", "r+") as file:
        file["history/step"] = np.arange(0, 50, 10)
        file["history/residual"] = [8.0, 2.0, 0.5, np.nan, np.nan]
    results = {
        "method": "cg",
        "blocks": 6,
        "first_residual": 8.0,
        "residual": 0.5,
        "converged": False,
        "error": 0.01,
    }
    config = {
        "domain": {"cells": list(CELLS), "spacing_m": [10.0, 10.0, 20.0]},
        "solver": {"tolerance": 1e-3},
    }
    change(run, simulation="poisson", config=config, results=results)
    found = pictures(run)
    assert list(found)[:1] == ["Fields: output section"]
    titles = {note.text for note in found["Fields: output section"].figure.layout.annotations}
    assert "after sweep 7" not in titles and "after sweep 0" in titles
    figure = found["Residual over the sweeps"].figure
    assert list(figure.data[0].x) == [0, 10, 20] and list(figure.data[0].y) == [1.0, 0.25, 0.0625]
    _, numbers = result_section(load_run(run))
    texts = {number.label: (number.value, number.detail) for number in numbers}
    assert texts["of the first residual is left"] == (
        "6.25e-02",
        "cg, 6 blocks; solver.tolerance 0.001 not reached",
    )
    assert texts["largest error"][0] == "1.000e-02"
