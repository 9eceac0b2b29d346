# SPDX-License-Identifier: BSD-3-Clause
"""Rehearsals: every strategy and sink that the program offers, verified by the formula and byte by byte."""

import json
import re
import signal
import struct
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest

import command
import jobs
from matrix import Family, each_value
from tailrace.strategies import name_of

# Fewer planes than the largest number of ranks, and odd sizes.
CELLS = (9, 8, 5)
STEPS = 12
SIZE = ["--cells", ",".join(map(str, CELLS)), "--steps", STEPS, "--quiet"]
# A device on which thousands of steps take far longer than a test looks at them, however they are gathered.
ENDLESS = "latency=10ms,bandwidth=300kB/s"
# The same on any number of ranks; more datasets than ranks.
SELECTIONS = ["whole", "x", "y=3", "z", "box:1,2,0,7,5,3", "boxes:20,size=2x3x2", "points:40"]
SELECTIONS += ["boxes:9,share=uneven", "points:5,share=uneven,seed=7"]
# These follow the ranks: an own name distinguishes it from the others.
ON_ONE_RANK = ["boxes:6,share=one", "points:8,share=one"]
DECOMPOSITIONS = ["slabs", "pencils", "uneven", "one-owner:LAST"]
RANKS = [1, 2, 3] if jobs.waits_spin() else [1, 2, 3, 4, 7]


def services() -> list[tuple[str, str]]:
    """Every strategy with every sink that it serves, as this build lists them."""
    if jobs.REHEARSE is None:
        return [("threads", "hdf5")]  # for tests that are left out, or that fail on a CI machine
    listed = subprocess.run([jobs.REHEARSE, "--list"], capture_output=True, text=True, check=True, timeout=60)
    pairs = []
    for line in listed.stdout.splitlines():
        form, _, sinks = line.split("\t")
        pairs += [(name_of(form), name_of(sink)) for sink in sinks.split()]
    return pairs


SERVICES = services()
SINKS = list(dict.fromkeys(sink for _, sink in SERVICES))
STRATEGIES = list(dict.fromkeys(strategy for strategy, _ in SERVICES))


def served(strategy: str, sink: str, *_: object) -> bool:
    """Whether a strategy writes into a sink."""
    return (strategy, sink) in SERVICES


def world(ranks: int, strategy: str) -> int:
    """Ranks to start so that `ranks` compute: some strategies take ranks of the job for themselves."""
    return ranks + (1 if strategy.split(":")[0] == "ranks" else 0)


def writes_apart(strategy: str) -> bool:
    """Whether processes that do not compute write."""
    return strategy.split(":")[0] in ("ranks", "spawn", "spawn-each")


def select(selections: list[str]) -> list[str]:
    return [word for selection in selections for word in ("--select", selection)]


def options(strategy: str, sink: str, ranks: int, decomposition: str = "slabs") -> list[str]:
    owners = decomposition.replace("LAST", str(ranks - 1))
    return [*SIZE, "--write", strategy, "--sink", sink, "--decomposition", owners]


def verify(path: Path) -> jobs.Ended:
    return jobs.rehearse("--verify", path)


@pytest.fixture(scope="session")
def reference(once) -> dict[str, np.ndarray]:
    """The datasets that one rank writes without any help."""

    def make(directory: Path) -> dict[str, np.ndarray]:
        path = directory / "one.h5"
        ended = jobs.rehearse("-o", path, *options("blocking", "hdf5", 1), *select(SELECTIONS), "--verify")
        assert ended.status == 0, ended
        return jobs.read_datasets(path)

    return once("rehearsal on one rank", make)


def is_hdf5(path: Path) -> bool:
    """What other formats hold is left to the formula."""
    return h5py.is_hdf5(path)


def wait_for_steps(job: jobs.Job, run_dir: Path, least: int) -> None:
    """Until the run says that so many steps are done."""

    def has_come() -> bool:
        try:
            return json.loads((run_dir / "progress.json").read_text())["step"] >= least
        except (OSError, ValueError, KeyError):
            return False

    job.wait_for(has_come, f"step {least}")


def assert_same(path: Path, reference: dict[str, np.ndarray]) -> None:
    found = jobs.read_datasets(path)
    different = [
        name
        for name, values in reference.items()
        if name != "tailrace_record" and found[name].tobytes() != values.tobytes()
    ]
    assert not different


