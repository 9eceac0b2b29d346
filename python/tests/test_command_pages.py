# SPDX-License-Identifier: BSD-3-Clause
"""The reference of the command and its man pages are what the command says; shells can complete it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import command
from tailrace.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "command_pages.py"


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("man")
    subprocess.run([sys.executable, SCRIPT, "--man", place], check=True)
    return place


def test_the_reference_is_current():
    words = "import command_pages; print(command_pages.reference(), end='')"
    said = subprocess.run(
        [sys.executable, "-c", words], cwd=SCRIPT.parent, capture_output=True, text=True, check=True
    )
    page = (ROOT / "docs" / "reference" / "commands.md").read_text()
    assert page == said.stdout, "Fix: python scripts/command_pages.py"


def test_every_command_has_a_man_page(pages):
    assert {f"tailrace-{name}.1" for name in COMMANDS} <= {page.name for page in pages.iterdir()}
    text = (pages / "tailrace-run.1").read_text()
    assert ".B \\-n, \\-\\-ranks RANKS\n" in text and ".SH EXIT STATUS" in text


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff")
def test_man_pages_are_well_formed(pages):
    for page in sorted(pages.iterdir()):
        done = subprocess.run(
            ["groff", "-man", "-Tutf8", "-P-cbou", "-ww", page], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), page.name
        assert "EXIT STATUS" in done.stdout


@pytest.mark.parametrize(("typed", "offered"), [("ins", "inspect"), ("checkpoint ver", "verify")])
def test_bash_completes_commands(typed, offered):
    words = f"tailrace {typed}"
    asked = {"_TAILRACE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(
        command.TAILRACE, env=command.environment() | asked, capture_output=True, text=True, check=False
    )
    assert offered in done.stdout.split(), done


def test_completion_is_installed_for_the_shell(tmp_path):
    environment = command.environment() | {"HOME": str(tmp_path), "SHELL": "/bin/bash"}
    environment["_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION"] = "1"
    done = subprocess.run(
        [*command.TAILRACE, "--install-completion", "bash"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done
    installed = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any("_TAILRACE_COMPLETE" in path.read_text() for path in installed)
