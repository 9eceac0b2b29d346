# SPDX-License-Identifier: BSD-3-Clause
"""Messages between ranks through every adapter of the native part: each MPI and each place of the ranks by
itself, in turns.
"""

import json
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program
from tailrace.bench.stats import ratios, spread
from tailrace.console import CommandError
from tailrace.programs import launch_info
from tailrace_bench.network_peers import Peer, Times, check_peers, make_peer
from tailrace_bench.network_place import (
    PROGRAM,
    Place,
    check_hosts,
    programs_of,
    reason_against_links,
    start_words,
)
from tailrace_bench.network_rows import (
    BASE,
    BY_HAND,
    NONBLOCKING,
    PING_PONG,
    by_hand_rows,
    collective_rows,
    effective_bandwidth,
    group_rows,
    level_rows,
    loggp,
    make_rows,
    matrix_rows,
    overlap_row,
    protocol_of,
    rates,
)

PAIR, OVERLAP, PROTOCOL, GROUP, MATRIX, LEVELS = "pair", "overlap", "protocol", "group", "matrix", "levels"
TESTS = (PAIR, OVERLAP, PROTOCOL, GROUP, MATRIX, LEVELS, BY_HAND)
USUAL_TESTS = (PAIR, OVERLAP, PROTOCOL)
OF_ALL_RANKS = (GROUP, MATRIX)
ADAPTERS = (
    BASE, NONBLOCKING, "mpi-persistent", "mpi-probe", "mpi-put-flush", "node-memory", "heap", "am",
    "am-aggregated",
)  # fmt: skip
THREAD_LEVELS = ("single", "funnelled", "serialized", "multiple")
# Tests of all ranks are many, and more ranks than cores are slow.
GROUP_SIZES, GROUP_SHARE = (8, 4096, 65536), 5
LEVEL_SIZES, LEVEL_ROUNDS = (8,), 6
# Of several MPIs or places each is measured in so many parts, so that all have the same moments.
PARTS = 2
# Ours and a peer's program take turns so many times.
PEER_ROUNDS = 11


@dataclass(frozen=True)
class Request:
    """What to measure. `messages`: at most so many in a window; large ones are fewer. `ranks`: of the tests
    of all ranks. `adapters`: none means all. `mpis`: builds by the name of their MPI, or directories of
    programs; none: this build.
    """

    sizes: tuple[int, ...]
    windows: int
    messages: int
    peers: tuple[str, ...] = ()
    tests: tuple[str, ...] = (PAIR,)
    ranks: int = 2
    adapters: tuple[str, ...] = ()
    cycled: bool = False
    touched: bool = False
    mpis: tuple[str, ...] = ()
    delays_us: tuple[float, ...] = ()
    hosts: tuple[str, ...] = ()


@dataclass
class Setup:
    """One MPI with its ranks at one place, and what was measured there."""

    program: Path
    place: Place
    found: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    version: str = ""

    @property
    def name(self) -> str:
        return f"{launch_info(self.program).implementation}, {self.place.name}"


def measure(request: Request) -> dict[str, Any]:
    check_peers(request.peers)
    check_requested(request)
    check_hosts(request.hosts)
    watch, runner = Watch(), Runner()
    skipped = reason_against_links() if request.delays_us else None
    setups = make_setups(request, skipped is None)
    for setup in setups:
        if PROTOCOL in request.tests:
            run(runner, setup, request, PROTOCOL, ())
    for test in TESTS:
        if test in request.tests and test != PROTOCOL:
            run_in_turns(runner, setups, request, test)
    first = results(setups[0])
    document = make_document("network", asdict(request), watch, runner.commands)
    return document | {
        "setups": [results(setup) for setup in setups],
        "rates": rates(first["rows"]),
        "peers": peer_rows(request, runner, setups[0]),
        "skipped": f"links with a delay: {skipped}" if skipped else "",
    }


def check_requested(request: Request) -> None:
    """Raises CommandError for tests and adapters that leave nothing to compare with."""
    if request.peers and PAIR not in request.tests:
        name = request.peers[0]
        raise CommandError(f"--peer {name}: there is no ping-pong to compare with. Fix: add --test {PAIR}")
    if not request.adapters or BASE in request.adapters:
        return
    if request.peers or LEVELS in request.tests:
        what = f"--peer {request.peers[0]}" if request.peers else f"--test {LEVELS}"
        raise CommandError(f"--adapter: {what} measures {BASE}. Fix: add --adapter {BASE}")


def make_setups(request: Request, links: bool) -> list[Setup]:
    programs = [programs_of(mpi) for mpi in request.mpis] or [native_program(PROGRAM)]
    places = [Place(), *(Place(delay_us=delay) for delay in request.delays_us if links)]
    if request.hosts:
        places.append(Place(hosts=request.hosts))
    return [Setup(program, place) for program in programs for place in places]


