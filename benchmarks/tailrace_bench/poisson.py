# SPDX-License-Identifier: BSD-3-Clause
"""Time per sweep of `poisson`, whose methods are fragment programs, against a plain MPI solver."""

import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.stats import ratios, spread
from tailrace.console import EXIT_RUN_FAILED, CommandError
from tailrace.programs import checkout_root

PROGRAM = "tailrace-bench-poisson"
EXAMPLE = "examples/poisson.toml"
# Both compute the same sweeps; sums in another order differ in the last bits.
MAX_DIFFERENCE = 1e-8
# The first round of a process maps its memory.
ROUNDS = 2


@dataclass(frozen=True)
class Case:
    """Unknowns, and those of a block, along x, y, z."""

    cells: tuple[int, int, int]
    blocks: tuple[int, int, int]

    @property
    def name(self) -> str:
        return f"{shape_text(self.cells)}/{shape_text(self.blocks)}"


@dataclass(frozen=True)
class Request:
    """What to measure; so many sweeps per round."""

    cases: tuple[Case, ...]
    methods: tuple[str, ...]
    layouts: tuple[tuple[int, int], ...]
    sweeps: int
    pairs: int
    slowed: bool = False
    """Beside the layouts, two ranks of which one has half of its core."""


@dataclass
class Found:
    """Of ranks x threads: seconds of a sweep in each repetition, by fragments and by the plain solver."""

    fragments_s: list[float] = field(default_factory=list)
    mpi_s: list[float] = field(default_factory=list)
    blocks: int = 0


def shape_text(numbers: tuple[int, int, int]) -> str:
    x, y, z = numbers
    return f"{x}x{y}" if z == 1 else f"{x}x{y}x{z}"


def parse_case(text: str) -> Case:
    """CELLS/BLOCKS, of two or three numbers each."""
    number = r"[1-9]\d*"
    shape = rf"({number}(?:x{number}){{1,2}})"
    found = re.fullmatch(rf"{shape}/{shape}", text)
    if found is None or found[1].count("x") != found[2].count("x"):
        raise CommandError(
            f"--case {text}: write cells and blocks like 512x512/128x128, or 48x48x48/16x16x16."
        )
    cells, blocks = (read_shape(part) for part in found.groups())
    return Case(cells, blocks)


def read_shape(text: str) -> tuple[int, int, int]:
    numbers = [int(word) for word in text.split("x")]
    x, y, z = [*numbers, 1][:3]
    return x, y, z


def usual_cases(quick: bool) -> tuple[Case, ...]:
    """Small blocks, odd ones, a flat domain, a large one in blocks of two sizes, boxes, and the example's."""
    names = ["64x64/16x16", "101x67/17x13"]
    if not quick:
        names += ["512x512/128x128", "1000x37/100x37", "2048x2048/128x128", "2048x2048/512x256"]
        names += ["48x48x48/16x16x16", "33x29x41/10x9x14"]
    return (*map(parse_case, names), *(() if quick else (example(),)))


def example() -> Case:
    """That of the example, whose blocks are the default."""
    root = checkout_root()
    assert root is not None
    case = tomllib.loads((root / EXAMPLE).read_text())
    shapes = (case["domain"]["cells"], case["solver"]["blocks"])
    return parse_case("/".join("x".join(map(str, shape)) for shape in shapes))


def measure(request: Request) -> dict[str, Any]:
    """The whole benchmark as a document."""
    watch, runner = Watch(), Runner()
    rows: list[dict[str, Any]] = []
    for case in request.cases:
        for method in request.methods:
            rows += measure_case(case, method, request, runner)
            if request.slowed:
                rows += measure_slowed(case, method, request, runner)
    document = make_document("poisson", asdict(request), watch, runner.commands)
    return document | {"rows": rows}


def measure_case(case: Case, method: str, request: Request, runner: Runner) -> list[dict[str, Any]]:
    """All layouts one after the other, repetition by repetition. The plain solver has ranks only: where
    fragments have threads, it runs on as many ranks as they have cores.
    """
    wanted = dict.fromkeys([*request.layouts, *((ranks * threads, 1) for ranks, threads in request.layouts)])
    found = {layout: Found() for layout in wanted}
    for repetition in range(request.pairs):
        say(f"{case.name}, {method}: repetition {repetition + 1} of {request.pairs}")
        for layout, one in found.items():
            add_run(one, case, method, layout, request.sweeps, runner)
    return [
        make_row(case, method, layout, found[layout], found[layout[0] * layout[1], 1], request.sweeps)
        for layout in request.layouts
    ]


def measure_slowed(case: Case, method: str, request: Request, runner: Runner) -> list[dict[str, Any]]:
    """Two ranks, the second with half of its core, without balance and with it: the shares of both solvers
    are equal, and those of fragments may change.
    """
    found = {balance: Found() for balance in ("off", "auto")}
    for repetition in range(request.pairs):
        say(f"{case.name}, {method}, a rank slowed: repetition {repetition + 1} of {request.pairs}")
        for balance, one in found.items():
            words = ["--slow-rank", "1", "--balance", balance]
            add_run(one, case, method, (2, 1), request.sweeps, runner, words)
    return [
        make_row(case, method, (2, 1), one, one, request.sweeps)
        | {"name": f"{case.name}, {method}, 2 x 1, one slowed, balance {balance}", "slowed": True}
        for balance, one in found.items()
    ]


def add_run(
    found: Found,
    case: Case,
    method: str,
    layout: tuple[int, int],
    sweeps: int,
    runner: Runner,
    more: Sequence[str] = (),
) -> None:
    ranks, threads = layout
    words = ["--cells", *map(str, case.cells), "--blocks", *map(str, case.blocks)]
    words += ["--method", method, "--sweeps", str(sweeps), "--rounds", str(ROUNDS), "-t", str(threads), *more]
    run = json.loads(runner.run(on_ranks(native_program(PROGRAM), ranks, threads, words), threads).output)
    if not run["difference"] <= MAX_DIFFERENCE * run["largest"]:
        apart = f"{run['difference']:.2g} of {run['largest']:.2g}"
        raise CommandError(f"{case.name}, {method}: both solutions are {apart} apart.", EXIT_RUN_FAILED)
    found.fragments_s.append(run["fragments_s"][-1] / sweeps)
    found.mpi_s.append(run["mpi_s"][-1] / sweeps)
    found.blocks = run["blocks"]


def make_row(
    case: Case, method: str, layout: tuple[int, int], found: Found, plain: Found, sweeps: int
) -> dict[str, Any]:
    ranks, threads = layout
    return {
        "name": f"{case.name}, {method}, {ranks} x {threads}",
        "cells": list(case.cells),
        "blocks": list(case.blocks),
        "block_count": found.blocks,
        "method": method,
        "ranks": ranks,
        "threads": threads,
        "sweeps": sweeps,
        "fragments_s": spread(found.fragments_s).as_dict(),
        "mpi_s": spread(plain.mpi_s).as_dict(),
        "ratio": ratios(found.fragments_s, plain.mpi_s).as_dict(),
    }
