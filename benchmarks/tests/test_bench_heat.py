# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench heat`: its documents, tables and verdicts. Nothing here asserts a time, and another program
represents NPB's.
"""

import json
import sys

import pytest

from native import needs
from tailrace.bench import stats
from tailrace.bench.programs import Runner
from tailrace.console import CommandError
from tailrace_bench import (
    heat,
    heat_counts,
    heat_counts_tables,
    heat_model,
    heat_tables,
    npb_runs,
    study_heat,
    study_heat_page,
)
from tailrace_bench.network_fit import Range
from test_bench import command

# Represents NPB's UA of a class: twice as fast with two threads.
STAND_IN = """#!{python}
import os
threads = int(os.environ["OMP_NUM_THREADS"])
print(" UA Benchmark Completed.")
print(" Class           =                        {npb_class}")
print(" Iterations      =                       50")
print(" Time in seconds =                    ", 4.0 / threads)
print(" Mop/s total     =                    ", 3.0 * threads)
print(" Verification    =               SUCCESSFUL")
"""


def stand_in(directory, npb_class: str, name: str = "ua.S.x"):
    path = directory / name
    path.write_text(STAND_IN.format(python=sys.executable, npb_class=npb_class))
    path.chmod(0o755)
    return path


def test_programs_of_npb(tmp_path):
    program = stand_in(tmp_path, "S")
    for path in (tmp_path, program, tmp_path / "ua.{class}.x"):
        assert npb_runs.find(str(path), "S") == program
    with pytest.raises(CommandError, match="make ua CLASS=W in NPB"):
        npb_runs.find(str(tmp_path), "W")
    found = npb_runs.run(program, "S", 2, Runner())
    assert (found.steps, found.seconds, found.mops, found.verification) == (50, 2.0, 6.0, "SUCCESSFUL")
    with pytest.raises(CommandError, match="computes class A, not S"):
        npb_runs.run(stand_in(tmp_path, "A", "other"), "S", 1, Runner())
    with pytest.raises(CommandError, match="without the result lines"):
        npb_runs.read_outcome("Class = S\n", "ua.S.x")


def test_parts_add_up():
    phases = {"convection_s": 1.0, "diffusion_s": 6.0, "adaptation_s": 2.0}
    phases |= {"gather_s": 0.5, "scatter_s": 1.5, "reduction_s": 1.0}
    parts = heat.parts_of({"computed_s": 10.0, "phases": phases})
    expected = {"computing": 0.4, "exchange": 0.2, "reductions": 0.1, "adaptation": 0.2, "rest": 0.1}
    assert parts == pytest.approx(expected)


def test_compared_with_the_fastest_on_as_many_cores():
    def ran(*seconds: float) -> heat.Found:
        return heat.Found(step_s=list(seconds))

    found = {heat.Way(1, 1): ran(1.0, 1.2), heat.Way(2, 1): ran(0.5, 0.5)}
    # Locks may make two threads slower than one.
    found |= {heat.Way(1, 1, heat.NPB): ran(2.0, 2.0), heat.Way(1, 2, heat.NPB): ran(4.0, 3.0)}
    rows = heat.compare("A", found)
    assert [(row["name"], row["reference"]) for row in rows] == [
        ("A, 1 x 1", "NPB, 1 thread"),
        ("A, 2 x 1", "NPB, 1 thread"),
    ]
    assert rows[0]["time_ratio"]["samples"] == pytest.approx([0.5, 0.6])
    assert heat.worst_verification(["SUCCESSFUL", "UNSUCCESSFUL"]) == "UNSUCCESSFUL"


@needs("tailrace-heat")
def test_heat_benchmark(tmp_path):
    file = tmp_path / "heat.json"
    stand_in(tmp_path, "S")
    options = ["--class", "S", "--pairs", "1", "--layout", "1x1", "--layout", "2x1", "--no-ways"]
    options += ["--reference", str(tmp_path), "--dir", str(tmp_path), "--json", str(file)]
    done = command("bench", "heat", *options)
    assert done.returncode == 0, done.stderr
    assert "Where the time goes" in done.stdout and "time over NPB's, 2 x 1: geometric mean" in done.stdout
    found = json.loads(file.read_text())
    assert [row["name"] for row in found["rows"]] == [
        "S, 1 x 1",
        "S, 2 x 1",
        "S, NPB, 1 thread",
        "S, NPB, 2 threads",
    ]
    own = found["rows"][:2]
    # 9080 elements over all steps, a step and ten iterations, 125 points.
    for row in own:
        assert row["mops"]["median"] * row["step_s"]["median"] * 50 == pytest.approx(9080 * 11 * 125 / 1e6)
        assert row["verification"] == "SUCCESSFUL" and row["difference"] < 1e-8 and row["elements"] == 246
        shares = {name: part["median"] for name, part in row["parts"].items()}
        assert sum(shares.values()) == pytest.approx(1)
        assert abs(shares["rest"]) < 0.05 and min(shares["computing"], shares["adaptation"]) > 0
    assert own[0]["integral"] == own[1]["integral"]
    assert found["rows"][3]["step_s"]["samples"] == [2.0 / 50]
    ratio = own[1]["step_s"]["median"] / (2.0 / 50)
    assert found["comparisons"][1]["time_ratio"]["median"] == pytest.approx(ratio)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["heat.json", "ua.S.x"]


def measured_ways(tmp_path, *options: str) -> dict:
    file = tmp_path / "heat.json"
    usual = ["--class", "S", "--pairs", "1", "--layout", "1x1", "--json", str(file)]
    done = command("bench", "heat", *usual, *options)
    assert done.returncode == 0, done.stderr
    found = json.loads(file.read_text())
    rows = {row["name"].removeprefix("S, "): row for row in found["ways"]}
    usual = rows["auto, touching, exact"]
    assert usual["over_usual"]["samples"] == [1.0] and usual["sent_bytes"] > 0 and usual["chosen"]
    for name, row in rows.items():
        assert (row["ranks"], row["verification"]) == (2, "SUCCESSFUL")
        if "fast" not in name:
            assert row["integral"] == usual["integral"]
    # Owners by number are elsewhere; words that travel alone are as many bytes.
    assert rows["distribution cyclic"]["sent_bytes"] > 2 * usual["sent_bytes"]
    whole, words = rows["transport rma-lock"], rows["transport rma-lock, word by word"]
    assert words["sent_bytes"] == 8 * words["messages"] == whole["sent_bytes"] == usual["sent_bytes"]
    return {"rows": rows, "compared": [row["name"] for row in found["compared"]]}


@needs("tailrace-heat")
def test_some_ways_of_two_ranks(tmp_path):
    found = measured_ways(tmp_path, "--way", "rma-lock", "--way", "cyclic")
    names = ["auto, touching, exact", "transport rma-lock", "distribution cyclic"]
    assert list(found["rows"])[:3] == names and "transport get" not in found["rows"]
    assert found["compared"] == ["put word by word over whole messages"]


@pytest.mark.full
@needs("tailrace-heat")
def test_all_ways_of_two_ranks(tmp_path):
    found = measured_ways(tmp_path)
    assert found["compared"] == list(heat.COMPARED)
    rows = found["rows"]
    assert {"transport isend", "sum fast", "no overlap", "transport get, word by word"} < set(rows)
    # The same values travel by each transport.
    assert rows["transport isend"]["sent_bytes"] == rows["transport rma-lock"]["sent_bytes"]


def test_names_of_ways():
    ways = [heat.Way(2, 1, label=name) for name in ("usual", "transport get", "no overlap")]
    assert [way.name for way in heat.named_ways(ways, ("get",))] == ["usual", "transport get"]
    assert heat.named_ways(ways, ()) == ways
    with pytest.raises(CommandError, match=r"--way put: no way has that in its name\. Fix: part of one of"):
        heat.named_ways(ways, ("put",))


def test_unknown_classes_and_programs(tmp_path):
    wrong = command("bench", "heat", "--class", "E")
    assert wrong.returncode == 2 and "--class E: unknown" in wrong.stderr


def test_verdicts():
    def row(npb_class: str, ranks: int, mops: float, exchange: float) -> dict:
        shares = {"exchange": exchange, "adaptation": 0.03}
        return {
            "name": f"{npb_class}, {ranks} x 1",
            "class": npb_class,
            "ranks": ranks,
            "threads": 1,
            "mops": stats.spread([mops]).as_dict(),
            "parts": {name: stats.spread([share]).as_dict() for name, share in shares.items()},
        }

    assert heat_tables.verdicts([row("W", 1, 9.0, 0.5), row("A", 1, 116.0, 0.5)]) == [
        "aim: 115 Mop/s, A, 1 x 1: 116, met",
        "aim: adaptation at most 2 % of the time, A, 1 x 1: 3.0 %, missed",
    ]
    assert heat_tables.verdicts([row("B", 2, 179.0, 0.04)]) == [
        "aim: 180 Mop/s, B, 2 x 1: 179, missed",
        "aim: adaptation at most 2 % of the time, B, 2 x 1: 3.0 %, missed",
        "aim: exchange at most 5 % of the time, B, 2 x 1: 4.0 %, met",
    ]


@needs("tailrace-heat")
def test_counted_alike(tmp_path):
    file = tmp_path / "counts.json"
    options = ["--class", "S", "--count", "5", "--real", "3", "--no-weak", "--json", str(file)]
    done = command("bench", "heat", *options)
    assert done.returncode == 0, done.stderr
    # Six rules and the change of the mesh, on three ranks.
    assert "counted by the program and by inspection alike: 7 of 7 rows" in done.stdout
    found = json.loads(file.read_text())
    assert {(row["ranks"], row["real"] is None) for row in found["rows"]} == {(3, False), (5, True)}
    rows = {(row["ranks"], row["rule"]): row for row in found["rows"]}
    assert list(heat_counts.RULES) == list(heat.DISTRIBUTIONS)
    volume = {rule: rows[5, rule]["inspected"]["reads"]["total"] for rule in heat_counts.RULES}
    assert volume["touching"] == volume["balanced"] < volume["double-block"] < volume["cyclic"]
    # The mesh of step 25 comes from that of step 20, which is smaller, so that elements move.
    (change,) = [row for row in found["changes"] if row["ranks"] == 3]
    assert found["elements"] == 204 and change["real"]["transfer"]["items"] > 0
    assert change["real"]["transfer"]["bytes"] == change["real"]["transfer"]["items"] * (16 + 8 * 125)


@needs("tailrace-heat")
def test_bytes_follow_from_counts(tmp_path):
    """On one mesh: a step has 12 gathers and as many contributions; the weights of averages and the diagonal
    add two of the latter, each account of accesses one of the former.
    """
    way = heat.Way(3, 1, keys=("time.steps=5", 'exchange.transport="persistent"'))
    account = heat.run_own("S", way, tmp_path, Runner())[1]
    counts = heat_counts.real_counts(account)
    reads, contributions = counts["reads"]["total"], counts["contributions"]["total"]
    sent = heat.sent(account)
    accesses = len(account["results"]["accesses"])
    assert sent["sent_bytes"] == 8 * ((12 * 5 + accesses) * reads + (12 * 5 + 2) * contributions)
    assert sent["messages"] == (24 * 5 + 2 + accesses) * counts["messages"]["total"]


def test_start_before_the_middle():
    assert heat_counts.start_of("C", 6) == pytest.approx(
        [3 / 7 + 3 * 95 * 0.04 / 256, *[2 / 7 + 3 * 95 * 0.04 / 256] * 2]
    )
    assert heat_counts.start_of("S", 11) == pytest.approx(heat_counts.start_of("S", 15))


def test_growth_for_as_many_elements():
    rows = [{"elements": 500, "bytes": 10.0}, {"elements": 550, "bytes": 22.0}]
    assert heat_counts.growth(rows, "bytes") == pytest.approx(2.0)


def test_verdicts_of_counts():
    names = heat_counts_tables.WEAK_COLUMNS
    weak = [
        {"rule": "touching", "ranks": ranks, "elements": 500.0} | dict.fromkeys(names, value)
        for ranks, value in ((4, 1.0), (64, 1.2))
    ]
    rows = [{"differs": []}, {"differs": ["map"]}, {"differs": None}]
    lines = heat_counts_tables.verdicts({"rows": rows, "changes": [], "weak": weak})
    assert lines[0] == "counted by the program and by inspection alike: 1 of 2 rows"
    assert len(lines) == 1 + len(names) and all("+20 %, missed" in line for line in lines[1:])


def test_model():
    # 1 us to the first byte and 1 ns for each; then a message each 0.5 us.
    costs = heat_model.Costs((Range(0, 1 << 20, 1e-6, 1e-9),), 0.5e-6)
    assert costs.messages_s(0, 0) == 0
    assert costs.messages_s(3, 300) == pytest.approx(1e-6 + 100e-9 + 2 * 0.5e-6)
    assert costs.messages_s(3, 30000) == pytest.approx(1e-6 + 3 * 10e-6)
    assert costs.collective_s(1024, 1000) == pytest.approx(10 * 2e-6)
    part = {"max_messages": 0, "max_bytes": 0}
    change = dict.fromkeys(("transfer", "surroundings", "numbering"), part)
    counts = {"ranks": 4, "map": part, "messages": {"most": 2}, "reads": {"most": 100, "total": 200}}
    counts |= {"contributions": {"most": 200}, "read_max_over_mean": 2.0}
    parts = heat_model.ours_here(counts, change, 10, 1e-3, 1e-2, costs)
    assert parts.computing_s == pytest.approx(200 * 3 * 1e-3)
    gather, scatter = 1e-6 + 0.4e-6 + 0.5e-6, 1e-6 + 0.8e-6 + 0.8e-6
    assert parts.exchange_s == pytest.approx(200 * 12 * (gather + scatter))
    assert parts.sums_s == pytest.approx(200 * 20 * 2 * (1e-6 + 552e-9))
    assert parts.changes_s == pytest.approx(39 * (3 * 1e-2 + heat_model.COLLECTIVES * 2e-6))
    assert parts.mops == pytest.approx(8780.4 / parts.total_s)
    # Each word takes a microsecond: 100 are read of the busiest, 100 are read by the busiest.
    there = heat_model.on_study_machine(counts, 12, False)
    assert there.exchange_s == pytest.approx(200 * 24 * 100e-6) and there.changes_s == 14.0
    assert there.computing_s == pytest.approx((3400 - 14) / 4)
    assert heat_model.on_study_machine(counts, 12, True).changes_s == pytest.approx(14 / 4)


@pytest.mark.full
@needs("tailrace-heat")
def test_study_on_a_small_class(tmp_path, monkeypatch):
    """With counts of class S in place of C, whose inspection takes longer: all sections are there."""
    monkeypatch.setattr(study_heat, "COUNTED_CLASS", "S")
    monkeypatch.setattr(study_heat, "WAYS_CLASS", "S")
    monkeypatch.setattr(study_heat, "WINDOWS", 6)
    found = study_heat.measure(study_heat.Request("S", 1, (2, 5), tmp_path))
    assert [row["verification"] for row in found["profile"]] == ["SUCCESSFUL"] * 2
    assert sum(found["profile"][0]["shares"].values()) == pytest.approx(1)
    assert [row["ranks"] for row in found["model"]] == [2, 5]
    assert 0 < found["model"][1]["here"]["computing_s"] < found["model"][0]["here"]["computing_s"]
    page = tmp_path / "study.html"
    study_heat_page.write_page(json.loads(json.dumps(found)), page)
    text = page.read_text()
    for key in ("profile", "access", "owners", "put", "scaling", "speed-up"):
        assert f'<section id="{key}">' in text and f'id="{key}-plot"' in text


def test_options_of_counting():
    for options, message in (
        (["--real", "2"], "--real has no meaning without --count"),
        (["--count", "4", "--pairs", "2"], "--pairs has no meaning with --count"),
        (["--count", "4", "--class", "S", "--steps", "30"], "--steps 30: at most 25 of class S"),
        (["--count", "4", "--class", "S", "--class", "W"], "--class is given more than once"),
    ):
        wrong = command("bench", "heat", *options)
        assert wrong.returncode == 2 and message in wrong.stderr, wrong.stderr
