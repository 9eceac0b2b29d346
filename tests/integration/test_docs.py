# SPDX-License-Identifier: BSD-3-Clause
"""The commands that the documents show: each ```console block is run, line by line, as a reader would."""

import math
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fragment_cache import common_cache

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# The suite cannot run itself.
LEFT_OUT = {"./tailrace test"}


def commands(document: Path) -> list[str]:
    blocks = re.findall(r"^```console\n(.*?)^```", document.read_text(), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line[2:] for line in lines if line.startswith("$ ") and line[2:] not in LEFT_OUT]


def with_commands() -> list[Path]:
    return [document for document in DOCUMENTS if commands(document)]


@pytest.fixture(scope="session")
def coarse(once) -> Path:
    """A small input for the quickstart."""

    def make(directory: Path) -> Path:
        path = directory / "quickstart.h5"
        script = ROOT / "examples/make_quickstart_input.py"
        subprocess.run([sys.executable, script, path, "--scale", "0.7"], check=True)
        return path

    return once("coarse quickstart", make)


SHORTER = 20
# Where the input says how many: behind the first sample of a twentieth of them.
STEPS_OF = {"quickstart.toml": "[time]\nsteps = 21\n"}
# Steps or seconds of a run, in a case file or on a command line; a whole number stays at least 1.
COUNTS = re.compile(
    r"(^(?:steps|first|start|every|every_s) = |^at = \[|time\.steps=|checkpoint\.every=|--benchmark )"
    r"([\d., ]+)",
    re.MULTILINE,
)


def shortened(text: str) -> str:
    def fewer(number: str) -> str:
        return str(float(number) / SHORTER) if "." in number else str(math.ceil(int(number) / SHORTER))

    return COUNTS.sub(lambda found: found[1] + re.sub(r"[\d.]+", lambda n: fewer(n[0]), found[2]), text)


@pytest.fixture
def checkout(tmp_path, tmp_path_factory, monkeypatch) -> Path:
    """A directory that looks like the root of a checkout but takes the results."""
    monkeypatch.setenv("XDG_CACHE_HOME", common_cache(tmp_path_factory))
    for name in ("tailrace", "build"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "examples").mkdir()
    for file in (ROOT / "examples").iterdir():
        if file.suffix in (".toml", ".py"):
            (tmp_path / "examples" / file.name).write_bytes(file.read_bytes())
    shutil.copytree(ROOT / "examples" / "fragments", tmp_path / "examples" / "fragments")
    return tmp_path


def run_all(lines: list[str], checkout: Path) -> None:
    for line in lines:
        done = subprocess.run(
            shlex.split(line), cwd=checkout, capture_output=True, text=True, timeout=900, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"


def test_documents_show_commands():
    assert ROOT / "README.md" in with_commands()


def test_shortened():
    assert shortened("[time]\nsteps = 1000\nevery = 2  # 7\n") == "[time]\nsteps = 50\nevery = 1  # 7\n"
    assert shortened("at = [25, 100]\nevery_s = 0.02\n") == "at = [2, 5]\nevery_s = 0.001\n"
    assert shortened("run x --set time.steps=300 --benchmark 60") == "run x --set time.steps=15 --benchmark 3"


@pytest.mark.parametrize("document", with_commands(), ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_of_documents_succeed(document, checkout, coarse):
    """With a coarse quickstart and a twentieth of the steps."""
    shutil.copy(coarse, checkout / "examples")
    for case in (checkout / "examples").glob("*.toml"):
        case.write_text(shortened(case.read_text()) + STEPS_OF.get(case.name, ""))
    run_all([shortened(line) for line in commands(document)], checkout)


@pytest.mark.full
@pytest.mark.parametrize("document", with_commands(), ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_of_documents_succeed_unshortened(document, checkout):
    run_all(commands(document), checkout)
