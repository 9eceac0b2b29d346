# SPDX-License-Identifier: BSD-3-Clause
"""What k-Wave inputs can hold: all of it runs, on any number of ranks, and means what it should."""

from pathlib import Path

import h5py
import numpy as np
import pytest

import jobs
from kwave_input import (
    ADDED,
    FEATURES,
    GRID,
    GRID_2D,
    KwaveInput,
    burst,
    in_format,
    signals,
    small_input,
    source_points,
    with_index_mask,
    with_initial_pressure,
    with_signal_per_point,
    with_transducer,
    with_velocity_source,
    without_pressure_source,
)
from matrix import pairwise
from tailrace.kwave_file import long, real

SENSOR_DATA = ["-p", "-u", "--p_rms", "--p_final"]
GRIDS = {"3D": GRID, "2D": GRID_2D}


def run(case: KwaveInput, path: Path, *options: object, ranks: int = 0) -> dict[str, np.ndarray]:
    """The datasets of an output, but for the commit mark, which depends on the number of ranks."""
    case.write(path)
    output = path.with_suffix(f".{ranks}.out")
    ended = jobs.run("-i", path, "-o", output, "--quiet", *SENSOR_DATA, *options, ranks=ranks)
    assert ended.status == 0, ended
    found = jobs.read_datasets(output)
    del found["tailrace_record"]
    return found


def assert_same(
    first: dict[str, np.ndarray], second: dict[str, np.ndarray], but: tuple[str, ...] = ()
) -> None:
    assert set(first) - set(but) == set(second) - set(but)
    different = [name for name in first if name not in but and not np.array_equal(first[name], second[name])]
    assert not different


@pytest.fixture(scope="session")
def outputs(once) -> dict[tuple[str, str], dict[str, np.ndarray]]:
    """What every feature gives in two and three dimensions, run as k-Wave's binaries are."""
    keys = [(grid, feature) for grid in GRIDS for feature in FEATURES]

    def output(directory: Path, grid: str, feature: str) -> dict[str, np.ndarray]:
        case = small_input(GRIDS[grid])
        FEATURES[feature](case)
        return run(case, directory / f"{grid} {feature}.h5")

    def make(directory: Path) -> dict[tuple[str, str], dict[str, np.ndarray]]:
        return {key: output(directory, *key) for key in keys}

    return once("features", make)


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("grid", GRIDS)
def test_feature_runs(grid, feature, outputs):
    found = outputs[grid, feature]
    assert found["t_index"].item() == found["Nt"].item()
    assert all(np.isfinite(values).all() for values in found.values())
    assert np.abs(found["p_final"]).max() > 0


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("grid", GRIDS)
def test_scalars_are_those_of_the_input(grid, feature, outputs):
    """As k-Wave's binaries write them: nothing of z in two dimensions, modes of sources in use only."""
    case, found = small_input(GRIDS[grid]), outputs[grid, feature]
    FEATURES[feature](case)
    given = {name for name, values in case.datasets.items() if values.size == 1 and name[:5] != "trans"}
    given -= {"sensor_mask_type", "sensor_mask_index", "c0", "rho0"}
    given |= {"axisymmetric_flag", "transducer_source_flag"}
    wanted = {name for name in given if not name.endswith("_input")}
    scalars = {name for name, values in found.items() if values.shape == (1, 1, 1)} - {"t_index"}
    assert scalars == wanted
    for name in wanted & set(case.datasets):
        assert found[name] == case.datasets[name] and found[name].dtype == case.datasets[name].dtype


@pairwise("grid, many, ranks", list(GRIDS), [False, True], [2, 3, 7])
def test_any_number_of_ranks_reads_the_same(grid, many, ranks, tmp_path):
    """All sources at once, their points spread over the ranks."""
    case = with_initial_pressure(with_transducer(small_input(GRIDS[grid])))
    if many:
        with_signal_per_point(case)
    with_velocity_source(case, dict(zip(case.axes, (30, 17, 44), strict=False)), many=many)
    alone = run(case, tmp_path / "in.h5")
    found = run(case, tmp_path / "in.h5", ranks=ranks)
    assert set(found) == set(alone)
    for name, values in found.items():
        assert np.abs(values - alone[name]).max() <= 1e-5 * np.abs(alone[name]).max(), name


