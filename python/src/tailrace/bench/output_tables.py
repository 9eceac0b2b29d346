"""The tables of the output benchmark."""

from typing import Any

from rich.console import Console

from tailrace.bench.document import make_table, with_interval
from tailrace.bench.host import watch_text
from tailrace.bench.stats import from_dict
from tailrace.units import bytes_text

OVERLAP_AIM = 1.05
BOXES_AIM = 1.05


def print_document(document: dict[str, Any], console: Console) -> None:
    if document["overlap"]:
        print_overlap(document["overlap"], console)
    if document["boxes"]:
        print_boxes(document["boxes"], console)
    print_verdicts(document, console)
    console.print(watch_text(document["conditions"]))


def print_overlap(rows: list[dict[str, Any]], console: Console) -> None:
    outputs, size = rows[0]["outputs"], bytes_text(rows[0]["sample_bytes"])
    interval = rows[0]["over_ideal"]
    console.print(
        f"{outputs} outputs of {size}; medians of {len(interval['samples'])} interleaved repetitions, in "
        f"brackets the interval that holds the median with {100 * interval['coverage']:.0f} % (order "
        "statistics).\nIdeal: the larger of computing alone and writing alone, and one more write.\n"
    )
    table = make_table(
        "Output behind the computation (seconds)",
        "storage, ranks, writing / computing",
        "computing",
        "writing",
        "blocking",
        "threads",
        "threads / ideal",
        "blocking / threads",
        "hidden",
        "writer CPU",
        "waits",
    )
    for row in rows:
        run_s = {variant: values["median"] for variant, values in row["run_s"].items()}
        ranks = "1 rank" if row["ranks"] == 1 else f"{row['ranks']} ranks"
        table.add_row(
            f"{row['storage']}, {ranks}, {100 * row['share']:.0f} %",
            *(f"{run_s[variant]:.3f}" for variant in ("compute", "write", "blocking", "threads")),
            with_interval(from_dict(row["over_ideal"]), digits=3),
            f"{row['blocking_over_threads']['median']:.2f}",
            f"{100 * row['hidden_fraction']['median']:.0f} %",
            f"{row['write_cpu_s']['median']:.3f}",
            f"{row['waits']['median']:.0f}",
        )
    console.print(table)
    console.print()


def print_boxes(rows: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "256 boxes against one of the same points (ms per sample)",
        "sample, storage",
        "write, one",
        "write, 256",
        "ratio",
        "CPU ratio",
        "pack, one",
        "pack, 256",
        "write and pack ratio",
    )
    for row in rows:
        storage = "flushed" if row["flush"] == "sample" else "page cache"
        table.add_row(
            f"{bytes_text(row['sample_bytes'])}, {storage}",
            f"{1e3 * row['write_s']['one']['median']:.2f}",
            f"{1e3 * row['write_s']['many']['median']:.2f}",
            with_interval(from_dict(row["write_ratio"]), digits=3),
            f"{row['cpu_ratio']['median']:.3f}",
            f"{1e3 * row['pack_s']['one']['median']:.2f}",
            f"{1e3 * row['pack_s']['many']['median']:.2f}",
            with_interval(from_dict(row["output_ratio"]), digits=3),
        )
    console.print(table)
    console.print()


def print_verdicts(document: dict[str, Any], console: Console) -> None:
    verdict("threads within 1.05 of ideal", document["overlap"], "over_ideal", OVERLAP_AIM, console)
    verdict("256 boxes within 5 % of one", document["boxes"], "write_ratio", BOXES_AIM, console)


def verdict(aim: str, rows: list[dict[str, Any]], key: str, limit: float, console: Console) -> None:
    if not rows:
        return
    medians = [row[key]["median"] for row in rows]
    met = sum(median <= limit for median in medians)
    answer = "met" if met == len(rows) else f"met in {met} of {len(rows)} rows"
    console.print(f"aim: {aim}: {answer}, worst {max(medians):.3f}")
