# SPDX-License-Identifier: BSD-3-Clause
"""What `tailrace run` shows of a run while it is under way."""

from tailrace.progress import PlainProgress


def test_lines_go_on_while_the_last_output_is_written(capsys):
    """A run whose steps are over may write for minutes: silence would look like a hang."""
    times = iter([0.0, 1.0, 1.0, 40.0, 40.0, 45.0, 50.5, 55.0, 61.0])
    progress = PlainProgress(clock=lambda: next(times))
    progress.show({"phase": "running", "step": 8, "steps": 10, "remaining_s": 3.0})
    for _ in range(5):
        progress.show({"phase": "closing", "step": 10, "steps": 10})
    said = capsys.readouterr().err.splitlines()
    queued = "closing: the output that is still queued is written"
    assert said == [
        "running",
        "80 %: step 8 of 10, 3.00 s left",
        "100 %: step 10 of 10",
        queued,
        f"{queued} for 10.5 s",
        f"{queued} for 21.0 s",
    ]
