# SPDX-License-Identifier: BSD-3-Clause
"""Case files of each simulation with something changed at random: a refusal that says what to do, or a run;
never a crash, a hang or an unknown key that is passed over.
"""

import copy
import json
import random
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import jobs
from kwave_input import small_input
from test_heat import CASE as HEAT

ULTRASOUND = """
[case]
simulation = "ultrasound"
title = "A burst"
[input]
file = "small.h5"
[time]
steps = 5
[record]
start = 2
p_raw = true
u_max = true
[write]
strategy = "threads"
buffers = 2
[[output]]
name = "snap"
quantity = "p"
every = 2
pml = "excluded"
select = {box = [[1, 2, 3], [4, 5, 6]]}
"""
SEISMIC = """
[case]
simulation = "seismic"
[domain]
cells = [12, 12, 12]
spacing_m = [10, 10, 10]
[time]
dt_s = 0.001
steps = 5
[model]
equations = "tti"
vp_m_s = 2000.0
epsilon = 0.2
delta = 0.1
dip_rad = 0.3
azimuth_rad = 0.1
sigma = 0.75
[source]
wavelet = "ricker"
fcut_hz = 40.0
cell = [6, 6, 6]
[boundary]
kind = "sponge"
width = 3
[[output]]
name = "section"
quantity = "p"
select = {plane = {y = 6}}
every_s = 0.002
[[output]]
name = "traces"
quantity = "p"
every = 1
select = {points = [[2, 6, 2], [4, 6, 2]]}
[receivers]
segy = ["traces"]
[checkpoint]
every = 3
"""
MOLECULES = """
[case]
simulation = "molecules"
[domain]
length = [9.0, 10.0, 11.0]
[time]
dt = 0.002
steps = 5
[[component]]
name = "dumbbell"
lj = [{place = [0.0, 0.0, -0.2], mass = 1.0, epsilon = 1.0, sigma = 1.0},
  {place = [0.0, 0.0, 0.2], mass = 1.0, epsilon = 0.5, sigma = 0.9}]
charge = [{place = [0.0, 0.0, 0.0], charge = 0.1}, {place = [0.0, 0.0, 0.1], charge = -0.1}]
[model]
cutoff = 2.5
[start]
kind = "lattice"
density = 0.2
temperature = 1.0
seed = 3
[thermostat]
kind = "velocity_scaling"
temperature = 1.0
[decomposition]
kind = "kd"
every = 2
[[output]]
name = "obs"
quantity = "observables"
every = 1
initial = true
[[output]]
name = "density"
quantity = "density"
bins = [3, 3, 3]
first = 2
every = 2
reduce = "mean"
[[writer]]
name = "XyzWriter"
every = 2
prefix = "xyz"
[checkpoint]
every = 3
"""
REHEARSE = """
[case]
simulation = "rehearse"
[domain]
cells = [8, 9, 10]
[time]
steps = 5
[rehearse]
compute = "matmul"
compute_ms = 1
verify = true
[write]
strategy = "leaders:1"
[[output]]
name = "snap"
quantity = "v"
every = 2
type = "float64"
on_failure = "drop"
[[output]]
name = "sensors"
quantity = "v"
at = [1, 3]
select = {points = [[1, 2, 3], [4, 5, 6]]}
[checkpoint]
every = 2
keep = 2
"""
CASES = {
    "ultrasound": ULTRASOUND, "seismic": SEISMIC, "molecules": MOLECULES, "rehearse": REHEARSE,
} | ({"heat": HEAT} if jobs.HEAT else {})  # fmt: skip
EXTREMES = [0, -1, 1, 2, 3.5, -0.0, 1e-300, 1e30, 1e300, 2**31, 2**53, 2**62, 2**63 - 1, -(2**63)]
NO_NUMBERS = [float("nan"), float("inf"), float("-inf")]
OTHER_TYPES = [{"a": 1}, [[[1]]], [{"b": 2}], "", "text", "../x", [], True, -7]
WORDS = [
    "",
    "none",
    "all",
    "p",
    "auto",
    "x" * 5000,
    "a/b",
    "../../x",
    "\u00e9\u4e16",
    "a\nb",
    "%s%n",
    "tailrace",
]


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return str(value) if isinstance(value, float) else json.dumps(value)


def document(case: dict[str, Any]) -> str:
    return "".join(f"{key} = {toml(value)}\n" for key, value in case.items())


Place = tuple[Any, Any]
"""What holds a value, a table or a list, and the key or index of the value there."""


def places(inside: Any, wanted: Callable[[Any], bool]) -> Iterator[Place]:
    """The places of all values of a kind, at any depth; not those that say which simulation it is."""
    entries = inside.items() if isinstance(inside, dict) else enumerate(inside)
    for key, value in entries:
        if key == "simulation":
            continue
        if wanted(value):
            yield inside, key
        if isinstance(value, dict | list):
            yield from places(value, wanted)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def put(case: dict[str, Any], choose: random.Random, wanted: Callable[[Any], bool], values: list) -> None:
    inside, key = choose.choice(list(places(case, wanted)))
    inside[key] = copy.deepcopy(choose.choice(values))


def put_no_number(case: dict[str, Any], choose: random.Random) -> None:
    put(case, choose, is_number, NO_NUMBERS)


