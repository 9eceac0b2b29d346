# SPDX-License-Identifier: BSD-3-Clause
"""The errors of the planner's predictions."""

from native import needs
from tailrace.programs import find_program
from tailrace_bench.planner_errors import describe, errors_of


@needs("tailrace-rehearse")
def test_errors_of_a_run():
    words = ["--steps", "40", "--cells", "32", "--compute-ms", "4", "--write", "auto"]
    errors = errors_of(find_program("tailrace-rehearse"), words, 1)
    assert errors and all(error > -1 for error in errors)


def test_description():
    text = describe([0.1, -0.2, 0.3])
    assert text == "3 predictions: median 20.0%, 90 % within 30.0%, worst 30.0%"