@each_value("strategy, sink, ranks, decomposition", STRATEGIES, SINKS, RANKS, DECOMPOSITIONS, allowed=served)
def test_every_selection(strategy, sink, ranks, decomposition, tmp_path, reference):
    """All selections at once, on ranks that own much, little or nothing; byte for byte as one rank does."""
    path = tmp_path / "out.h5"
    words = options(strategy, sink, ranks, decomposition)
    words += [*select(SELECTIONS + ON_ONE_RANK), "--verify"]
    ended = jobs.rehearse("-o", path, *words, ranks=world(ranks, strategy))
    assert ended.status == 0, ended
    assert ": right: " in ended.out
    if is_hdf5(path):
        assert_same(path, reference)


REDUCTIONS = [("min", "float32"), ("max", "float64"), ("mean", "float32"), ("rms", "float64")]


def reduce(strategy: str, sink: str, path: Path, reduction: str, element_type: str) -> None:
    words = [*options(strategy, sink, 3), "--reduce", reduction, "--every", "5", "--precision", element_type]
    ended = jobs.rehearse("-o", path, *words, *select(SELECTIONS), "--verify", ranks=world(3, strategy))
    assert ended.status == 0, ended


@pytest.mark.parametrize("kind", REDUCTIONS, ids=lambda kind: kind[0])
def test_reductions(kind, tmp_path):
    reduce("threads", "hdf5", tmp_path / "out.h5", *kind)


@each_value("strategy, sink, span", STRATEGIES, SINKS, ["all steps", "the last step"], allowed=served)
def test_values_at_the_end(strategy, sink, span, tmp_path):
    """One value per point, of the last step or over all: to a writer the kinds of the latter are the same."""
    over_all = REDUCTIONS[SERVICES.index((strategy, sink)) % len(REDUCTIONS)]
    reduce(strategy, sink, tmp_path / "out.h5", *(over_all if span == "all steps" else ("final", "float64")))


# How runs end, with every strategy and every sink each; all pairs of these together.
ENDS = Family("strategy, sink", SERVICES)


@ENDS.case()
def test_killed_in_the_middle_of_a_write(strategy, sink, tmp_path):
    """Half of a write is in the file when the process dies; the file is right up to its record."""
    path = tmp_path / "killed.h5"
    fault = ["--fault", f"kill:step={STEPS // 2}"]
    words = [*options(strategy, sink, 2), *select(["boxes:3", "points:9"]), *fault]
    assert_killed(jobs.rehearse("-o", path, *words, ranks=world(2, strategy)), verify(path))


def assert_killed(ended: jobs.Ended, found: jobs.Ended) -> None:
    assert ended.status != 0, ended
    assert ended.seconds < jobs.ENDS_WITHIN_S, ended
    assert found.status == 0, found
    assert "did not end in good order" in found.out


# Not over before a signal arrives, whatever the sink gathers: the steps alone take fifty seconds, and less
# where their work was measured on a busy machine.
LONG = ["--steps", "5000", "--pace", "latency=10ms", "--select", "whole"]
LONG += ["--compute", "matmul", "--compute-ms", "10"]


@ENDS.case()
def test_killed_while_it_runs(strategy, sink, tmp_path):
    words = [*options(strategy, sink, 3), *LONG]
    job = jobs.rehearsal("--out", tmp_path / "out", *words, ranks=world(3, strategy))
    wait_for_steps(job, tmp_path / "out", 3)
    job.send(signal.SIGKILL, rank=1)
    assert_killed(job.wait(), verify(tmp_path / "out/output.h5"))


@ENDS.case()
def test_stopped_early(strategy, sink, tmp_path):
    """A run that was asked to stop has all samples up to its last step, reductions included."""
    run_dir = tmp_path / "out"
    words = [*options(strategy, sink, 2), *LONG]
    job = jobs.rehearsal("--out", run_dir, *words, "--verify", ranks=world(2, strategy))
    wait_for_steps(job, run_dir, 3)
    job.send(signal.SIGTERM, rank=0)
    ended = job.wait()
    assert ended.status == 4, ended
    steps = jobs.account(run_dir)["steps"]
    assert 2 <= steps < 5000
    assert f"{steps} steps done" in ended.out


