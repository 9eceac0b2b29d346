# SPDX-License-Identifier: BSD-3-Clause
"""What the performance tools read, changed at random: traces of fragments and what is computed from them,
counts of messages, results of revisions, directories of asv. Each is either used or named as damaged; nothing
fails. Checksums are right, so that changes get past them. `full` makes a million.
"""

import copy
import io
import json
import math
import random
import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import fragment_traces
import trace_files
from tailrace.console import CommandError
from tailrace.fragment_profile.compare import compare
from tailrace.fragment_profile.profile import NoRecordsError, read_profile
from tailrace.fragment_profile.rules import findings
from tailrace.messages.balance import differences, matrix, over_time, summary
from tailrace.messages.classes import largest_size, parse_classes, shares
from tailrace.messages.counts import read_profile as read_counts
from tailrace.messages.pairs import profile_text, read_pairs
from tailrace.profile import read_rates
from tailrace.revisions import store
from tailrace.revisions.answers import compare_documents, exit_status, read_document, rows, steps_of
from tailrace.revisions.asv import read_asv
from tailrace.trace import format as trace_format
from tailrace.trace import read_run

Read = Callable[[Path, random.Random], None]
ODD = (
    None,
    -1,
    0,
    1,
    10**19,
    10**400,
    -0.5,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "0",
    "x",
    True,
    [],
    {},
    [[]],
)
ODD_BYTES = (b"\0" * 8, b"\xff" * 8, struct.pack("<d", float("nan")), struct.pack("<d", 1e300), b"\1\0\0\0")


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Each container below with each of its keys."""
    found = []
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
        found.append((tree, key))
        if isinstance(tree[key], dict | list):
            found += places(tree[key])
    return found


def changed(document: Any, chance: random.Random) -> str:
    """The JSON of a document with one to three changes; now and then with bytes that are wrong, too."""
    document = copy.deepcopy(document)
    for _ in range(chance.randint(1, 3)):
        if not (all_places := places(document)):
            break
        container, key = chance.choice(all_places)
        match chance.randrange(4):
            case 0:
                del container[key]
            case 1 if isinstance(container[key], int | float):
                container[key] = container[key] * chance.choice((-1, 0, 2, 1000))
            case 2 if isinstance(container, list):
                container.append(copy.deepcopy(container[key]))
            case _:
                container[key] = copy.deepcopy(chance.choice(ODD))
    text = json.dumps(document)
    if chance.random() < 0.1:
        at = chance.randrange(len(text))
        text = chance.choice((text[:at], text[:at] + chr(chance.randrange(1, 256)) + text[at + 1 :]))
    return text


def counts(rank: int) -> dict[str, Any]:
    """Of one of two ranks, which sent two messages and received them."""
    kinds = [
        {"group": group, "kind": kind, "messages": 5, "bytes": 2 * 8 + 300, "sizes": [[8, 2]],
         "classes": [[64, 127, 3, 300]]}
        for group, kind in (("sent", "MPI_Send"), ("received", "MPI_Recv"), ("one_sided", "MPI_Put"))
    ]  # fmt: skip
    bins = {group: [[3, 116], [2, 200]] for group in ("sent", "received", "one_sided", "collective")}
    return {
        "format": "tailrace-messages", "format_version": 1, "rank": rank, "ranks": 2, "host": "node-a",
        "mpi": "an MPI", "complete": True, "elapsed_s": 0.2, "kinds": kinds, "unseen_receives": 0,
        "peers": [[group, "kind", 1 - rank, 5, 316] for group in ("sent", "received", "one_sided")],
        "peers_left_out": [0, 0], "time": {"bin_s": 0.01 * (1 + rank), **bins},
    }  # fmt: skip


def look_at_counts(folder: Path, chance: random.Random) -> None:
    for rank in (0, 1):
        (folder / f"rank-{rank:05}.json").write_text(changed(counts(rank), chance), errors="replace")
    profile = read_counts(folder)
    assert len(profile.ranks) == 2 or profile.problems
    differences(profile), matrix(profile, 64), json.dumps(summary(profile)), profile_text(profile)
    for group in ("sent", "one_sided"):
        over_time(profile, group)
        if (sizes := profile.sizes(group)).total.messages:
            shares(sizes, parse_classes("powers", largest_size(sizes)), [(1.0, 1e6), (1e5, 1e4)])


def result(slower: float) -> dict[str, Any]:
    numbers = {"time": [slower * (1 + 0.001 * n) for n in range(9)], "work": [10.0] * 9}
    revisions = [
        {
            "id": f"{n:040x}",
            "name": f"v{n}",
            "subject": "more",
            "date": 1000 + n,
            "failed": None,
            "numbers": numbers,
        }
        for n in range(4)
    ]
    verdict = {"number": "time", "base": f"{0:040x}", "revision": f"{3:040x}", "kind": "slower", "ratio": 1.1,
               "low": 1.05, "high": 1.2, "rounds": 9, "share": 1.0, "exact": False}  # fmt: skip
    return {
        "format": "tailrace-revisions-result", "format_version": 1, "test": "t", "run": "x", "identity": "i",
        "machine": {"cpu": "a"}, "seed": 1, "rounds": 9, "interrupted": False, "revisions": revisions,
        "better": {"time": "less", "work": "less"}, "verdicts": [verdict],
    }  # fmt: skip


def look_at_results(folder: Path, chance: random.Random) -> None:
    paths = [folder / "a.json", folder / "b.json"]
    for path, slower in zip(paths, (1.0, 1.1), strict=True):
        path.write_text(changed(result(slower), chance), errors="replace")
    try:
        compare_documents(*paths, Console(file=io.StringIO()))
    except CommandError as error:
        assert "Fix" in str(error) or str(folder) in str(error)
    try:
        document = read_document(paths[0])
    except CommandError as error:
        assert str(paths[0]) in str(error)
        return
    rows(document), steps_of(document), exit_status(document)


def look_at_store(folder: Path, chance: random.Random) -> None:
    entry = {"format": store.FORMAT, "format_version": 1, "session": "s", "round": 1, "revision": "r",
             "test": "t", "machine": {"cpu": "a"}, "numbers": {"time": 1.0}}  # fmt: skip
    path = folder / "results.jsonl"
    path.write_text("\n".join(changed(entry, chance) for _ in range(3)), errors="replace")
    for one in store.entries(path):
        assert all(math.isfinite(value) for value in one["numbers"].values())
        assert isinstance(one["round"], int)


def look_at_asv(folder: Path, chance: random.Random) -> None:
    (folder / "m").mkdir(exist_ok=True)
    (folder / "benchmarks.json").write_text(
        changed({"time_sort": {"unit": "seconds"}}, chance), errors="replace"
    )
    for number in range(3):
        document = {
            "commit_hash": f"{number:040x}", "env_name": "e", "date": 1000 * number,
            "result_columns": ["result", "params", "version"],
            "results": {"time_sort": [[1.0, 2.0], [["'a'", "'b'"]], "v"], "all": [[10], [], "v"], "old": 0.5},
        }  # fmt: skip
        (folder / "m" / f"{number}.json").write_text(changed(document, chance), errors="replace")
    try:
        for history in read_asv(folder)[0]:
            history.steps()
    except CommandError as error:
        assert str(folder) in str(error)


def look_at_texts(folder: Path, chance: random.Random) -> None:
    """Rates and pairs."""
    rates = folder / "rates.json"
    rates.write_text(changed({"rates": [[1, 1e6], [100, 1e5], [1e5, 1e4]]}, chance), errors="replace")
    text = list("# a line\n4170:40 1950:69,250:42500\n")
    for _ in range(chance.randint(1, 4)):
        text[chance.randrange(len(text))] = chance.choice("0:9 ,#-\n.e²")
    for read in (lambda: read_rates(rates), lambda: read_pairs("".join(text), "pairs")):
        try:
            read()
        except CommandError as error:
            assert "rates" in str(error) or "pairs" in str(error)


def sound_rank(rank: int) -> list[tuple[int, bytes]]:
    """The kinds and payloads of the blocks of a small run of two ranks that give each other a value."""
    which, other, value = fragment_traces.number(rank, 1), fragment_traces.number(1 - rank, 1), 5000 + rank
    moved, arrived = fragment_traces.number(rank, 2), fragment_traces.number(1 - rank, 2)
    records = [
        (0.0, "idle", 0), (0.1, "busy", 0), (0.1, "create", which, 0, 0, 1), (0.2, "create", moved, 0, 0, 2),
        (0.3, "forward", moved, 0, 1 - rank, 2), (0.35, "arrive", arrived, 0, 0, 2),
        (0.4, "request", which, 5001 - rank, 1 - rank, 1), (0.4, "wait", which, 0, 1, 1),
        (0.5, "data_arrived", which, 5001 - rank, 8, 1), (0.5, "resume", which, 0, 0, 1),
        (0.5, "ready", which, 0, 0, 1), (0.6, "begin", which, 0, 0, 1), (0.9, "post", which, value, 8, 1),
        (0.9, "store", 0, value, 8), (0.95, "end", which, 0, 0, 1), (0.95, "deliver", 0, value, 1),
        (0.96, "destroy", which, 0, 0, 1), (0.97, "destroy", arrived, 0, 0, 2),
        (0.98, "release", other, value, 8),
    ]  # fmt: skip
    seconds = {"useful": 0.4, "idle": 0.4, "dependencies": 0.2}
    summary_ = fragment_traces.summary_block(
        0, (0.0, 1.0), None, seconds, {"begin": 1}, (2, 2, 1, 1), (0, 0), (1, 1)
    )
    blocks = [
        trace_files.block(trace_format.THREAD, b"fragments"),
        trace_files.block(trace_format.CLOCK_POINT, struct.pack("<dddd", 0.0, 0.0, 1e-6 * rank, 0.0)),
        fragment_traces.type_block(1, "work"), fragment_traces.type_block(2, "other", "call"),
        fragment_traces.records_block(records), summary_, trace_files.block(trace_format.END, b""),
    ]  # fmt: skip
    return [(block[4], block[trace_format.BLOCK.size :]) for block in blocks]


def sealed(rank: int, chance: random.Random) -> bytes:
    """A trace with changes in its blocks, whose checksums are right."""
    blocks = sound_rank(rank)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(blocks))
        kind, payload = blocks[at]
        data, place = bytearray(payload), chance.randrange(min(len(payload), 640) or 1)
        match chance.randrange(6):
            case 0:
                data[place : place + 1] = bytes([chance.randrange(256)])
            case 1:
                data[place // 8 * 8 : place // 8 * 8 + 8] = chance.choice(ODD_BYTES)
            case 2:
                del data[place:]
            case 3:
                first, second = place // 32 * 32, chance.randrange(len(data) // 32 + 1) * 32
                data[first : first + 32] = data[second : second + 32]
            case 4:
                blocks.insert(at, blocks[chance.randrange(len(blocks))])
            case 5:
                kind = chance.randrange(9)
        blocks[at] = (kind, bytes(data))
    size = {trace_format.RECORDS: 32}
    parts = [trace_files.block(kind, data, 0, size.get(kind, 0)) for kind, data in blocks]
    return trace_files.header(rank, 2) + b"".join(parts)


def write_traces(folder: Path, chance: random.Random) -> None:
    (folder / "trace").mkdir(parents=True, exist_ok=True)
    for rank in (0, 1):
        (folder / "trace" / f"rank-{rank:05}.trace").write_bytes(sealed(rank, chance))


def look_at_traces(folder: Path, chance: random.Random) -> None:
    write_traces(folder, chance)
    run = read_run(folder)
    assert len(run.ranks) == 2
    for rank in run.ranks:
        assert all(rank.records["thread"] < len(rank.threads))


def look_at_analyses(folder: Path, chance: random.Random) -> None:
    """Everything that is computed from traces, and the comparison of two of them."""
    profiles = []
    for name in ("a", "b"):
        write_traces(folder / name, chance)
        try:
            profile = read_profile(folder / name)
        except NoRecordsError:
            return
        json.dumps(profile.as_dict()), findings(profile)
        profiles.append(profile)
    compare(*profiles)


LOOKS: dict[str, tuple[Read, int, int]] = {  # how often in each suite
    "traces": (look_at_traces, 150, 200_000),
    "analyses": (look_at_analyses, 12, 20_000),
    "counts": (look_at_counts, 250, 300_000),
    "results": (look_at_results, 60, 80_000),
    "store": (look_at_store, 300, 150_000),
    "asv": (look_at_asv, 150, 150_000),
    "texts": (look_at_texts, 300, 100_000),
}


def look(folder: Path, name: str, numbers: Iterable[int]) -> None:
    for number in numbers:
        try:
            LOOKS[name][0](folder, random.Random(f"{name} {number}"))
        except Exception as error:
            error.add_note(f"{name}: number {number}")
            raise


@pytest.mark.parametrize("name", LOOKS)
def test_no_change_makes_a_reader_fail(name, tmp_path):
    look(tmp_path, name, range(LOOKS[name][1]))


def test_changes_that_once_made_one_fail(tmp_path):
    """No fragment of which the creation is known, and no summary: 510. Bodies of negative length: 9489."""
    look(tmp_path, "analyses", [510, 572, 9489, 16564])


@pytest.mark.full
@pytest.mark.parametrize("name", LOOKS)
def test_a_million_changes(name, tmp_path):
    assert sum(one[2] for one in LOOKS.values()) == 1_000_000
    look(tmp_path, name, range(LOOKS[name][2]))
