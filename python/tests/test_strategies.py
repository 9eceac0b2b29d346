# SPDX-License-Identifier: BSD-3-Clause
"""What the command knows of strategies is what the native programs say of them."""

import subprocess

import pytest

from tailrace.programs import find_program
from tailrace.strategies import USUAL_NUMBERS, dedicated_ranks, name_of, number_of, spawned_processes


def test_texts_of_strategies():
    assert name_of("threads[:BUFFERS]") == "threads"
    assert name_of("hdf5-chunked[:LEVEL]") == "hdf5-chunked"
    texts = ("auto", "threads", "threads:5", "leaders:4,buffers=3", "ranks:2,send", "uring:4")
    assert [number_of(text) for text in texts] == [None, 2, 5, None, 2, 4]
    assert [dedicated_ranks(text) for text in (None, "threads:3", "ranks", "ranks:2,isend")] == [0, 0, 1, 2]
    started = ("threads", "ranks:2", "spawn", "spawn:4", "spawn-each", "spawn-each:8")
    assert [spawned_processes(text) for text in started] == [0, 0, 1, 4, 2, 8]


def test_numbers_are_those_of_the_native_programs():
    program = find_program("tailrace-rehearse")
    if program is None:
        pytest.skip("tailrace-rehearse is not built")
    words = [program, "--list"]
    listed = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
    usual = {name_of(form): text for form, text, _ in (line.split("\t") for line in listed.splitlines())}
    assert set(USUAL_NUMBERS) <= set(usual)
    for name, text in usual.items():
        assert number_of(name) == number_of(text), text
