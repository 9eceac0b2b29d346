# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints byte by byte: what the verification and the reader of the examples find, and what they name."""

import importlib.util
import random
from pathlib import Path

import h5py
import numpy as np
import pytest

import checkpoint_files as files
import command
import jobs
from native import needs
from tailrace.checkpoints.damage import Damage
from tailrace.checkpoints.listing import look_at
from tailrace.checkpoints.verify import verify_all

pytestmark = needs("tailrace-checkpoint")

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "read_checkpoint.py"
FLIPS = 1000


@pytest.fixture(scope="module")
def example():
    """The reader of the examples as a module."""
    spec = importlib.util.spec_from_file_location("read_checkpoint", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def verify(place: Path) -> list[Damage]:
    """All damage of a checkpoint."""
    (verdict,) = verify_all([look_at(place)])
    return verdict.damage


def damaged_parts(place: Path) -> list[str]:
    return [damage.part for damage in verify(place)]


# --- sound ones


@pytest.mark.parametrize("compress", [False, True])
def test_a_sound_checkpoint_and_its_contents(compress, tmp_path, example):
    if compress:
        jobs.needs_zstd()
    place = files.write(tmp_path, state=files.make_state(compress))
    assert verify(place) == []
    manifest, numbers, texts, arrays = example.read_checkpoint(place)
    state = files.make_state()
    assert (manifest["step"], manifest["simulation"]) == (100, "gas")
    assert numbers.keys() == state.values.keys()
    for path, expected in state.values.items():
        assert numbers[path].dtype == expected.dtype
        np.testing.assert_array_equal(numbers[path], expected)
    assert texts == state.texts
    np.testing.assert_array_equal(arrays["solver/p"], files.field(), strict=True)
    np.testing.assert_array_equal(arrays["solver/u"], files.field(1.0, "<f8"), strict=True)
    assert arrays["gas/molecules"].dtype == files.MOLECULE
    np.testing.assert_array_equal(arrays["gas/molecules"], files.molecules())
    assert len(arrays["gas/walls"]) == 0
    assert len(EXAMPLE.read_text().splitlines()) <= 120  # of three kinds of sets


@pytest.mark.parametrize("compress", [False, True])
def test_items_of_any_length(compress, tmp_path, example):
    if compress:
        jobs.needs_zstd()
    items = [(2, b"one"), (2, b""), (5, bytes(1000))], [], [(9, b"eight888")]
    state = files.make_state()
    plain = files.item_set(list(items))
    state.sets = {"gas/fragments": files.compressed(plain) if compress else plain}
    place = files.write(tmp_path, state=state)
    assert verify(place) == []
    arrays = example.read_checkpoint(place)[3]
    assert arrays["gas/fragments"] == [item for mine in items for _, item in mine]


def test_one_rank(tmp_path, example):
    state = files.make_state()
    state.ranks = 1
    state.sets = {
        "solver/p": files.field_set(files.field(), [[(0, 0, 0, *files.EXTENTS)]]),
        "gas/molecules": files.row_set(files.molecules(), [[(0, 9)]]),
    }
    place = files.write(tmp_path, state=state)
    assert verify(place) == []
    np.testing.assert_array_equal(example.read_checkpoint(place)[3]["solver/p"], files.field())


def test_a_state_without_sets(tmp_path, example):
    state = files.make_state()
    state.sets, state.texts = {}, {}
    place = files.write(tmp_path, state=state)
    assert verify(place) == []
    assert example.read_checkpoint(place)[2:] == ({}, {})


def test_sums_do_not_depend_on_ranks():
    cells = [[(3, 2)], [(7, 1), (8, 2)], [(9, 4)]]
    assert files.row_set(files.molecules(), cells).sum == files.row_set(files.molecules()).sum
    assert files.row_set(files.molecules()[::-1].copy()).sum == files.row_set(files.molecules()).sum


# --- damage


@pytest.mark.parametrize("compress", [False, True])
def test_every_changed_byte_is_found_and_named(compress, tmp_path, example):
    if compress:
        jobs.needs_zstd()
    place = files.write(tmp_path, state=files.make_state(compress))
    tables = files.places(place / "state.h5")
    pick = random.Random(20261122)
    parts = {"manifest": 0, "rest": 0, "cell": 0, "directory": 0}
    content = {name: (place / name).read_bytes() for name in ("manifest.json", "state.h5")}
    flips = {}
    for number in range(FLIPS):
        name = "manifest.json" if number % 5 == 0 else "state.h5"
        whole = content[name]
        at = pick_byte(pick, whole, tables if number % 5 == 1 else {})
        changed = content | {name: whole[:at] + bytes([whole[at] ^ pick.randrange(1, 256)]) + whole[at + 1 :]}
        copy = tmp_path / f"flip-{number}"
        copy.mkdir()
        for each, text in changed.items():
            (copy / each).write_bytes(text)
        if number % 4 == 0:
            with pytest.raises(ValueError):
                example.read_checkpoint(copy)
        flips[copy] = (name, at)
    verdicts = verify_all([look_at(copy) for copy in flips])
    for (name, at), verdict in zip(flips.values(), verdicts, strict=True):
        damage = verdict.damage
        assert len(damage) == 1, f"byte {at} of {name}: {damage}"
        assert damage[0].file == name
        part, found_set = place_of(place / name, at, tables)
        assert (damage[0].part, damage[0].set) == (part, found_set)
        if found_set is not None:
            assert damage[0].bytes[0] <= at < damage[0].bytes[1]
        parts[part] += 1
    assert verify(place) == [] and min(parts.values()) > 50


def pick_byte(pick: random.Random, content: bytes, tables: dict) -> int:
    """Any byte; with tables one of theirs, which are few among all the bytes of a small file."""
    if not tables:
        return pick.randrange(len(content))
    begin, size = pick.choice(list(tables.values()))
    return begin + pick.randrange(size)


def place_of(path: Path, at: int, tables: dict) -> tuple[str, str | None]:
    if path.name == "manifest.json":
        return "manifest", None
    for (name, table), (begin, size) in tables.items():
        if begin <= at < begin + size:
            return {"data": "cell", "cells": "directory"}[table], name
    return "rest", None


def test_damage_names_cell_rank_and_bytes(tmp_path):
    place = files.write(tmp_path)
    begin, size = files.places(place / "state.h5")["gas/molecules", "data"]
    files.change(place / "state.h5", begin + 3 * 24)  # the first row of rank 2, in the shared cell
    (damage,) = verify(place)
    assert (damage.set, damage.cell, damage.rank) == ("gas/molecules", "with key 7", 2)
    assert damage.bytes == (begin + 3 * 24, begin + 5 * 24) and size == 9 * 24
    assert str(damage) == (
        f"state.h5, set gas/molecules, cell with key 7 of rank 2, bytes {begin + 72} to {begin + 119}: "
        "not what was written"
    )
    begin, _ = files.places(place / "state.h5")["solver/u", "data"]
    files.change(place / "state.h5", begin)
    assert {damage.cell for damage in verify(place)} == {"with key 7", "x 0 to 4, y 0 to 3, z 0 to 0"}


def test_cells_of_other_ranks_are_looked_at_behind_a_damaged_directory(tmp_path):
    place = files.write(tmp_path)
    tables = files.places(place / "state.h5")
    files.change(place / "state.h5", tables["solver/p", "cells"][0])
    files.change(place / "state.h5", sum(tables["solver/p", "data"]) - 1)
    damage = verify(place)
    assert [(each.part, each.rank) for each in damage] == [("directory", 0), ("cell", 2)]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.999, 1.001])
