# SPDX-License-Identifier: BSD-3-Clause
"""Bad values in an input: one clear message for all of them, the agreed exit status, nothing half-written."""

import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import command
import jobs
from bad_input import (
    INF,
    NAN,
    NX,
    NY,
    NZ,
    Spoil,
    adding,
    as_type,
    assert_clear,
    cuboid,
    dataset_attributes,
    having,
    homogeneous,
    points,
    poked,
    refused,
    root_attribute,
    shaped,
    sources_at,
    transducer,
    velocity,
    without,
    write_case,
)
from kwave_input import GRID, burst, in_format, real, small_input, source_points, with_stokes
from tailrace.kwave_file import long

POINTS = len(source_points(GRID))
VOLUME = NX * NY * NZ

# What is spoilt, and what the message has to name: dataset or attribute, value, what would be right.
SPOILT: dict[str, tuple[Spoil, list[str]]] = {
    "missing scalar": (without("dt"), ["dataset dt is missing"]),
    "missing medium": (without("c0"), ["dataset c0", "missing"]),
    "missing flag": (without("p_source_flag"), ["dataset p_source_flag is missing"]),
    "missing mask": (without("sensor_mask_corners"), ["dataset sensor_mask_corners is missing"]),
    "missing signal": (without("p_source_input"), ["dataset p_source_input is missing"]),
    "missing BonA": (without("BonA"), ["dataset BonA", "missing"]),
    "medium too small": (
        shaped("rho0", np.ones((NZ, NY, NX - 1), "<f4")),
        ["rho0", f"({NZ}, {NY}, {NX - 1})", f"({NZ}, {NY}, {NX})", "(1, 1, 1)"],
    ),
    "medium transposed": (
        shaped("c0", np.ones((NX, NY, NZ), "<f4")),
        ["c0", f"({NX}, {NY}, {NZ})", f"({NZ}, {NY}, {NX})"],
    ),
    "medium flat": (shaped("c0", np.ones(VOLUME, "<f4")), ["c0", f"({VOLUME})", f"({NZ}, {NY}, {NX})"]),
    "scalar has two values": (shaped("Nt", np.full((1, 1, 2), 9, "<u8")), ["Nt", "(1, 1, 2)", "(1, 1, 1)"]),
    "signal too short": (shaped("p_source_input", np.ones((1, 7, 1), "<f4")), ["p_source_input", "7", "60"]),
    "medium in double": (as_type("c0", "<f8"), ["c0", "64-bit float", "32-bit float"]),
    "count as float": (as_type("Nx", "<f4"), ["Nx", "32-bit float", "unsigned 64-bit integer"]),
    "index signed": (as_type("p_source_index", "<i8"), ["p_source_index", "64-bit integer", "unsigned"]),
    "number as text": (shaped("dt", np.full((1, 1, 1), b"x")), ["dt", "32-bit float"]),
    "wrong file type": (root_attribute("file_type", "output"), ["file_type", '"output"', '"input"']),
    "wrong major version": (root_attribute("major_version", "2"), ["major_version", '"2"', '"1"']),
    "wrong minor version": (root_attribute("minor_version", "7"), ["minor_version", '"7"', "1.2"]),
    "no version": (root_attribute("minor_version", None), ["minor_version", "missing"]),
    "no creator": (root_attribute("created_by", None), ["created_by", "missing"]),
    "complex medium": (
        dataset_attributes("c0", data_type="float", domain_type="complex"),
        ["c0", '"complex"', '"real"'],
    ),
    "typed wrongly": (
        dataset_attributes("rho0", data_type="long", domain_type="real"),
        ["rho0", '"long"', '"float"'],
    ),
    "NaN sound speed": (
        poked("c0", [(4, 0, 9), (5, 1, 17), (23, 19, 17)], NAN),
        ["c0", "sound speed", "3 values", "first nan", "(x=4, y=0, z=9)"],
    ),
    "infinite density": (
        poked("rho0_sgz", [(1, 2, 3)], INF),
        ["rho0_sgz", "1 value", "inf", "(x=1, y=2, z=3)"],
    ),
    "negative density": (poked("rho0", [(0, 0, 0)], -7.5), ["rho0", "-7.5", "(x=0, y=0, z=0)", "above 0"]),
    "negative absorption": (poked("alpha_coeff", [(2, 2, 2)], -1), ["alpha_coeff", "-1", "(x=2, y=2, z=2)"]),
    "NaN for the whole medium": (shaped("c0", real(NAN)), ["c0 (sound speed) = nan"]),
    "zero for the whole medium": (shaped("rho0", real(0)), ["rho0", "0", "above 0"]),
    "NaN in the signal": (
        lambda case: case.datasets["p_source_input"].__setitem__((0, 5, 0), NAN),
        ["p_source_input", "1 value", "first nan at time point 6"],
    ),
    "sensor at 0": (points(5, 0, 7), ["sensor_mask_index", "0 at position 2", f"1 to {VOLUME}"]),
    "sensor beyond the grid": (
        points(1, 2, VOLUME + 1),
        ["sensor_mask_index", f"{VOLUME + 1} at position 3", f"1 to {VOLUME}"],
    ),
    "sensor far beyond": (points(2**64 - 1), ["sensor_mask_index", str(2**64 - 1)]),
    "no sensor": (points(), ["sensor_mask_index", "empty"]),
    "no cuboid": (
        shaped("sensor_mask_corners", np.zeros((1, 0, 6), "<u8")),
        ["sensor_mask_corners", "empty", "cuboid"],
    ),
    "cuboid outside": (cuboid(1, 1, 1, NX + 1, 2, 2), ["cuboid 1", f"1 to {NX + 1}", "along x", f"<= {NX}"]),
    "cuboid reversed": (cuboid(1, 9, 1, 2, 8, 2), ["cuboid 1", "9 to 8", "along y"]),
    "cuboid from 0": (cuboid(1, 1, 0, 2, 2, 2), ["cuboid 1", "0 to 2", "along z"]),
    "cuboid of five": (cuboid(1, 1, 1, 2, 2), ["sensor_mask_corners", "5", "x1 y1 z1 x2 y2 z2"]),
    "source at 0": (sources_at(0), ["p_source_index", "0 at position 1"]),
    "source beyond the grid": (
        sources_at(1, VOLUME + 9),
        ["p_source_index", f"{VOLUME + 9} at position 2"],
    ),
    "no source point": (sources_at(), ["p_source_index", "empty"]),
    "unknown source mode": (having("p_source_mode", 3), ["p_source_mode = 3", "2 (additive)"]),
    "alpha_power 1": (having("alpha_power", 1), ["alpha_power = 1", "other than 1"]),
    "alpha_power 4": (having("alpha_power", 4), ["alpha_power = 4", "between 0 and 3"]),
    "layer too thick": (having("pml_y_size", NY // 2 + 1), ["pml_y_size = 11", f"0 to {NY // 2}"]),
    "layer far too thick": (having("pml_z_size", 2**63), ["pml_z_size", str(2**63)]),
    "no grid points": (having("Nx", 0), ["Nx = 0"]),
    "one plane of a volume": (having("Nz", 1), ["c0", f"({NZ}, {NY}, {NX})", f"(1, {NY}, {NX})"]),
    "giant grid": (having("Nx", 2**40), ["Nx", str(2**40)]),
    "other grid": (having("Nz", NZ + 1), ["c0", f"({NZ}, {NY}, {NX})", f"({NZ + 1}, {NY}, {NX})"]),
    "time step 0": (having("dt", 0), ["dt = 0", "above 0"]),
    "NaN spacing": (having("dx", NAN), ["dx = nan"]),
    "no steps": (having("Nt", 0), ["Nt = 0"]),
    "unknown mask": (having("sensor_mask_type", 2), ["sensor_mask_type = 2", "0 (points) or 1 (cuboids)"]),
    "unknown absorption": (
        having("absorbing_flag", 3),
        ["absorbing_flag = 3", "1 (power law) or 2 (Stokes)"],
    ),
    "uneven grid": (having("nonuniform_grid_flag", 1), ["nonuniform_grid_flag = 1", "uniform"]),
    "axisymmetric": (having("axisymmetric_flag", 1), ["axisymmetric_flag = 1", "Cartesian"]),
    "elastic": (adding(elastic_flag=long(1)), ["elastic_flag = 1", "fluids"]),
    "stress source": (adding(sxx_source_flag=long(9)), ["sxx_source_flag = 9", "fluids"]),
    "too many points": (
        lambda case: case.set("Nx", 2**20).set("Ny", 2**20).set("Nz", 2**20),
        ["Nx = 1048576", str(2**60), "2^44"],
    ),
    "more than this machine can hold": (homogeneous(2**14), [f"Nx = {2**14}", "TB", "machine"]),
    "too many steps": (having("Nt", 2**62), [f"Nt = {2**62}"]),
    "Stokes before 1.2": (lambda case: in_format(with_stokes(case), 1), ["absorbing_flag = 2", "1.1"]),
    "Stokes of another power": (
        lambda case: with_stokes(case).set("alpha_power", 1.5),
        ["alpha_power = 1.5 with absorbing_flag = 2", "Fix: 2"],
    ),
    "velocity flag alone": (
        having("ux_source_flag", 10),
        ["dataset u_source_index is missing", "u_source_mode", "u_source_many", "ux_source_input"],
    ),
    "velocity signal too short": (
        velocity(ux_source_input=real([burst(19)[:, None]])),
        ["ux_source_input has shape (1, 19, 1), 19 values", "20 values: ux_source_flag = 20"],
    ),
    "more velocity points than signals": (
        velocity(many=True, u_source_index=long([*source_points(GRID), 1])),
        ["ux_source_input", f"{20 * (POINTS + 1)} values", f"of {POINTS + 1} source points"],
    ),
    "NaN in a velocity signal": (
        velocity(uy_source_input=real([[[0], [0], [NAN], [INF]]])),
        ["uy_source_input: 2 values are not usable, first nan at time point 3"],
    ),
    "velocity source beyond the grid": (
        velocity(u_source_index=long([1, VOLUME + 1])),
        ["u_source_index", f"{VOLUME + 1} at position 2", f"1 to {VOLUME}"],
    ),
    "unknown velocity mode": (velocity(u_source_mode=long(7)), ["u_source_mode = 7"]),
    "transducer without delays": (transducer(delay_mask=None), ["dataset delay_mask is missing"]),
    "fewer delays than points": (
        transducer(delay_mask=long([1, 2])),
        ["delay_mask has 2 values", f"{POINTS}: one per point of u_source_index"],
    ),
    "delay of 0": (
        transducer(delay_mask=long([1] * (POINTS - 1) + [0])),
        ["delay_mask: 1 of", f"0 at position {POINTS}", "from 1 to 7"],
    ),
    "delay beyond the signal": (
        transducer(delay_mask=long([8] * POINTS)),
        [f"delay_mask: {POINTS} of {POINTS}", "8 at position 1", "from 1 to 7", "has 40 values"],
    ),
    "transducer signal too short": (
        transducer(transducer_source_input=real(burst(33))),
        ["transducer_source_input has 33 values", "at least 34: transducer_source_flag = 34"],
    ),
    "delays as float": (transducer(delay_mask=real([1] * POINTS)), ["delay_mask holds 32-bit float"]),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> dict[str, tuple[jobs.Ended, Path]]:
    """What the program says to each of the spoilt inputs, run as k-Wave's binaries are."""
    directory = tmp_path_factory.mktemp("spoilt")

    def answer(number: int, spoil: Spoil) -> tuple[jobs.Ended, Path]:
        case = small_input()
        spoil(case)
        path = case.write(directory / f"{number}.h5")
        return jobs.run("-i", path, "-o", path.with_suffix(".out"), "--quiet", limit_s=60), path

    spoils = enumerate(spoil for spoil, _ in SPOILT.values())
    return dict(zip(SPOILT, jobs.in_parallel([partial(answer, *item) for item in spoils], 6), strict=True))


@pytest.mark.parametrize("what", SPOILT)
def test_spoilt_input(what, answers):
    ended, path = answers[what]
    expected, message = SPOILT[what][1], ended.err
    assert ended.status == 1, ended
    assert not path.with_suffix(".out").exists()
    assert_clear(message, path)
    for words in expected:
        assert words in message, f"{words!r} is not in:\n{message}"


# Every kind of problem at once, on planes of different ranks; "Fix" of each is looked for by assert_clear.
MANY: list[Spoil] = [
    without("dt"),
    poked("c0", [(1, 2, 0), (3, 4, 9), (5, 6, 17)], NAN),
    poked("rho0", [(0, 0, 16)], -2),
    shaped("rho0_sgx", real(INF)),
    root_attribute("major_version", "3"),
    having("pml_x_size", 99),
    as_type("BonA", "<f8"),
    cuboid(5, 5, 5, 4, 99, 0),
    sources_at(0, 1),
    having("alpha_power", 1),
]
MANY_WORDS = [
    "dataset dt is missing",
    "c0 (sound speed): 3 values are not usable, first nan at (x=1, y=2, z=0)",
    "rho0 (density): 1 value is not usable, first -2 at (x=0, y=0, z=16)",
    "rho0_sgx (density at x velocity points) = inf",
    'major_version = "3"',
    "pml_x_size = 99",
    "dataset BonA holds 64-bit float",
    "along x",
    "along y",
    "along z",
    "p_source_index",
    "alpha_power = 1",
]


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> Path:
    case = small_input()
    for spoil in MANY:
        spoil(case)
    return case.write(tmp_path_factory.mktemp("bad") / "many.h5")


def test_all_problems_in_one_message(many, tmp_path):
    message = refused(many, tmp_path)
    assert f"{len(MANY_WORDS)} problems" in message
    for words in MANY_WORDS:
        assert words in message, f"{words!r} is not in:\n{message}"


def test_same_message_on_every_number_of_ranks(many, tmp_path):
    alone = jobs.run("-i", many, "-o", tmp_path / "out.h5", "--quiet").err
    for ranks in (1, 3):
        ended = jobs.run("-i", many, "-o", tmp_path / "out.h5", "--quiet", ranks=ranks, limit_s=30)
        assert ended.status != 0, ended
        assert said_by_program(ended.err) == said_by_program(alone)
        assert ended.err.count("tailrace-ultrasound: ") == 1, ended
    spoilt = small_input()
    spoilt.datasets["p_source_input"][0, 7, 0] = INF
    path = spoilt.write(tmp_path / "signal.h5")
    ended = jobs.run("-i", path, "-o", tmp_path / "out.h5", "--quiet", ranks=3, limit_s=30)
    assert "p_source_input: 1 value is not usable, first inf at time point 8" in ended.err
    assert not (tmp_path / "out.h5").exists()


def said_by_program(text: str) -> list[str]:
    """The lines of a message, without what a launcher adds to them."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("tailrace-ultrasound: "))
    return [line for line in lines[start:] if "Fix: " in line or line.endswith("problems")]


def test_case_mode_and_command_refuse_it_with_2_and_make_nothing(many, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    toml = write_case(tmp_path, many)
    for case in (toml, many):
        alone = jobs.run("--case", case, "--out", "made", "--quiet")
        assert alone.status == 2, alone
        assert_clear(alone.err, many)
    ended = jobs.run("--case", toml, "--out", "made", "--quiet", ranks=3)
    assert ended.status == 2, ended
    ended = command.tailrace("run", toml, "--out", "made", "-n", "3")
    assert ended.status == 2, ended
    assert_clear(ended.err, many)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["case.toml"]


def test_old_output_and_old_run_directory_stay_as_they_are(small, many, tmp_path):
    output, old = tmp_path / "out.h5", tmp_path / "old"
    output.write_text("precious")
    old.mkdir()
    (old / "run.json").write_text("{}")
    assert jobs.run("-i", many, "-o", output, "--quiet").status == 1
    assert output.read_text() == "precious"
    bad, good = write_case(tmp_path, many), tmp_path / "good.toml"
    shutil.copy(write_case(tmp_path, small), good)
    write_case(tmp_path, many)
    for case, options in ((good, []), (bad, []), (bad, ["--overwrite"])):
        for refuse in (
            jobs.run("--case", case, "--out", old, "--quiet", *options),
            command.tailrace("run", case, "--out", old, *options),
        ):
            assert refuse.status == 2, refuse
            assert refuse.err.count("Fix: ") + refuse.err.count("--overwrite") >= 1
            assert sorted(path.name for path in old.iterdir()) == ["run.json"]
            assert (old / "run.json").read_text() == "{}"


def test_refused_values_do_not_cost_a_valid_input_its_run(tmp_path):
    """What lies at the very edge of what is accepted runs."""
    case = small_input(steps=3)
    case.set("pml_y_size", NY // 2).set("alpha_power", 2.9)
    case.datasets["alpha_coeff"] = real(0)
    case.datasets["sensor_mask_corners"] = np.array([1, 1, 1, NX, NY, NZ], "<u8").reshape(1, 1, 6)
    path = case.write(tmp_path / "edge.h5")
    ended = jobs.run("-i", path, "-o", tmp_path / "out.h5", "--quiet", "-s", 3)
    assert ended.status == 0, ended
