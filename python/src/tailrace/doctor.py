# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace doctor`: what this machine offers, and what was not looked at."""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tailrace import __version__, cores
from tailrace.console import EXIT_OK, CommandError
from tailrace.disk import examine_disk
from tailrace.launch import (
    Launcher,
    LaunchInfo,
    Layout,
    Machine,
    check_bind,
    default_threads,
    find_mpirun,
    identify,
    resolve_bind,
    root_permission,
    transport_environment,
)
from tailrace.programs import find_program, known_simulations, launch_info
from tailrace.units import bytes_text

PROBE_LIMIT_S = 30
ABSENT = "not found"

# Optional parts: name, pkg-config names, programs, headers, and what they are for.
OPTIONAL = (
    ("PnetCDF", ["pnetcdf"], ["pnetcdf-config"], ["pnetcdf.h"], "the sink pnetcdf"),
    ("parallel HDF5", ["hdf5-openmpi", "hdf5-mpich"], ["h5pcc"], [], "the sink hdf5-parallel (a baseline)"),
    ("liburing", ["liburing"], [], ["liburing.h"], "the strategy uring"),
    ("zstd", ["libzstd"], [], ["zstd.h"], "compressed checkpoints"),
    ("PAPI", ["papi"], ["papi_avail"], ["papi.h"], "hardware counters in traces"),
    ("p4est", [], [], ["p8est.h"], "the simulation heat, with Open MPI (GPL)"),
    ("ADIOS2", ["adios2"], ["adios2-config"], ["adios2.h"], "the sink adios2"),
    ("perf", [], ["perf"], [], "instructions of revisions, where it may count"),
    ("valgrind", [], ["valgrind"], [], "instructions of revisions"),
)
COMPILERS = ("g++", "clang++", "gfortran", "mpicxx", "cmake", "ninja", "ccache")


def run_doctor(*, as_json: bool, ranks: int, threads: int | None, bind: str) -> int:
    """Looks at everything and prints it, also where so many ranks and their writers would run; finding little
    is no failure. Raises CommandError for a binding that it cannot show.
    """
    findings = examine(plan_layout(ranks, threads, bind))
    if as_json:
        print(json.dumps(findings, indent=2))
    else:
        for section, entries in findings.items():
            print(section)
            for name, value in entries.items():
                print(f"  {name:<22} {show(value)}")
    return EXIT_OK


def plan_layout(ranks: int, threads: int | None, bind: str) -> Layout:
    check_bind(bind)
    if bind in ("numa", "socket"):
        raise CommandError(f"--bind {bind}: only the launcher knows what it does. Choose auto, none or core.")
    machine = Machine.here()
    return Layout(ranks, threads or default_threads(ranks, os.environ, machine), bind, machine)


def examine(layout: Layout) -> dict[str, dict[str, Any]]:
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "Tailrace": examine_programs,
        "Machine": examine_machine,
        f"Placement of {layout.ranks} x {layout.threads} threads": lambda: examine_placement(layout),
        "MPI": examine_mpi,
        "Transports of exchanges": examine_transports,
        "Devices": examine_devices,
        "Tools": examine_tools,
        "File system": lambda: examine_disk(Path.cwd()),
        "Optional": examine_optional,
    }
    return {name: part() for name, part in parts.items()}


def show(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value) or "none"
    return "unknown" if value is None else str(value)


def first_line(command: list[str], pattern: str = r".*\d.*") -> str | None:
    """The first line of a command's output that the pattern matches; None when the command is not there."""
    if shutil.which(command[0]) is None:
        return None
    said = output_of(command)
    match = re.search(f"^{pattern}$", said, re.MULTILINE)
    return match[0].strip() if match else None


def output_of(command: list[str], settings: Mapping[str, str] | None = None) -> str:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=PROBE_LIMIT_S,
            env=os.environ | root_permission() | dict(settings or {}),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{command[0]}: {error}"
    return done.stdout + done.stderr


def examine_programs() -> dict[str, Any]:
    found: dict[str, Any] = {
        "version": __version__,
        "python": f"{platform.python_version()} ({sys.executable})",
    }
    simulations = known_simulations()
    if not simulations:
        found["native programs"] = "none found; build them, or set TAILRACE_BIN_DIR"
    for simulation in simulations:
        program = find_program(f"tailrace-{simulation}")
        lines = [line.strip() for line in output_of([str(program), "--version"]).splitlines() if line.strip()]
        found[simulation] = lines or "says nothing about its version"
    return found