@ENDS.complete()
def test_a_full_disk(strategy, sink, tmp_path):
    words = [*options(strategy, sink, 2), "--fault", "write:error=ENOSPC,step=5"]
    ended = jobs.rehearse("--out", tmp_path / "out", *words, ranks=world(2, strategy))
    assert ended.status == 3, ended
    assert "No space left" in ended.err
    assert jobs.assert_failed(tmp_path / "out")["simulation"] == "rehearse"
    found = verify(tmp_path / "out/output.h5")
    assert found.status == 0, found


def test_a_changed_byte_is_found(tmp_path):
    path = tmp_path / "out.h5"
    assert jobs.rehearse("-o", path, *SIZE, "--verify").status == 0
    x, y, z, sample = 7, 3, 4, 10
    with h5py.File(path) as file:
        offset = file["whole/values"].id.get_offset()
    element = ((sample * CELLS[2] + z) * CELLS[1] + y) * CELLS[0] + x
    with path.open("r+b") as file:
        file.seek(offset + 8 * element + 6)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 1]))
    found = verify(path)
    assert found.status == 1, found
    assert "WRONG: 1 of" in found.err
    assert f"/whole/values[{sample}, {z}, {y}, {x}]: expected" in found.err
    assert f"(x, y, z = {x}, {y}, {z}; step {sample + 1})" in found.err
    # After a run it is the same look at the file: what other tests rely on.
    assert verify(tmp_path / "missing.h5").status == 2


@pytest.mark.parametrize("load", ["matmul", "memory", "broadcast", "none"])
def test_loads(load, tmp_path):
    """Work that is counted, so that a second run does as much; its amount is in the account."""
    words = [*SIZE, "--compute", load, "--verify"]
    ended = jobs.rehearse("--out", tmp_path / "a", *words, "--compute-ms", "0.5", ranks=2)
    assert ended.status == 0, ended
    units = jobs.account(tmp_path / "a")["config"]["rehearse"]["compute_units"]
    assert (units > 0) == (load != "none")
    again = jobs.rehearse("--out", tmp_path / "b", *words, "--compute-units", units, ranks=2)
    assert again.status == 0, again
    assert jobs.account(tmp_path / "b")["config"]["rehearse"]["compute_units"] == units


def test_a_slow_rank_and_imbalance(tmp_path):
    words = [*SIZE, "--compute-units", "20", "--imbalance", "0.5", "--slow-rank", "1", "--slow-factor", "4"]
    ended = jobs.rehearse("--out", tmp_path / "out", *words, "--verify", ranks=3)
    assert ended.status == 0, ended
    assert len(jobs.account(tmp_path / "out")["per_rank"]) == 3
    refused = jobs.rehearse("-o", tmp_path / "x.h5", *SIZE, "--slow-rank", "3", "--select", "x=99", ranks=3)
    assert refused.status == 2, refused
    assert "there is no rank 3" in refused.err and "99 is outside of the domain" in refused.err
    assert not (tmp_path / "x.h5").exists()
    alone = jobs.rehearse("-o", tmp_path / "x.h5", *SIZE, "--compute", "broadcast")
    assert alone.status == 2 and "nobody to broadcast to" in alone.err, alone


def test_multipliers(tmp_path):
    path = tmp_path / "out.h5"
    words = [*SIZE, "--select", "whole", "--data-multiplier", "3", "--write-multiplier", "4", "--verify"]
    assert jobs.rehearse("-o", path, *words, ranks=2).status == 0
    found = jobs.read_datasets(path)
    values = {name: array for name, array in found.items() if name.endswith("/values")}
    assert len(values) == 12
    assert sum(array.size for array in values.values()) == 3 * STEPS * np.prod(CELLS)


def test_a_case_through_the_command(tmp_path):
    case = tmp_path / "small.toml"
    case.write_text(
        '[case]\nsimulation = "rehearse"\n[domain]\ncells = [9, 8, 5]\n[time]\nsteps = 12\n'
        '[rehearse]\ncompute = "none"\nverify = true\nselect = ["boxes:4"]\n'
        '[[output]]\nname = "plane"\nquantity = "v"\nselect = {plane = {z = 2}}\nevery = 3\ninitial = true\n'
    )
    ended = jobs.tailrace("run", case, "-n", "2", "--out", tmp_path / "run", "--no-report")
    assert ended.status == 0, ended
    reported = jobs.account(tmp_path / "run")
    assert reported["simulation"] == "rehearse" and reported["status"] == "finished"
    assert [output["name"] for output in reported["outputs"]][-1] == "plane"
    found = jobs.read_datasets(tmp_path / "run" / "output.h5")
    assert found["plane/step"].tolist() == [0, 3, 6, 9, 12]
    assert found["plane/values"][1, 0, 0, 0] == 3 * 360 + 2 * 72
    wrong = command.tailrace("run", case, "--set", "rehearse.computer=1", "--out", tmp_path / "no")
    assert wrong.status == 2 and "did you mean rehearse.compute?" in wrong.err, wrong


