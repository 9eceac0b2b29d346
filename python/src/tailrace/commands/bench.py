# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench`: the benchmarks of the checkout where it runs from one, else those of this package."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from tailrace.bench.cases import SIMULATIONS, Simulation
from tailrace.console import CommandError
from tailrace.cores import usable_cores
from tailrace.programs import checkout_root

QUESTIONS = {
    "output": "Which strategy writes fastest here: computing with an output in each step, by every strategy.",
    "checkpoint": "What checkpoints cost a run, and the rate at which they are written.",
    "trace": "What the trace costs a run.",
}
# The other benchmarks, and their options, get an answer that says where they are.
ELSEWHERE = {"ignore_unknown_options": True, "allow_extra_args": True}

JsonFile = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Also write all results here.")]
Directory = Annotated[
    Path | None,
    typer.Option("--dir", metavar="DIR", help="Where to put the files (default: the temporary directory)."),
]
Layouts = Annotated[
    list[str] | None,
    typer.Option("--layout", metavar="RxT", help="Ranks x threads (default: 1x1, 1xCORES, CORESx1)."),
]
Pairs = Annotated[int, typer.Option(metavar="N", min=1, help="Interleaved repetitions.")]
Steps = Annotated[
    int,
    typer.Option(metavar="N", min=0, help="Timed steps (default: as suits the case).", show_default=False),
]
Ranks = Annotated[
    int | None,
    typer.Option(
        "-n", "--ranks", metavar="N", min=1, help="Ranks that compute (default: half the cores, 2 to 4)."
    ),
]


def list_benchmarks(context: typer.Context) -> None:
    """Measure this machine by ratios: interleaved repetitions, medians, intervals.

    Measure on a quiet machine; the load and what other programs used are reported with the results.
    """
    if context.invoked_subcommand is None:
        for name, text in QUESTIONS.items():
            typer.echo(f"tailrace bench {name:12} {text}")
        for name in SIMULATIONS:
            typer.echo(f"tailrace bench {name:12} Time per step and memory of this simulation.")
        typer.echo("Comparisons with other programs, and studies, are in the source checkout (benchmarks/).")


def refuse_others(context: typer.Context) -> None:
    if context.args:
        raise CommandError(
            f"{' '.join(context.args)}: an option or benchmark of the source checkout, not of an installed "
            "package. Fix: start ./tailrace bench there (the benchmarks are in its directory benchmarks/)."
        )


def study(context: typer.Context) -> None:
    """A reference study, from the source checkout."""
    context.args = ["study", *context.args]
    refuse_others(context)


def question_command(question: str) -> Any:
    def command(
        context: typer.Context,
        ranks: Ranks = None,
        size_mib: Annotated[
            int, typer.Option(metavar="N", min=1, help="MiB of an output or of the state.")
        ] = 16,
        steps: Steps = 0,
        pairs: Pairs = 7,
        directory: Directory = None,
        json: JsonFile = None,
    ) -> None:
        from tailrace.bench import machine

        refuse_others(context)
        count = ranks or min(4, max(2, usable_cores() // 2))
        request = machine.Request(count, pairs, directory, steps, size_mib)
        publish(lambda: machine.measure(question, request), machine.print_document, json)

    return command


def simulation_command(name: str, case: Simulation) -> Any:
    def command(
        context: typer.Context,
        size: Annotated[int, typer.Option(case.option, metavar="N", min=16, help=case.help)] = case.size,
        layout: Layouts = None,
        steps: Steps = 0,
        pairs: Pairs = 7,
        directory: Directory = None,
        json: JsonFile = None,
    ) -> None:
        from tailrace.bench import machine

        refuse_others(context)
        layouts = parse_layouts(layout)
        publish(
            lambda: machine.measure_simulation(name, size, steps, layouts, pairs, directory),
            machine.print_document,
            json,
        )

    return command


def publish(measure: Callable[[], Any], show: Callable[[Any, Any], None], json: Path | None) -> None:
    """Measures, writes the document if it is wanted, which is made sure of before, and shows it."""
    from tailrace.bench import document
    from tailrace.units import wide_console

    document.check_writable(json)
    found = measure()
    document.write_document(found, json)
    show(found, wide_console())


def parse_layouts(texts: list[str] | None) -> tuple[tuple[int, int], ...]:
    """As given, or one core; all cores as threads of one rank; all cores as ranks."""
    cores = usable_cores()
    usual = ((1, 1), (1, cores), (cores, 1)) if cores > 1 else ((1, 1),)
    return tuple(parse_layout(text) for text in texts) if texts else usual


def parse_layout(text: str) -> tuple[int, int]:
    ranks, separator, threads = text.partition("x")
    if not separator or not ranks.isdigit() or not threads.isdigit() or "0" in (ranks, threads):
        raise CommandError(f"--layout {text}: write ranks and threads like 2x1.")
    return int(ranks), int(threads)


def machine_benchmarks() -> typer.Typer:
    group = typer.Typer(invoke_without_command=True, add_completion=False)
    group.callback()(list_benchmarks)
    for name, text in QUESTIONS.items():
        group.command(name, help=text, context_settings=ELSEWHERE)(question_command(name))
    for name, case in SIMULATIONS.items():
        text = "Time per step and memory of this simulation on ranks x threads."
        group.command(name, help=text, context_settings=ELSEWHERE)(simulation_command(name, case))
    group.command("study", context_settings=ELSEWHERE)(study)
    return group


def register(app: typer.Typer) -> None:
    root = checkout_root()
    if root is not None and (root / "benchmarks").is_dir():
        sys.path.insert(0, str(root / "benchmarks"))
        app.add_typer(import_module("tailrace_bench.commands").benchmarks(), name="bench")
    else:
        app.add_typer(machine_benchmarks(), name="bench")
