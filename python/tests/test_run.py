# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace run` end to end with a native program in miniature: exit statuses, files, signals."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import command
from tailrace.case_options import refuse_foreign
from tailrace.casefile import Case
from tailrace.console import CommandError
from tailrace.job import descendants
from tailrace.resume import read_start
from tailrace.run_files import ACCOUNT, read_table
from tailrace.run_lock import LOCK, held, refusal

HERE = Path(__file__).resolve().parent
LAUNCHERS = [("openmpi", "mpirun.openmpi"), ("mpich", "mpiexec.mpich")]
INSTALLED = [(kind, path) for kind, name in LAUNCHERS if (path := shutil.which(name))]


@pytest.fixture(params=INSTALLED, ids=lambda item: item[0])
def place(request, tmp_path, monkeypatch):
    """A directory with a program directory for one launcher; the commands run there."""
    kind, mpiexec = request.param
    make_programs(tmp_path / "bin", {"implementation": kind, "version": "1", "mpiexec": mpiexec})
    return enter(tmp_path, monkeypatch)


@pytest.fixture
def plain(tmp_path, monkeypatch):
    """The same without any launcher."""
    make_programs(tmp_path / "bin", None)
    monkeypatch.setenv("PATH", "/nonexistent")
    return enter(tmp_path, monkeypatch)


def make_programs(directory: Path, launch: dict | None) -> None:
    directory.mkdir()
    program = directory / "tailrace-fake"
    program.write_text(f"#!{sys.executable}\n" + (HERE / "fake_simulation.py").read_text())
    program.chmod(0o755)
    if launch:
        (directory / "tailrace-launch.json").write_text(json.dumps(launch))


def enter(directory: Path, monkeypatch) -> Path:
    monkeypatch.setenv("TAILRACE_BIN_DIR", str(directory / "bin"))
    monkeypatch.setenv("PYTHONPATH", str(command.SOURCE))
    monkeypatch.chdir(directory)
    return directory


def write_case(text: str = "", name: str = "case.toml") -> str:
    Path(name).write_text(f'[case]\nsimulation = "fake"\n[fake]\n{text}\n')
    return name


def run(*arguments: str, report: bool = False) -> command.Answer:
    return command.tailrace("run", *([] if report else ["--no-report"]), *arguments)


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*command.TAILRACE, "run", "--no-report", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_for(path: Path, text: str = "", limit_s: float = 20.0) -> None:
    deadline = time.monotonic() + limit_s
    while not (path.exists() and text in path.read_text()):
        assert time.monotonic() < deadline, f"{path} did not appear with {text!r}"
        time.sleep(0.05)


def account(run_dir: str) -> dict:
    return json.loads((Path(run_dir) / "run.json").read_text())


def test_finished_run_takes_the_next_free_directory(place):
    case = write_case()
    for expected in ("runs/case", "runs/case-2", "runs/case-3"):
        done = run(case, "-n", "2", "-t", "1")
        assert done.status == 0, done.err
        assert account(expected)["ranks"] == 2
    assert "finished: 10 of 10 steps in 1.50 s on 2 ranks x 1 thread" in done.out
    assert "compute 1.00 s, output 15.0 ms, set-up 300 ms, other 185 ms\n" in done.out
    assert "output: 1.00 kB, 1.0 % of run time visible; strategy: threads:2" in done.out


def test_options_reach_the_program(place):
    options = ["--set", "time.steps=5", "--set", "a.b=c", "--write", "threads:3", "--sink", "hdf5"]
    options += ["--pace", "bandwidth=1", "--fault", "write:after=2", "--wall-limit", "55min", "--overwrite"]
    done = run(write_case(), "--out", "here", *options, "-t", "2", "--json")
    got = json.loads(done.out)["arguments"]
    assert got["settings"] == ["time.steps=5", "a.b=c"]
    assert (got["write"], got["sink"], got["pace"]) == ("threads:3", "hdf5", "bandwidth=1")
    assert (got["fault"], got["wall_limit"], got["threads"]) == ("write:after=2", "55min", 2)
    assert got["overwrite"] and got["quiet"] and got["out"] == "here"


