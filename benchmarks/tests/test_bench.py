# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench`: arithmetic, inputs and documents. Nothing here asserts a time."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from native import needs
from tailrace.bench import host, stats
from tailrace.bench.programs import Runner
from tailrace.commands.bench import parse_layout
from tailrace.console import CommandError
from tailrace.programs import find_program
from tailrace_bench import (
    BENCHMARKS,
    exchange,
    forecast,
    model,
    output,
    output_rows,
    output_tables,
    stepping,
    study,
    study_loads,
    study_page,
    throttle,
    ultrasound,
    warm,
)

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "python/src")}


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tailrace", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env=ENVIRONMENT,
    )


def test_interval_of_the_median():
    found = stats.spread([5.0, 1.0, 4.0, 2.0, 3.0, 7.0, 6.0])
    assert (found.median, found.low, found.high) == (4.0, 1.0, 7.0)
    assert found.coverage == pytest.approx(1 - 2 / 2**7)
    # Nine samples: the second and the second last cover 96 %.
    nine = stats.spread([float(i) for i in range(9)])
    assert (nine.low, nine.high) == (1.0, 7.0)
    assert nine.coverage == pytest.approx(1 - 2 * 10 / 2**9)
    assert stats.spread([2.0, 4.0]).median == 3.0
    assert stats.spread([2.0]).coverage == 0.0
    assert stats.from_dict(found.as_dict()) == found


def test_ratios_are_taken_pair_by_pair():
    found = stats.ratios([1.0, 4.0, 9.0], [1.0, 2.0, 3.0])
    assert found.samples == (1.0, 2.0, 3.0)
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        stats.ratios([1.0, 2.0], [1.0])


def test_transforms_of_a_step():
    one, many = model.total("one"), model.total("many")
    # k-Wave's own count: 14 transforms, 16 with a source that is filtered in each step.
    assert one.plane_forward + one.plane_inverse == 14
    assert many.plane_forward + many.plane_inverse == 16
    # Every exchange belongs to a forward plane transform (to columns) or an inverse one along z (back).
    for step in (one, many):
        assert step.exchanges == step.plane_forward + step.column_inverse


def test_bytes_and_transform_time_of_a_step():
    grid = (8, 4, 2)
    spectrum, field = 8 * 5 * 4 * 2, 4 * 8 * 4 * 2
    one = model.total("one")
    assert model.bytes_per_step(grid, "one", 5) == spectrum * one.spectra + field * one.fields
    times = model.CallTimes(1.0, 10.0, 100.0, 1000.0, pitch=5, column_width=3, workers=2)
    planes = 2 * (one.plane_forward + 10 * one.plane_inverse)
    columns = 4 * 2 * (100 * one.column_forward + 1000 * one.column_inverse)
    assert model.transform_seconds(grid, "one", times) == (planes + columns) / 2


def test_layouts():
    assert parse_layout("2x1") == (2, 1)
    for text in ("2", "x", "0x1", "ax2", "1x"):
        with pytest.raises(CommandError, match="--layout"):
            parse_layout(text)


def test_watch_tells_what_others_used():
    watched = host.Watch().stop()
    assert watched["others_cpu_share"] >= 0
    assert isinstance(watched["disturbed"], bool)
    assert "load average" in host.watch_text(watched)
    assert "DISTURBED" in host.watch_text(watched | {"disturbed": True})


def test_a_program_that_fails_is_named():
    with pytest.raises(CommandError, match="ended with status 3: out of luck") as raised:
        Runner().run([sys.executable, "-c", "import sys; sys.stderr.write('out of luck'); sys.exit(3)"])
    assert raised.value.exit_code == 3
    done = Runner()
    assert done.run([sys.executable, "-c", "print(7)"]).output == "7\n"
    assert len(done.commands) == 1


def test_disk_of_a_partition(tmp_path):
    disk = tmp_path / "block" / "disk"
    part = disk / "disk1"
    part.mkdir(parents=True)
    (part / "partition").write_text("1\n")
    (disk / "dev").write_text("8:0\n")
    devices = tmp_path / "dev"
    devices.mkdir()
    (devices / "8:1").symlink_to(part)
    (devices / "8:0").symlink_to(disk)
    assert throttle.whole_device(os.makedev(8, 1), devices) == "8:0"
    assert throttle.whole_device(os.makedev(8, 0), devices) == "8:0"
    assert throttle.whole_device(os.makedev(9, 9), devices) is None