def examine_machine() -> dict[str, Any]:
    affinity = sorted(os.sched_getaffinity(0))
    return {
        "host": platform.node(),
        "system": f"{platform.system()} {platform.release()}",
        "processor": processor_name(),
        "cores usable": cores.usable_cores(),
        "cores in all": os.cpu_count(),
        "physical cores usable": cores.physical_cores(),
        "affinity": ranges(affinity),
        "quota of cores": cores.cpu_quota() or "none",
        "NUMA nodes": cores.numa_nodes(),
        "memory": memory_text(),
    }


def examine_placement(layout: Layout) -> dict[str, Any]:
    """The processors by package, and where ranks and the writer threads of each would run."""
    program = find_program("tailrace-placement")
    if program is None:
        return {"topology": "unknown: there is no tailrace-placement; build it, or set TAILRACE_BIN_DIR"}
    bind = resolve_bind(layout)
    words = [str(program), str(layout.ranks), str(layout.threads), *(["--bound"] if bind == "core" else [])]
    said = output_of(words)
    try:
        answer = json.loads(said)
    except ValueError:
        return {"topology": "unknown: " + (said.strip() or "tailrace-placement says nothing")}
    found: dict[str, Any] = {f"package {i}": line for i, line in enumerate(answer["packages"])}
    found["launcher binds to"] = bind
    found["cores left free"] = answer["free_cores"]
    for thread_placement in answer["ranks"]:
        found[f"rank {thread_placement['rank']}"] = (
            f"on {thread_placement['cpus']}; {writer_text(thread_placement, layout.bind)}"
        )
    return found


def writer_text(thread_placement: dict[str, Any], bind: str) -> str:
    if bind == "none":
        return "its writer is not bound"
    return f"its writer on {thread_placement['writer_cpus']} ({thread_placement['writer_place']})"


def processor_name() -> str | None:
    info = Path("/proc/cpuinfo")
    match = re.search(r"^model name\s*:\s*(.*)$", info.read_text(), re.MULTILINE) if info.is_file() else None
    return match[1] if match else None


def ranges(numbers: list[int]) -> str:
    """0-3, 8, 10-11"""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def memory_text() -> str | None:
    info = Path("/proc/meminfo")
    if not info.is_file():
        return None
    sizes = {
        name: int(kib) * 1024
        for name, kib in re.findall(r"^(\w+):\s+(\d+) kB", info.read_text(), re.MULTILINE)
    }
    text = f"{bytes_text(sizes['MemTotal'])}, {bytes_text(sizes['MemAvailable'])} available"
    limit = Path("/sys/fs/cgroup/memory.max")
    if limit.is_file() and (words := limit.read_text().strip()) != "max":
        text += f", limited to {bytes_text(int(words))}"
    return text


def examine_mpi() -> dict[str, Any]:
    program = next((find_program(f"tailrace-{name}") for name in known_simulations()), None)
    info = launch_info(program) if program else LaunchInfo()
    found: dict[str, Any] = {"built with": f"{info.implementation} {info.version}" if info.version else None}
    launcher = find_mpirun(info)
    if launcher is None:
        return found | {"launcher": ABSENT, "spawn": "not probed", "thread level": "not probed"}
    found["launcher"] = f"{launcher.path} ({launcher.kind})"
    found["others"] = other_launchers(launcher)
    found["starts 2 processes"] = start_probe(launcher)
    found["thread level"] = thread_level(launcher)
    found["spawn"] = "not probed (the strategies spawn and spawn-each start processes by it)"
    return found


def examine_transports() -> dict[str, Any]:
    """Which transports carry messages between two processes here, and why others do not."""
    program = find_program("tailrace-transports")
    launcher = find_mpirun(launch_info(program)) if program else None
    if program is None or launcher is None:
        missing = "launcher" if program else "tailrace-transports; build it, or set TAILRACE_BIN_DIR"
        return {"transports": f"not probed: there is no {missing}"}
    said = output_of(probing(launcher, program))
    if (listed := transports_in(said)) is None:
        return {"transports": "not probed: " + (said.strip() or "tailrace-transports says nothing")}
    found = {one["name"]: transport_text(one) for one in listed}
    # OpenSHMEM is there only in jobs that are started for it.
    again = transports_in(output_of(probing(launcher, program), transport_environment("shmem"))) or []
    for one in again:
        if one["name"] == "shmem":
            there = "" if one["obstacle"] else "; in runs that ask for it"
            found["shmem"] = transport_text(one) + there
    return found


