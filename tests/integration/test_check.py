# SPDX-License-Identifier: BSD-3-Clause
"""`--check` finds what the run would refuse, in one process, before anything is made."""

from pathlib import Path

import h5py
import pytest

import jobs
from bad_input import homogeneous
from kwave_input import real, small_input
from test_molecules_guards import CASE as MOLECULES
from test_molecules_guards import HEAD, STILL

SEISMIC = """
[case]
simulation = "seismic"
[domain]
cells = [CELLS]
spacing_m = [10, 10, 10]
[time]
dt_s = 0.001
steps = 20
[model]
equations = "isotropic"
vp_m_s = 2000.0
[source]
cell = [1, 1, 1]
SOURCE
[[output]]
name = "p"
quantity = "p"
every = 10
"""
REHEARSAL = ["--out", "run", "--cells", "8", "--steps", "3", "--quiet"]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


def checked(program: Path | None, *words, status: int = 2) -> jobs.Ended:
    """The check alone, and the run without it: the same refusal."""
    ends = [
        jobs.Job([*map(str, words), *more], 0, command=[str(program)]).wait() for more in (["--check"], [])
    ]
    for ended in ends:
        assert ended.status == status, ended
    assert ends[0].err == ends[1].err
    assert not Path("run").exists()
    return ends[0]


def molecules(lines: list[str], text: str = MOLECULES) -> list[str]:
    Path("start.inp").write_text(HEAD.format(count=len(STILL)) + "\n".join(lines) + "\n")
    Path("case.toml").write_text(text.replace("DT", "0.004"))
    return ["--case", "case.toml", "--out", "run", "--quiet"]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([*STILL[:124], STILL[0]], "two molecules have the id 1"),
        ([*STILL[:124], "125 1 nan 1 1 0 0 0"], "molecule 125"),
        ([*STILL[:124], "125 1 99 1 1 0 0 0"], "molecule 125 is at (99, 1, 1), outside of the box"),
        (STILL[:124], "ends within molecule 125 of 125"),
        ([*STILL, "126 1 0.1 0.1 0.1 0 0 0"], "more than 125 molecules"),
    ],
    ids=["twice", "nan", "outside", "too few", "too many"],
)
def test_the_start_file_is_read(lines, words):
    said = checked(jobs.MOLECULES, *molecules(lines)).err
    assert words in said, said


def test_ranks_are_those_of_the_run():
    """The decomposition, writers and faults of ranks that a check on one process does not have."""
    text = MOLECULES + "[decomposition]\ngrid = [2, 2, 1]\n"
    words = [*molecules(STILL, text), "--check", "--ranks"]
    for ranks, status in ((4, 0), (3, 2)):
        ended = jobs.Job([*words, ranks], 0, command=[str(jobs.MOLECULES)]).wait()
        assert ended.status == status, ended
    assert "a grid of 2 x 2 x 1 parts is not one for 3 ranks" in ended.err
    for options, ranks, said in (
        (["--write", "ranks:2"], 3, "--write ranks:2 on 3 ranks"),
        (["--fault", "kill:rank=9"], 1, "--fault: there is no rank 9. Fix: a rank from 0 to 0"),
        (["--fault", "kill:rank=1"], 2, None),
        (["--slow-rank", "1"], 2, None),
    ):
        ended = jobs.rehearse(*REHEARSAL, *options, "--check", "--ranks", ranks)
        assert ended.status == (0 if said is None else 2), ended
        assert said is None or said in ended.err, ended
    assert "belongs to --check" in jobs.rehearse(*REHEARSAL, "--ranks", 2).err


def test_memory_is_compared_before_any_is_taken():
    said = checked(jobs.REHEARSE, "--out", "run", "--cells", "10000", "--steps", "3", "--quiet").err
    assert "domain.cells = [10000, 10000, 10000]: the run takes at least 8.0 TB of memory" in said, said
    assert " points at most, or at least " in said
    Path("case.toml").write_text(SEISMIC.replace("CELLS", "4000, 4000, 4000").replace("SOURCE", ""))
    said = checked(jobs.SEISMIC, "--case", "case.toml", "--out", "run").err
    assert "domain.cells = [4000, 4000, 4000]: the run takes at least" in said, said
    text = MOLECULES.replace('file = "start.inp"', 'kind = "lattice"\ndensity = 1e9')
    text += "[domain]\nlength = [9, 10, 11]\n[[component]]\nlj = [{mass = 1.0, epsilon = 1.0, sigma = 1.0}]\n"
    said = checked(jobs.MOLECULES, *molecules(STILL, text)).err
    assert "start.density = 1e+09 makes 9.9e+11 molecules: the run takes at least" in said, said
    case = small_input()
    homogeneous(2**14)(case)
    said = checked(jobs.PROGRAM, "--case", case.write(Path("big.h5").absolute()), "--out", "run").err
    assert "Nx = 16384, Ny = 16384, Nz = 16384: the run takes at least" in said, said


def test_time_steps_and_sizes_that_are_none_are_refused():
    said = checked(jobs.MOLECULES, *molecules(STILL, MOLECULES.replace("DT", "1e30"))).err
    assert "time.dt: 1e+30 is longer than 1" in said
    text = MOLECULES + "[[component]]\nlj = [{mass = 1.0, epsilon = 1.0, sigma = 0.0}]\n"
    said = checked(jobs.MOLECULES, *molecules(STILL, text)).err
    assert "sigma = 0 and epsilon = 1" in said
    said = checked(jobs.REHEARSE, *REHEARSAL[:-3], "--steps", "1000000000000", "--compute", "none").err
    assert "makes 1e+12 samples. Fix: at most 134217728: a larger every" in said, said


