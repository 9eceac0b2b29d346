# SPDX-License-Identifier: BSD-3-Clause
"""How long work is shown on standard error: a bar on a terminal, else a line per tenth of the way."""

import sys
import time
from collections.abc import Callable

from tailrace.run_files import Progress
from tailrace.units import bytes_text, duration_text

CLOSING = "closing"
PHASES = {CLOSING: "closing: the output that is still queued is written"}


class PlainProgress:
    """A line when the phase changes, at every tenth, and now and then while the last output is written."""

    BETWEEN_S = 10.0

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.phase = ""
        self.tenth = 0
        self.clock = clock
        self.phase_since_s = self.said_at_s = clock()

    def __enter__(self) -> "PlainProgress":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, progress: Progress) -> None:
        if self.phase:
            self.show_tenth(progress)
        if progress.get("phase", "") != self.phase:
            self.phase = progress.get("phase", "")
            self.phase_since_s = self.said_at_s = self.clock()
            self.say(PHASES.get(self.phase, self.phase))
        self.show_tenth(progress)
        self.go_on()

    def show_tenth(self, progress: Progress) -> None:
        step, steps = progress.get("step", 0), progress.get("steps") or 0
        tenth = 10 * step // steps if steps else 0
        if tenth > self.tenth:
            self.tenth = tenth
            self.say(f"{10 * tenth} %: {position(progress)}{left(progress)}")

    def go_on(self) -> None:
        """While steps are over nothing else shows that the run is still at work."""
        now_s = self.clock()
        if self.phase == CLOSING and now_s - self.said_at_s >= self.BETWEEN_S:
            self.said_at_s = now_s
            self.say(f"{PHASES[CLOSING]} for {duration_text(now_s - self.phase_since_s)}")

    def say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)


class BarProgress:
    """A bar that stays at the bottom while lines scroll by above it."""

    def __init__(self) -> None:
        from rich import progress as bars
        from rich.console import Console

        texts = bars.TextColumn("{task.description}"), bars.TextColumn("{task.fields[text]}")
        # The time continues when the steps are over and the last output is written.
        columns = (texts[0], bars.BarColumn(), texts[1], bars.TimeElapsedColumn())
        self.progress = bars.Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = self.progress.add_task("starting", total=None, text="")

    def __enter__(self) -> "BarProgress":
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def show(self, progress: Progress) -> None:
        step, steps, phase = progress.get("step", 0), progress.get("steps"), progress.get("phase", "")
        text = f"{position(progress)}{left(progress)}" if steps else ""
        self.progress.update(
            self.task, description=PHASES.get(phase, phase), completed=step, total=steps, text=text
        )

    def say(self, line: str) -> None:
        self.progress.console.print(line, markup=False, highlight=False, soft_wrap=True)


def position(progress: Progress) -> str:
    """How far it is: in steps, unless it is said otherwise."""
    return progress.get("position") or f"step {progress.get('step', 0)} of {progress.get('steps')}"


def left(progress: Progress) -> str:
    remaining = progress.get("remaining_s")
    return "" if remaining is None else f", {duration_text(max(0.0, remaining))} left"


def make_progress() -> PlainProgress | BarProgress:
    return BarProgress() if sys.stderr.isatty() else PlainProgress()


class ByteMeter:
    """Shows how many of so many bytes are done: a few times a second, once somebody has had to wait."""

    PATIENCE_S = 2.0
    BETWEEN_S = 0.2

    def __init__(
        self,
        display: PlainProgress | BarProgress,
        phase: str,
        total_bytes: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.display, self.phase, self.total_bytes, self.clock = display, phase, total_bytes, clock
        self.done_bytes = 0
        self.started_s = clock()
        self.next_s = self.started_s + self.PATIENCE_S

    def advance(self, size_bytes: int) -> None:
        self.done_bytes += size_bytes
        now_s = self.clock()
        if now_s < self.next_s:
            return
        self.next_s = now_s + self.BETWEEN_S
        left_bytes = max(0, self.total_bytes - self.done_bytes)
        self.display.show(
            {
                "phase": self.phase,
                "step": self.done_bytes,
                "steps": self.total_bytes,
                "position": f"{bytes_text(self.done_bytes)} of {bytes_text(self.total_bytes)}",
                "remaining_s": (now_s - self.started_s) * left_bytes / self.done_bytes,
            }
        )