def probing(launcher: Launcher, program: Path) -> list[str]:
    options = ["--oversubscribe"] if launcher.kind == "openmpi" else []
    return [launcher.path, *options, "-n", "2", str(program)]


def transports_in(said: str) -> list[dict[str, Any]] | None:
    try:
        return json.loads(said[said.index("{") :])["transports"]
    except ValueError:
        return None


def examine_devices() -> dict[str, Any]:
    """The devices that programs can compute on, or why there are none."""
    devices, why_none = devices_here()
    if not devices:
        return {"devices": why_none}
    return {f"device {one['index']}": device_text(one) for one in devices}


def devices_here() -> tuple[list[dict[str, Any]], str]:
    """The devices of this machine, and why there are none."""
    program = find_program("tailrace-devices")
    if program is None:
        return [], "not probed: there is no tailrace-devices; build it, or set TAILRACE_BIN_DIR"
    said = output_of([str(program)])
    try:
        found = json.loads(said)
    except ValueError:
        return [], "not probed: " + (said.strip() or "tailrace-devices says nothing")
    return found["devices"], f"none: {found['why_none']}"


def device_text(one: dict[str, Any]) -> str:
    return f"{one['name']}, {bytes_text(one['memory_bytes'])}, compute capability {one['capability']}"


def transport_text(one: dict[str, Any]) -> str:
    if one["obstacle"]:
        return f"excluded: {one['obstacle']}"
    time = f"{1e6 * one['gather_s']:.1f} us for 8 kB each way; " if one.get("gather_s") else ""
    compared = "" if one["chosen_by_auto"] else "; to compare with, auto does not choose it"
    return time + one["description"] + compared


def other_launchers(launcher: Launcher) -> list[str]:
    names = ("mpirun", "mpirun.openmpi", "mpiexec.mpich", "mpiexec", "srun")
    paths = {
        name: path for name in names if (path := shutil.which(name)) and not same_file(path, launcher.path)
    }
    return [path if name == "srun" else f"{path} ({identify(path)})" for name, path in paths.items()]


def same_file(first: str, second: str) -> bool:
    return Path(first).resolve() == Path(second).resolve()


def start_probe(launcher: Launcher) -> str:
    options = ["--oversubscribe"] if launcher.kind == "openmpi" else []
    started = time.monotonic()
    said = output_of([launcher.path, *options, "-n", "2", "echo", "tailrace-ready"])
    if said.count("tailrace-ready") == 2:
        return f"yes, in {time.monotonic() - started:.2f} s"
    return "no: " + (said.strip().splitlines() or ["it says nothing"])[0]


def thread_level(launcher: Launcher) -> str:
    """What the installation says of itself; the level granted to a program is not probed."""
    if launcher.kind == "openmpi":
        line = first_line(["ompi_info"], r".*Thread support:.*") or ""
        match = re.search(r"MPI_THREAD_MULTIPLE: (\w+)", line)
        return f"MPI_THREAD_MULTIPLE: {match[1]} (as installed; not probed)" if match else "not probed"
    if launcher.kind == "mpich":
        line = first_line(["mpichversion"], r"MPICH configure:.*") or ""
        match = re.search(r"--enable-threads=(\w+)", line)
        return f"{match[1] if match else 'multiple by default'} (as configured; not probed)"
    return "not probed"


def examine_tools() -> dict[str, Any]:
    return {name: first_line([name, "--version"]) or ABSENT for name in COMPILERS}


def examine_optional() -> dict[str, Any]:
    return {
        name: f"{'found' if is_installed(packages, programs, headers) else 'absent'}; for {purpose}"
        for name, packages, programs, headers, purpose in OPTIONAL
    }


def is_installed(packages: list[str], programs: list[str], headers: list[str]) -> bool:
    if any(shutil.which(program) for program in programs):
        return True
    places = [Path("/usr/include"), Path("/usr/local/include"), Path("/usr/local/cuda/include")]
    if any((place / header).is_file() for place in places for header in headers):
        return True
    if shutil.which("pkg-config") is None:
        return False
    return any(
        subprocess.run(["pkg-config", "--exists", package], check=False, capture_output=True).returncode == 0
        for package in packages
    )
