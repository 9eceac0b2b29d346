# SPDX-License-Identifier: BSD-3-Clause
"""The cases: what each input holds, and what is recorded of it."""

import numpy as np

import small_inputs as make
from case import BOX, NOT_IN_PACKAGE, PLANE, SERIES, Case, assembled, no, patch, signals
from older_formats import operators, shifts
from small_inputs import Grid, burst
from source_cases import one_component, pressure_sources, several_sources, transducers, velocity_sources


def two_dimensions() -> list[Case]:
    return [initial_pressure_2d(), heterogeneous_2d(), stokes_2d(), velocity_source_2d()]


def initial_pressure_2d() -> Case:
    media, sensors = make.medium(PLANE), make.sensor_points(PLANE, 15, seed=1)
    return Case(
        "2d_initial_pressure",
        "2D, homogeneous, lossless, initial pressure",
        PLANE,
        assembled(PLANE, media, sensors, make.initial_pressure(PLANE, 1e5)),
        [*SERIES, "--p_rms", "--p_max", "--p_min", "--u_rms", "--p_final", "--u_final"],
        {"no initial pressure": no("p0_source_flag")},
    )


def heterogeneous_2d() -> Case:
    grid = Grid((37, 31, 1), steps=90, pml_size=(5, 6, 0), pml_alpha=(2.0, 1.5, 0))
    media = make.tissue(grid, b_on_a=(5.0, 4.0), alpha=(0.5, 1.0), power=1.5)
    where = patch(grid, -10, 6)
    source = make.pressure_source(grid, media, where, "additive", signals(where.sum(), 70), 5e6)
    boxes = make.sensor_boxes((9, 8, 1, 16, 15, 1), (30, 1, 1, 30, 31, 1), (20, 16, 1, 20, 16, 1))
    return Case(
        "2d_heterogeneous_nonlinear",
        "2D, odd sizes, heterogeneous, non-linear, power law, additive source of many signals, boxes",
        grid,
        assembled(grid, media, boxes, source),
        ["-s", "31", "--p_raw", "--p_max", "--u_rms", "--p_min_all", "--p_final"],
        {"no absorption": no("absorbing_flag"), "linear": no("nonlinear_flag")},
    )


def stokes_2d() -> Case:
    media = make.tissue(PLANE, alpha=(3.0, 2.0), power=2)
    sensors = make.sensor_points(PLANE, 15, seed=1)
    source = make.pressure_source(
        PLANE, make.medium(PLANE), patch(PLANE, -14, 5), "dirichlet", burst(60), 1e6
    )
    return Case(
        "2d_stokes",
        "2D, heterogeneous, Stokes absorption, Dirichlet pressure source of one signal",
        PLANE,
        assembled(PLANE, media, sensors, source),
        [*SERIES, "--p_max_all"],
        {"no absorption": no("absorbing_flag")},
    )


def velocity_source_2d() -> Case:
    grid = Grid((40, 37, 1), steps=90, spacing=(1e-4, 1.3e-4, 0), pml_size=(5, 6, 0))
    media = make.tissue(grid)
    where = patch(grid, -8, 5)
    columns = where.sum()
    source = make.velocity_source(
        grid, media, where, "additive", ux=signals(columns, 60), uy=signals(columns, 45)[:, ::-1]
    )
    return Case(
        "2d_velocity_source",
        "2D, even and odd, unequal spacing, velocity source of many signals, non-staggered velocity",
        grid,
        assembled(grid, media, make.sensor_points(grid, 15, seed=2), source),
        [
            "--p_raw",
            "--u_non_staggered_raw",
            "--u_max",
            "--u_min",
            "--u_max_all",
            "--u_min_all",
            "--u_final",
        ],
        {"no ux": no("ux_source_flag"), "no uy": no("uy_source_flag")},
    )


