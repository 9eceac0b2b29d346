# SPDX-License-Identifier: BSD-3-Clause
"""The parts of the package import one another in the order that ARCHITECTURE.md draws, never upward."""

import ast
from pathlib import Path

import tailrace

PACKAGE = Path(tailrace.__file__).parent
ARCHITECTURE = Path(__file__).resolve().parents[2] / "ARCHITECTURE.md"
PARTS = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}


def layers() -> dict[str, int]:
    """The number of the layer of each part, by the sketch: the lowest first."""
    sketch = ARCHITECTURE.read_text().split("## Inside the Python package")[1].split("```")[1]
    drawn = enumerate(sketch.split("<-"))
    return {name: number for number, layer in drawn for name in layer.replace(",", " ").split()}


def imported_by(path: Path) -> set[str]:
    """The parts that a module imports, wherever in it; the package itself is `tailrace`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name}" for name in names]
        for name in names:
            package, *inside = name.split(".")
            if package == "tailrace":
                found.add(inside[0] if inside and inside[0] in PARTS else package)
    return found


def test_every_part_is_drawn():
    assert layers().keys() == PARTS - {"__init__", "__main__"} | {"tailrace"}


def test_nothing_is_imported_from_above():
    drawn, upward = layers(), []
    for path in PACKAGE.rglob("*.py"):
        part = path.relative_to(PACKAGE).with_suffix("").parts[0]
        own = "tailrace" if part == "__init__" else part
        for other in imported_by(path) - {own} if own in drawn else ():
            upward += [] if drawn[other] < drawn[own] else [f"{own} imports {other}"]
    assert upward == []