def test_sources_that_the_grid_does_not_carry_are_warned_of():
    """In all programs that have some; and a time step in which waves cross more than a point."""
    text = SEISMIC.replace("CELLS", "12, 12, 12")
    for cutoff, warns in ((40, False), (400, True)):
        Path("case.toml").write_text(text.replace("SOURCE", f"fcut_hz = {cutoff}"))
        ended = jobs.Job(["--case", "case.toml", "--check"], 0, command=[str(jobs.SEISMIC)]).wait()
        assert ended.status == 0 and ("points per wavelength" in ended.err) == warns, ended
    case = small_input()
    case.datasets["p_source_input"] = real([[[(-1.0) ** i] for i in range(60)]])
    path = case.write(Path("high.h5").absolute())
    assert "points per wavelength" in jobs.run("-i", path, "--check").err
    with h5py.File(path, "r+") as file:
        file["dt"][...] = 1.0
    assert "points in a step" in jobs.run("-i", path, "--check").err


def test_points_with_several_signals_are_warned_of():
    """k-Wave takes them, so they are no error."""
    case = small_input()
    points = case.datasets["p_source_index"].ravel()
    points[-1] = points[0]
    path = case.write(Path("twice.h5").absolute())
    ended = jobs.run("-i", path, "--check")
    assert ended.status == 0 and f"p_source_index: point {points[0]} is there twice" in ended.err, ended
    assert jobs.run("-i", path, "--check", ranks=2).err == ended.err


def test_results_of_before_are_replaced_only_if_that_is_said():
    """Also by programs without a run directory; but k-Wave's own mode writes as k-Wave does."""
    words = ["-o", "out.h5", *REHEARSAL[2:]]
    assert jobs.rehearse(*words).status == 0
    before = Path("out.h5").read_bytes()
    for more in ([], ["--check"]):
        ended = jobs.rehearse(*words, *more)
        assert (
            ended.status == 2
            and "out.h5: the output file exists. Fix: choose another -o, or add --overwrite" in ended.err
        )
    assert Path("out.h5").read_bytes() == before
    assert jobs.rehearse(*words, "--overwrite").status == 0
    path = small_input(steps=3).write(Path("in.h5").absolute())
    assert [jobs.run("-i", path, "-o", "k.h5", "--quiet").status for _ in range(2)] == [0, 0]


def ultrasound_case(table: str, *more: str) -> list[str]:
    """The words of a run with one output, which has these lines."""
    small_input(steps=4).write(Path("in.h5").absolute())
    text = '[case]\nsimulation = "ultrasound"\n[input]\nfile = "in.h5"\n'
    output = f'[[output]]\nname = "w"\nquantity = "p"\nevery = 1\n{table}\n'
    Path("case.toml").write_text("\n".join([text, output, *more, ""]))
    return ["--case", "case.toml", "--out", "run", "--quiet"]


def contents() -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('samples = "open"', 'samples = "open": the number of its samples is not known beforehand'),
        ('on_failure = "switch"', 'on_failure = "switch" needs from 2 to 24 directories, and 0 are named'),
    ],
    ids=["open", "switch"],
)
def test_what_the_sink_cannot_write_is_refused_before_anything_is_touched(table, said):
    ended = checked(jobs.PROGRAM, *ultrasound_case(table))
    assert f"case.toml: output[0], w: {said}" in ended.err, ended
    assert jobs.run(*ultrasound_case("", "[checkpoint]", "every = 2")).status == 0
    before = contents()
    assert any("checkpoints" in path.parts for path in before)
    assert jobs.run(*ultrasound_case(table), "--overwrite").status == 2
    assert contents() == before


def test_a_run_that_takes_no_checkpoints_is_warned_of():
    words = [*ultrasound_case("", "[checkpoint]", "every = 2"), "--sink", "rsf"]
    said = "no checkpoints are taken: a run cannot resume in an output of --sink rsf"
    for more in (["--check"], []):
        ended = jobs.run(*words, *more)
        assert ended.status == 0 and ended.err.count(said) == 1, ended


def test_a_sink_has_a_strategy_that_serves_it_unless_one_is_named():
    words = [*ultrasound_case(""), "--sink", "mpiio:striping_factor=8"]
    assert jobs.run(*words).status == 0
    account = jobs.account(Path("run"))
    assert account["strategy"] == account["config"]["write"]["strategy"] == "blocking"
    for more in (["--write", "auto"], ["--set", 'write.strategy="auto"']):
        ended = jobs.run(*words, "--overwrite", *more)
        assert ended.status == 2 and "--write auto does not go with --sink mpiio" in ended.err, ended


def test_the_command_only_checks():
    """Also warnings, which a run gives itself; nothing is made."""
    case = SEISMIC.replace("CELLS", "24, 24, 24")
    Path("case.toml").write_text(case.replace("SOURCE", "fcut_hz = 300.0"))
    ended = jobs.tailrace("run", "case.toml", "-n", "2", "--check")
    assert (ended.status, ended.out) == (0, "case.toml: no errors, on 2 ranks\n"), ended
    assert "points per" in ended.err and "warning" in ended.err
    Path("case.toml").write_text(case.replace("SOURCE", "fcut_hz = -1.0"))
    ended = jobs.tailrace("run", "case.toml", "--check")
    assert ended.status == 2 and "source.fcut_hz" in ended.err, ended
    assert [path.name for path in Path().iterdir()] == ["case.toml"]
