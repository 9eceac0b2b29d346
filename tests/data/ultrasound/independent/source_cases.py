# SPDX-License-Identifier: BSD-3-Clause
"""Cases of every source: pressure, velocity and transducer, alone and together, in every mode."""

import numpy as np

import small_inputs as make
from case import BOX, NOT_IN_PACKAGE, SERIES, Case, assembled, no, patch, signals
from small_inputs import Grid, burst


def velocity_sources() -> list[Case]:
    grid = Grid((24, 20, 18), steps=70, spacing=(1e-4, 1.1e-4, 1.25e-4), pml_size=(5, 4, 3))
    cases = []
    for mode in make.MODES:
        for many in (False, True):
            media = make.tissue(grid) if many else make.medium(grid, 1540.0, 1060.0)
            where = patch(grid, -5, 2)
            columns = int(where.sum())
            forms = [(60, 0), (40, 3), (25, 5)]
            shapes = [signals(columns, n) if many else burst(n, delay=d) for n, d in forms]
            source = make.velocity_source(
                grid, media, where, mode, ux=shapes[0], uy=0.7 * shapes[1], uz=shapes[2]
            )
            cases.append(
                Case(
                    f"velocity_{mode}_{'many' if many else 'one'}",
                    f"velocity source, {mode.replace('_', ' ')}, {'many signals' if many else 'one signal'} "
                    "for each component, of different lengths",
                    grid,
                    assembled(grid, media, make.sensor_points(grid, 10, seed=4), source),
                    SERIES,
                    {f"no u{axis}": no(f"u{axis}_source_flag") for axis in "xyz"},
                )
            )
    return cases


def one_component() -> list[Case]:
    """Sources of one component only, as front ends write them."""
    cases = []
    for axis, mode in (("y", "dirichlet"), ("z", "additive")):
        media = make.medium(BOX)
        source = make.velocity_source(BOX, media, patch(BOX, -4, 2), mode, **{f"u{axis}": burst(50)})
        cases.append(
            Case(
                f"velocity_only_{axis}",
                f"velocity source with a {axis} component only, {mode}",
                BOX,
                assembled(BOX, media, make.sensor_points(BOX, 12, seed=5), source),
                ["--u_raw"],
                {"none": no(f"u{axis}_source_flag")},
            )
        )
    return cases


def pressure_sources() -> list[Case]:
    where = patch(BOX)
    forms = [
        ("additive", False),
        ("additive_no_correction", False),
        ("additive_no_correction", True),
        ("dirichlet", True),
    ]
    cases = []
    for mode, many in forms:
        media = make.tissue(BOX, alpha=0.8, power=1.3) if many else make.medium(BOX)
        # One signal lasts longer than the run.
        shape = signals(where.sum(), 50) if many else burst(BOX.steps + 20)
        source = make.pressure_source(BOX, media, where, mode, shape)
        cases.append(
            Case(
                f"pressure_{mode}_{'many' if many else 'one'}",
                f"pressure source, {mode.replace('_', ' ')}, {'many signals' if many else 'one signal'}",
                BOX,
                assembled(BOX, media, make.sensor_points(BOX, 10, seed=6), source),
                SERIES,
                {"other mode": {"p_source_mode": make.long(2 if mode != "additive" else 1)}},
            )
        )
    return cases


def several_sources() -> list[Case]:
    grid = Grid((23, 20, 18), steps=70)
    media = make.tissue(grid, b_on_a=6.0, alpha=0.75, power=1.4)
    sensors = make.sensor_points(grid, 10, seed=7)
    where = patch(grid)
    pressure = make.pressure_source(grid, media, where, "additive", signals(where.sum(), 50))
    velocity = make.velocity_source(
        grid, make.medium(grid), patch(grid, 5, 2), "dirichlet", uy=burst(40), uz=burst(55)
    )
    initial = make.initial_pressure(grid, 5e5)
    parts = {
        "velocity_and_pressure": (pressure, velocity),
        "initial_pressure_and_pressure_source": (initial, pressure),
        "initial_pressure_and_velocity_source": (initial, velocity),
    }
    flags = ("p_source_flag", "uy_source_flag", "uz_source_flag", "p0_source_flag")
    cases = []
    for name, sources in parts.items():
        table = assembled(grid, media, sensors, *sources)
        without = {f"no {flag}": no(flag) for flag in flags if table[flag][0, 0, 0]}
        text = name.replace("_", " ") + " together, heterogeneous, non-linear, power law"
        cases.append(Case(name, text, grid, table, SERIES, without))
    return cases


def transducers() -> list[Case]:
    cases = []
    where = patch(BOX)
    elements = np.arange(int(where.sum()))
    for name, delays in (
        ("transducer", elements % 7 * 2 + elements // 7),
        ("transducer_no_delay", 0 * elements),
    ):
        media = make.tissue(BOX, b_on_a=6.0, alpha=0.75, power=1.5)
        source = make.transducer(BOX, where, burst(65), delays)
        table = assembled(BOX, media, make.sensor_points(BOX, 10, seed=8), source)
        without = {"no transducer": no("transducer_source_flag")}
        if delays.any():
            without["no delays"] = {"delay_mask": make.indices(0 * elements + 1)}
        cases.append(
            Case(
                name,
                "transducer source: one signal, delayed or not, heterogeneous, non-linear, power law",
                BOX,
                table,
                SERIES,
                without,
                [NOT_IN_PACKAGE + "the transducer source (in the place of the package's source of ux)"],
            )
        )
    return cases
