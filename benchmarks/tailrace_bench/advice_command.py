# SPDX-License-Identifier: BSD-3-Clause
"""The options of `tailrace bench advice`, and its table."""

from typing import Annotated, Any

import typer
from rich.console import Console

from tailrace.commands.bench import Directory, JsonFile, Pairs, publish
from tailrace_bench.choices import known_words

SUMS = {
    "is_named": "are named first",
    "is_quiet": "are not named where nearly there",
    "holds": "gain at least half of the prediction, and not more than its bound",
}


def advice(
    rule: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="Only this one's programs (default: all planted)."),
    ] = None,
    pairs: Pairs = 5,
    directory: Directory = None,
    json: JsonFile = None,
) -> None:
    """Programs with planted faults: does the first advice name the fault, and what does following it gain?"""
    from tailrace_bench import advice as benchmark

    request = benchmark.Request(known_words("--rule", rule, benchmark.RULES), pairs, directory)
    publish(lambda: benchmark.measure(request), print_document, json)


def print_document(document: dict[str, Any], console: Console) -> None:
    from tailrace.bench.document import make_table, with_interval
    from tailrace.bench.host import watch_text
    from tailrace.bench.stats import from_dict

    columns = "first advice", "silent where nearly", "of", "predicted", "gained", "share of it", "holds"
    table = make_table("Planted faults, and what following the advice gains", "fault", *columns)
    for row in document["rows"]:
        first = row["advice"][0] if row["advice"] else "none"
        predicted = (
            f"{row['predicted'][1]:.2f} ({row['predicted'][0]:.2f} .. {row['predicted'][2]:.2f})"
            if row["predicted"]
            else "nothing"
        )
        share = f"{100 * row['share']:.0f} %" if row["share"] is not None else ""
        gained = with_interval(from_dict(row["gained"]), digits=2)
        answers = (
            ("yes" if row["is_quiet"] else "no"),
            row["gains"],
            predicted,
            gained,
            share,
            "yes" if row["holds"] else "no",
        )
        table.add_row(row["rule"], "it" if row["is_named"] else first, *answers)
    console.print(table)
    for key, text in SUMS.items():
        console.print(f"{sum(row[key] for row in document['rows'])} of {len(document['rows'])} {text}")
    console.print(watch_text(document["conditions"]))