@pytest.mark.parametrize("grid", GRIDS)
def test_one_signal_equals_the_same_one_for_every_point(grid, outputs, tmp_path):
    case = small_input(GRIDS[grid])
    points = case.datasets["p_source_index"].size
    case.datasets["p_source_input"] = np.repeat(case.datasets["p_source_input"], points, axis=2)
    case.set("p_source_many", 1)
    assert_same(run(case, tmp_path / "many.h5"), outputs[grid, "one signal"], ("p_source_many",))


@pytest.mark.parametrize("grid", GRIDS)
def test_transducer_equals_delayed_velocity_signals(grid, outputs, tmp_path):
    """A transducer adds its signal to the x velocity, at every point by so much ahead as its delay says."""
    case = with_transducer(without_pressure_source(small_input(GRIDS[grid])))
    delays = case.datasets.pop("delay_mask").ravel().astype(int) - 1
    steps = int(case.datasets["transducer_source_flag"].item())
    signal = case.datasets.pop("transducer_source_input").ravel()
    case.set("transducer_source_flag", 0)
    with_velocity_source(case, {"x": steps}, ADDED, many=True)
    delayed = np.array([signal[t + delays] for t in range(steps)])
    case.datasets["ux_source_input"] = real([delayed])
    but = ("transducer_source_flag", "ux_source_flag", "u_source_mode", "u_source_many")
    assert_same(run(case, tmp_path / "delayed.h5"), outputs[grid, "transducer"], but)


@pytest.mark.parametrize("grid", GRIDS)
def test_order_of_source_points_does_not_matter(grid, outputs, tmp_path):
    """Neither for points nor, as they go along, for signals and delays."""
    order = np.random.default_rng(3).permutation(len(source_points(GRIDS[grid])))
    for number, feature in enumerate(("signal per point", "velocity, signal per point", "transducer")):
        case = small_input(GRIDS[grid])
        FEATURES[feature](case)
        for name, values in case.datasets.items():
            per_point = name.endswith(("_source_index", "_source_input", "delay_mask"))
            if per_point and values.shape[2] == len(order):
                case.datasets[name] = np.ascontiguousarray(values[:, :, order])
        found = run(case, tmp_path / f"{number}.h5")
        assert_same(found, outputs[grid, feature])


def test_shapes_of_lists_and_signals_are_free(outputs, tmp_path):
    """Writers disagree on them; the order of the values counts."""
    number = 0
    for feature in ("one signal", "velocity, signal per point", "transducer", "index mask"):
        for turn in (lambda a: a.reshape(-1), lambda a: a.reshape(-1, 1, 1), lambda a: a.reshape(1, -1, 2)):
            case = small_input()
            FEATURES[feature](case)
            for name, values in case.datasets.items():
                if (
                    name.endswith(("_index", "source_input", "delay_mask", "corners"))
                    and values.size % 2 == 0
                ):
                    case.datasets[name] = turn(values)
            found = run(case, tmp_path / f"{number}.h5")
            assert_same(found, outputs["3D", feature])
            number += 1


def test_signals_longer_than_the_run_are_cut(outputs, tmp_path):
    def longer(case: KwaveInput, steps: int) -> KwaveInput:
        """Signals that continue for so many steps with what no run could bear."""
        for name in [name for name in case.datasets if name.endswith("_source_input")]:
            values = case.datasets[name]
            if name == "transducer_source_input":
                case.datasets[name] = np.concatenate([values, real([9e9] * steps)], axis=2)
            else:
                tail = np.full((1, steps, values.shape[2]), 9e9, "<f4")
                case.datasets[name] = np.concatenate([values, tail], axis=1)
            flag = name.replace("_input", "_flag")
            case.set(flag, case.datasets[flag].item() + steps)
        return case

    for number, feature in enumerate(("one signal", "signal per point")):
        case = small_input()
        FEATURES[feature](case)
        found = run(longer(case, 500), tmp_path / f"{number}.h5")
        assert_same(found, outputs["3D", feature], ("p_source_flag",))
    case = with_transducer(without_pressure_source(small_input()), 66)
    expected = run(case, tmp_path / "transducer.h5")
    found = run(longer(case, 500), tmp_path / "longer.h5")
    assert_same(found, expected, ("transducer_source_flag",))


def test_nothing_of_z_is_read_in_two_dimensions(outputs, tmp_path):
    case = small_input(GRID_2D)
    case.datasets |= {"dz": real(-1), "pml_z_size": long(99), "uz_source_flag": long(7), "rho0_sgz": real(0)}
    assert_same(run(case, tmp_path / "z.h5"), outputs["2D", "one signal"])