def test_files_of_another_length(tmp_path, share, example):
    place = files.write(tmp_path)
    content = (place / "state.h5").read_bytes()
    size = round(share * len(content))
    (place / "state.h5").write_bytes(content[:size] + bytes(max(0, size - len(content))))
    assert damaged_parts(place) == ["length"]
    with pytest.raises(ValueError, match="length"):
        example.read_checkpoint(place)


def test_manifests_that_are_cut_off_or_missing(tmp_path):
    place = files.write(tmp_path)
    text = (place / "manifest.json").read_bytes()
    for size in (0, 1, len(text) // 2, len(text) - 3, len(text) - 1):
        (place / "manifest.json").write_bytes(text[:size])
        assert damaged_parts(place) == ["manifest"], f"{size} bytes"
    (place / "manifest.json").unlink()
    assert [str(damage) for damage in verify(place)] == ["manifest.json: it is missing"]
    (place / "manifest.json").write_bytes(text)
    (place / "state.h5").unlink()
    assert damaged_parts(place) == ["length"]


def test_a_directory_with_the_name_of_another_step(tmp_path):
    place = files.write(tmp_path)
    assert damaged_parts(place.rename(tmp_path / "step-000000000200")) == ["name"]


def test_a_changed_version_is_damage(tmp_path):
    place = files.write(tmp_path)
    text = (place / "manifest.json").read_text()
    (place / "manifest.json").write_text(text.replace('"version": 1', '"version": 3'))
    assert damaged_parts(place) == ["manifest"]


# --- written wrongly: all checksums fit


def overlap(state):
    state.sets["solver/p"] = files.field_set(files.field(), [[(0, 0, 0, 5, 4, 3)], [], [(0, 0, 0, 5, 4, 1)]])


def twice_and_missing(state):
    """As many elements as the grid has."""
    upper = [(0, 0, 1, 5, 4, 2)]
    state.sets["solver/p"] = files.field_set(files.field(), [[(0, 0, 0, 5, 4, 1)], upper, upper])


def beyond_the_grid(state):
    state.sets["solver/p"].entries[2][1][4] = 5


def other_volume(state):
    state.sets["solver/p"].entries[0][0][3] = 4


def outside_of_its_part(state):
    state.sets["solver/p"].heads[2][5] = 2


def keys_repeat(state):
    state.sets["gas/molecules"].entries[2][1][0] = 7
    state.sets["gas/molecules"].heads[2][1] = 7


def other_lowest_key(state):
    state.sets["gas/molecules"].heads[2][0] = 6


def other_highest_key(state):
    state.sets["gas/molecules"].heads[2][1] = 8


def gap(state):
    state.sets["gas/molecules"].entries[2][0][1] = 4


def empty_part_with_keys(state):
    state.sets["gas/molecules"].heads[1] = [3, 7]


def filled_with_more_than_zeros(state):
    molecules = state.sets["gas/molecules"]
    molecules.data[8].view(np.uint8)[-1] = 1
    last = molecules.data[5:9].tobytes()
    molecules.entries[2][1][3] = files.xxh3_64_intdigest(last)


def too_long_member(state):
    about = state.sets["gas/molecules"].attributes
    about["record_type"] = about["record_type"].replace('"count": 3', '"count": 4')


def unknown_kind(state):
    state.sets["solver/u"].attributes["kind"] = "mesh"


def ranks_without_parts(state):
    state.ranks = 4


@pytest.mark.parametrize(
    ("do", "words"),
    [
        (overlap, "data is"),
        (twice_and_missing, "do not cover the grid once: first wrong at x 0, y 0, z 1"),
        (beyond_the_grid, "there is no box"),
        (other_volume, "is said to have 20 elements"),
        (outside_of_its_part, "is not in that of its part"),
        (keys_repeat, "key 7 follows key 7"),
        (other_lowest_key, "the lowest key is 7, the part says 6"),
        (other_highest_key, "the highest key is 9, not 8"),
        (gap, "2 elements from 4 on"),
        (empty_part_with_keys, "a part without cells has the keys 3 to 7"),
        (filled_with_more_than_zeros, "are not zero"),
        (too_long_member, "record_type is not a type of rows"),
        (unknown_kind, 'kind is "mesh", not one of field, records, items'),
        (ranks_without_parts, "3 parts for 4 ranks"),
    ],
)
def test_sets_that_contradict_themselves(tmp_path, do, words):
    state = files.make_state()
    do(state)
    damage = verify(files.write(tmp_path, state=state))
    assert damage and all(each.part == "directory" for each in damage)
    assert words in str(damage[0])


def test_numbers_and_texts_of_another_kind(tmp_path):
    state = files.make_state()
    del state.components["gas"]
    state.values["solver/seed"] = np.array([1], "<i4")
    place = files.write(tmp_path, state=state)
    assert [str(damage) for damage in verify(place)] == [
        "state.h5: /components/gas is missing",
        "state.h5: /values/solver/seed is signed 32-bit integer (1), not a list of 64-bit numbers",
    ]


def test_a_text_of_another_length(tmp_path):
    state = files.make_state()
    place = files.write(tmp_path, state=state)
    with h5py.File(place / "state.h5", "a") as file:
        file["texts/solver/wavelet"][0] = 3
    files.seal(place, files.describe(place, state, 100))
    (damage,) = verify(place)
    assert damage.part == "values" and "/texts/solver/wavelet" in damage.problem


def summaries(state, path: str, **changes) -> dict:
    """The entry `sets` of a manifest, changed for one set."""
    found = {name: {"count": len(each.data), "sum": f"{each.sum:016x}"} for name, each in state.sets.items()}
    found[path] |= changes
    return found


def test_manifests_that_contradict_the_file(tmp_path):
    state = files.make_state()
    place = files.write(tmp_path)
    files.reseal(place, sets=summaries(state, "solver/p", sum=f"{5:016x}"))
    assert [(each.part, each.set) for each in verify(place)] == [("sum", "solver/p")]
    files.reseal(place, sets=summaries(state, "solver/p", count=59))
    assert "the manifest says 59" in str(verify(place)[0])
    fewer = summaries(state, "solver/p")
    del fewer["solver/p"]
    files.reseal(place, sets=fewer | {"solver/q": {"count": 0, "sum": f"{0:016x}"}})
    assert [(each.part, each.set) for each in verify(place)] == [("set", "solver/p"), ("set", "solver/q")]


def test_extents_that_hide_bytes(tmp_path, example):
    """Bytes in an extent that are of no set would have no checksum at all."""
    state = files.make_state()
    place = files.write(tmp_path, state=state)
    content = (place / "state.h5").read_bytes()
    rest = files.xxh3_64_hexdigest(b"")
    files.reseal(place, data=[[0, len(content)]], rest=rest)
    assert damaged_parts(place) == ["rest"]
    with pytest.raises(ValueError, match="without a checksum"):
        example.read_checkpoint(place)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("step", -1),
        ("step", True),
        ("ranks", 0),
        ("time_s", "soon"),
        ("time_s", None),
        ("created", "yesterday"),
        ("simulation", 3),
        ("file", "state.h5"),
        ("file", {"name": "../state.h5", "bytes": 1}),
        ("rest", "0123456789ABCDEF"),
        ("data", [[10, 20], [15, 30]]),
        ("data", [[0, 2**40]]),
        ("sets", []),
        ("sets", {"solver/p": 3}),
        ("version", 0),
    ],
)
def test_manifests_that_make_no_sense(tmp_path, key, value):
    place = files.write(tmp_path, **{key: value})
    (damage,) = verify(place)
    assert damage.part == "manifest" and key.split("_")[0] in damage.problem


def test_sweeps_have_no_time(tmp_path):
    files.write(tmp_path / "gas", simulation="gas", time_s=250.0)
    files.write(tmp_path / "poisson", simulation="poisson", time_s=250.0)
    assert "4 min 10 s" in command.tailrace("checkpoint", "list", tmp_path / "gas").out
    assert "4 min 10 s" not in command.tailrace("checkpoint", "list", tmp_path / "poisson").out
