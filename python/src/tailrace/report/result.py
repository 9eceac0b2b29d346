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
        return section, page.fill(section, run, output)
    except kwave.FileError as error:
        section.notes.append(str(error))
        return section, []
