# SPDX-License-Identifier: BSD-3-Clause
"""Command lines of the launchers, and how cores and threads are counted."""

import json
import signal
from pathlib import Path

import pytest

from tailrace import cores
from tailrace.console import CommandError
from tailrace.job import QuietLauncher
from tailrace.launch import (
    BATCH_VARIABLES,
    Launcher,
    Layout,
    Machine,
    check_processes,
    child_environment,
    default_threads,
    find_launcher,
    launch_command,
    transport_environment,
)
from tailrace.programs import LaunchInfo, launch_info

SMALL = Machine(cores=2, physical_cores=2)
NODE = Machine(cores=32, physical_cores=16, numa_nodes=2)
BATCH = Machine(cores=32, physical_cores=16, numa_nodes=2, batch=True)


def options(kind: str, layout: Layout) -> list[str]:
    """The words between the launcher and the program."""
    command = launch_command(Launcher(kind, "go"), layout, ["program", "--quiet"])
    assert command[0] == "go" and command[-2:] == ["program", "--quiet"]
    return command[1:-2]


@pytest.mark.parametrize(
    ("kind", "layout", "expected"),
    [
        ("openmpi", Layout(1, 2, "auto", SMALL), "--bind-to none -n 1"),
        ("openmpi", Layout(2, 1, "auto", SMALL), "--bind-to none -n 2"),
        ("openmpi", Layout(3, 1, "auto", SMALL), "--oversubscribe --bind-to none -n 3"),
        ("openmpi", Layout(4, 4, "auto", NODE), "--map-by slot:PE=4 --bind-to core -n 4"),
        ("openmpi", Layout(4, 8, "auto", NODE), "--bind-to none -n 4"),
        ("openmpi", Layout(2, 2, "numa", NODE), "--map-by numa --bind-to numa -n 2"),
        ("openmpi", Layout(2, 2, "none", NODE), "--bind-to none -n 2"),
        ("openmpi", Layout(64, 4, "auto", BATCH), "--map-by slot:PE=4 --bind-to core -n 64"),
        ("mpich", Layout(3, 1, "auto", SMALL), "-bind-to none -n 3"),
        ("mpich", Layout(2, 2, "core", NODE), "-bind-to core:2 -n 2"),
        ("srun", Layout(8, 2, "core", NODE), "--cpus-per-task=2 --cpu-bind=cores -n 8"),
        ("srun", Layout(8, 2, "numa", NODE), "--cpus-per-task=2 --cpu-bind=ldoms -n 8"),
        ("other", Layout(2, 1, "auto", SMALL), "-n 2"),
    ],
)  # fmt: skip
def test_command_lines(kind, layout, expected):
    assert options(kind, layout) == expected.split()


def test_openshmem_is_asked_for_in_the_environment_of_all_ranks():
    assert transport_environment("shmem") == {"TAILRACE_EXCHANGE": "shmem"}
    assert transport_environment("isend") == transport_environment(None) == {}


def test_bound_ranks_have_a_thread_on_each_core(monkeypatch):
    for name in ("OMP_PLACES", "OMP_PROC_BIND"):
        monkeypatch.delenv(name, raising=False)
    bound = child_environment(4, "core")
    assert (bound["OMP_PLACES"], bound["OMP_PROC_BIND"]) == ("cores", "close")
    assert "OMP_PLACES" not in child_environment(4, "none") and "OMP_PLACES" not in child_environment(
        4, "numa"
    )
    monkeypatch.setenv("OMP_PLACES", "threads")
    asked = child_environment(4, "core")
    assert asked["OMP_PLACES"] == "threads" and "OMP_PROC_BIND" not in asked


def test_far_more_processes_than_cores_are_refused():
    """A slip of the keyboard is not to bring the machine down; a batch system has limits of its own."""
    check_processes(Layout(8, 1, machine=SMALL))
    with pytest.raises(CommandError, match=r"9 processes are too many for 2 cores.*--oversubscribe"):
        check_processes(Layout(7, 1, machine=SMALL, spawned=2))
    check_processes(Layout(9999, 1, machine=SMALL, oversubscribe=True))
    check_processes(Layout(9999, 1, machine=BATCH))


def test_plain_process_is_the_program_itself():
    assert launch_command(Launcher("none"), Layout(1, 2, "auto", SMALL), ["program"]) == ["program"]


def test_stop_signals():
    assert Launcher("openmpi").stop_signal == signal.SIGUSR2
    assert Launcher("mpich").stop_signal == signal.SIGTERM


def make_launcher(directory: Path, name: str, says: str) -> str:
    path = directory / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return str(path)


