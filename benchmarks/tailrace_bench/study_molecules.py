# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench checkpoint --study molecules`: the study of states of molecules in files, scaled down."""

import json
import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.stats import ratios, spread
from tailrace.console import CommandError
from tailrace_bench.checkpoint import FILES, PARTICLE_BYTES, Place, measure_headers, parents_of
from tailrace_bench.study_molecules_findings import SOURCE

PROGRAM = "tailrace-bench-formats"
OURS = "tailrace"
# Formats, and bytes of a molecule in their files, rounded up.
FORMATS = {
    "ascii": 360,
    "binary": 120,
    "netcdf": 124,
    "cells": 120,
    "fine-cells": 120,
    "mpi-restart": 124,
    OURS: 132,
}
# Bytes of a molecule in memory: where it is written from, where it is read into, and ids that are compared.
MEMORY_BYTES = 2 * 128 + 16
# Of all ranks together.
BUFFER_MIB, MIN_BUFFER_MIB = 512, 8
LIMIT_S = 4 * 3600.0


@dataclass(frozen=True)
class Request:
    """What to measure: about so many molecules, written and read by these numbers of ranks."""

    molecules: tuple[int, ...]
    ranks: tuple[int, ...]
    formats: tuple[str, ...]
    pairs: int
    headers: bool = True
    directory: Path | None = None


def measure(request: Request) -> dict[str, Any]:
    """The whole study as a document."""
    native_program(PROGRAM)
    watch, runner = Watch(), Runner(limit_s=LIMIT_S)
    rows: list[dict[str, Any]] = []
    with ExitStack() as stack:
        for parent, flushed in parents_of(request.directory):
            name = stack.enter_context(tempfile.TemporaryDirectory(prefix="tailrace-study-", dir=parent))
            place = Place(Path(name), flushed)
            for molecules in request.molecules:
                formats = formats_with_room(place, molecules, request.formats)
                for ranks in request.ranks if formats else ():
                    rows += measure_writers(runner, request, place, molecules, ranks, formats)
            if flushed and request.headers:
                headers = measure_headers(runner, request.ranks, request.pairs, place.directory)
    if not rows:
        raise CommandError("no state fits. Fix: give fewer --molecules, or another --dir.")
    settings = asdict(request) | {"directory": str(request.directory or tempfile.gettempdir())}
    document = make_document("study molecules", settings, watch, runner.commands)
    return document | {
        "title": "States of molecules in files: the reference study and ours",
        "subtitle": subtitle(document["machine"], request),
        "source": SOURCE,
        "rows": rows,
        "headers": headers if request.headers else [],
    }


def subtitle(machine: dict[str, Any], request: Request) -> str:
    return (
        f"{machine['processor']}, {machine['cores']} cores, on which up to {max(request.ranks)} ranks share; "
        f"{request.pairs} interleaved repetitions; every writer ends with a flush to the device, which costs "
        "nothing where files are in memory; files are read from the page cache"
    )


def formats_with_room(place: Place, molecules: int, formats: tuple[str, ...]) -> tuple[str, ...]:
    """Leaves out those whose files do not fit beside the plain one, or in memory beside the molecules."""
    free = shutil.disk_usage(place.directory).free
    memory = available_memory_bytes()

    def fits(name: str) -> bool:
        files = molecules * (FORMATS[name] + PARTICLE_BYTES)
        held = molecules * MEMORY_BYTES + (BUFFER_MIB << 20)
        return FILES * files // 2 <= free and held + (0 if place.flushed else files) <= memory

    chosen = tuple(name for name in formats if fits(name))
    if left := [name for name in formats if name not in chosen]:
        where = "on the device" if place.flushed else "in memory"
        say(f"{molecules} molecules, {where}: no room for {', '.join(left)}")
    return chosen


def available_memory_bytes(listing: Path = Path("/proc/meminfo")) -> int:
    words = dict(line.split(":") for line in listing.read_text().splitlines())
    return int(words["MemAvailable"].split()[0]) << 10


def measure_writers(
    runner: Runner, request: Request, place: Place, molecules: int, ranks: int, formats: tuple[str, ...]
) -> list[dict[str, Any]]:
    """One number of ranks that write, all formats one after the other; read by as many, and by the next
    number.
    """
    where = "flushed" if place.flushed else "in memory"
    say(f"{molecules} molecules, {where}, {ranks} ranks")
    readers = readers_of(ranks, request.ranks)
    words = ["--dir", str(place.directory), "--molecules", str(molecules), "--ranks", str(ranks)]
    words += ["--restart", *map(str, readers), "--formats", *formats, "--rounds", str(request.pairs)]
    words += ["--buffers", str(max(MIN_BUFFER_MIB, BUFFER_MIB // ranks))]
    found = json.loads(runner.run(on_ranks(native_program(PROGRAM), max(ranks, *readers), 1, words)).output)
    return [make_row(found, place, ranks, readers, name) for name in formats]


def readers_of(ranks: int, counts: tuple[int, ...]) -> list[int]:
    """As many, and another number: the next one, of the last one the first."""
    following = counts[(counts.index(ranks) + 1) % len(counts)]
    return list(dict.fromkeys((ranks, following)))


def make_row(
    found: dict[str, Any], place: Place, ranks: int, readers: list[int], name: str
) -> dict[str, Any]:
    """A format, written by so many ranks: rates are those of the plain file over its own."""
    samples = found["samples"]
    plain_write, plain_read = samples["plain/write"], samples["plain/read"]
    return {
        "molecules": found["molecules"],
        "flushed": place.flushed,
        "ranks": ranks,
        "format": name,
        "bytes": found["bytes"][name],
        "state_bytes": found["state_bytes"],
        "plain_write_s": spread(plain_write).as_dict(),
        "plain_read_s": spread(plain_read).as_dict(),
        "write_s": spread(samples[f"{name}/write"]).as_dict(),
        "handed_s": spread(samples[f"{name}/handed"]).as_dict(),
        "plain_over_write": ratios(plain_write, samples[f"{name}/write"]).as_dict(),
        "reads": {
            str(count): {
                "read_s": spread(samples[f"{name}/read/{count}"]).as_dict(),
                "plain_over_read": ratios(plain_read, samples[f"{name}/read/{count}"]).as_dict(),
                # Of the rank that reads most in proportion to what it keeps.
                "read_over_needed": max(samples[f"{name}/read/{count}/over_needed"]),
                "all_read_over_needed": max(samples[f"{name}/read/{count}/all_over_needed"]),
            }
            for count in readers
        },
    }
