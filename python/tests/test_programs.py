"""Which program a case belongs to, whatever this checkout has built."""

from pathlib import Path

import pytest

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
