# SPDX-License-Identifier: BSD-3-Clause
"""The start wrapper ./tailrace in a small checkout, with a tool box of stand-ins on PATH.

The stand-ins write what they were asked to calls.txt. Only Python is real, and it makes no real environment.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# fmt: off
REAL_TOOLS = (
    "awk", "bash", "cat", "chmod", "cksum", "cut", "date", "df", "dirname", "env", "flock", "grep", "id",
    "ln", "mkdir", "nproc", "readlink", "rm", "sed", "sleep", "sort", "tail", "touch", "tr", "wc",
)
# fmt: on
VENDOR_NAMES = ("://", ".org", ".io", ".com")

CMAKE = """
if [ "$1" = --build ]; then
  grep -q broken "$TOY/source.txt" && { echo "[1/2] compiling"; echo "error: source.txt is broken"; exit 1; }
  [ -e "$TOY/build/built" ] && echo "ninja: no work to do." && exit 0
  echo "[1/2] Building CXX object src/base/CMakeFiles/tailrace_base.dir/error.cpp.o"
  touch "$TOY/build/built" && echo "[2/2] Linking CXX executable bin/tailrace-toy"
else
  sleep "${TOY_SLOW:-0}"
  mkdir -p "$TOY/build" && touch "$TOY/build/build.ninja"
  echo "CMAKE_HOME_DIRECTORY:INTERNAL=$TOY" > "$TOY/build/CMakeCache.txt"
fi
"""
PYTHON = """
case "$*" in
  "-m venv "*) mkdir -p "$3/bin" && ln -sf "$TOOLS/python3" "$3/bin/python" ;;
  "-m pip "*comparison.txt) exit "${TOY_COMPARISON_STATUS:-0}" ;;
  "-m pip "*) exit "${TOY_PIP_STATUS:-0}" ;;
  *) exec "$REAL_PYTHON" "$@" ;;
esac
"""
# The command: it asks for the program that it needs, if the wrapper started it for that.
COMMAND = """
import os, subprocess, sys
if builder := os.environ.get("TAILRACE_BUILDER"):
    if status := subprocess.run([builder, "--build", "tailrace-toy"]).returncode:
        sys.exit(status)