def stokes() -> list[Case]:
    linear = make.medium(BOX, alpha=4.0, power=2)
    source = make.pressure_source(BOX, linear, patch(BOX), "additive", burst(60))
    nonlinear = make.tissue(BOX, b_on_a=(6.0, 3.0), alpha=(3.0, 2.0), power=2)
    where = patch(BOX)
    strong = make.pressure_source(BOX, nonlinear, where, "additive", signals(where.sum(), 60), 6e6)
    without = {"no absorption": no("absorbing_flag")}
    return [
        Case(
            "stokes_linear",
            "Stokes absorption, homogeneous, linear, additive pressure source of one signal",
            BOX,
            assembled(BOX, linear, make.sensor_points(BOX, 10, seed=3), source),
            [*SERIES, "--p_final"],
            without,
        ),
        Case(
            "stokes_nonlinear",
            "Stokes absorption, heterogeneous, non-linear, additive pressure source of many signals, boxes",
            BOX,
            assembled(BOX, nonlinear, make.sensor_boxes((8, 7, 6, 13, 11, 9), (1, 10, 9, 24, 10, 9)), strong),
            ["-s", "21", "--p_raw", "--p_rms", "--u_max", "--p_max_all"],
            without | {"linear": no("nonlinear_flag")},
        ),
    ]


def odd_grids() -> list[Case]:
    cases = []
    sizes = {"x": (23, 20, 18), "y": (24, 19, 18), "z": (24, 20, 17), "all": (23, 19, 17)}
    for name, points in sizes.items():
        grid = Grid(points, steps=60)
        media = make.tissue(grid, alpha=(0.5, 0.8), power=1.5)
        sensors = make.sensor_points(grid, 9, seed=9)
        arguments = [*SERIES, "--u_non_staggered_raw"] + (["--p_final"] if name == "all" else [])
        table = assembled(grid, media, sensors, make.initial_pressure(grid, 1e5))
        text = f"odd size in {name}, heterogeneous, power law, initial pressure, non-staggered velocity"
        cases.append(
            Case(f"odd_{name}", text, grid, table, arguments, {"no absorption": no("absorbing_flag")})
        )
    return cases


def intensities() -> list[Case]:
    cases = []
    forms = {
        "intensity_points": (BOX, make.sensor_points(BOX, 40, seed=10), "1", "points, even number of steps"),
        "intensity_boxes": (
            BOX,
            make.sensor_boxes((8, 6, 5, 17, 15, 13), (19, 3, 2, 19, 18, 16)),
            "22",
            "boxes, odd number of steps",
        ),
        "2d_intensity": (
            PLANE,
            make.sensor_boxes((10, 9, 1, 33, 30, 1)),
            "12",
            "2D, box, odd number of steps",
        ),
    }
    for name, (grid, sensors, start, text) in forms.items():
        media = make.tissue(grid, alpha=0.5, power=1.5)
        where = patch(grid)
        source = make.pressure_source(grid, media, where, "additive", signals(where.sum(), 70))
        cases.append(
            Case(
                name,
                f"average intensity and heat deposition: {text}",
                grid,
                assembled(grid, media, sensors, source),
                ["-s", start, "--I_avg", "--Q_term", "--p_max"],
                {"no absorption": no("absorbing_flag")},
                [
                    NOT_IN_PACKAGE
                    + "Q_term, minus the spectral divergence of the average intensity in the mask"
                ],
            )
        )
    return cases


