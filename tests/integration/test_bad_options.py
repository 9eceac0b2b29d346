# SPDX-License-Identifier: BSD-3-Clause
"""Bad command lines, case files and settings: what is said, and that nothing is made."""

import pytest

import command
import jobs
from bad_input import assert_clear, write_case

NATIVE_OPTIONS = {
    "-s 61": ["starts at step 61, but the run has 60 steps", "1 to 60"],
    "-s 21 --benchmark 20": ["starts at step 21, but the run has 20 steps"],
    "-s 0": ["-s", "0"],
    "--benchmark 99999999999999999999": ["--benchmark", "1099511627776"],
    "-t 0": ["-t", "0"],
    "-t two": ["-t", "two"],
    "--p_maximum": ["--p_maximum"],
    "--write helpers": ['--write helpers: unknown strategy "helpers"', "blocking, threads[:BUFFERS]"],
    "--write threads:0": ["--write threads:0", "1 to 1000"],
    "--sink netcdf": ['--sink netcdf: unknown sink "netcdf"', "one of hdf5"],
    "--pace bandwidth=fast": ["--pace bandwidth=fast", "bandwidth=50MB/s"],
    "--fault kill:rank=x": ["--fault kill:rank=x", "kill:rank=1,step=20"],
    "--fault explode": ['unknown action "explode"'],
    "--wall-limit soon": ['--wall-limit: cannot read "soon"', "5ms or 2s"],
    "--set time.steps=3": ["--set", "--case"],
    "--write a --sink b --pace c --fault d": ["4 problems", "--write a", "--sink b", "--pace c", "--fault d"],
}


@pytest.mark.parametrize("options", NATIVE_OPTIONS)
def test_bad_command_line(options, small, tmp_path):
    output = tmp_path / "out.h5"
    ended = jobs.run("-i", small, "-o", output, "--quiet", *options.split())
    assert ended.status == 1, ended
    assert ended.err.count("tailrace-ultrasound: ") == 1
    assert ended.out == "" and ended.err.startswith("tailrace-ultrasound: "), ended
    for words in NATIVE_OPTIONS[options]:
        assert words in ended.err, ended
    assert not output.exists()


BAD_TOML = """
titel = "x"
[record]
p_ra = true
p_max = 1
start = 0
[time]
steps = "many"
[write]
strategy = "thread"
buffers = 0
[colour]
red = 1
"""
BAD_TOML_WORDS = [
    "input.titel: unknown key. Fix: remove it",
    "record.p_ra: unknown key. Fix: did you mean record.p_raw?",
    "record.p_max: 1 is not true or false. Fix: write true or false",
    "record.start: 0 is not accepted. Fix: an integer of at least 1",
    'time.steps: "many" is not accepted. Fix: an integer of at least 1',
    'write.strategy thread: unknown strategy "thread". Fix: one of auto, blocking, threads[:BUFFERS]',
    "write.buffers: 0 is not accepted. Fix: an integer from 1 to 1000",
    "colour.red: unknown key. Fix: remove it",
]
BAD_SETTINGS = {
    "time.stps=3": "time.stps: unknown key. Fix: did you mean time.steps?",
    "time.steps=0": "time.steps: 0 is not accepted. Fix: an integer of at least 1",
    "time=3": "time: 3 is not a table. Fix: set keys of the table, such as time.steps",
    "record=[1,2]": "record: [1,2] is not a table",
    "record.p_raw=maybe": 'record.p_raw: "maybe" is not true or false',
    "case.simulation=sesmic": "sesmic",
    "write.sink=netcdf": 'unknown sink "netcdf"',
    "time.steps": "KEY=VALUE",
}


def test_bad_case_file(small, tmp_path):
    case = write_case(tmp_path, small, BAD_TOML)
    ended = jobs.run("--case", case, "--out", tmp_path / "run", "--quiet")
    assert ended.status == 2
    assert_clear(ended.err, case)
    assert f"{len(BAD_TOML_WORDS)} problems" in ended.err
    for words in BAD_TOML_WORDS:
        assert words in ended.err, ended
    again = command.tailrace("run", case, "--out", tmp_path / "run")
    assert again.status == 2 and again.err == ended.err
    assert not (tmp_path / "run").exists()


def test_bad_settings(small, tmp_path):
    case, run_dir = write_case(tmp_path, small), tmp_path / "run"
    together = [word for setting in BAD_SETTINGS if "=" in setting for word in ("--set", setting)]
    for settings, expected in (
        *((["--set", setting], [words]) for setting, words in BAD_SETTINGS.items()),
        (together, ["problems"]),
    ):
        ended = jobs.run("--case", case, "--out", run_dir, "--quiet", *settings)
        assert ended.status == 2, ended
        assert all(words in ended.err for words in expected), ended
    for setting in ("time.steps=0", "time.steps", "case.simulation=sesmic"):
        ended = command.tailrace("run", case, "--out", run_dir, "--set", setting)
        assert ended.status == 2 and ended.err.count("\n") == 1, ended
    assert not run_dir.exists()


def test_case_files_that_cannot_be_read(small, tmp_path):
    broken = tmp_path / "broken.toml"
    broken.write_text('[case]\nsimulation = "ultrasound"\n[input\n')
    absent = write_case(tmp_path, tmp_path / "absent.h5")
    for case, words in (
        (broken, [f"{broken}:3:"]),
        (tmp_path / "absent.toml", ["absent.toml: no such case file"]),
        (absent, ["absent.h5: cannot be opened: No such file or directory"]),
    ):
        ended = jobs.run("--case", case, "--out", tmp_path / "run", "--quiet")
        assert ended.status == 2 and ". Fix: " in ended.err, ended
        assert all(word in ended.err for word in words), ended
        assert command.tailrace("run", case, "--out", tmp_path / "run").status == 2
    assert not (tmp_path / "run").exists()