def test_bad_case_passes_the_message_on_and_makes_nothing(place):
    done = run(write_case('problem = "time.steps: -1 is not positive. Fix: 1 or more"'))
    assert done.status == 2
    assert (
        done.err == "tailrace-fake: case.toml: 1 problem\n  time.steps: -1 is not positive. Fix: 1 or more\n"
    )
    assert not Path("runs").exists()


def test_existing_directory_needs_overwrite(place):
    Path("old").mkdir()
    (Path("old") / "run.json").write_text('{"status": "finished", "steps": 77}')
    refused = run(write_case(), "--out", "old")
    assert refused.status == 2
    assert "old exists already" in refused.err and "--overwrite" in refused.err
    assert account("old")["steps"] == 77
    assert run(write_case('mode = "silent"'), "--out", "old", "--overwrite").status == 3
    assert account("old")["status"] == "failed"
    assert run(write_case(), "--out", "old", "--overwrite").status == 0
    assert account("old")["steps"] == 10


@pytest.mark.parametrize(("status", "expected"), [(2, 2), (3, 3), (4, 4), (1, 3), (77, 3)])
def test_exit_statuses(place, status, expected):
    done = run(write_case(f'mode = "exit"\nstatus = {status}'), "-n", "2")
    assert done.status == expected
    assert "Primary job" not in done.err and "non-zero" not in done.err


def test_killed_rank_leaves_an_account_with_the_recorded_steps(place):
    done = run(write_case('mode = "kill"'), "-n", "2")
    assert done.status == 3
    got = account("runs/case")
    assert got["status"] == "failed" and got["error"]["kind"] == "killed"
    assert "SIGKILL" in got["reason"]
    assert got["steps_recorded"] == 3 and got["steps_planned"] == 10
    assert "the file holds all samples up to step 3" in done.out


def test_an_account_of_the_command_is_sound_whatever_options_it_had(place):
    options = ("--write", "blocking", "--sink", "hdf5", "--fault", "write:after=2")
    assert run(write_case('mode = "kill"'), "-n", "2", *options).status == 3
    config = account("runs/case")["config"]
    assert config["write"] == {"strategy": "blocking", "sink": "hdf5"} and config["fault"] == "write:after=2"
    assert read_table(Path("runs/case/run.json"), ACCOUNT).problems == []
    assert json.loads(command.tailrace("list", "--json").out)[0]["status"] == "failed"


def test_accounts_that_hold_options_as_words_are_sound(place):
    Path("run.json").write_text('{"status": "failed", "config": {"write": "blocking"}}')
    assert read_table(Path("run.json"), ACCOUNT).problems == []
    Path("run.json").write_text('{"status": "failed", "config": {"write": 5}}')
    assert "write is 5, not a word or table" in read_table(Path("run.json"), ACCOUNT).problems[0]


def test_steps_of_a_killed_run_are_those_that_anything_knows_of(place):
    done = run(write_case('mode = "kill"\nold_progress = true'), "-n", "2")
    assert account("runs/case")["steps"] == 3 and "failed: 3 of 10 steps" in done.out
    Path("runs/case/run.json").unlink()
    entry = json.loads(command.tailrace("list", "--json").out)[0]
    assert (entry["status"], entry["steps"], entry["steps_planned"]) == ("killed", 3, 10)


def test_killed_before_the_directory_exists(place):
    done = run(write_case('mode = "no directory"'))
    assert done.status == 3
    assert "SIGKILL" in done.err
    assert not Path("runs").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stop_in_good_order(place, number):
    process = start(write_case('mode = "wait"'), "-n", "2")
    wait_for(Path("runs/case/progress.json"), '"step": 5')
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 4, err
    assert account("runs/case")["status"] == "stopped"
    assert "stopped: 5 of 10 steps" in out
    assert err.count("stopping in good order") == 1