def run_in_turns(runner: Runner, setups: list[Setup], request: Request, test: str) -> None:
    """In parts, the order turned round each time, if there are several setups."""
    parts = PARTS if len(setups) > 1 else 1
    for part in range(parts):
        for setup in setups if part % 2 == 0 else reversed(setups):
            if test in OF_ALL_RANKS and not setup.place.one_machine:
                continue
            windows = max(1, request.windows // (parts * (GROUP_SHARE if test in OF_ALL_RANKS else 1)))
            say(f"{test}: {setup.name}, {windows} windows")
            run(runner, setup, request, test, ("--windows", str(windows)))


def run(runner: Runner, setup: Setup, request: Request, test: str, words: Iterable[str]) -> None:
    """Adds rows to what was found; samples of the same row are put together."""
    if test == LEVELS:
        run_levels(runner, setup, request, [*words, "--tests", PAIR])
        return
    sizes = GROUP_SIZES if test in OF_ALL_RANKS else with_switches(request.sizes, setup)
    if test != PROTOCOL:
        words = [*words, *sizes_words(sizes), *message_words(request)]
    ranks = request.ranks if test in OF_ALL_RANKS else 2
    add_rows(setup.found.setdefault(test, []), start(runner, setup, ranks, ["--tests", test, *words]))


def run_levels(runner: Runner, setup: Setup, request: Request, words: list[str]) -> None:
    """A level of thread support is that of a whole process, so levels take turns by processes."""
    words = [*words, *sizes_words(LEVEL_SIZES), *message_words(request)]
    for _ in range(LEVEL_ROUNDS):
        for level in THREAD_LEVELS:
            more = start(runner, setup, 2, [*words, "--threads", level])
            add_rows(setup.found.setdefault(LEVELS, []), [row | {"level": level} for row in more])


def start(runner: Runner, setup: Setup, ranks: int, words: list[str]) -> list[dict[str, Any]]:
    with ExitStack() as stack:
        command = stack.enter_context(start_words(setup.program, ranks, setup.place))
        answer = json.loads(runner.run([*command, *words]).output)
    setup.version = answer["mpi"]
    return answer["rows"]


def sizes_words(sizes: Iterable[int]) -> list[str]:
    return ["--sizes", *map(str, sizes)]


def message_words(request: Request) -> list[str]:
    flags = [f"--{name}" for name in ("cycled", "touched") if getattr(request, name)]
    adapters = ["--adapters", *request.adapters] if request.adapters else []
    return ["--messages", str(request.messages), *flags, *adapters]


def with_switches(sizes: tuple[int, ...], setup: Setup) -> list[int]:
    """The sizes, and both sides of where this MPI changes its protocol, if that is within them."""
    eager = protocol_of(setup.found.get(PROTOCOL, [])).get("eager_bytes")
    between = [eager, eager + 1] if eager is not None and 0 <= eager < max(sizes) else []
    return sorted({*sizes, *between})


def add_rows(rows: list[dict[str, Any]], more: list[dict[str, Any]]) -> None:
    known = {identity(row): row for row in rows}
    for row in more:
        if (old := known.get(identity(row))) is None:
            rows.append(row)
            continue
        for name, value in row.items():
            if isinstance(value, list):
                old[name] = old[name] + value


def identity(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(key) for key in ("test", "adapter", "size", "ranks", "a", "b", "level"))


def results(setup: Setup) -> dict[str, Any]:
    found = setup.found
    rows = make_rows(found.get(PAIR, []))
    group = found.get(GROUP, [])
    return {
        "name": setup.name,
        "mpi": setup.version,
        "place": asdict(setup.place),
        "rows": rows,
        "loggp": loggp(rows),
        "overlap": [overlap_row(row) for row in found.get(OVERLAP, [])],
        "protocol": protocol_of(found.get(PROTOCOL, [])),
        "group": group_rows(group),
        "effective_bandwidth": effective_bandwidth(group),
        "collectives": collective_rows(group),
        "matrix": matrix_rows(found.get(MATRIX, [])),
        "levels": level_rows(found.get(LEVELS, [])),
        "by_hand": by_hand_rows(found.get(BY_HAND, [])),
    }


def peer_rows(request: Request, runner: Runner, setup: Setup) -> list[dict[str, Any]]:
    """Ping-pong of other programs beside ours of blocking MPI, at the sizes that both have. They take turns,
    and what the peer says of all that it has timed is computed from our windows, too.
    """
    found = []
    for text in request.peers:
        one = make_peer(text, launch_info(setup.program).implementation, request.messages * 10)
        rounds = [
            (one.times(runner, request.sizes), own_times(runner, setup, request, one))
            for _ in range(PEER_ROUNDS)
        ]
        for size in request.sizes:
            if all(size in theirs for theirs, _ in rounds):
                found.append(peer_row(one, size, [(theirs[size], ours[size]) for theirs, ours in rounds]))
    return found


def own_times(runner: Runner, setup: Setup, request: Request, beside: Peer) -> Times:
    words = ["--tests", PAIR, "--windows", str(request.windows), *sizes_words(request.sizes)]
    words += ["--messages", str(request.messages), "--adapters", BASE, *beside.words]
    rows = start(runner, setup, 2, words)
    return {row["size"]: row[beside.statistic] for row in make_rows(rows) if row["test"] == PING_PONG}


def peer_row(beside: Peer, size: int, rounds: list[tuple[float, float]]) -> dict[str, Any]:
    theirs, ours = ([pair[side] for pair in rounds] for side in (0, 1))
    return {
        "peer": beside.name,
        "size": size,
        "statistic": beside.statistic,
        "peer_s": spread(theirs).as_dict(),
        "ours_s": spread(ours).as_dict(),
        "ratio": ratios(ours, theirs).as_dict(),
    }
