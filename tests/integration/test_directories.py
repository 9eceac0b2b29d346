# SPDX-License-Identifier: BSD-3-Clause
"""Values in raw files of several directories: what h5py sees is what one file holds, whatever happens."""

import errno
import os
import re
from pathlib import Path

import h5py
import pytest

import jobs
from matrix import each_value
from test_rehearse import SERVICES, wait_for_steps, world

# 64 KiB are half of a plane of doubles, and no multiple of a sample: stripes begin within rows of any rank.
STRIPE = 64 << 10
SIZE = ["--cells", "67,61,5", "--steps", "9", "--quiet"]
SELECTIONS = ["whole", "z=2", "boxes:6", "points:40", "box:3,2,0,60,50,4"]
SELECT = [word for selection in SELECTIONS for word in ("--select", selection)]
# spawn-each has a directory of its own, and refuses others (test_io_servers.py).
STRATEGIES = [strategy for strategy, sink in SERVICES if sink == "hdf5" and strategy != "spawn-each"]
OTHER_SINKS = sorted({sink for _, sink in SERVICES} - {"hdf5"})


@pytest.fixture
def disks(tmp_path) -> list[Path]:
    found = [tmp_path / "disks" / name for name in ("a", "b", "c")]
    for directory in found:
        directory.mkdir(parents=True)
    return found


@pytest.fixture(scope="module")
def one_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("one") / "one.h5"
    ended = jobs.rehearse("-o", path, *SIZE, *SELECT, "--write", "blocking", "--verify")
    assert ended.status == 0, ended
    return path


def over(disks: list[Path], *words: str) -> list[str]:
    names = ",".join(str(directory) for directory in disks)
    return [*SIZE, *SELECT, "--directories", names, "--stripe", "64KiB", *words]


def raw_files(disks: list[Path]) -> list[Path]:
    return [path for directory in disks for path in sorted(directory.iterdir())]


@each_value("strategy, ranks", STRATEGIES, [1, 3])
def test_the_values_are_those_of_one_file(strategy, ranks, disks, one_file, tmp_path):
    path = tmp_path / "out.h5"
    words = over(disks, "--write", strategy, "--verify")
    ended = jobs.rehearse("-o", path, *words, ranks=world(ranks, strategy))
    assert ended.status == 0 and ": right: " in ended.out, ended
    jobs.assert_equal_files(path, one_file)
    assert jobs.recorded_steps(path) == jobs.recorded_steps(one_file)
    assert len(raw_files(disks)) == len(disks)


