# SPDX-License-Identifier: BSD-3-Clause
"""The result section: what the run computed, as pictures and key numbers."""

from tailrace import kwave
from tailrace.data.run import Run as Output
from tailrace.report.load import Run
from tailrace.report.parts import Number, Section
from tailrace.report.simulations import page_of


def result_section(run: Run) -> tuple[Section, list[Number]]:
    """Everything there is to see of the result; what is missing is said in notes."""
    section = Section("result", "Result")
    if run.output is None:
        section.notes.append("There is no output file in the run directory.")
        return section, []
    try:
        output = Output(run.directory)
        # Files that describe a grid as k-Wave's do are shown as those, whoever wrote them.
        page = page_of("ultrasound" if output.source.case is not None else run.simulation)
        numbers = page.fill(section, run, output)
        section.notes += _left_out(section, run, output)
        return section, numbers
    except kwave.FileError as error:
        section.notes.append(str(error))
        return section, []


def _left_out(section: Section, run: Run, output: Output) -> list[str]:
    """Which [[output]] tables have no picture, and how to see them."""
    tables = [name for name, dataset in output.datasets.items() if "values" in dataset]
    shown = {name for picture in section.pictures for name in getattr(picture, "outputs", ())}
    missing = [name for name in tables if name not in shown]
    if not missing:
        return []
    return [
        f"Not shown here: {', '.join(missing)}. `tailrace inspect {run.directory}` lists them, "
        "`tailrace.open` in Python has their values and draws them."
    ]
