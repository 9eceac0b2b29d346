# SPDX-License-Identifier: BSD-3-Clause
"""The recipes of other packagers name what the build needs, in this version; this needs no network."""

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tailrace import __version__

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "packaging"


def wrapper_packages(column: int) -> set[str]:
    """What ./tailrace installs: 2 apt, 4 Spack, 5 conda."""
    text = (ROOT / "tailrace").read_text()
    lines = [
        line
        for table in re.findall(r"<<'TABLE'\n(.*?)^TABLE", text, re.M | re.S)
        for line in table.splitlines()
    ]
    return {line.split()[column] for line in lines} - {"-"}


@pytest.mark.parametrize("name", ["Dockerfile", "tailrace.def"])
def test_images_install_what_the_build_needs(name):
    text = (RECIPES / name).read_text()
    installed = set(
        re.search(r"apt-get install -y --no-install-recommends(.*?)\n(?:  &&|    rm)", text, re.S)[1].split()
    )
    assert wrapper_packages(2) - {"doctest-dev"} == installed - {"\\"}


def test_the_image_holds_the_libraries_that_the_programs_need():
    """Every package of a library that is built with has its package to run with."""
    text = (RECIPES / "Dockerfile").read_text()
    build, run = text.split("FROM")[1:]
    for library in ("hdf5", "zlib", "hwloc", "xxhash", "pugixml", "fmt", "uring", "zstd", "p4est"):
        assert library in build and library in run, library


def spack_calls(function: str) -> list[ast.Call]:
    tree = ast.parse((RECIPES / "spack" / "package.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == function]


def test_spack_names_version_and_dependencies():
    assert [call.args[0].value for call in spack_calls("version")] == [__version__]
    needed = {re.split(r"[@~ +:]", call.args[0].value)[0] for call in spack_calls("depends_on")}
    own = {re.split(r"[@~ +:]", name)[0] for name in wrapper_packages(4)}
    # Spack has compilers and MPI as virtual packages, and starts no Python here.
    same = {"gcc": "cxx", "pkgconf": "pkgconfig", "openmpi": "mpi"}
    assert {same.get(name, name) for name in own} - {"python"} == needed - {"c"}


def test_spack_knows_the_options_of_the_build():
    options = (ROOT / "CMakeLists.txt").read_text()
    for call in spack_calls("variant"):
        assert f"TAILRACE_{call.args[0].value.upper()}" in options


def test_conda_names_version_and_dependencies():
    text = (RECIPES / "conda" / "recipe.yaml").read_text()
    assert f"version: {__version__}\n" in text
    named = set(re.findall(r"^    - ([\w.-]+)", text, re.M))
    assert wrapper_packages(5) - {"cxx-compiler", "doctest"} <= named
    required = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    run = text.split("\n  run:")[1]
    for requirement in required:
        assert requirement.replace(">=", " >=") in run, requirement


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text()
    assert f"version: {__version__}\n" in text and text.startswith("cff-version: 1.2.0\n")


@pytest.mark.parametrize("name", ["Dockerfile", "tailrace.def", "conda/recipe.yaml"])
def test_recipes_have_only_spaces(name):
    assert "\t" not in (RECIPES / name).read_text()


def test_the_script_of_the_apptainer_image_is_shell():
    text = (RECIPES / "tailrace.def").read_text()
    script = text.split("%post\n")[1].split("%environment")[0]
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
