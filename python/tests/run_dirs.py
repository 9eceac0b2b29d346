# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic run directories for the tests: small, and written from formulas."""

import json
from pathlib import Path

import h5py
import numpy as np

import trace_files

GRID = (24, 20, 16)  # nx, ny, nz
SPACING_M = 2e-4
DT_S = 2e-8
PML = 3
BOXES = np.array([[[10, 6, 5, 20, 14, 12], [4, 10, 4, 21, 10, 13]]], dtype=np.uint64)  # 1-based, inclusive
STEPS = 60
START = 11


def put(file: h5py.File, name: str, value) -> None:
    """A dataset with k-Wave's attributes; scalars get the shape (1, 1, 1)."""
    array = np.asarray(value)
    array = array.astype(np.float32 if array.dtype.kind == "f" else np.uint64)
    dataset = file.create_dataset(name, data=array.reshape(1, 1, 1) if array.ndim == 0 else array)
    dataset.attrs["data_type"] = np.bytes_("float" if array.dtype.kind == "f" else "long")
    dataset.attrs["domain_type"] = np.bytes_("real")


def put_settings(file: h5py.File, kind: str) -> None:
    for name, size in zip("xyz", GRID, strict=True):
        put(file, f"N{name}", size)
        put(file, f"d{name}", SPACING_M)
        put(file, f"pml_{name}_size", PML)
    put(file, "Nt", STEPS)
    put(file, "dt", DT_S)
    put(file, "c_ref", 1600.0)
    header = {"file_type": kind, "major_version": "1", "minor_version": "2", "created_by": "test"}
    for name, value in header.items():
        file.attrs[name] = np.bytes_(value)


def pressure(step: int) -> np.ndarray:
    """A pulse that travels along x, focused near the middle, 1 MPa at its peak; (z, y, x)."""
    nx, ny, nz = GRID
    z, y, x = np.ogrid[0:nz, 0:ny, 0:nx]
    phase = 2 * np.pi * (x / 6.0 - step / 10.0)
    envelope = np.exp(-(((x - 14) / 5.0) ** 2) - ((y - 9) / 2.5) ** 2 - ((z - 8) / 2.5) ** 2)
    return (1e6 * envelope * np.sin(phase)).astype(np.float32)


def box_slices(corners) -> tuple[slice, slice, slice]:
    low, high = corners[:3].astype(int) - 1, corners[3:].astype(int)
    return tuple(slice(low[axis], high[axis]) for axis in (2, 1, 0))


def write_input(path: Path, mask: str = "boxes") -> None:
    with h5py.File(path, "w") as file:
        put_settings(file, "input")
        c0 = np.full(GRID[::-1], 1500.0, dtype=np.float32)
        c0[:, :, 9:] = 1600.0
        put(file, "c0", c0)
        put(file, "p_source_flag", 20)
        put(file, "p_source_index", (np.array([[[5, 6, 7]]]) + GRID[0] * (10 + GRID[1] * 8)))
        put_mask(file, mask)


def put_mask(file: h5py.File, mask: str) -> None:
    put(file, "sensor_mask_type", int(mask == "boxes"))
    if mask == "boxes":
        put(file, "sensor_mask_corners", BOXES)
    else:
        put(file, "sensor_mask_index", sensor_points()[None, None])


def sensor_points() -> np.ndarray:
    nx, ny, nz = GRID
    return np.unique(np.random.default_rng(5).integers(1, nx * ny * nz, 30)).astype(np.uint64)


def write_output(
    path: Path, mask: str = "boxes", recorded: int = STEPS, closed: bool = True, pressure_streams=True
):
    """An output file in k-Wave's layout, complete up to step `recorded`."""
    series = np.stack([pressure(step) for step in range(START, STEPS + 1)])
    series[max(0, recorded - START + 1) :] = 0.0
    with h5py.File(path, "w") as file:
        put_settings(file, "output")
        put(file, "t_index", recorded if closed else 0)
        put(file, "tailrace_record", np.full((1, 1, 2), recorded, dtype=np.uint64))
        if pressure_streams:
            put_streams(file, series, mask, closed)
        put(file, "ux_final", 1e-6 * series[-1])


def put_streams(file: h5py.File, series: np.ndarray, mask: str, closed: bool) -> None:
    done = 1.0 if closed else 0.0
    if mask == "boxes":
        for number, corners in enumerate(BOXES[0], start=1):
            box = series[(slice(None), *box_slices(corners))]
            put(file, f"p/{number}", box)
            put(file, f"p_max/{number}", done * box.max(axis=0))
    else:
        points = series.reshape(len(series), -1)[:, sensor_points().astype(int) - 1]
        put(file, "p", points[None])
        put(file, "p_max", done * points.max(axis=0)[None, None])
    put(file, "p_max_all", done * series.max(axis=0))
    put(file, "p_final", done * series[-1])


