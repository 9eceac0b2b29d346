# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace luna`: LuNA's launcher. It checks, compiles and runs a program on one rank; its exit statuses are
0 and 1, and its messages begin as LuNA's do.
"""

import hashlib
import re
import resource
import shlex
import shutil
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tailrace.console import EXIT_BAD_INPUT, CommandError, refused
from tailrace.fragments.compile import Source, compile_source
from tailrace.fragments.folders import needed_folder, passing_folder
from tailrace.fragments.problems import Problem, Problems
from tailrace.job import Job
from tailrace.launch import Layout, find_launcher, launch_command
from tailrace.luna_options import HELP, LunaError, LunaRequest, parse_words
from tailrace.programs import checkout_root, launch_info
from tailrace.progress import PlainProgress
from tailrace.run_fragments import environment, native_program, reported, status_option

OBJECT = "libucodes.so"
HIDDEN_LINES = 100_000
UNFINISHED = re.compile(r".*: error: the program cannot finish: (\d+) fragments? waits?\..*")
# The step of LuNA's that finds an error of a code, by which its message begins.
BY_RECOMMENDATIONS = ("SYN2", "SYN3", "SYN9", "SEM10")
BY_GENERATION = ("SYN1", "SYN7", "SYN10", "SYN11", "SYN12")
BY_PREPROCESSOR = ("PRE",)
STEPS = dict.fromkeys(BY_RECOMMENDATIONS, "recom-generation failed (see below):")
STEPS |= dict.fromkeys(BY_GENERATION, "cpp-generation failed (see below):")
STEPS |= dict.fromkeys(BY_PREPROCESSOR, "preprocessing failed (see error messages below):")


def luna(words: Sequence[str]) -> int:
    """The whole command; returns the exit status."""
    if "--help" in words:
        print(HELP)
        return 0
    try:
        return run(parse_words(words))
    except (LunaError, CommandError) as error:
        say(f"fatal error: {error}")
    except BrokenPipeError:  # whoever reads has seen enough
        raise
    except OSError as error:
        say(f"fatal error: {refused(error)}")
    return 1


def say(text: str) -> None:
    print(f"luna: {text}", file=sys.stderr, flush=True)


def run(request: LunaRequest) -> int:
    for note in request.notes:
        say(note)
    try:
        request.program.read_bytes()
    except OSError as error:
        raise LunaError(f"failed to read '{request.program}': {error.strerror}") from None
    with build_folder(request) as folder:
        target = request.output or folder / OBJECT
        step(request, f"checking and compiling {request.program}")
        problems = compile_source(source_of(request), target)
        if problems.errors:
            say_errors(problems)
            return 1
        if problems.warnings and not request.quiet:
            print(problems.as_text(), file=sys.stderr)
        if request.only_compiles:
            if not request.quiet:
                print(shlex.join(command_for_ranks(request, target)))
            return 0
        step(request, "running program")
        return execute(request, target)


def step(request: LunaRequest, what: str) -> None:
    """Progress is for whoever looks on."""
    if not request.quiet and (request.verbose or sys.stderr.isatty()):
        say(what)


def source_of(request: LunaRequest) -> Source:
    return Source(
        request.program,
        request.defines,
        cpp_directories=request.cpp_dir,
        cpp_sources=request.cpp_source,
        build_dir=request.build_dir,
        debug=request.debug,
        optimises=request.optimisation != "-O0",
        last_counts=True,
        shows_commands=request.verbose,
    )


@contextmanager
def build_folder(request: LunaRequest) -> Iterator[Path]:
    """Where the shared object is made. What is not kept is removed; nothing else that lies there is."""
    if request.build_dir is None and not request.keeps:
        with passing_folder("programs") as folder:
            yield folder
        return
    folder = request.build_dir or kept_folder(request.program)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder.absolute()
    finally:
        if not request.keeps:
            (folder / OBJECT).unlink(missing_ok=True)
            shutil.rmtree(folder / "objects", ignore_errors=True)


def kept_folder(program: Path) -> Path:
    name = hashlib.sha256(str(program.absolute()).encode()).hexdigest()[:16]
    return needed_folder("luna") / f"{program.stem}-{name}"


def say_errors(problems: Problems) -> None:
    """All errors, under the words by which LuNA's message of the first begins."""
    first = problems.shown()[0]
    line, _ = first.place.line_and_column
    if first.code in STEPS:
        say(f"fatal error: {STEPS[first.code]}")
    else:
        say(f"compile error: {first.text} at {first.place.file.name}:{line}")
    for one in problems.shown():
        if one.severity == "error":
            print(as_luna(one), file=sys.stderr)


def as_luna(problem: Problem) -> str:
    """A message with its place behind it, as LuNA has it."""
    _, *rest = problem.as_text().split("\n")
    code = f" [{problem.code}]" if problem.code else ""
    return "\n".join([f"{problem.text}{code} at {problem.place}:", *rest])


def command_for_ranks(request: LunaRequest, target: Path) -> list[str]:
    """What is put behind `mpirun -np N`."""
    root = checkout_root() or Path(sys.prefix)
    rts = root / "share" / "tailrace" / "luna" / "bin" / "rts"
    options = [
        f"--worker-threads-count={request.workers}",
        *["-b"] * request.balance,
        *["-g"] * request.debug,
    ]
    return [str(rts), *options, str(target.absolute()), *request.arguments]


def execute(request: LunaRequest, target: Path) -> int:
    """Runs the program on one rank; its standard output is ours."""
    native = native_program()
    layout = Layout(1, request.workers, "none", oversubscribe=True)
    launcher = find_launcher(launch_info(native), None, 1)
    options = ["-t", str(request.workers), *["--balance=steal"] * request.balance]
    options += ["--checks"] * request.debug
    said = Said(hidden=request.quiet)
    with passing_folder("accounts") as folder:
        options.append(status_option(folder))
        words = [str(native), *options, str(target.absolute()), *request.arguments]
        command = launch_command(launcher, layout, words)
        if request.verbose:
            say(shlex.join(command))
        before, started = processor_s(), time.monotonic()
        result = reported(Job(command, environment(launcher, layout), launcher, None, said).run(), folder)
    wall_s, used_s = time.monotonic() - started, processor_s() - before
    if request.usage:
        share = used_s / wall_s / request.workers
        say(f"{used_s:.2f} s of processor time in {wall_s:.2f} s: {share:.0%} of {request.workers} workers")
    if result.returncode != 0:
        say_failure(result.returncode, said)
        return 1
    if request.times:
        print(f"TIME: {wall_s:f} sec.")
    return 0


class Said(PlainProgress):
    """What a program says on standard error; hidden until it is known to have failed, if that is wanted.

    `unfinished` is how many fragments a program that cannot finish has.
    """

    def __init__(self, hidden: bool) -> None:
        super().__init__()
        self.hidden, self.unfinished = hidden, ""
        self.lines: deque[str] = deque(maxlen=HIDDEN_LINES)

    def say(self, line: str) -> None:
        if found := UNFINISHED.fullmatch(line):
            self.unfinished = found[1]
        if self.hidden:
            self.lines.append(line)
        else:
            super().say(line)


def processor_s() -> float:
    """Processor time of all processes that ended below this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def say_failure(status: int, said: Said) -> None:
    for line in said.lines:
        print(line, file=sys.stderr)
    if said.unfinished:
        print(f"System is idle, but unfinished CFs ({said.unfinished}) exist.", file=sys.stderr)
    why = " (argv does not fit main)" if status == EXIT_BAD_INPUT else ""
    say(f"fatal error: run-time error: errcode={status}{why}")
