"""How a running job is shown on standard error: a bar on a terminal, else a line per tenth of the way."""

import sys
from typing import Any

from tailrace.units import duration_text


class PlainProgress:
    """A line when the phase changes and at every tenth."""

    def __init__(self) -> None:
        self.phase = ""
        self.tenth = 0

    def __enter__(self) -> "PlainProgress":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, progress: dict[str, Any]) -> None:
        step, steps = progress.get("step", 0), progress.get("steps") or 0
        if progress.get("phase", "") != self.phase:
            self.phase = progress.get("phase", "")
            self.say(self.phase)
        tenth = 10 * step // steps if steps else 0
        if tenth > self.tenth:
            self.tenth = tenth
            self.say(f"{10 * tenth} %: step {step} of {steps}, {left(progress)}")

    def say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)


class BarProgress:
    """A bar that stays at the bottom while lines scroll by above it."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[text]}"))
        self.progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = self.progress.add_task("starting", total=None, text="")

    def __enter__(self) -> "BarProgress":
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def show(self, progress: dict[str, Any]) -> None:
        step, steps = progress.get("step", 0), progress.get("steps")
        text = f"step {step} of {steps}, {left(progress)}" if steps else ""
        self.progress.update(
            self.task, description=progress.get("phase", ""), completed=step, total=steps, text=text
        )

    def say(self, line: str) -> None:
        self.progress.console.print(line, markup=False, highlight=False, soft_wrap=True)


def left(progress: dict[str, Any]) -> str:
    remaining = progress.get("remaining_s")
    return "" if remaining is None else f"{duration_text(max(0.0, remaining))} left"


def make_progress() -> PlainProgress | BarProgress:
    return BarProgress() if sys.stderr.isatty() else PlainProgress()