def test_formats_differ_in_form_only(tmp_path):
    expected = run(with_index_mask(small_input()), tmp_path / "2.h5")
    for minor in (0, 1):
        case = in_format(with_index_mask(small_input()), minor)
        assert_same(run(case, tmp_path / f"{minor}.h5"), expected)


def test_initial_pressure_with_a_source(outputs, tmp_path):
    """The initial pressure replaces what the first step of a source did."""
    case = with_initial_pressure(small_input())
    found = run(case, tmp_path / "both.h5")
    assert not np.array_equal(found["p_final"], outputs["3D", "initial pressure"]["p_final"])
    assert not np.array_equal(found["p_final"], outputs["3D", "one signal"]["p_final"])


def pad(file: h5py.File, name: str, text: bytes, length: int, padding: int) -> None:
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(length)
    kind.set_strpad(padding)
    del file.attrs[name]
    attribute = h5py.h5a.create(file.id, name.encode(), kind, h5py.h5s.create(h5py.h5s.SCALAR))
    attribute.write(
        np.array(text.ljust(length, b" " if padding == h5py.h5t.STR_SPACEPAD else b"\0")), mtype=kind
    )


@pytest.mark.parametrize("length", [1, 2, 9])
@pytest.mark.parametrize("padding", [h5py.h5t.STR_NULLTERM, h5py.h5t.STR_NULLPAD, h5py.h5t.STR_SPACEPAD])
def test_texts_of_every_padding(padding, length, tmp_path):
    path = small_input(steps=2).write(tmp_path / "in.h5")
    with h5py.File(path, "r+") as file:
        pad(file, "major_version", b"1", length, padding)
        pad(file, "minor_version", b"2", length, padding)
        pad(file, "file_type", b"input", 4 + length, padding)
    ended = jobs.run("-i", path, "--check")
    assert ended.status == 0, ended


def test_texts_of_variable_length(tmp_path):
    path = small_input(steps=2).write(tmp_path / "in.h5")
    with h5py.File(path, "r+") as file:
        for name in ("major_version", "minor_version", "file_type"):
            file.attrs[name] = file.attrs[name].decode()
        file["c0"].attrs["data_type"] = "float"
        file.attrs["file_description"] = "long " * 12_000
    ended = jobs.run("-i", path, "-o", tmp_path / "out.h5", "--quiet")
    assert ended.status == 0, ended
    with h5py.File(tmp_path / "out.h5") as file:
        assert file.attrs["file_description"].startswith(b"long long")


def test_chunks_and_compression_change_nothing(outputs, tmp_path):
    path = small_input().write(tmp_path / "in.h5")
    with h5py.File(path, "r+") as file:
        for name in ("c0", "rho0", "p_source_input", "p_source_index", "sensor_mask_corners"):
            values, attributes = file[name][()], dict(file[name].attrs)
            del file[name]
            chunks = tuple(min(extent, 5) for extent in values.shape)
            made = file.create_dataset(name, data=values, chunks=chunks, compression="gzip", shuffle=True)
            made.attrs.update(attributes)
    ended = jobs.run("-i", path, "-o", tmp_path / "out.h5", "--quiet", *SENSOR_DATA, ranks=2)
    assert ended.status == 0, ended
    found = jobs.read_datasets(tmp_path / "out.h5")
    del found["tailrace_record"]
    assert_same(found, outputs["3D", "one signal"])


def test_many_signals_of_scattered_points(tmp_path):
    """Every rank picks its own columns of the signals, whatever the order of the points."""
    case = small_input()
    nx, ny, nz = GRID
    points = np.random.default_rng(8).permutation(nx * ny * nz)[:150] + 1
    case.datasets["p_source_index"] = long(points)
    case.datasets["p_source_input"] = real([signals(case.datasets["Nt"].item(), 150)])
    case.set("p_source_many", 1)
    alone = run(case, tmp_path / "many.h5")
    for ranks in (2, 5):
        assert_same(run(case, tmp_path / "many.h5", ranks=ranks), alone)
    assert np.abs(alone["p_final"]).max() > np.abs(burst(60)).max()


def test_benchmark_and_time_steps_size_the_output(small, tmp_path):
    """More or fewer steps than the input's Nt: the file says so how many the run had."""
    output = tmp_path / "out.h5"
    ended = jobs.run("-i", small, "-o", output, "--quiet", "--benchmark", 70, "-s", 65)
    assert ended.status == 0, ended
    with h5py.File(output) as file:
        assert file["Nt"][0, 0, 0] == 70 and file["t_index"][0, 0, 0] == 70
        assert file["p/1"].shape[0] == 6