def test_stripes_go_round_robin(disks, one_file, tmp_path):
    """The bytes of each stripe, read without HDF5, where the stripes are expected."""
    path = tmp_path / "out.h5"
    assert jobs.rehearse("-o", path, *over(disks), ranks=2).status == 0
    with h5py.File(path) as file, h5py.File(one_file) as expected:
        dataset = file["whole/values"]
        values = expected["whole/values"][()].tobytes()
        parts = dataset.external
        assert len(parts) == -(-len(values) // STRIPE)
        homes = [Path(os.fsdecode(part[0])).parent for part in parts]
        assert set(homes) == set(disks)
        assert all(homes[i] != homes[i + 1] and homes[i] == homes[i + 3] for i in range(len(parts) - 3))
        for number, (name, offset, size) in enumerate(parts):
            with Path(os.fsdecode(name)).open("rb") as raw:
                raw.seek(offset)
                assert raw.read(size) == values[number * STRIPE : number * STRIPE + size]
    sizes = [file.stat().st_size for file in raw_files(disks)]
    assert max(sizes) < 2 * min(sizes) and path.stat().st_size < sum(sizes) / 4


def test_a_moved_output_finds_its_values(disks, one_file, tmp_path):
    path, moved = tmp_path / "out.h5", tmp_path / "elsewhere" / "moved.h5"
    assert jobs.rehearse("-o", path, *over(disks)).status == 0
    moved.parent.mkdir()
    path.rename(moved)
    jobs.assert_equal_files(moved, one_file)
    # A new output of the old name takes nothing away from it.
    assert jobs.rehearse("-o", path, *over(disks)).status == 0
    jobs.assert_equal_files(moved, one_file)
    assert len(raw_files(disks)) == 6
    raw_files(disks[:1])[0].rename(tmp_path / "lost")
    raw_files(disks[:1])[0].rename(tmp_path / "lost too")
    with pytest.raises(OSError, match="unable to open external raw data file"):
        jobs.read_datasets(moved)


def test_replacing_an_output_removes_its_raw_files(disks, one_file, tmp_path):
    words = ["--out", tmp_path / "run", "--overwrite", *over(disks)]
    assert jobs.rehearse(*words).status == 0
    first = raw_files(disks)
    foreign = disks[0] / "of somebody else"
    foreign.write_text("kept")
    assert jobs.rehearse(*words).status == 0
    left = raw_files(disks)
    assert len(left) == 4 and foreign in left and not set(first) & set(left)
    jobs.assert_equal_files(tmp_path / "run" / "output.h5", one_file)


@pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s.split(":")[0] in ("threads", "uring")])
def test_killed_in_the_middle_of_a_write(strategy, disks, one_file, tmp_path):
    path = tmp_path / "out.h5"
    words = over(disks, "--write", strategy, "--fault", "kill:rank=1,step=6")
    ended = jobs.rehearse("-o", path, *words, ranks=2)
    assert ended.status != 0, ended
    steps = jobs.recorded_steps(path)
    found, expected = jobs.read_datasets(path), jobs.read_datasets(one_file)
    assert found["whole/values"][:steps].tobytes() == expected["whole/values"][:steps].tobytes()
    checked = jobs.rehearse("--verify", path)
    assert checked.status == 0, checked


def test_a_full_disk_is_named(disks, tmp_path):
    words = over(disks, "--fault", "write:error=ENOSPC,step=5", "--out", tmp_path / "run")
    ended = jobs.rehearse(*words, ranks=2)
    assert ended.status == 3, ended
    assert re.search(r"disks/[abc]/output-[0-9a-f]{16}\.[012]\.raw: .*No space left", ended.err), ended
    assert jobs.rehearse("--verify", tmp_path / "run" / "output.h5").status == 0


def test_failed_writes_are_made_again(disks, one_file, tmp_path):
    """The policy for failures goes for raw files as for others: writes that failed once are made again."""
    path = tmp_path / "out.h5"
    case = tmp_path / "case.toml"
    # Relative names are taken from the place of the case file.
    names = ", ".join(f'"{directory.relative_to(tmp_path)}"' for directory in disks)
    case.write_text(
        '[case]\nsimulation = "rehearse"\n[domain]\ncells = [67, 61, 5]\n[time]\nsteps = 9\n'
        f'[write]\ndirectories = [{names}]\nstripe = "64KiB"\n'
        '[[output]]\nname = "all"\nquantity = "v"\nevery = 1\non_failure = "retry"\n'
    )
    ended = jobs.rehearse("--case", case, "-o", path, "--quiet", "--fault", "write:every=7", ranks=2)
    assert ended.status == 0, ended
    assert len(raw_files(disks)) == 3
    found, expected = jobs.read_datasets(path)["all/values"], jobs.read_datasets(one_file)["whole/values"]
    assert found.tobytes() == expected.astype(found.dtype).tobytes()


def test_bad_directories_are_one_message(disks, tmp_path):
    """Before anything is made."""
    path = tmp_path / "out.h5"
    a_file = tmp_path / "file"
    a_file.write_text("")

    def refused(words: list[str]) -> str:
        ended = jobs.rehearse("-o", path, *words, ranks=2)
        assert ended.status == 2 and not path.exists() and not raw_files(disks), ended
        assert ended.err.count("tailrace-rehearse:") == 1, ended
        return ended.err

    assert "No such file" in refused(over([disks[0], tmp_path / "missing"]))
    assert "is no directory" in refused(over([disks[0], a_file]))
    assert "named twice" in refused(over([disks[0], disks[1], disks[0]]))
    assert "--stripe 3KiB" in refused([*SIZE, "--directories", str(disks[0]), "--stripe", "3KiB"])
    assert "write.stripe" in refused([*SIZE, "--stripe", "1MiB"])
    if os.geteuid() != 0:
        disks[2].chmod(0o500)
        assert "Permission denied" in refused(over(disks))
    for sink in OTHER_SINKS:
        assert f"do not go with --sink {sink}" in refused(over(disks, "--sink", sink))