def write_trace(directory: Path, rank: int, steps: int = STEPS, slow_writer: bool = False) -> dict:
    """A trace as the native program writes it; returns the rank's totals in seconds."""
    rows, clock, writer_free = [], 0.2, 0.0
    rows.append(["main", "setup", 0, 0.0, 0.2, 0])
    write_s = 0.016 if slow_writer else 0.006
    totals = {
        "setup_s": 0.2,
        "compute_s": 0.0,
        "exchange_s": 0.0,
        "output_wait_s": 0.0,
        "write_s": 0.0,
        "pack_s": 0.0,
    }
    for step in range(1, steps + 1):
        for kind, length in (("compute", 0.006 + 0.0005 * rank), ("exchange", 0.002), ("compute", 0.004)):
            rows.append(["main", kind, step, clock, clock + length, 0])
            totals[f"{kind}_s"] += length
            clock += length
        if step < START:
            continue
        wait = max(0.0, writer_free - write_s - clock)
        if wait:
            rows.append(["main", "output_wait", step, clock, clock + wait, 0])
            totals["output_wait_s"] += wait
            clock += wait
        rows.append(["main", "pack", step, clock, clock + 0.0003, 40_000])
        clock += 0.0003
        totals["pack_s"] += 0.0003
        begin = max(clock, writer_free)
        writer_free = begin + write_s
        rows.append(["writer", "write", step, begin, writer_free, 40_000])
        totals["write_s"] += write_s
    rows.append(["main", "close", steps, max(clock, writer_free), max(clock, writer_free) + 0.05, 0])
    trace_files.write(directory / f"rank-{rank:05d}.trace", rank, ["main", "writer"], rows)
    return totals | {"wall_s": max(clock, writer_free) + 0.05}


CONFIG = {
    "case": {"simulation": "ultrasound", "title": "A pulse"},
    "input": {"file": "input.h5"},
    "record": {"start": START, "p_raw": True},
    "write": {"strategy": "threads", "buffers": 2, "sink": "hdf5"},
}


def rank_entries(totals: list[dict], steps: int) -> list[dict]:
    """What run.json says of each rank."""
    return [
        {
            "rank": rank,
            "host": "node-a",
            "cells": 3840,
            **{key: value for key, value in total.items() if key != "wall_s"},
            "write_cpu_s": 0.1,
            "write_bytes": 40_000 * (steps - START + 1),
            "writes": steps - START + 1,
            "waits": int(total["output_wait_s"] > 0),
            "peak_memory_bytes": 210_000_000 + 3_000_000 * rank,
            "predicted_memory_bytes": 205_000_000,
        }
        for rank, total in enumerate(totals)
    ]


def account(totals: list[dict], status: str = "finished", steps: int = STEPS, **changes) -> dict:
    """A run.json that agrees with the traces."""
    per_rank = rank_entries(totals, steps)
    write_s = sum(entry["write_s"] for entry in per_rank)
    wait_s = sum(entry["output_wait_s"] for entry in per_rank)
    names = ("setup_s", "compute_s", "exchange_s", "output_wait_s")
    return {
        "format": "tailrace-run",
        "format_version": 1,
        "status": status,
        "reason": "",
        "title": "A pulse <b>& more</b>",
        "simulation": "ultrasound",
        "program": "tailrace-ultrasound",
        "version": "0.1.0",
        "started": "2026-11-20T13:00:00+00:00",
        "ended": "2026-11-20T13:00:02+00:00",
        "config": CONFIG,
        "versions": {"mpi": "Open MPI 4.1.4", "hdf5": "1.10.8", "compiler": "GCC 12.2.0"},
        "hosts": ["node-a"],
        "ranks": len(totals),
        "threads": 1,
        "strategy": "threads:2",
        "sink": "hdf5",
        "grid": list(GRID),
        "steps": steps,
        "steps_planned": STEPS,
        "wall_s": max(total["wall_s"] for total in totals),
        **{name: max(total[name] for total in totals) for name in names},
        "output_write_s": max(total["write_s"] for total in totals),
        "output_bytes": sum(entry["write_bytes"] for entry in per_rank),
        "checkpoint_s": 0,
        "checkpoint_bytes": 0,
        "hidden_fraction": max(0.0, 1 - wait_s / write_s) if write_s else None,
        "peak_memory_bytes": [entry["peak_memory_bytes"] for entry in per_rank],
        "predicted_memory_bytes": [entry["predicted_memory_bytes"] for entry in per_rank],
        "per_rank": per_rank,
        "outputs": [],
        "counters": {},
    } | changes


def write_run(
    directory: Path, ranks: int = 2, mask: str = "boxes", slow_writer: bool = False, **changes
) -> Path:
    """A complete run directory; `changes` replace entries of run.json."""
    directory.mkdir(parents=True)
    write_input(directory / "input.h5", mask)
    write_output(directory / "output.h5", mask)
    totals = [write_trace(directory / "trace", rank, slow_writer=slow_writer) for rank in range(ranks)]
    (directory / "run.json").write_text(json.dumps(account(totals, **changes)))
    return directory
