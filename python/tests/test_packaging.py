# SPDX-License-Identifier: BSD-3-Clause
"""The recipes of other packagers name what the build needs, in this version; this needs no network."""

import ast
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from native import cannot
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


class SpackPackage:
    """What Spack's CMakePackage offers to a recipe, noting what is asked of it."""

    def define(self, name: str, value: bool) -> str:
        return f"-D{name}={value}"

    def define_from_variant(self, name: str, variant: str) -> str:
        return f"-D{name}={SPACK_VARIANTS[variant]}"


SPACK_VARIANTS: dict[str, bool] = {}


def test_the_recipe_of_spack_runs(monkeypatch):
    """In place of Spack a module of the few names that it imports."""

    def variant(name: str, default: bool, description: str) -> None:
        SPACK_VARIANTS[name] = default

    needed: list[tuple[str, Any]] = []
    module = ModuleType("spack.package")
    vars(module).update(
        CMakePackage=SpackPackage,
        depends_on=lambda what, type=None, when=None: needed.append((what, when)),
        license=lambda name: None,
        variant=variant,
        version=lambda name: None,
    )
    monkeypatch.setitem(sys.modules, "spack", ModuleType("spack"))
    monkeypatch.setitem(sys.modules, "spack.package", module)
    recipe = runpy.run_path(str(RECIPES / "spack" / "package.py"))["Tailrace"]()
    assert recipe.generator == "Ninja"
    options = (ROOT / "CMakeLists.txt").read_text()
    given = dict(word.removeprefix("-D").split("=") for word in recipe.cmake_args())
    assert given.pop("TAILRACE_BENCHMARKS") == "False"
    assert given == {f"TAILRACE_{name.upper()}": str(value) for name, value in SPACK_VARIANTS.items()}
    assert all(f"option({name} " in options for name in given)
    conditions = {when for _, when in needed if when}
    assert {condition.removeprefix("+") for condition in conditions} <= set(SPACK_VARIANTS)


def conda() -> Any:
    """conda-forge's own reader of recipes; it needs no network."""
    try:
        import rattler_build
    except ImportError:
        cannot("py-rattler-build is not there")
    return rattler_build


def test_conda_forge_reads_the_recipe():
    reader, text = conda(), (RECIPES / "conda" / "recipe.yaml").read_text()
    variants = reader.VariantConfig.from_yaml("cxx_compiler: [gxx]\npython: ['3.12']\n")
    (rendered,) = reader.Stage0Recipe.from_yaml(text).render(variants)
    recipe = rendered.recipe if not callable(rendered.recipe) else rendered.recipe()
    found = SimpleNamespace(**recipe.to_dict())
    assert found.package == {"name": "tailrace", "version": __version__}
    assert "gxx_linux-64" in found.requirements["build"]
    for name in found.about["license_file"]:
        assert (ROOT / name).is_file()
    commands = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert {line.split()[0] for line in found.tests[0]["script"]} <= set(commands)
    with pytest.raises(Exception, match="unknown field 'scrpt'"):
        reader.Stage0Recipe.from_yaml(text.replace("  script: python", "  scrpt: python"))


def test_hadolint_accepts_the_dockerfile():
    """Versions of Debian's packages are those of the release that FROM names."""
    tool = shutil.which("hadolint", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if tool is None:
        cannot("hadolint is not there")
    words = [tool, "--ignore", "DL3008", RECIPES / "Dockerfile"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done


@pytest.mark.parametrize("name", ["Dockerfile", "tailrace.def"])
def test_images_name_what_is_there(name):
    """Files of the checkout, extras of the package, options of the build, commands and installed packages."""
    text = (RECIPES / name).read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    options = (ROOT / "CMakeLists.txt").read_text()
    for path in re.findall(
        r"(?:COPY|packaging/|run|tailrace run) (?:/opt/tailrace/)?(examples[\w./]*)", text
    ):
        assert (ROOT / path).exists(), path
    assert (extras := re.findall(r"\[(\w+)\]\"", text))
    assert set(extras) <= set(project["optional-dependencies"])
    assert (defined := re.findall(r"cmake\.define\.(\w+)", text))
    assert all(f"option({option} " in options for option in defined)
    named = set(re.findall(r"\btailrace-\w+", text))
    assert named <= set(project["scripts"])
