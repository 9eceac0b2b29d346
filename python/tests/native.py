# SPDX-License-Identifier: BSD-3-Clause
"""Tests that start the native programs."""

import os
from typing import NoReturn

import pytest

from tailrace.programs import find_program


def needs(*programs: str) -> pytest.MarkDecorator:
    """Leaves a test out where a program is not built, except on a CI machine: there it runs and fails."""
    missing = [name for name in programs if find_program(name) is None]
    return pytest.mark.skipif(
        bool(missing) and not os.environ.get("CI"), reason=f"{', '.join(missing)} not built"
    )


def cannot(reason: str) -> NoReturn:
    """Leaves the running test out because of what this machine lacks; a CI machine must have it all."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