def test_rounded_values_are_warned_of(tmp_path):
    words = [
        "--cells",
        "300",
        "--steps",
        "2",
        "--precision",
        "float32",
        "--select",
        "x",
        "--quiet",
        "--verify",
    ]
    ended = jobs.rehearse("-o", tmp_path / "out.h5", *words)
    assert ended.status == 0, ended
    assert "float32 holds integers up to 16777216 only" in ended.err


def test_the_page_names_the_keys(tmp_path):
    """Every key with a default is on the page, and every key of the page is known."""
    ended = jobs.rehearse("--out", tmp_path / "out", *SIZE)
    assert ended.status == 0, ended
    config = jobs.account(tmp_path / "out")["config"]
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "case_file.md").read_text()
    documented = set(re.findall(r"^\| `([a-z]+\.[\w.]+)` \|", page, re.M))
    assert {f"{table}.{key}" for table, entries in config.items() for key in entries} <= documented
    own = [key for key in documented if key.startswith(("rehearse.", "domain.cells"))]
    settings = [word for key in own for word in ("--set", f"{key}=[[true]]")]
    refused = jobs.rehearse("-o", tmp_path / "x.h5", "--quiet", *settings)
    assert refused.status == 2 and "unknown key" not in refused.err, refused
    assert all(f"{key}: " in refused.err for key in own), refused


def write_netcdf(path: Path, values: np.ndarray) -> None:
    """A file as the sink pnetcdf writes it, CDF-5, made by hand: two steps of 3 x 2 x 1 points."""

    def name(text: str) -> bytes:
        return struct.pack(">Q", len(text)) + text.encode().ljust((len(text) + 3) // 4 * 4, b"\0")

    def texts(pairs: dict[str, str]) -> bytes:
        items = [name(key) + struct.pack(">I", 2) + name(text) for key, text in pairs.items()]
        return struct.pack(">IQ", 0xC if items else 0, len(items)) + b"".join(items)

    dimensions = {"one": 1, "two": 2, "six": 6}
    variables = [
        ("rehearsal_steps_done", [0], 10, {}, np.array([2], ">i8")),
        ("tailrace_record", [0], 11, {}, np.array([2], ">u8")),
        ("whole_step", [1], 10, {}, np.array([1, 2], ">i8")),
        ("whole_values", [1, 2], 6, {"selection": "whole", "reduction": "none"}, values.astype(">f8")),
    ]
    root = {"rehearsal_cells": "3 2 1", "rehearsal_type": "float64", "rehearsal_datasets": "1"}

    def header(begins: list[int]) -> bytes:
        found = b"CDF\x05" + struct.pack(">QIQ", 0, 0xA, len(dimensions))
        found += b"".join(name(key) + struct.pack(">Q", extent) for key, extent in dimensions.items())
        found += texts(root) + struct.pack(">IQ", 0xB, len(variables))
        for (key, shape, kind, attributes, array), begin in zip(variables, begins, strict=True):
            found += name(key) + struct.pack(f">Q{len(shape)}Q", len(shape), *shape) + texts(attributes)
            found += struct.pack(">IQQ", kind, array.nbytes, begin)
        return found

    begins, at = [], len(header([0] * len(variables)))
    for *_, array in variables:
        begins.append(at)
        at += array.nbytes
    path.write_bytes(header(begins) + b"".join(array.tobytes() for *_, array in variables))


def test_netcdf_files_are_verified_too(tmp_path):
    path = tmp_path / "out.nc"
    right = np.arange(6, 18, dtype="f8")
    write_netcdf(path, right)
    found = verify(path)
    assert found.status == 0 and "right: 12 values of 1 dataset, 2 steps done" in found.out, found
    right[10] += 1
    write_netcdf(path, right)
    found = verify(path)
    assert found.status == 1, found
    assert "/whole/values[1, 0, 1, 1]: expected 16, found 17" in found.err
    path.write_bytes(path.read_bytes()[:200])
    found = verify(path)
    assert found.status == 2 and "ends too early" in found.err, found
