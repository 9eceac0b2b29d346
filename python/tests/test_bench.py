"""`tailrace bench`: arithmetic, inputs and documents. Nothing here judges a time."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tailrace.bench import BENCHMARKS, host, model, stats, throttle
from tailrace.bench.programs import Runner
from tailrace.commands.bench import parse_layout
from tailrace.console import CommandError
from tailrace.programs import find_program

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "python/src")}


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tailrace", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
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


@pytest.mark.skipif(find_program("tailrace-bench-output") is None, reason="the benchmarks are not built")
def test_output_benchmark(tmp_path):
    file = tmp_path / "output.json"
    options = ["--outputs", "3", "--pairs", "1", "--compute-ms", "2", "--sample-mib", "1", "-n", "1"]
    options += ["--share", "0.5", "--box-mib", "1"]
    done = command("bench", "output", *options, "--dir", str(tmp_path), "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "threads / ideal" in done.stdout
    found = json.loads(file.read_text())
    assert found["benchmark"] == "output"
    assert [row["storage"].split(",")[0] for row in found["overlap"]] == ["paced", "flushed"]
    for row in found["overlap"]:
        assert row["accounts"]["threads"][0][0]["bytes"] == 3 << 20
        assert len(row["over_ideal"]["samples"]) == 1
    assert [row["flush"] for row in found["boxes"]] == ["none", "sample"]
    assert found["boxes"][0]["accounts"]["many"][0]["bytes"] == found["boxes"][0]["outputs"] << 20
    assert any("--boxes 4 8 8" in line for line in found["commands"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["output.json"]


needs_kernels = pytest.mark.skipif(
    find_program("tailrace-bench-kernels") is None or find_program("tailrace-ultrasound") is None,
    reason="the benchmarks are not built",
)


@needs_kernels
def test_ultrasound_benchmark(tmp_path):
    file = tmp_path / "ultrasound.json"
    # The program itself stands for the reference: same command line, same output file.
    program = str(find_program("tailrace-ultrasound"))
    options = ["--grid", "32", "--pairs", "1", "--steps", "200", "--layout", "1x1", "--reference", program]
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
