# SPDX-License-Identifier: BSD-3-Clause
"""Random programs of the fragment language print on several ranks what an evaluator of their trees prints.

Ranks are threads of one process; programs share it, each as a subroutine with a tag for its lines.
"""

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from fragment_bodies import IMPORTS, SOURCE, compiled_bodies
from fragment_cache import common_cache
from fragment_generator import Program
from native import needs
from tailrace.fragments.check import check_program
from tailrace.fragments.lower import lower
from tailrace.programs import find_program

pytestmark = needs("tailrace-fragments")
LIMIT_S = 120


@pytest.fixture(scope="module")
def bodies(tmp_path_factory) -> Path:
    """A shared object with all bodies."""
    place = tmp_path_factory.mktemp("bodies")
    program = IMPORTS + "sub main() { df x; set_int(1, x); show_int(1, x); }\n"
    return compiled_bodies(place, common_cache(tmp_path_factory), SOURCE, program)


def run(programs: list[Program], ranks: int, bodies: Path, place: Path) -> tuple[int, str, str]:
    """The exit status of a program that calls all of these, its standard output and its standard error."""
    calls = "".join(f"    {one.name}({one.argument});\n" for one in programs)
    source = place / "random.fa"
    source.write_text(IMPORTS + "".join(one.text() for one in programs) + f"sub main() {{\n{calls}}}\n")
    bound, problems = check_program(source)
    assert problems.errors == [], problems.steered("off").as_text()
    (place / "random.json").write_text(json.dumps(lower(bound)))
    words = [find_program("tailrace-fragments"), "--transport", f"local:{ranks}", "--bodies", bodies]
    done = subprocess.run(
        [*words, place / "random.json"],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        env=quiet(),
    )
    return done.returncode, done.stdout, done.stderr


def quiet() -> dict[str, str]:
    """Without the signs of a job, in which a test may run."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_COMM", "PMI"))}


def lines_by_tag(text: str) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for line in text.splitlines():
        found.setdefault(line.split(" ", 1)[0], Counter())[line] += 1
    return found


def compare(seeds: range, ranks: int, bodies: Path, place: Path) -> None:
    programs = [Program(tag, seed) for tag, seed in enumerate(seeds)]
    status, out, err = run(programs, ranks, bodies, place)
    seen = lines_by_tag(out)
    for one, seed in zip(programs, seeds, strict=True):
        expected, got = Counter(one.evaluated.lines), seen.get(str(one.tag), Counter())
        missing, too_many = expected - got, got - expected
        assert not missing and not too_many, (
            f"seed {seed}: {missing=} {too_many=}\n{one.text()}\n{err[:2000]}"
        )
    assert (status, err) == (0, ""), err[:3000]


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_random_programs_print_what_they_mean(tmp_path, bodies, first):
    compare(range(first, first + 100), 1 + first // 100 % 4, bodies, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("first", range(10_000, 110_000, 1000))
def test_many_random_programs_print_what_they_mean(tmp_path, bodies, first):
    for start in range(first, first + 1000, 50):
        compare(range(start, start + 50), 1 + start // 50 % 7, bodies, tmp_path)
