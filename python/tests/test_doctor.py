# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace doctor` and the start of the command."""

import json
import os
import re
from pathlib import Path

import command
import tailrace
from tailrace.disk import file_system_type
from tailrace.doctor import ranges

ROOT = Path(__file__).resolve().parents[2]


def test_findings_as_text_and_json(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = command.tailrace("doctor", "--json")
    assert done.status == 0, done.err
    findings = json.loads(done.out)
    assert findings["Machine"]["cores usable"] >= 1
    assert "/s" in findings["File system"]["write, with fsync"]
    assert "not probed" in findings["MPI"]["spawn"]
    carriers = findings["Transports of exchanges"]  # of the native program, where it was built
    assert re.fullmatch(r"\d+\.\d us for 8 kB each way; two-sided messages", carriers.get("isend", "")) or (
        "not probed" in carriers.get("transports", "")
    )
    if "shmem" in carriers and "openmpi" in findings["MPI"]["launcher"]:
        assert carriers["shmem"].endswith(
            "then a flag; to compare with, auto does not choose it; in runs that ask for it"
        )
    assert list(tmp_path.iterdir()) == []
    text = command.tailrace("doctor")
    assert text.status == 0
    for section in findings:
        assert f"{section}\n" in text.out


def test_placement_of_ranks():
    done = command.tailrace("doctor", "-n", "1", "-t", "1", "--json")
    assert done.status == 0, done.err
    found = json.loads(done.out)["Placement of 1 x 1 threads"]
    if "topology" in found:  # the native program is not there
        return
    assert "core" in found["package 0"]
    if len(os.sched_getaffinity(0)) == 1:
        assert "shared with the computation" in found["rank 0"]
    elif found["cores left free"] > 0:
        assert "(a free core)" in found["rank 0"]


def test_unknown_binding_is_refused():
    done = command.tailrace("doctor", "--bind", "tightly")
    assert done.status == 2 and "Choose one of auto, none, core" in done.err


def test_ranges():
    assert ranges([0, 1, 2, 5, 7, 8]) == "0-2, 5, 7-8"


def test_file_system_of_the_longest_mount_point(tmp_path):
    below = tmp_path / "a b"
    below.mkdir()
    mounts = tmp_path / "mounts"
    escaped = str(below).replace(" ", "\\040")
    mounts.write_text(f"root / ext4 rw 0 0\nx {escaped} lustre rw 0 0\ny /elsewhere nfs rw 0 0\n")
    assert file_system_type(below / "c", mounts) == "lustre"
    assert file_system_type(tmp_path, mounts) == "ext4"


def test_version_is_the_same_everywhere():
    assert command.process("--version").out == f"tailrace {tailrace.__version__}\n"
    found = re.search(r"project\(tailrace VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
    assert found and found[1] == tailrace.__version__


def test_unknown_command_is_bad_usage():
    done = command.process("fly")
    assert done.status == 2
    assert "Traceback" not in done.err