print("command", *sys.argv[1:])
"""
PYPROJECT = """
[project]
dependencies = ["numpy"]
[project.optional-dependencies]
test = ["pytest"]
native = ["nanobind"]
comparison = ["k-wave-python"]
"""


class Checkout:
    """A small checkout with its tool box, started as a user would."""

    def __init__(self, directory: Path) -> None:
        self.root = directory / "checkout"
        self.tools = directory / "tools"
        self.calls_file = directory / "calls.txt"
        self.environment = {
            "PATH": str(self.tools),
            "HOME": str(directory),
            "TOY": str(self.root),
            "TOOLS": str(self.tools),
            "CALLS": str(self.calls_file),
            "REAL_PYTHON": sys.executable,
            "TAILRACE_OS_RELEASE": str(directory / "os-release"),
        }
        self.fill_checkout()
        self.fill_tools()
        (directory / "os-release").write_text('ID=ubuntu\nID_LIKE="debian"\n')

    def fill_checkout(self) -> None:
        (self.root / "python/src/tailrace").mkdir(parents=True)
        (self.root / "python/src/tailrace/__main__.py").write_text(COMMAND)
        (self.root / "scripts").mkdir()
        shutil.copy(ROOT / "scripts/requirements.py", self.root / "scripts")
        shutil.copy(ROOT / "tailrace", self.root)
        (self.root / "pyproject.toml").write_text(PYPROJECT)
        (self.root / "source.txt").write_text("fine\n")

    def fill_tools(self) -> None:
        self.tools.mkdir()
        for name in REAL_TOOLS:
            path = shutil.which(name)
            assert path, name
            (self.tools / name).symlink_to(path)
        self.tool("g++", "echo 12.2.0")
        self.tool("cmake", CMAKE)
        self.tool("python3", PYTHON)
        for name in ("ninja", "pkg-config", "mpirun", "mpicxx", "ccache"):
            self.tool(name, "exit 0")

    def tool(self, name: str, body: str) -> None:
        """Puts a stand-in into the tool box that notes its call and then does this."""
        path = self.tools / name
        path.unlink(missing_ok=True)
        path.write_text(f'#!{shutil.which("bash")}\necho "{name} $*" >> "$CALLS"\n{body}\n')
        path.chmod(0o755)

    def without(self, name: str) -> None:
        (self.tools / name).unlink()

    def popen(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(self.root / "tailrace"), *arguments],
            env=self.environment | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def start(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        process = self.popen(*arguments, **environment)
        out, err = process.communicate(timeout=60)
        assert not any(name in out + err for name in VENDOR_NAMES), "messages name no server"
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def calls(self, prefix: str) -> list[str]:
        """The marked calls that begin so; they are forgotten afterwards."""
        lines = self.calls_file.read_text().splitlines() if self.calls_file.exists() else []
        self.calls_file.unlink(missing_ok=True)
        return [line for line in lines if line.startswith(prefix)]


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


def test_first_start_sets_up_and_the_second_does_nothing(checkout):
    first = checkout.start("run", "a case")
    assert (first.returncode, first.stdout) == (0, "command run a case\n"), first.stderr
    assert "setting up" in first.stderr
    assert checkout.calls("cmake -S")
    started = time.monotonic()
    second = checkout.start("run", "a case")
    assert time.monotonic() - started < 1.0
    assert (second.returncode, second.stdout, second.stderr) == (0, "command run a case\n", "")
    calls = checkout.calls("")
    assert not [call for call in calls if call.startswith(("cmake -S", "apt-get")) or " pip " in call]


@pytest.mark.parametrize(("command", "target"), [("run", "tailrace-toy"), ("test", "all"), ("bench", "all")])
def test_only_tests_and_benchmarks_build_everything(checkout, command, target):
    checkout.start(command)
    assert [call.split()[4] for call in checkout.calls("cmake --build")] == ["library", target]


def test_progress_tells_how_far_and_what(checkout):
    done = checkout.start("run")
    assert "tailrace: 50 % built, compiling src/base\n" in done.stderr
    assert "tailrace: 100 % built, linking tailrace-toy\n" in done.stderr
    assert "[1/2] Building CXX object" in (checkout.root / "build/setup.log").read_text()


def test_several_targets_can_be_built_without_a_command(checkout):
    done = checkout.start("--build", "first", "second")
    assert (done.returncode, done.stdout) == (0, "")
    assert [call.split()[4:6] for call in checkout.calls("cmake --build")][1:] == [["first", "second"]]


def test_missing_packages_are_named_for_every_package_manager(checkout):
    checkout.without("g++")
    checkout.without("ninja")
    done = checkout.start(TAILRACE_NO_INSTALL="1")
    assert done.returncode == 2
    assert "these are missing: c++ ninja" in done.stderr
    for words in ("apt-get install", "dnf install", "spack install", "conda install"):
        assert words in done.stderr
    assert "--no-install-recommends g++ ninja-build" in done.stderr
    assert not (checkout.root / ".venv").exists()


@pytest.mark.parametrize("parallel", [True, False])
def test_only_an_hdf5_without_mpi_counts_as_present(checkout, tmp_path, parallel):
    """Where only one is installed, it has the general name, whichever it is."""
    (tmp_path / "hdf5.h").touch()
    (tmp_path / "H5pubconf.h").write_text("#define H5_HAVE_PARALLEL 1\n" if parallel else "")
    checkout.tool(
        "pkg-config",
        f"""case "$*" in "--exists hdf5-serial") exit 1 ;; --cflags*) echo "-I{tmp_path} " ;; esac""",
    )
    done = checkout.start(TAILRACE_NO_INSTALL="1")
    assert done.returncode == (2 if parallel else 0), done.stderr
    assert ("these are missing: HDF5" in done.stderr) == parallel
    assert ("spack install hdf5~mpi" in done.stderr) == parallel


def test_without_rights_the_command_says_sudo(checkout):
    checkout.without("ninja")
    checkout.tool("apt-get", "exit 0")
    checkout.without("id")
    checkout.tool("id", "echo 1000")
    done = checkout.start()
    assert done.returncode == 2
    assert "sudo apt-get update && sudo apt-get install" in done.stderr
    assert checkout.calls("apt-get") == []


def become_root(checkout: Checkout, apt_get: str) -> None:
    checkout.without("id")
    checkout.tool("id", "echo 0")
    checkout.tool("apt-get", apt_get)


def test_root_installs_what_is_missing(checkout):
    checkout.without("ninja")
    become_root(checkout, 'ln -sf "$TOOLS/mpirun" "$TOOLS/ninja"')
    done = checkout.start("doctor")
    assert (done.returncode, done.stdout) == (0, "command doctor\n"), done.stderr
    update, install = checkout.calls("apt-get")
    assert update.endswith("update")
    assert install.endswith("install --no-install-recommends ninja-build")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Temporary failure resolving the server", "network"),
        ("No space left on device", "the disk is full"),
        ("Could not open lock file - open (13: Permission denied)", "rights are missing"),
        ("something else", "the whole log is in"),
    ],
)
def test_failing_installation_names_the_cause(checkout, said, words):
    checkout.without("ninja")
    become_root(checkout, f'echo "E: {said}"; exit 100')
    done = checkout.start()
    assert done.returncode == 2
    assert words in done.stderr and f"| E: {said}" in done.stderr


def test_installation_that_does_not_help(checkout):
    checkout.without("ninja")
    become_root(checkout, "exit 0")
    done = checkout.start()
    assert done.returncode == 2
    assert "after installing, these are still missing or too old: ninja" in done.stderr


def test_old_compiler_and_python(checkout):
    checkout.tool("g++", "echo 11.4.0")
    checkout.tool("python3", '[ "$1" = --version ] && echo "Python 3.10.2"; exit 1')
    done = checkout.start(TAILRACE_NO_INSTALL="1")
    assert done.returncode == 2
    assert "g++ is version 11.4.0; 12 or newer" in done.stderr
    assert "Python 3.10.2 is too old; 3.11 or newer" in done.stderr


def test_newer_compiler_beside_an_old_one(checkout):
    checkout.tool("g++", "echo 11.4.0")
    checkout.tool("g++-13", "echo 13.1.0")
    checkout.tool("cmake", f'echo "compiler $CXX" >> "$CALLS"\n{CMAKE}')
    assert checkout.start().returncode == 0
    assert "compiler g++-13" in checkout.calls("compiler")


def test_too_little_space(checkout):
    checkout.without("df")
    checkout.tool("df", 'echo "Filesystem size"; echo "disk 100 90 10 90% /"')
    done = checkout.start()
    assert done.returncode == 2
    assert "disk space: 10 MB are free" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_checkout_without_write_permission(checkout):
    checkout.root.chmod(0o555)
    done = checkout.start()
    assert done.returncode == 2 and "rights: cannot write" in done.stderr


def test_failing_build_shows_the_log_and_is_repaired(checkout):
    (checkout.root / "source.txt").write_text("broken\n")
    done = checkout.start()
    assert done.returncode == 2
    assert "| error: source.txt is broken" in done.stderr
    assert str(checkout.root / "build/setup.log") in done.stderr
    (checkout.root / "source.txt").write_text("fine\n")
    assert checkout.start("x").stdout == "command x\n"


def test_failing_python_packages_are_repaired(checkout):
    failed = checkout.start(TOY_PIP_STATUS="1")
    assert failed.returncode == 2 and "installing Python packages into .venv failed" in failed.stderr
    assert checkout.start("x").stdout == "command x\n"


def comparison_installed(checkout: Checkout) -> bool:
    return any("comparison.txt" in call for call in checkout.calls("python3"))


def test_only_the_tests_want_what_they_compare_with(checkout):
    assert checkout.start("run").returncode == 0
    assert not comparison_installed(checkout)
    assert checkout.start("test").stdout == "command test\n"
    assert comparison_installed(checkout)
    assert "k-wave-python" in (checkout.root / ".venv/comparison.txt").read_text()
    assert checkout.start("test").stdout == "command test\n"
    assert not comparison_installed(checkout)


def test_tests_run_without_what_they_compare_with(checkout):
    done = checkout.start("test", TOY_COMPARISON_STATUS="1")
    assert (done.returncode, done.stdout) == (0, "command test\n")
    assert "installing what the tests compare with into .venv failed" in done.stderr
    assert "resuming without" in done.stderr
    assert checkout.start("test", TOY_COMPARISON_STATUS="1", CI="true").returncode == 2
    assert checkout.start("test").stdout == "command test\n"
    assert comparison_installed(checkout)


def test_interrupted_set_up_is_repaired(checkout):
    process = checkout.popen(TOY_SLOW="30")
    while not (checkout.root / ".venv/.complete").exists():
        time.sleep(0.05)
    for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
        subprocess.run(["kill", "-9", child], check=False)
    process.kill()
    process.communicate()
    assert checkout.start("x").stdout == "command x\n"


@pytest.mark.parametrize("damage", ["python", "mark", "cache", "moved"])
def test_damage_is_repaired(checkout, damage):
    checkout.start()
    if damage == "python":
        (checkout.root / ".venv/bin/python").unlink()
    elif damage == "mark":
        (checkout.root / ".venv/.complete").unlink()
    elif damage == "cache":
        (checkout.root / "build/CMakeCache.txt").unlink()
    else:
        (checkout.root / "build/CMakeCache.txt").write_text("CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere\n")
    assert checkout.start("x").stdout == "command x\n"


def test_bodies_in_python_are_built_again_for_a_new_environment(checkout):
    checkout.start()
    built = checkout.root / "build/python_bodies.stamp"
    built.touch()
    checkout.start("x")
    assert built.exists()
    (checkout.root / ".venv/.complete").unlink()
    checkout.start("x")
    assert not built.exists()


def test_changed_requirements_are_installed(checkout):
    checkout.start()
    checkout.calls("")
    (checkout.root / "pyproject.toml").write_text(PYPROJECT.replace("numpy", "h5py"))
    assert checkout.start("x").stdout == "command x\n"
    assert "h5py\npytest\n" in (checkout.root / ".venv/requirements.txt").read_text()
    assert [call for call in checkout.calls("python3") if " pip install " in call]


def test_concurrent_starts_take_turns(checkout):
    processes = [checkout.popen("x", TOY_SLOW="1") for _ in range(3)]
    answers = [process.communicate(timeout=60) for process in processes]
    assert [out for out, _ in answers] == ["command x\n"] * 3
    assert sum("another start is setting up" in err for _, err in answers) >= 2
    assert len(checkout.calls("cmake -S")) == 1


@pytest.mark.parametrize(("apt_get", "said"), [('touch "$TOY/there"', ""), ("exit 1", "resuming without")])
def test_packages_of_single_options_are_installed_but_not_required(checkout, apt_get, said):
    """liburing and zstd: without them, uring and compressed checkpoints would be promises only."""
    wrapper = checkout.root / "tailrace"
    absent = 'present() { case $1 in pc:liburing:*|pc:libzstd:*) [ -e "$TOY/there" ] ;; esac; }'
    wrapper.write_text(wrapper.read_text().replace('main "$@"\n', f'{absent}\nmain "$@"\n'))
    become_root(checkout, f'case "$*" in *install*) {apt_get} ;; esac')
    done = checkout.start("report")
    assert done.returncode == 0, done.stderr
    assert said in done.stderr
    assert "install --no-install-recommends liburing-dev libzstd-dev" in " ".join(checkout.calls("apt-get"))