def test_while_it_runs(disks, tmp_path):
    """Readers see the samples of the commit mark before the run ends."""
    words = over(disks, "--steps", "2000", "--pace", "latency=20ms", "--select", "whole")
    job = jobs.rehearsal("--out", tmp_path / "run", *words, ranks=2)
    try:
        wait_for_steps(job, tmp_path / "run", 6)
        steps = jobs.recorded_steps(tmp_path / "run" / "output.h5")
        with h5py.File(tmp_path / "run" / "output.h5", "r", locking=False) as file:
            values = file["whole/values"]
            for sample in range(steps):
                first, second = values[sample].ravel()[[0, 1]]
                assert second == first + 1, sample
    finally:
        job.kill_all()
    assert steps > 0


def leaving_case(disks: list[Path], tmp_path: Path) -> Path:
    case = tmp_path / "case.toml"
    names = ", ".join(f'"{directory}"' for directory in disks)
    case.write_text(
        '[case]\nsimulation = "rehearse"\n[domain]\ncells = [67, 61, 5]\n[time]\nsteps = 9\n'
        f'[write]\nstrategy = "blocking"\ndirectories = [{names}]\nstripe = "64KiB"\n'
        '[[output]]\nname = "all"\nquantity = "v"\nevery = 1\non_failure = "switch"\n'
    )
    return case


def test_a_full_disk_is_left_for_the_next(disks, one_file, tmp_path):
    case, run_dir = leaving_case(disks, tmp_path), tmp_path / "run"
    words = ["--case", case, "--out", run_dir, "--overwrite", "--quiet"]
    ended = jobs.rehearse(*words, "--fault", "write:rank=1,nth=3,error=ENOSPC", ranks=2)
    assert ended.status == 0, ended
    expected = jobs.read_datasets(one_file)["whole/values"]
    with h5py.File(run_dir / "output.h5") as file:
        values = file["all/values"]
        assert values[()].tobytes() == expected.astype(values.dtype).tobytes()
        rows = [row.tolist() for row in file["tailrace_switches"][0] if row[3]]
        stripes = [Path(os.fsdecode(name)) for name, _, size in values.external if size > 1]
    ((step, left, taken, error),) = rows
    assert error == errno.ENOSPC and taken == (left + 1) % 3
    assert stripes[-1].parent != disks[left] and {path.parent for path in stripes} >= {disks[taken]}
    (warning,) = jobs.account(run_dir)["warnings"]
    assert warning.startswith(f"{disks[left]} took no more at step {step}: No space left on device")
    assert warning.endswith(str(disks[taken])) and warning in ended.err
    assert jobs.rehearse("--verify", run_dir / "output.h5").status == 0
    # The files of an output that is replaced are removed, also where it went.
    assert len(raw_files(disks)) > 3
    assert jobs.rehearse(*words, ranks=2).status == 0
    assert len(raw_files(disks)) == 3


def test_killed_after_a_disk_was_left(disks, one_file, tmp_path):
    path = tmp_path / "out.h5"
    fault = "write:rank=1,nth=3,error=EIO;kill:rank=0,step=7"
    ended = jobs.rehearse(
        "--case", leaving_case(disks, tmp_path), "-o", path, "--quiet", "--fault", fault, ranks=2
    )
    assert ended.status != 0, ended
    steps = jobs.recorded_steps(path)
    found = jobs.read_datasets(path)
    expected = jobs.read_datasets(one_file)["whole/values"][:steps].astype(found["all/values"].dtype)
    assert found["all/values"][:steps].tobytes() == expected.tobytes()
    assert found["tailrace_switches"][0, 0, 3] == errno.EIO and steps > 3