def test_list_and_unknown_names():
    listed = command("bench")
    assert listed.returncode == 0
    for name in BENCHMARKS:
        assert f"tailrace bench {name}" in listed.stdout
    assert command("bench", "nothing").returncode == 2
    wrong = command("bench", "output", "--json", "no/such/directory/f.json")
    assert wrong.returncode == 2
    assert "--json no/such/directory/f.json" in wrong.stderr


def test_rows_of_the_output_benchmark():
    names = [row.name for row in output_rows.ROWS]
    assert len(names) == len(set(names)) and 55 <= len(names) <= 65
    for part, wanted in enumerate(
        [output_rows.STORAGES, map(str, output_rows.SHARES), ("1", "32", "256"), output_rows.OWNERS]
    ):
        assert set(wanted) <= {name.split("/")[part] for name in names}
    assert [row.name for row in output_rows.select_rows(("paced/50/256/*",), False)] == [
        "paced/50/256/even",
        "paced/50/256/uneven",
        "paced/50/256/one",
    ]
    assert len(output_rows.select_rows((), True)) == len(output_rows.QUICK)
    with pytest.raises(CommandError, match="no such row"):
        output_rows.select_rows(("paced/51/*",), False)
    assert command("bench", "output", "--list-rows").stdout.splitlines() == names


