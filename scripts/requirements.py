#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the Python requirements of pyproject.toml, one per line: requirements.py [EXTRA]..."""

import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def requirements(extras: list[str]) -> list[str]:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    return project["dependencies"] + [
        line for name in extras for line in project["optional-dependencies"][name]
    ]


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1:])))