def put_a_table(case: dict[str, Any], choose: random.Random) -> None:
    put(case, choose, lambda value: not isinstance(value, dict | list), [{"a": 1}, [[[[1]]]]])


def rename(case: dict[str, Any], choose: random.Random) -> None:
    tables = [case, *(inside[key] for inside, key in places(case, lambda value: isinstance(value, dict)))]
    table = choose.choice([table for table in tables if set(table) - {"case", "simulation"}])
    key = choose.choice(sorted(set(table) - {"case", "simulation"}))
    table[choose.choice([key + "x", key[:-1] + "_", key.upper()])] = table.pop(key)


def put_an_extreme(case: dict[str, Any], choose: random.Random) -> None:
    put(case, choose, is_number, EXTREMES)


def nudge(case: dict[str, Any], choose: random.Random) -> None:
    inside, key = choose.choice(list(places(case, is_number)))
    inside[key] = choose.choice([inside[key] + 1, inside[key] - 1, inside[key] * 2, -inside[key]])


def put_another_type(case: dict[str, Any], choose: random.Random) -> None:
    put(case, choose, lambda _: True, OTHER_TYPES)


def put_another_word(case: dict[str, Any], choose: random.Random) -> None:
    put(case, choose, lambda value: isinstance(value, str), WORDS)


def remove(case: dict[str, Any], choose: random.Random) -> None:
    inside, key = choose.choice(list(places(case, lambda _: True)))
    del inside[key]


def double(case: dict[str, Any], choose: random.Random) -> None:
    inside, key = choose.choice(list(places(case, lambda value: isinstance(value, list) and bool(value))))
    inside[key].append(copy.deepcopy(choose.choice(inside[key])))


REFUSED = [put_no_number, put_a_table, rename]
OPEN = [nudge, nudge, put_an_extreme, put_an_extreme, put_another_type, put_another_word, remove, double]


@dataclass(frozen=True)
class Mutant:
    """A changed case, what was done to it, and whether that must be refused."""

    simulation: str
    text: str
    done: str
    refused: bool


def mutant(seed: int) -> Mutant:
    choose = random.Random(seed)
    simulation = list(CASES)[seed % len(CASES)]
    case = tomllib.loads(CASES[simulation])
    changes = (
        [choose.choice(REFUSED)]
        if choose.random() < 0.3
        else choose.choices(OPEN, k=choose.choice([1, 1, 2]))
    )
    for change in changes:
        change(case, choose)
    text, done = document(case), [change.__name__ for change in changes]
    if choose.random() < 0.1:
        at = choose.randrange(len(text))
        return Mutant(
            simulation, text[:at] + choose.choice('"[]{}=\0\x80,.') + text[at + 1 :], "a character", False
        )
    return Mutant(simulation, text, ", ".join(done), changes[0] in REFUSED)


def is_small(text: str) -> bool:
    """Whether a run of an accepted case is short, whatever it says: no number is large."""
    case = tomllib.loads(text)
    return all(abs(inside[key]) <= 50 for inside, key in places(case, is_number))


def check(directory: Path, seed: int) -> str:
    """Looks at one mutant, alone and, if it is accepted and small, as a run; returns what became of it."""
    changed = mutant(seed)
    place = directory / str(seed)
    place.mkdir()
    (place / "small.h5").symlink_to(directory / "small.h5")
    (place / "case.toml").write_text(changed.text, encoding="utf-8")
    program = [str(jobs.PROGRAM.with_name(f"tailrace-{changed.simulation}"))]
    words = ["--case", place / "case.toml", "--out", place / "run", "--quiet"]
    ended = jobs.Job([*words, "--check"], command=program, limit_s=60).wait()
    about = f"seed {seed}: {changed.done}\n{changed.text}\n{ended}"
    assert ended.status in ((2,) if changed.refused else (0, 2)), about
    assert sorted(path.name for path in place.iterdir()) == ["case.toml", "small.h5"], about
    if ended.status == 2:
        assert ended.err.startswith(f"tailrace-{changed.simulation}: "), about
        assert ". Fix: " in ended.err, about
        return "refused"
    if not is_small(changed.text):
        return "accepted"
    ended = jobs.Job(words, 1 + seed % 2, command=program, limit_s=60).wait()
    about = f"seed {seed}: {changed.done}\n{changed.text}\n{ended}"
    assert ended.status in (0, 3), about  # what flies apart ends with 3
    assert ended.status == 0 or jobs.account(place / "run")["error"]["message"], about
    return "run"


def check_all(directory: Path, first: int, count: int) -> dict[str, int]:
    small_input().write(directory / "small.h5")
    found = jobs.in_parallel([partial(check, directory, seed) for seed in range(first, first + count)])
    return {what: found.count(what) for what in sorted(set(found))}


def test_changed_cases_are_refused_or_run(tmp_path):
    found = check_all(tmp_path, 0, 20)
    assert found["refused"] > 8 and found["run"] > 0


@pytest.mark.full
@pytest.mark.parametrize("batch", range(20))
def test_many_changed_cases_are_refused_or_run(tmp_path, batch):
    print(check_all(tmp_path, 1000 + 100 * batch, 100))
