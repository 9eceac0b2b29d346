# SPDX-License-Identifier: BSD-3-Clause
"""Which program a case belongs to, whatever this checkout has built."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import command
from tailrace import programs
from tailrace.casefile import read_case
from tailrace.console import CommandError


@pytest.fixture
def directories(tmp_path, monkeypatch):
    """Two program directories, the first of them empty; nothing else is searched."""
    places = [tmp_path / "first", tmp_path / "second"]
    for place in places:
        place.mkdir()
    monkeypatch.setattr(programs, "program_directories", lambda: places)
    return places


def put(directory: Path, name: str) -> Path:
    path = directory / name
    path.touch()
    path.chmod(0o755)
    return path


def test_unknown_simulation_names_the_known(directories):
    put(directories[0], "tailrace-waves")
    put(directories[1], "tailrace-heat")
    put(directories[1], "tailrace-bench-output")
    (directories[1] / "tailrace-launch.json").write_text("{}")
    with pytest.raises(CommandError) as raised:
        programs.simulation_program("weather", "a.toml")
    assert str(raised.value) == 'a.toml: simulation "weather" is unknown. Known: heat, waves.'
    assert raised.value.exit_code == 2


def test_what_a_simulation_needs_that_was_not_built(directories):
    put(directories[0], "tailrace-rehearse")
    with pytest.raises(CommandError, match="heat:S: tailrace-heat was not built: it needs p4est for the MPI"):
        programs.simulation_program("heat", "heat:S")


def test_no_programs_at_all(directories):
    with pytest.raises(CommandError, match="TAILRACE_BIN_DIR"):
        programs.simulation_program("weather", "a.toml")


def test_first_directory_wins(directories):
    put(directories[1], "tailrace-heat")
    assert programs.find_program("tailrace-heat") == directories[1] / "tailrace-heat"
    put(directories[0], "tailrace-heat")
    assert programs.find_program("tailrace-heat") == directories[0] / "tailrace-heat"


def test_named_directory_comes_first(tmp_path, monkeypatch):
    monkeypatch.setenv("TAILRACE_BIN_DIR", str(tmp_path))
    assert programs.program_directories()[0] == tmp_path


@pytest.mark.parametrize(("name", "content"), [("in.dat", b"\x89HDF\r\n\x1a\n"), ("in.h5", b"damaged")])
def test_hdf5_input_is_an_ultrasound_case(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    assert read_case(path, []).simulation == "ultrasound"


@pytest.fixture
def builder(directories, tmp_path, monkeypatch):
    """A start wrapper that notes what it is to build and makes it; fails for what ends in -broken."""
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(
        f'#!/bin/sh\necho "$*" >>{tmp_path}/calls\ncase $2 in *-broken) exit 2 ;; esac\n'
        f"touch {directories[1]}/$2\nchmod +x {directories[1]}/$2\n"
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("TAILRACE_BUILDER", str(wrapper))
    monkeypatch.delenv("TAILRACE_BIN_DIR", raising=False)
    monkeypatch.setattr(programs, "simulations_of_checkout", lambda: {"waves", "broken"})
    programs.build.cache_clear()
    return tmp_path / "calls"


def test_program_is_built_when_it_is_asked_for(builder, directories):
    assert programs.find_program("tailrace-waves") == directories[1] / "tailrace-waves"
    assert programs.find_program("tailrace-waves")
    assert programs.find_program("tailrace-placement") == directories[1] / "tailrace-placement"
    assert builder.read_text() == ("--build tailrace-waves tailrace-writer\n--build tailrace-placement\n")
    with pytest.raises(SystemExit) as raised:
        programs.simulation_program("broken", "a.toml")
    assert raised.value.code == 2


def test_nothing_is_built_for_programs_of_others(builder, tmp_path, monkeypatch):
    assert programs.find_program("tailrace-unknown") is None
    monkeypatch.setenv("TAILRACE_BIN_DIR", str(tmp_path))
    programs.find_program("tailrace-waves")
    assert not builder.exists()


def test_what_can_be_built_is_known(builder):
    with pytest.raises(CommandError, match=r"Known: broken, waves\."):
        programs.simulation_program("weather", "a.toml")


ROOT = Path(__file__).resolve().parents[2]


# What other programs start, and nobody under mpirun by hand.
STARTED_BY_OTHERS = {"devices", "checkpoint", "placement", "transports", "writer"}


def made_by_cmake(pattern: str, places: str) -> set[str]:
    """The programs tailrace-NAME that CMake's files make: those that `cmake --install` installs."""
    return {name for path in ROOT.glob(places) for name in re.findall(pattern, path.read_text())}


def test_every_native_program_is_a_command_of_the_installed_package():
    simulations = made_by_cmake(r"tailrace_add_simulation\((\w+)", "sims/*/CMakeLists.txt")
    tools = made_by_cmake(r"add_executable\(tailrace-(\w+)", "tools/CMakeLists.txt")
    assert simulations == {path.parent.name for path in ROOT.glob("sims/*/CMakeLists.txt")}
    assert tools | {"bench"} == set(programs.NOT_SIMULATIONS)
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    commands = {name for name, entry in scripts.items() if entry == "tailrace.native:main"}
    assert commands == {f"tailrace-{name}" for name in simulations | tools - STARTED_BY_OTHERS}


def started_as(name: str, directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Starts what pip puts on PATH for an entry point."""
    script = f"import sys; sys.argv[0] = '/usr/bin/{name}'; from tailrace.native import main; main()"
    environment = command.environment() | {"TAILRACE_BIN_DIR": str(directory)}
    return subprocess.run(
        [sys.executable, "-c", script, *words], env=environment, capture_output=True, text=True, check=False
    )


def test_a_native_program_is_started_by_its_name(tmp_path):
    program = put(tmp_path, "tailrace-heat")
    program.write_text('#!/bin/sh\necho "$@"\nexit 4\n')
    done = started_as("tailrace-heat", tmp_path, "-i", "a file")
    assert (done.returncode, done.stdout) == (4, "-i a file\n")


def test_a_native_program_that_is_not_there_is_named(tmp_path):
    done = started_as("tailrace-nothing", tmp_path)
    assert done.returncode == 2
    assert f"tailrace-nothing is not in {tmp_path}" in done.stderr and os.linesep in done.stderr