def test_second_stop_kills(place):
    process = start(write_case('mode = "stubborn"'), "-n", "2")
    wait_for(Path("runs/case/progress.json"), '"step": 5')
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 3, err
    assert account("runs/case")["status"] == "failed"
    assert running_programs(place) == []


def test_checkpoint_signal_reaches_every_rank(place):
    process = start(write_case('mode = "wait"'), "-n", "2")
    wait_for(Path("runs/case/progress.json"), '"step": 5')
    process.send_signal(signal.SIGUSR1)
    wait_for(Path("runs/case/checkpoint-0"))
    wait_for(Path("runs/case/checkpoint-1"))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    assert process.returncode == 4


def test_job_stops_when_the_command_is_killed(place):
    process = start(write_case('mode = "wait"'), "-n", "2")
    wait_for(Path("runs/case/progress.json"), '"step": 5')
    process.kill()
    process.communicate(timeout=20)
    wait_for(Path("runs/case/run.json"), "stopped")


def test_a_run_in_progress_is_neither_replaced_nor_resumed(place):
    process = start(write_case('mode = "wait"'), "-n", "2")
    wait_for(Path("runs/case/progress.json"), '"step": 5')
    for words in (["run", "case.toml", "--overwrite"], ["resume", "runs/case"]):
        refused = command.tailrace(*words)
        assert refused.status == 2
        assert f"runs/case: a run is in progress there, process {process.pid}. Fix: " in refused.err
    assert process.poll() is None and not Path("runs/case/run.json").exists()
    for pid in [*descendants(process.pid), process.pid]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    done = run(write_case(), "--overwrite")
    assert done.status == 0, done.err
    process.communicate(timeout=20)


@pytest.mark.parametrize(
    "words",
    [
        "run case.toml --out old --overwrite",
        "run q.json --out old --overwrite",
        "resume old",
        "resume of_program",
    ],
)
def test_a_directory_that_another_command_holds_stays_as_it_is(words, plain):
    write_case()
    Path("q.json").write_text("{}")
    for name, program in (("old", "tailrace-fake"), ("of_program", "tailrace-fragments")):
        Path(name).mkdir()
        start = {"program": program, "arguments": [], "directory": ".", "ranks": 1}
        Path(name, "start.json").write_text(json.dumps(start))
    with held(Path("old")), held(Path("of_program")):
        before = files()
        refused = command.tailrace(*words.split())
        assert "running" in command.tailrace("list", "old").out
        assert files() == before
    assert refused.status == 2 and f"in progress there, process {os.getpid()}. Fix:" in refused.err
    assert "killed" in command.tailrace("list", "old").out


def files() -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def test_a_run_of_another_machine_is_named_and_how_to_go_on(tmp_path):
    (tmp_path / LOCK).write_text("node7 123\n")
    said = refusal(tmp_path / LOCK, [])
    assert "process 123 on node7. Fix: " in said and f"remove {tmp_path / LOCK}" in said