def test_what_a_run_leaves_is_removed_whatever_it_is(tmp_path):
    (tmp_path / "output.h5").touch()
    (tmp_path / "output.h5.steps").mkdir()
    (tmp_path / "output.h5.steps" / "1").touch()
    (tmp_path / "probe").touch()
    warm.remove_outputs(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["probe"]


def test_strategies_of_the_output_benchmark():
    services = {
        "blocking": ["hdf5", "hdf5-parallel"],
        "threads": ["hdf5"],
        "ranks:1": ["hdf5"],
        "odd": ["mpiio"],
    }
    variants = output.choose_variants(services, ())
    assert [variant.name for variant in variants] == ["blocking", "threads", "ranks:1", "hdf5-parallel"]
    assert [v.name for v in output.choose_variants(services, ("ranks:2",))] == [
        "blocking",
        "ranks:2",
        "hdf5-parallel",
    ]
    with pytest.raises(CommandError, match="this build has blocking, threads"):
        output.choose_variants(services, ("nobody",))
    assert [throttle.writing_processes(name, 4) for name in ("threads", "leaders", "spawn:2")] == [4, 1, 2]


def test_verdicts_on_aims():
    def spread_of(*samples: float) -> dict:
        return stats.spread(list(samples)).as_dict()

    def variant(run_s: float, ideal: float, speed: float) -> dict:
        return {"run_s": spread_of(run_s), "over_ideal": spread_of(ideal), "over_blocking": spread_of(speed)}

    row = {"name": "paced/100/1/even", "share": 100, "write_over_compute": spread_of(1.04)}
    row["variants"] = {"blocking": variant(2.0, 1.9, 1.0), "auto": variant(1.1, 1.02, 1.8)}
    document = {"rows": [row], "boxes": [{"output_ratio": spread_of(1.2)}]}
    assert output_tables.verdicts(document) == [
        "aim: the best strategy within 3 % of ideal: met, worst 1.020",
        "aim: a speed-up of 1.9 where computing and writing are equal: met in 0 of 1 rows, worst 1.800",
        "aim: auto within 3 % of the best strategy: met, worst 1.000",
        "aim: auto not measurably slower than blocking: met",
        "aim: 256 boxes within 10 % of one: met in 0 of 1 rows, worst 1.200",
    ]
    row["write_over_compute"] = spread_of(1.16)
    assert output_tables.verdicts(document)[1].endswith(
        "equal: not decided by paced/100/1/even, where writing took 1.16 of computing"
    )


def test_forecasts_are_found_by_strategy():
    runs_s = {"threads:2": 1.0, "leaders:2,buffers=2": 4.0, "leaders:12,buffers=2": 2.0, "ranks:1": 3.0}
    found = forecast.Forecast(runs_s | {"uring:2": 5.0, "uring:3": 6.0, "blocking": 7.0}, "ranks:1")
    names = ["threads", "threads:2", "threads:4", "leaders", "ranks:1", "ranks:2", "spawn", "auto", "uring"]
    assert [found.of(name) for name in names] == [1.0, 1.0, None, 2.0, 3.0, None, None, 3.0, 5.0]
    assert found.of("blocking") == 7.0


def test_verdict_on_predictions():
    def row(name: str, **ratios: float) -> dict:
        variants = {
            key: {"predicted_over_run": stats.spread([ratio]).as_dict()} for key, ratio in ratios.items()
        }
        return {"name": name, "ranks": 2, "variants": variants | {"hdf5-parallel": {}}}

    good = [row("a", blocking=1.0, threads=0.9), row("b", blocking=1.5)]
    assert output_tables.prediction_verdict(good) == [
        "aim: predicted run times wrong by less than 15 % (median): met, 10 % over 3, "
        "worst 50 % (blocking in b, 2 ranks)"
    ]
    assert "not met, 20 % over 1" in output_tables.prediction_verdict([row("a", threads=0.8)])[0]
    assert output_tables.prediction_verdict([]) == []


@needs("tailrace-rehearse")
def test_output_benchmark_predicts(tmp_path):
    file = tmp_path / "output.json"
    options = ["--outputs", "30", "--pairs", "1", "--compute-ms", "2", "--sample-mib", "1", "-n", "2"]
    options += ["--rows", "paced/50/1/even", "--strategies", "threads", "--strategies", "leaders"]
    done = command("bench", "output", *options, "--no-boxes", "--dir", str(tmp_path), "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "predicted / run" in done.stdout and "aim: predicted run times" in done.stdout
    found = json.loads(file.read_text())
    (row,) = found["rows"]
    own = {name: one for name, one in row["variants"].items() if name != "hdf5-parallel"}
    assert all(len(one["predicted_over_run"]["samples"]) == 1 for one in own.values())
    assert "predicted_over_run" not in row["variants"].get("hdf5-parallel", {})
    # One leader of two ranks is given the whole device: a plan for that pace, and one for half of it.
    planned = [line for line in found["commands"] if "--plan" in line]
    assert len(planned) == 2 and all("--write auto" in line for line in planned)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["output.json"]


@pytest.mark.full
@needs("tailrace-rehearse")
def test_output_benchmark(tmp_path):
    file = tmp_path / "output.json"
    options = ["--outputs", "3", "--pairs", "1", "--compute-ms", "2", "--sample-mib", "1", "-n", "1"]
    options += ["--rows", "*/50/1/even", "--strategies", "threads", "--box-mib", "1"]
    done = command("bench", "output", *options, "--dir", str(tmp_path), "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "run / ideal" in done.stdout and "left" in done.stderr
    found = json.loads(file.read_text())
    assert found["benchmark"] == "output"
    storages = [row["storage"] for row in found["rows"]]
    assert storages == ["paced", "flushed"] + (["throttled"] if len(storages) == 3 else [])
    for row in found["rows"]:
        assert {"blocking", "threads"} <= set(row["variants"])
        threads = row["accounts"]["threads"][0]
        assert threads["ranks"][0]["write_bytes"] == 3 << 20
        assert threads["units"] == row["units"] > 0
        assert row["accounts"]["write alone"][0]["units"] == 0
        assert row["accounts"]["compute alone"][0]["ranks"][0]["write_bytes"] == 0
        assert len(row["variants"]["threads"]["over_ideal"]["samples"]) == 1
        assert row["write_over_compute"]["median"] > 0
        for found_variant in row["variants"].values():
            assert 0 <= found_variant["unexplained"]["median"] < 1
    assert [(row["strategy"], row["flush"]) for row in found["boxes"]] == [
        (strategy, flush) for strategy in ("blocking", "threads") for flush in ("none", "sample")
    ]
    boxes = found["boxes"][0]
    assert boxes["setup_s"]["one"]["median"] > 0 and boxes["setup_s"]["many"]["median"] > 0
    assert boxes["accounts"]["many"][0]["ranks"][0]["write_bytes"] == boxes["outputs"] << 20
    assert any("boxes:256" in line for line in found["commands"])
    assert any("--verify" in line for line in found["commands"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["output.json"]


@needs("tailrace-ultrasound")
def test_trace_benchmark(tmp_path):
    file = tmp_path / "trace.json"
    options = ["--grid", "16", "-n", "1", "--steps", "30", "--pairs", "2"]
    done = command("bench", "trace", *options, "--dir", str(tmp_path), "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "With a trace against without" in done.stdout and "Aim, at most 1.01" in done.stdout
    found = json.loads(file.read_text())
    (row,) = found["rows"]
    assert (row["grid"], row["steps"], row["ranks"], row["lost"]) == (16, 30, 1, 0)
    assert row["records"] >= 2 * 30 and row["bytes"] >= 48 * row["records"]
    assert len(row["time_ratio"]["samples"]) == len(row["cpu_ratio"]["samples"]) == 2
    assert {line.split("--trace ")[1] for line in found["commands"]} == {"on", "off"}


@needs("tailrace-bench-exchange")
def test_exchange_benchmark(tmp_path):
    file = tmp_path / "exchange.json"
    options = ["--load", "one-word", "--components", "3", "--rounds", "4", "--puts", "1000"]
    done = command("bench", "exchange", *options, "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "one-word, 3" in done.stdout and "best transport" in done.stdout
    found = json.loads(file.read_text())
    (row,) = found["rows"]
    assert (row["load"], row["components"], found["settings"]["ranks"]) == ("one-word", 3, 2)
    assert row["best"] != "auto" and {"auto", "persistent", "isend", row["best"]} <= set(row["against_hand"])
    assert set(row["other_hands"]) == {"alltoallv", "rma-fence", "rma-pscw", "rma-lock"}
    peers = {"PETSc", "gslib", "Global Arrays", "OpenCoarrays"}
    assert set(row["libraries"]) == peers  # absent ones with the reason
    assert set(found["puts"]) == {"within a node", "between nodes, packed", "between nodes, one by one"}
    aims = {aim["aim"]: aim for aim in found["aims"]}
    persistent = row["time_s"]["gather persistent"]["median"]
    rebuild = row["time_s"]["rebuild persistent"]["median"]
    assert aims["rebuild over gather"]["worst"] == pytest.approx(rebuild / persistent)
    assert "partition_free over fast" not in aims  # which is about adaptive meshes
    for name in ("by hand isend", "by hand rma-pscw", "gather auto", "scatter_add persistent", "order fast"):
        assert len(row["time_s"][name]["samples"]) == 4
    hand, auto = (row["time_s"][name]["samples"] for name in ("by hand isend", "gather auto"))
    assert row["against_hand"]["auto"]["samples"] == [a / b for a, b in zip(auto, hand, strict=True)]
    assert command("bench", "exchange", "--load", "nothing").returncode == 2


@needs("tailrace-bench-exchange")
def test_rules_of_ownership_are_counted_beside_what_was_counted_elsewhere(tmp_path):
    file = tmp_path / "counts.json"
    done = command("bench", "exchange", "--count", "--counted-ranks", "8", "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "8, balanced" in done.stdout and "counted elsewhere" in done.stdout
    found = json.loads(file.read_text())
    rows = {row["rule"]: row for row in found["rows"]}
    (real,) = (row for row in found["real"] if (row["load"], row["ranks"]) == ("ua-C", 8))
    inspected = rows["lowest_rank"]["remote_per_point"]
    assert real["landing"]["mean"] * 8 / real["points"] == pytest.approx(inspected, rel=1e-12)
    assert real["messages"]["mean"] == pytest.approx(rows["lowest_rank"]["peers"], rel=1e-12)
    assert real["bytes"]["mean"] == 8 * real["landing"]["mean"]
    assert len(rows) == 6 and rows["cyclic"]["counted_elsewhere"] is None
    for rule in ("lowest_rank", "balanced"):
        assert abs(rows[rule]["remote_per_point"] / rows[rule]["counted_elsewhere"] - 1) < 0.02


@needs("tailrace-bench-exchange")
def test_loads_of_the_exchange_benchmark_are_those_of_its_program():
    said = subprocess.run(
        [str(find_program("tailrace-bench-exchange")), "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert "{" + ",".join(exchange.LOADS) + "}" in said


def test_experiments_of_the_study():
    everything = study_loads.experiments(4, 8, ["blocking", "threads", "leaders"])
    keys = [experiment.key for experiment in everything]
    assert keys == ["sizes", "cut", "cuboids", "groups", "buffers", "loads", "cores"]
    assert everything[3].points[0].strategies == ("blocking", "leaders:1", "leaders:2", "leaders:4")
    few = study_loads.experiments(1, 1, ["blocking", "threads"])
    assert [experiment.key for experiment in few] == ["sizes", "cut", "cuboids", "buffers", "loads"]
    assert study.without_selection(["-a", "--select", "x", "-b", "--select", "y"]) == ["-a", "-b"]
    assert command("bench", "study", "weather").returncode == 2


@pytest.mark.full
@needs("tailrace-rehearse")
def test_study(tmp_path, monkeypatch):
    """Two of the experiments, as small as they go; the page holds a plot and a table of each."""
    chosen = [study_loads.cuboids(), study_loads.writer_core()]
    monkeypatch.setattr(study, "experiments", lambda *_: chosen)
    found = study.measure(study.Request(ranks=2, outputs=2, pairs=1, compute_ms=0.5, directory=tmp_path))
    assert [len(experiment["points"]) for experiment in found["experiments"]] == [4, 2]
    assert set(found["experiments"][0]["points"][3]["ways"]) == {"compute alone", "blocking", "threads"}
    assert "threads" in found["experiments"][1]["ours"]
    study_page.write_page(found, tmp_path / "study.html")
    page = (tmp_path / "study.html").read_text()
    for experiment in chosen:
        assert f'<section id="{experiment.key}">' in page and f'id="{experiment.key}-plot"' in page
    assert page.count("<table") == 2 and "3 times slower with 256 datasets" in page
    assert [path.name for path in tmp_path.iterdir()] == ["study.html"]


def test_the_reference_is_compared_where_it_is_fastest():
    """k-Wave's transforms of a small plane are slower with two threads than with one."""
    ours = [stepping.Variant(Path("ours"), 1, 1), stepping.Variant(Path("ours"), 1, 2)]
    theirs = [stepping.Variant(Path("theirs"), 1, threads, is_reference=True) for threads in (1, 2)]

    def ratios_of(*reference_s: float) -> list[tuple[int, float]]:
        times = dict(zip((*ours, *theirs), (1.0, 0.6, *reference_s), strict=True))
        samples = {one.name: stepping.Samples([time], [time], 100) for one, time in times.items()}
        case = ultrasound.Case((32, 32, 1), "one", 1)
        rows = ultrasound.compare(ultrasound.Measurement(case, 0, [*ours, *theirs], samples, 0.0))
        return [(row["reference_threads"], row["time_ratio"]["median"]) for row in rows]

    assert ratios_of(2.0, 5.0) == [(1, 0.5), (1, 0.3)]
    assert ratios_of(2.0, 1.2) == [(1, 0.5), (2, 0.5)]


@needs("tailrace-bench-kernels", "tailrace-ultrasound")
def test_ultrasound_benchmark(tmp_path):
    file = tmp_path / "ultrasound.json"
    # The program itself represents the reference: same command line, same output file.
    program = str(find_program("tailrace-ultrasound"))
    options = ["--grid", "32", "--source", "many", "--source", "one", "--pairs", "1", "--steps", "200"]
    options += ["--layout", "1x1", "--reference", program]
    done = command("bench", "ultrasound", *options, "--dir", str(tmp_path), "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "Against the reference" in done.stdout
    found = json.loads(file.read_text())
    assert {(row["source"], row["program"]) for row in found["rows"]} == {
        ("one", "tailrace-ultrasound"),
        ("many", "tailrace-ultrasound"),
    }
    for row in found["rows"][::2]:
        assert row["bytes_per_step"] == model.bytes_per_step((32, 32, 32), row["source"], 20)
        assert row["predicted_memory_bytes"] > 0
    assert [row["result_difference"] for row in found["comparisons"]] == [0.0, 0.0]