def test_launcher_of_the_build_wins_over_the_path(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    make_launcher(tmp_path, "mpirun", "HYDRA build details")
    own = make_launcher(tmp_path, "own", "")
    assert find_launcher(LaunchInfo("openmpi", "4.1", own), None, 2) == Launcher("openmpi", own)


def test_launcher_of_another_mpi_is_not_taken(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    make_launcher(tmp_path, "mpirun", "HYDRA build details")
    with pytest.raises(CommandError, match="2 ranks need a launcher"):
        find_launcher(LaunchInfo("openmpi", "4.1", "/gone/mpirun"), None, 2)
    right = make_launcher(tmp_path, "mpiexec", "mpiexec (OpenRTE) 4.1.4")
    assert find_launcher(LaunchInfo("openmpi", "4.1", "/gone/mpirun"), None, 2) == Launcher("openmpi", right)


def test_srun_when_asked_or_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    srun = make_launcher(tmp_path, "srun", "slurm 22.05")
    assert find_launcher(LaunchInfo(), None, 2) == Launcher("srun", srun)
    mpirun = make_launcher(tmp_path, "mpirun", "mpirun (Open MPI) 5.0.1")
    assert find_launcher(LaunchInfo(), None, 2) == Launcher("openmpi", mpirun)
    assert find_launcher(LaunchInfo(), "srun", 2) == Launcher("srun", srun)


def test_launch_file_beside_the_program(tmp_path):
    content = {"implementation": "mpich", "version": "4.0.2", "mpiexec": "/usr/bin/mpiexec.mpich"}
    (tmp_path / "tailrace-launch.json").write_text(json.dumps(content))
    assert launch_info(tmp_path / "tailrace-ultrasound") == LaunchInfo(**content)


@pytest.mark.parametrize(
    ("ranks", "environment", "expected"),
    [
        (1, {}, 2),
        (2, {}, 1),
        (5, {}, 1),
        (1, {"OMP_NUM_THREADS": "7,2"}, 7),
        (1, {"SLURM_CPUS_PER_TASK": "4"}, 4),
    ],
)
def test_default_threads(ranks, environment, expected):
    assert default_threads(ranks, environment, SMALL) == expected


@pytest.mark.parametrize("given", ["abc", "²", "-1", "0"])
def test_no_number_of_threads(given):
    with pytest.raises(CommandError, match=f"OMP_NUM_THREADS={given}: no number"):
        default_threads(1, {"OMP_NUM_THREADS": given}, SMALL)


def test_quota_of_the_control_group(tmp_path):
    group = tmp_path / "fs/cgroup"
    group.mkdir(parents=True)
    assert cores.cpu_quota(tmp_path) is None
    (group / "cpu.max").write_text("max 100000\n")
    assert cores.cpu_quota(tmp_path) is None
    (group / "cpu.max").write_text("150000 100000\n")
    assert cores.cpu_quota(tmp_path) == 1.5


def filtered(lines: list[str]) -> list[str]:
    quiet = QuietLauncher()
    return [kept for line in lines for kept in quiet.filter(line)] + quiet.rest()


def test_launcher_notes_are_filtered_and_others_kept():
    rule = QuietLauncher.RULE
    exit_note = [rule, "Primary job  terminated normally, but 1 process returned", rule]
    kill_note = [
        rule,
        "mpirun noticed that process rank 1 with PID 0 on node a exited on signal 9 (Killed).",
        rule,
    ]
    lines = ["tailrace-ultrasound: a.h5: 1 problem", "mpirun: Forwarding signal 12 to job"]
    assert filtered([*lines, *exit_note, *kill_note]) == [lines[0], *kill_note]
    assert filtered([rule, "cut off"]) == [rule, "cut off"]


def test_on_a_busy_machine_waiting_threads_do_not_spin(monkeypatch):
    """They took the core from the thread that copies samples: 150 to 214 ms a step instead of 24 to 46."""
    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
        monkeypatch.delenv(name, raising=False)
    assert child_environment(2, busy=True)["OMP_WAIT_POLICY"] == "passive"
    assert "OMP_WAIT_POLICY" not in child_environment(2)
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    assert child_environment(2, busy=True)["OMP_WAIT_POLICY"] == "active"


@pytest.mark.parametrize(
    ("load", "batch", "busy"), [(0.5, False, False), (99.0, False, True), (99.0, True, False)]
)
def test_a_machine_is_busy_when_others_want_all_cores(monkeypatch, load, batch, busy):
    for name in BATCH_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    if batch:
        monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load))
    monkeypatch.setattr("tailrace.cores.usable_cores", lambda: 4)
    assert Machine.here().busy == busy