def running_programs(place: Path) -> list[str]:
    """Command lines of programs of this test that still run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_text()
        except OSError:
            continue
        if str(place / "bin") in words:
            found.append(words)
    return found


def test_plain_process_without_a_launcher(plain):
    assert run(write_case()).status == 0
    refused = run(write_case(), "-n", "2")
    assert refused.status == 2
    assert "2 ranks need a launcher" in refused.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[case", "not a TOML case file"),
        ("[case]\n", "[case] simulation must name"),
        (None, "no such case file"),
    ],
)
def test_unusable_case_files(plain, text, words):
    if text is not None:
        Path("case.toml").write_text(text)
    done = run("case.toml")
    assert done.status == 2 and words in done.err and "Traceback" not in done.err


@pytest.mark.parametrize(
    "options",
    [
        ["--set", "nonsense"],
        ["--bind", "tightly"],
        ["--launcher", "rocket"],
        ["-n", "0"],
        ["--launcher", "srun"],
    ],
)
def test_bad_usage(plain, options):
    done = run(write_case(), *options)
    assert done.status == 2
    assert "Traceback" not in done.err
    assert not Path("runs").exists()


def write_script(body: str) -> None:
    Path("make.py").write_text(f"import sys\nfrom pathlib import Path\npath = Path(sys.argv[1])\n{body}\n")


@pytest.mark.parametrize("options", ["--exchange isend", "--device auto"])
def test_an_option_that_the_simulation_does_not_have(plain, options):
    refused = run(write_case(), *options.split())
    assert refused.status == 2
    assert refused.err == (
        f"tailrace: {options.split()[0]}: not for case.toml: the simulation fake has no such option. "
        "Fix: leave it out\n"
    )


def test_an_option_for_a_key_that_the_simulation_does_not_have(tmp_path):
    program = tmp_path / "tailrace-one"
    schema = {"properties": {"fragments": {"properties": {"balance": {}}}}}
    program.write_text(f"#!/bin/sh\necho '{json.dumps(schema)}'\n")
    program.chmod(0o755)
    case = Case(Path("one.toml"), "one")
    refuse_foreign(program, case, [], {"fragments.balance": "--balance"})
    with pytest.raises(CommandError, match=r"--live-bytes: not for one\.toml: the simulation"):
        refuse_foreign(program, case, [], {"fragments.live_bytes": "--live-bytes"})


@pytest.mark.parametrize("name", ["case.h5", "case.toml", "program.fa"])
def test_a_directory_is_no_case(plain, name):
    Path(name).mkdir()
    refused = run(name)
    assert (refused.status, refused.err.partition(". ")[0]) == (2, f"tailrace: {name}: is a directory")


def test_input_is_made_once_by_its_script(plain):
    text = '[input]\nfile = "in.h5"\nscript = "make.py"\n'
    write_script('path.write_text("made in " + str(Path.cwd()))')
    first = run(write_case(text))
    assert first.status == 0
    assert "making in.h5 with make.py" in first.err
    assert Path("in.h5").read_text() == f"made in {plain}"
    assert "making" not in run(write_case(text)).err


def test_failing_script_leaves_no_input(plain):
    write_script('path.write_text("half")\nsys.exit(1)')
    done = run(write_case('[input]\nfile = "in.h5"\nscript = "make.py"\n'))
    assert done.status == 2
    assert "make.py failed with status 1" in done.err
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["bin", "case.toml", "make.py"]


def test_override_names_another_input(plain):
    write_script('path.write_text("made")')
    text = '[input]\nfile = "in.h5"\nscript = "make.py"\n'
    assert run(write_case(text), "--set", "input.file=other.h5").status == 0
    assert Path("other.h5").exists() and not Path("in.h5").exists()


def test_default_threads_share_the_cores(plain, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delenv("SLURM_CPUS_PER_TASK", raising=False)
    done = run(write_case(), "--json")
    assert 1 <= json.loads(done.out)["threads"] <= len(os.sched_getaffinity(0))
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert json.loads(run(write_case(), "--json").out)["threads"] == 3


def test_a_program_of_ones_own_is_found_where_it_was(place, monkeypatch):
    """No directory of programs has it: the run states where it was started from."""
    program = Path("mine") / "tailrace-mine"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    start = {"program": "tailrace-mine", "executable": str(program.absolute())}
    start |= {"arguments": ["--case", "case.toml"], "directory": str(Path.cwd()), "ranks": 2}
    Path("start.json").write_text(json.dumps(start))
    assert read_start(Path()).executable == program.absolute()
    program.unlink()
    assert read_start(Path()).executable is None
