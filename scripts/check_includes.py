#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the directions of #include between modules: check_includes.py [ROOT].

A module may use its own files and those of the modules listed for it below, and nothing of a simulation. A
simulation may use the library and no other simulation. Within a module that is divided into rooms, a room
may use those of lower levels. What is installed uses only what is installed: headers of ring 1, those of
ring 1; headers of ring 2, the frame in include/tailrace/run, both. Include cycles between files are errors
too. Prints one line per violation and exits with 1 when there is one.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LEVELS = (
    ("base",),
    ("mpi", "h5", "trace", "device"),
    ("layout", "tasks", "am"),
    ("exchange", "output", "checkpoint", "fragments"),
    ("run",),
)
# Edges within a level.
EXTRA = {
    "mpi": {"trace"},
    "h5": {"trace"},
    "device": {"trace"},
    "checkpoint": {"output"},
    "fragments": {"checkpoint"},
}
# The rooms of a module: directories below src/MODULE, lowest level first. Those of a level know no other.
ROOMS = {
    "output": (
        ("core",),
        ("sinks", "strategies"),
        ("sinks/hdf5_chunked",),
        ("registry",),
        ("planner",),
        ("session",),
    ),
}
# The modules of the headers that are directly in include/tailrace.
RING_1 = {
    "checkpoint": "checkpoint",
    "box": "base",
    "checkpoint_options": "checkpoint",
    "comm": "mpi",
    "decomposition": "layout",
    "dataset": "h5",
    "error": "base",
    "file_content": "output",
    "halo": "layout",
    "option_parser": "base",
    "output": "output",
    "resume": "output",
    "stream": "output",
    "tailrace": "run",
    "trace": "trace",
    "write_options": "output",
}

SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
LIBRARY = "library module"
SIMULATION = "simulation"


@dataclass(frozen=True)
class Include:
    """One #include line whose file is part of the repository."""

    source: Path
    line: int
    target: Path


def allowed_modules() -> dict[str, set[str]]:
    """For every module the modules it may use, itself included."""
    allowed: dict[str, set[str]] = {}
    below: set[str] = set()
    for level in LEVELS:
        for module in level:
            allowed[module] = {module} | below | EXTRA.get(module, set())
        below |= set(level)
    return allowed


def owner(path: Path, root: Path) -> tuple[str, str] | None:
    """(kind, name) of the module or simulation a file belongs to; None for tests, benchmarks and examples."""
    parts = path.relative_to(root).parts
    if parts[:2] == ("include", "tailrace"):
        module = parts[2] if len(parts) > 3 else RING_1.get(path.stem)
        return (LIBRARY, module) if module else None
    if parts[0] == "src" and len(parts) > 2:
        return LIBRARY, parts[1]
    if parts[0] == "sims" and len(parts) > 2:
        return SIMULATION, parts[1]
    return None


def room_level(path: Path, root: Path) -> tuple[int, str] | None:
    """(level, room) of a file whose module has rooms; level -1 if it is in none of them."""
    parts = path.relative_to(root).parts
    if parts[0] != "src" or parts[1] not in ROOMS:
        return None
    room = "/".join(parts[2:-1])
    levels = (number for number, level in enumerate(ROOMS[parts[1]]) if room in level)
    return next(levels, -1), room


def upward(include: Include, root: Path) -> str | None:
    """Why an include between rooms of one module is not allowed, or None."""
    user, used = room_level(include.source, root), room_level(include.target, root)
    if user is None or used is None or user[1] == used[1] or used[0] < user[0]:
        return None
    return f"the room {user[1]} uses the room {used[1]}, which is not below it"


def ring(path: Path, root: Path) -> int:
    """1 for installed headers, 2 for those of the frame, 3 for what is not installed."""
    parts = path.relative_to(root).parts
    return 3 if parts[0] != "include" else 2 if parts[2] == "run" else 1


def outward(include: Include, root: Path) -> str | None:
    """Why an installed header may not include another one, or None."""
    user, used = ring(include.source, root), ring(include.target, root)
    if user == 3 or used <= user:
        return None
    return f"a header of ring {user} uses {include.target.relative_to(root)}, which is of ring {used}"


def source_files(root: Path) -> Iterator[Path]:
    for top in ("include", "src", "sims"):
        yield from sorted(path for path in (root / top).rglob("*") if path.suffix in SUFFIXES)


def includes_of(source: Path, root: Path) -> Iterator[Include]:
    """The includes of a file that name files of the repository, found as the compiler would."""
    for number, text in enumerate(source.read_text(encoding="utf-8").splitlines(), start=1):
        match = INCLUDE.match(text)
        if match is None:
            continue
        name = match[1] or match[2]
        places = [source.parent] if match[1] else []
        for place in [*places, root / "include", root / "src", root / "sims", root]:
            target = (place / name).resolve()
            if target.is_file() and target.is_relative_to(root):
                yield Include(source, number, target)
                break


def forbidden(include: Include, root: Path, allowed: dict[str, set[str]]) -> str | None:
    """Why an include is not allowed, or None."""
    user, used = owner(include.source, root), owner(include.target, root)
    if user is None:
        return None
    if user == used:
        return upward(include, root)
    if used is None:
        return f"{user[1]} uses {include.target.relative_to(root)}, which belongs to no module"
    if used[0] == SIMULATION:
        return f"the {user[0]} {user[1]} uses the simulation {used[1]}"
    if user[0] == LIBRARY and used[1] not in allowed.get(user[1], set()):
        return f"{user[1]} uses {used[1]} (it may use: {', '.join(sorted(allowed.get(user[1], set())))})"
    return None


def unknown_modules(files: list[Path], root: Path, allowed: dict[str, set[str]]) -> list[str]:
    owners = {owner(path, root) for path in files} - {None}
    names = sorted(name for kind, name in owners if kind == LIBRARY and name not in allowed)
    return [f"{name}: this module is missing in the table of scripts/check_includes.py" for name in names]


def without_room(files: list[Path], root: Path) -> list[str]:
    placed = ((path.relative_to(root), room_level(path, root)) for path in files)
    return [
        f"{path}: {path.parent} is no room of its module" for path, room in placed if room and room[0] < 0
    ]


def find_cycle(edges: dict[Path, list[Path]]) -> list[Path]:
    """A cycle of including files, first file repeated at the end; empty when there is none."""
    done: set[Path] = set()

    def visit(path: Path, trail: list[Path]) -> list[Path]:
        if path in trail:
            return [*trail[trail.index(path) :], path]
        if path in done:
            return []
        for target in edges.get(path, []):
            if cycle := visit(target, [*trail, path]):
                return cycle
        done.add(path)
        return []

    for path in edges:
        if cycle := visit(path, []):
            return cycle
    return []


def violations(root: Path) -> list[str]:
    allowed = allowed_modules()
    files = list(source_files(root))
    found = unknown_modules(files, root, allowed) + without_room(files, root)
    edges: dict[Path, list[Path]] = {}
    for path in files:
        for include in includes_of(path, root):
            edges.setdefault(path, []).append(include.target)
            if reason := forbidden(include, root, allowed) or outward(include, root):
                found.append(f"{path.relative_to(root)}:{include.line}: {reason}")
    if cycle := find_cycle(edges):
        found.append("include cycle: " + " -> ".join(str(path.relative_to(root)) for path in cycle))
    return found


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    found = violations(root)
    for line in found:
        print(line)
    print(f"check_includes: {len(list(source_files(root)))} files, {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