def media_and_recording() -> list[Case]:
    inside = BOX.ball((3, -2, 1), 6)
    sensors, initial = make.sensor_points(BOX, 10, seed=11), make.initial_pressure(BOX, 3e6)
    media = {
        "medium_density_only": make.medium(
            BOX, 1500.0, 1000 + 200 * inside, b_on_a=6.0, alpha=0.7, power=1.7
        ),
        "medium_sound_speed_only": make.medium(BOX, 1500 + 150 * inside, alpha=0.7, power=0.7),
        "medium_absorption_only": make.medium(BOX, b_on_a=5 + 4 * inside, alpha=0.2 + 2 * inside, power=1.5),
        "medium_reference_speed": make.medium(BOX, c_ref=1700.0),
    }
    others = {
        "medium_density_only": {"one density": make.medium(BOX, b_on_a=6.0, alpha=0.7, power=1.7)},
        "medium_sound_speed_only": {"one speed": make.medium(BOX, alpha=0.7, power=0.7, c_ref=1650.0)},
        "medium_absorption_only": {"one coefficient": {"alpha_coeff": make.real(0.2)}},
        "medium_reference_speed": {"c_ref = c0": {"c_ref": make.real(1500.0)}},
    }
    return [
        Case(name, text_of(name), BOX, assembled(BOX, medium, sensors, initial), SERIES, others[name])
        for name, medium in media.items()
    ] + recording()


def recording() -> list[Case]:
    grid = Grid((17, 14, 13), steps=60, pml_size=(3, 5, 4), pml_alpha=(1.0, 2.5, 4.0))
    every = [
        f"--{stem}_{what}" for stem in "pu" for what in ("rms", "max", "min", "max_all", "min_all", "final")
    ]
    points = np.random.default_rng(12).integers(1, np.prod(grid.points), 12)
    plain = assembled(grid, make.medium(grid), make.sensor_list(points), make.initial_pressure(grid, 1e5))
    layers = {f"same strength in {axis}": {f"pml_{axis}_alpha": make.real(2.0)} for axis in "xyz"}
    repeated = make.sensor_list([*points[::-1], points[0], points[3], points[0]])
    return [
        Case(
            "reductions",
            "every reduction; thickness and strength of the layers differ",
            grid,
            plain,
            every,
            layers,
        ),
        Case(
            "sensors_unsorted",
            "sensor points neither sorted nor unique, nothing asked for but the start",
            grid,
            plain | repeated,
            ["-s", "21"],
            {},
        ),
    ]


def text_of(name: str) -> str:
    return {
        "medium_density_only": "heterogeneous density, the rest homogeneous, power law 1.7, initial pressure",
        "medium_sound_speed_only": "heterogeneous sound speed, one density, power law 0.7, initial pressure",
        "medium_absorption_only": "heterogeneous B/A and absorption coefficient, the rest homogeneous",
        "medium_reference_speed": "c_ref above the sound speed",
    }[name]


def formats() -> list[Case]:
    grid = Grid((20, 18, 15), steps=50)
    media = make.medium(grid, 1540.0, 1050.0, alpha=0.75, power=1.5)
    source = make.pressure_source(grid, media, patch(grid), "additive", burst(40))
    table = assembled(grid, media, make.sensor_points(grid, 10, seed=13), source)
    older = {name: values for name, values in table.items() if name != "axisymmetric_flag"}
    oldest = {name: values for name, values in older.items() if name != "sensor_mask_type"}
    without = {"no absorption": no("absorbing_flag")}
    shifted = [*SERIES, "--u_non_staggered_raw"]
    text = "input format {}, power law, additive pressure source"
    return [
        Case(
            "format_1_0",
            text.format("1.0"),
            grid,
            oldest | operators(grid, table),
            SERIES,
            without,
            minor="0",
        ),
        Case(
            "format_1_1",
            text.format("1.1, strings without a terminator"),
            grid,
            older | operators(grid, table) | shifts(grid),
            shifted,
            without,
            minor="1",
            padded=True,
        ),
        Case(
            "format_1_2",
            text.format("1.2, strings without a terminator"),
            grid,
            table,
            shifted,
            without,
            padded=True,
        ),
    ]


def all_cases() -> list[Case]:
    groups = (
        two_dimensions,
        stokes,
        velocity_sources,
        one_component,
        pressure_sources,
        several_sources,
        transducers,
        odd_grids,
        intensities,
        media_and_recording,
        formats,
    )
    return [case for group in groups for case in group()]
