# SPDX-License-Identifier: BSD-3-Clause
"""What the study of states of molecules measured, and what to say of ours beside it."""

from typing import Any

SOURCE = (
    "A thesis of 2014 on MarDyn: a checkpoint in cells written by all ranks through MPI-IO, against the old "
    "text file, a plain binary file and PnetCDF; a TUM cluster with a sequential file system and SuperMUC "
    "with GPFS (200 GB/s nominal), means of 3 runs, 50 to 33000 ranks. Here all formats are written and read "
    "by this program: each rank its part, all bytes checked and flushed, where the reference has rank 0 read "
    "the text and the plain file for all."
)
# Molecules of the study's cases, in millions, and bytes of its files.
SIZES = {
    "ascii": ("148 MB", "1.35 GB", "10.1 GB"),
    "binary": ("71 MB", "0.53 GB", "4.5 GB"),
    "netcdf": ("43 MB", "0.53 GB", "4.1 GB"),
    "cells": ("43 MB", "0.53 GB", "4.0 GB"),
}
CASES = (0.33e6, 3e6, 33e6)
FINDING = (
    "33 million molecules are written in a few seconds on up to 16000 ranks, below 8 s without the check "
    "that no id is there twice; reading them takes 0.01 % of the old mechanism's time. Reading the cells is "
    "50 % faster than reading PnetCDF, which fails at 1024 cells. The rate rises up to 256 or 1024 ranks and "
    "falls then: more cells, more seeks."
)
HEADER_FINDING = (
    "Rank 0 reads what describes the cells and broadcasts it: measured on 16 to 8192 ranks, its time grows "
    "linearly with the ranks and is far better than that of a collective read."
)


def study_size(name: str, molecules: int) -> str:
    """Of the study's case of about as many molecules; empty if it has none."""
    for number, case in enumerate(CASES):
        if abs(molecules / case - 1) < 0.1 and name in SIZES:
            return SIZES[name][number]
    return ""


def ours(rows: list[dict[str, Any]], own: str) -> str:
    """Ours against the plain file and the fastest other format, over all numbers of ranks."""
    mine = [row for row in rows if row["format"] == own]
    if not mine:
        return "Without ours."
    writes = [row["plain_over_write"]["median"] for row in mine]
    reads = [read["plain_over_read"]["median"] for row in mine for read in row["reads"].values()]
    needed = max(read["read_over_needed"] for row in mine for read in row["reads"].values())
    text = (
        f"Tailrace's container is written at {span(writes)} of the plain rate and read at {span(reads)}, on "
        f"the same and on other ranks; no rank reads more than {needed:.2f} times what it needs."
    )
    others = {row["format"] for row in rows} - {own}
    if others:
        gains = [best(rows, row["ranks"], others) / row["write_s"]["median"] for row in mine]
        text += f" The best other format takes {min(gains):.1f} to {max(gains):.1f} times its time to write."
    return text


def best(rows: list[dict[str, Any]], ranks: int, names: set[str]) -> float:
    return min(row["write_s"]["median"] for row in rows if row["ranks"] == ranks and row["format"] in names)


def span(shares: list[float]) -> str:
    return f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %"


def verdicts(rows: list[dict[str, Any]], own: str) -> list[str]:
    """The aims, each with its worst row."""
    mine = [row for row in rows if row["format"] == own]
    if not mine:
        return []
    reads = [read for row in mine for read in row["reads"].values()]
    write = min(row["plain_over_write"]["median"] for row in mine)
    read = min(read["plain_over_read"]["median"] for read in reads)
    needed = max(read["read_over_needed"] for read in reads)
    aims = [
        ("90 % of the plain rate in writing", write >= 0.9, f"{write:.0%}"),
        ("90 % of the plain rate in reading", read >= 0.9, f"{read:.0%}"),
        ("each rank reads only what it needs", needed <= 1.1, f"{needed:.2f} times that"),
    ]
    return [f"Aim, {aim}: {'met' if met else 'missed'} (worst row {worst})." for aim, met, worst in aims]
