# SPDX-License-Identifier: BSD-3-Clause
"""Files of the seismic program that others write and read: RSF, SEG-Y, and the public programs' arrays."""

import importlib.util
import struct
from pathlib import Path

import h5py
import numpy as np
import pytest

import jobs
import rsf_reader
from native import cannot

CELLS = (14, 13, 12)
CASE = """
[case]
simulation = "seismic"
[domain]
cells = [14, 13, 12]
spacing_m = [10, 11, 12.5]
[time]
dt_s = 0.001
steps = 24
[model]
equations = "isotropic"
vp_m_s = "model.h5:/vp"
[source]
cell = [7, 6, 6]
fcut_hz = 200
[[output]]
name = "p"
quantity = "p"
every = 3
initial = true
[[output]]
name = "loud"
quantity = "p"
reduce = "max"
type = "float64"
[[output]]
name = "line"
quantity = "p"
every = 2
select = {points = [[1, 2, 3], [13, 12, 11], [4, 5, 6], [0, 0, 0]]}
[[output]]
name = "slice"
quantity = "p"
every_s = 0.0033
select = {plane = {y = 3}}
"""
SEGY = CASE + '[receivers]\nsegy = ["line"]\n'


def run(directory: Path, text: str, *options, ranks: int = 0, name: str = "run") -> jobs.Ended:
    (directory / "case.toml").write_text(text)
    words = ["--case", directory / "case.toml", "--out", directory / name, "--quiet", *options]
    return jobs.seismic(*words, ranks=ranks)


def ran(directory: Path, text: str, *options, ranks: int = 0, name: str = "run") -> Path:
    ended = run(directory, text, *options, ranks=ranks, name=name)
    assert ended.status == 0, ended
    return directory / name


@pytest.fixture
def model(tmp_path) -> np.ndarray:
    """The model of the case, (z, y, x), also written as RSF and SEG-Y."""
    z, y, x = np.meshgrid(np.arange(12), np.arange(13), np.arange(14), indexing="ij")
    values = (1800 + 64.0 * z + 8 * ((x * 5 + y * 3) % 7)).astype("f4")  # exact in IBM's numbers too
    with h5py.File(tmp_path / "model.h5", "w") as file:
        file["vp"] = values
    return values


def write_rsf(path: Path, values: np.ndarray, kind: str, cells=CELLS, more: str = "") -> None:
    values.astype(rsf_reader.TYPES[kind]).tofile(f"{path}@")
    size = np.dtype(rsf_reader.TYPES[kind]).itemsize
    path.write_text(
        "sfmath\trsf/here:\tsomebody@somewhere\n\n\tn1=999 n2=1\n"
        f'\tdata_format="{kind}" esize={size}\n\tin="{path.name}@"\n'
        + "".join(f"\tn{i}={n}\n" for i, n in enumerate(cells, start=1))
        + more
    )


def ibm(value: float) -> int:
    """A number with an exact value as IBM stored it."""
    exponent, fraction = 64, abs(value)
    while fraction >= 1:
        exponent, fraction = exponent + 1, fraction / 16
    return (1 << 31 if value < 0 else 0) | exponent << 24 | int(fraction * (1 << 24))


def segy_bytes(values: np.ndarray, code: int, inline_fastest: bool = False) -> bytes:
    """A file by the standard's description: inlines along x from 100 on, every second crossline along y."""
    nz, ny, nx = values.shape
    binary = bytearray(400)
    for field, number in ((17, 12500), (21, nz), (25, code), (301, 0x0100), (303, 1)):
        struct.pack_into(">h", binary, field - 1, number)
    places = [(i, j) for i in range(nx) for j in range(ny)]
    if inline_fastest:
        places = [(i, j) for j in range(ny) for i in range(nx)]
    parts = [bytes(3200), bytes(binary)]
    for i, j in places:
        header = bytearray(240)
        struct.pack_into(">ii", header, 188, 100 + i, 7 + 2 * j)
        struct.pack_into(">h", header, 114, nz)
        trace = values[:, j, i].tolist()
        samples = struct.pack(f">{nz}f", *trace) if code == 5 else struct.pack(f">{nz}I", *map(ibm, trace))
        parts += [bytes(header), samples]
    return b"".join(parts)


def read_all(directory: Path) -> dict[str, rsf_reader.Rsf]:
    return {
        name: rsf_reader.read(directory / f"output.{name}.rsf") for name in ("p", "loud", "line", "slice")
    }


@pytest.mark.parametrize(
    ("ranks", "strategy"), [(0, "blocking"), (3, "threads"), (3, "leaders"), (2, "uring"), (3, "ranks:1")]
)
def test_rsf_holds_what_hdf5_does_with_right_axes(tmp_path, model, ranks, strategy):
    clean = ran(tmp_path, CASE, name="clean")
    found = read_all(ran(tmp_path, CASE, "--sink", "rsf", "--write", strategy, ranks=ranks))
    with h5py.File(clean / "output.h5") as expected, h5py.File(tmp_path / "run/output.h5") as index:
        for name, rsf in found.items():
            values = expected[f"{name}/values"][()]
            assert values.any() and np.array_equal(values, index[f"{name}/values"][()])
            assert np.array_equal(rsf.values, values[0] if name == "loud" else values), name
    p = found["p"]
    assert p.keys["data_format"] == "native_float" and found["loud"].keys["data_format"] == "native_double"
    assert [p.axis(i) for i in (1, 2, 3)] == [
        (14, 0, 10, "x", "m"),
        (13, 0, 11, "y", "m"),
        (12, 0, 12.5, "z", "m"),
    ]
    assert p.axis(4) == (9, 0, 0.003, "time", "s")
    assert found["slice"].axis(2) == (1, 33, 11, "y", "m")
    assert found["line"].axis(2) == (12, 0.002, 0.002, "time", "s")


@pytest.mark.parametrize(
    ("strategy", "ranks", "killed"),
    [("blocking", 3, 1), ("threads", 3, 1), ("uring", 3, 1), ("leaders:2", 3, 2), ("ranks:1", 4, 3)],
)
def test_rsf_headers_report_of_whole_samples_whatever_happens(tmp_path, model, strategy, ranks, killed):
    """All that the commit mark has: whichever rank is the last one to advance it."""
    clean = ran(tmp_path, CASE, name="clean")
    words = ["--sink", "rsf", "--write", strategy, "--fault", f"kill:rank={killed},step=15"]
    ended = run(tmp_path, CASE, *words, ranks=ranks)
    assert ended.status != 0, ended
    with h5py.File(tmp_path / "run/output.h5") as index, h5py.File(clean / "output.h5") as expected:
        recorded = int(index["tailrace_record"][()].min())
        assert recorded < 15
        for name in ("p", "line", "slice"):
            found = rsf_reader.read(tmp_path / f"run/output.{name}.rsf").values
            steps = index[f"{name}/step"][()]
            assert len(found) == (np.count_nonzero(steps <= recorded) if recorded > 0 else 0), name
            assert np.array_equal(found, expected[f"{name}/values"][: len(found)]), name


def test_rsf_headers_are_up_to_date_though_rank_0_is_the_first_to_write(tmp_path, model):
    """Rank 2 has more to write at step 8, after which all compute for a while before rank 0 is killed."""
    text = CASE[: CASE.index("[[output]]")]
    for name, select in [
        ("both", "points = [[0, 0, 0], [13, 12, 11]]"),
        ("far", "plane = {y = 12}"),
        ("also", "plane = {y = 11}"),
    ]:
        text += f'[[output]]\nname = "{name}"\nquantity = "p"\nevery = 8\nselect = {{{select}}}\n'
    words = ["--sink", "rsf", "--write", "blocking", "--pace", "latency=20ms"]
    ended = run(tmp_path, text, *words, "--fault", "kill:rank=0,step=16", ranks=3)
    assert ended.status != 0, ended
    assert jobs.recorded_steps(tmp_path / "run/output.h5") == 8
    for name in ("both", "far", "also"):
        assert len(rsf_reader.read(tmp_path / f"run/output.{name}.rsf").values) == 1, name


def test_rsf_headers_report_of_no_sample_that_only_some_have_written(tmp_path, model):
    words = ["--sink", "rsf", "--write", "blocking", "--fault", "kill:rank=2,step=0"]
    ended = run(tmp_path, CASE, *words, ranks=3)
    assert ended.status != 0, ended
    assert len(rsf_reader.read(tmp_path / "run/output.p.rsf").values) == 0


def test_rsf_of_a_failed_disk_ends_with_the_last_whole_sample(tmp_path, model):
    ended = run(
        tmp_path, CASE, "--sink", "rsf", "--write", "blocking", "--fault", "write:step=12,error=ENOSPC"
    )
    assert ended.status == 3 and "No space left" in ended.err, ended
    assert len(rsf_reader.read(tmp_path / "run/output.p.rsf").values) == 4  # steps 0, 3, 6, 9


@pytest.mark.parametrize("name", ["native.rsf", "xdr.rsf", "ieee.sgy", "ibm.segy", "inlines.sgy"])
def test_models_of_other_formats_are_those_of_hdf5(tmp_path, model, name):
    write_rsf(tmp_path / "native.rsf", model, "native_float")
    write_rsf(tmp_path / "xdr.rsf", model, "xdr_float")
    (tmp_path / "ieee.sgy").write_bytes(segy_bytes(model, 5))
    (tmp_path / "ibm.segy").write_bytes(segy_bytes(model, 1))
    (tmp_path / "inlines.sgy").write_bytes(segy_bytes(model, 5, inline_fastest=True))
    text = CASE + '[boundary]\nkind = "random"\nwidth = 3\n'
    clean = jobs.read_datasets(ran(tmp_path, text, name="clean") / "output.h5")
    found = jobs.read_datasets(
        ran(tmp_path, text.replace("model.h5:/vp", name), ranks=3, name="other") / "output.h5"
    )
    assert found["p/values"].any() and found["p/values"].tobytes() == clean["p/values"].tobytes()


def test_a_run_resumes_with_the_values_of_its_model_in_whichever_file(tmp_path, model):
    text = CASE + "[checkpoint]\nevery = 6\n"
    assert run(tmp_path, text, "--fault", "kill:step=15", ranks=2).status != 0
    other = model.copy()
    other[7, 3, 11] += 8
    write_rsf(tmp_path / "other.rsf", other, "native_float")
    (tmp_path / "other.sgy").write_bytes(segy_bytes(other, 5))
    (tmp_path / "same.sgy").write_bytes(segy_bytes(model, 5))
    for name, status in [("other.rsf", 2), ("other.sgy", 2), ("same.sgy", 0)]:
        ended = run(tmp_path, text.replace("model.h5:/vp", name), "--resume", ranks=3)
        assert ended.status == status, ended
        assert ("case.toml: not what the run began with: model.vp_m_s" in ended.err) == (status != 0), ended


def cut(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])


def bad_segy(path: Path, model: np.ndarray, offset: int, value: int) -> None:
    data = bytearray(segy_bytes(model, 5))
    struct.pack_into(">h", data, offset - 1, value)
    path.write_bytes(data)


BAD_MODELS = {
    "shape.rsf": (
        lambda p, m: write_rsf(p, m, "native_float", (12, 13, 14)),
        ["n1, n2, n3 = 12, 13, 14", "14, 13, 12"],
    ),
    "label.rsf": (
        lambda p, m: write_rsf(p, m, "native_float", more='label1="Depth"\n'),
        ["first axis is not x"],
    ),
    "short.rsf": (
        lambda p, m: (write_rsf(p, m, "native_float"), cut(p.with_name("short.rsf@"), 4000)),
        ["4000 bytes of 8736: it is truncated"],
    ),
    "ints.rsf": (
        lambda p, m: (write_rsf(p, m, "native_float"), p.write_text(p.read_text().replace("float", "int"))),
        ['data_format="native_int"', "sfdd"],
    ),
    "alone.rsf": (
        lambda p, m: (write_rsf(p, m, "native_float"), p.with_name("alone.rsf@").unlink()),
        ["alone.rsf@"],
    ),
    "spacing.rsf": (
        lambda p, m: write_rsf(p, m, "native_float", more="d1=10 d2=11 d3=25\n"),
        ["d3=25, but domain.spacing_m has 12.5 there"],
    ),
    "esize.rsf": (
        lambda p, m: write_rsf(p, m, "native_float", more="esize=8\n"),
        ["esize=8, but native_float has 4 bytes"],
    ),
    "long.rsf": (
        lambda p, m: (write_rsf(p, m, "native_float"), p.with_name("long.rsf@").open("ab").write(bytes(24))),
        ["holds 24 bytes more than the 8736 of its values"],
    ),
    "swapped.rsf": (
        lambda p, m: (
            write_rsf(p, m, "xdr_float"),
            p.write_text(p.read_text().replace("xdr", "native")),
        ),
        ["model.vp_m_s: ", "bytes in the order that it states"],
    ),
    "missing.rsf": (lambda p, m: None, ["missing.rsf: cannot be opened: No such file"]),
    "shape.sgy": (
        lambda p, m: p.write_bytes(segy_bytes(m[:11], 5)),
        ["182 traces of 11 samples", "14 x 13 traces of 12"],
    ),
    "short.sgy": (
        lambda p, m: (p.write_bytes(segy_bytes(m, 5)), cut(p, 20000)),
        ["ends within trace 57 of 182: it is truncated"],
    ),
    "long.sgy": (
        lambda p, m: p.write_bytes(segy_bytes(m, 5) + bytes(30)),
        ["holds 30 bytes behind its 182 traces"],
    ),
    "code.sgy": (
        lambda p, m: bad_segy(p, m, 3225, 3),
        ["samples of format 3", "1 (IBM float) or 5 (IEEE float)"],
    ),
    "order.sgy": (
        lambda p, m: bad_segy(p, m, 3600 + 30 * 288 + 191, 4),
        ["trace 31 has inline 4 and crossline 15 where 102 and 15"],
    ),
    "text.sgy": (lambda p, m: p.write_text("no"), ["has 2 bytes: it is no SEG-Y file"]),
}


@pytest.mark.parametrize("name", BAD_MODELS)
def test_bad_models_are_refused_with_one_message(tmp_path, model, name):
    make, words = BAD_MODELS[name]
    make(tmp_path / name, model)
    ended = run(tmp_path, CASE.replace("model.h5:/vp", name))
    assert ended.status == 2, ended
    for word in [*([] if name == "swapped.rsf" else [name]), "Fix: ", *words]:
        assert word in ended.err, ended
    assert len(jobs.messages(ended, "tailrace-seismic")) == 1
    assert not (tmp_path / "run").exists()


def test_grids_are_read_by_vtk(tmp_path, model):
    """The companion file as ParaView opens it: places, times and values."""
    if importlib.util.find_spec("vtkmodules") is None:
        cannot("vtk is not installed")
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOXdmf2 import vtkXdmfReader

    directory = ran(tmp_path, CASE, ranks=2)
    with h5py.File(directory / "output.h5") as file:
        values, times = file["p/values"][()], file["p/time_s"][()]
    reader = vtkXdmfReader()
    reader.SetFileName(str(directory / "output.xdmf"))
    reader.UpdateInformation()
    for sample in (1, len(times) - 1):
        reader.UpdateTimeStep(times[sample])
        found = blocks_with(reader.GetOutputDataObject(0), "p", CELLS)
        assert {block.GetSpacing() for block in found} == {(10, 11, 12.5)}
        assert {block.GetOrigin() for block in found} == {(0, 0, 0)}
        arrays = [vtk_to_numpy(block.GetPointData().GetArray("p")) for block in found]
        assert any(np.array_equal(array, values[sample].ravel()) for array in arrays)


def blocks_with(data, name: str, points: tuple[int, int, int]) -> list:
    """The grids of that many points that have an array."""
    if data.IsA("vtkImageData"):
        fits = data.GetPointData().HasArray(name) and data.GetDimensions() == points
        return [data] if fits else []
    blocks = [data.GetBlock(number) for number in range(data.GetNumberOfBlocks())]
    return [found for block in blocks if block is not None for found in blocks_with(block, name, points)]


@pytest.mark.parametrize(("ranks", "sink"), [(0, "hdf5"), (3, "rsf")])
def test_receivers_as_segy_are_read_by_segyio(tmp_path, model, ranks, sink):
    if importlib.util.find_spec("segyio") is None:
        cannot("segyio is not installed")
    import segyio

    directory = ran(tmp_path, SEGY, "--sink", sink, ranks=ranks)
    with h5py.File(directory / "output.h5") as file:
        expected = file["line/values"][()]
    with segyio.open(directory / "output.line.sgy", ignore_geometry=True) as found:
        assert np.array_equal(found.trace.raw[:], expected.T)
        assert found.bin[segyio.BinField.Format] == 5 and found.bin[segyio.BinField.Interval] == 2000
        assert segyio.tools.dt(found) == 2000 and found.samples[0] == 2
        assert b"SEG Y REV1" in bytes(found.text[0])
        header = found.header[1]
        field = segyio.TraceField
        assert header[field.SourceGroupScalar] == -10 and header[field.ElevationScalar] == -10
        assert (header[field.GroupX], header[field.GroupY]) == (1300, 1320)
        assert header[field.ReceiverGroupElevation] == -1375 and header[field.SourceDepth] == 750
        assert (header[field.SourceX], header[field.SourceY]) == (700, 660)
        assert header[field.TRACE_SAMPLE_COUNT] == 12 and header[field.TRACE_SAMPLE_INTERVAL] == 2000


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('["line"]', '["p"]', ['"p" is no series at points']),
        ('["line"]', '["nix"]', ['"nix" is no output']),
        ("dt_s = 0.001", "dt_s = 0.0003333", ["a sample every 666.6 us", "whole microseconds"]),
        ("every = 2", "at = [1, 2, 5]", ["not evenly spaced"]),
    ],
)
def test_receivers_that_segy_cannot_hold_are_refused(tmp_path, model, old, new, words):
    assert old in SEGY
    ended = run(tmp_path, SEGY.replace(old, new))
    assert ended.status == 2 and "receivers.segy: " in ended.err, ended
    for word in words:
        assert word in ended.err, ended


@pytest.mark.parametrize(
    ("new", "words"),
    [
        ("every_s = 0", "output[3].every_s: is no time between samples"),
        ("every_s = 9", "output[3].every_s: the run ends before 9 s"),
        ("every_s = 0.01\nevery = 3", "output[3].every_s: conflicts with"),
    ],
)
def test_bad_times_between_samples_are_refused(tmp_path, model, new, words):
    ended = run(tmp_path, CASE.replace("every_s = 0.0033", new))
    assert ended.status == 2 and words in ended.err and "Fix: " in ended.err, ended


def test_traces_of_a_run_that_fails_leave_no_segy(tmp_path, model):
    ended = run(tmp_path, SEGY, "--fault", "write:step=10,error=ENOSPC", "--write", "blocking")
    assert ended.status == 3, ended
    assert not list((tmp_path / "run").glob("*.sgy*"))


@pytest.mark.parametrize("ranks", [0, 3])
def test_traces_that_cannot_be_written_make_a_failed_run(tmp_path, model, ranks):
    """The samples are there, what was asked for is not: exit status, message and account say so alike."""
    directory = tmp_path / "run"
    directory.mkdir()
    (directory / "output.line.sgy.partial").symlink_to("/dev/full")
    (tmp_path / "case.toml").write_text(SEGY)
    ended = jobs.seismic("--case", tmp_path / "case.toml", "--out", directory, "--overwrite", ranks=ranks)
    assert ended.status == 3 and "finished" not in ended.out, ended
    (message,) = jobs.messages(ended, "tailrace-seismic")
    assert "output.line.sgy.partial" in message and "No space left on device" in message, message
    account = jobs.account(directory)
    assert account["status"] == "failed" and account["steps"] == 24
    assert account["error"]["message"] in message
    assert not list(directory.glob("*.sgy*"))
    assert jobs.read_datasets(directory / "output.h5")["p/values"].any()


def proxy(directory: Path, *words, ranks: int = 0) -> tuple[jobs.Ended, Path]:
    directory.mkdir()
    output = directory / f"{words[0]}.h5"
    return jobs.seismic(*words, "-o", output, ranks=ranks), output.with_suffix(".rsf")


def test_the_command_line_of_the_public_programs(tmp_path):
    words = ("TTI", 20, 18, 16, 5, 12.5, 12.5, 12.5, 0.0007, 0.035)
    ended, path = proxy(tmp_path / "one", *words)
    assert ended.status == 0, ended
    last = ended.out.splitlines()[-1].split(",")
    assert last[1:11] == ["TTI", "20", "18", "16", "5", "12.5", "12.5", "12.5", "0.0007", "0.035"]
    assert int(last[11]) < int(last[12]), last
    found = rsf_reader.read(path)
    # With 5 points of layer and 4 of halo on each side, at the start and after steps 15, 29, 43.
    assert found.values.shape == (4, 34, 36, 38)
    halo = np.ones(found.values.shape[1:], bool)
    halo[4:-4, 4:-4, 4:-4] = False
    assert not found.values[:, halo].any() and not found.values[0].any() and found.values[3].any()
    with h5py.File(path.with_suffix(".h5")) as file:
        assert file["TTI/step"][()].tolist() == [0, 15, 29, 43]
    ended, other = proxy(tmp_path / "three", *words, ranks=3)
    assert ended.status == 0, ended
    assert rsf_reader.read(other).values.tobytes() == found.values.tobytes()


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (("TTI", 20, 18, 16), ["4 words instead of 10"]),
        (("TTI", 20, 18, 16, 5, 1, 1, 1, 1, 1, 2, 3), ["12 words instead of 10"]),
        (("XTI", 20, 18, 16, 5, 1, 1, 1, 1, 1), ['FORM: "XTI"']),
        (("ISO", 20, "many", 16, 5, 1, 1, 1, 1, 1), ['NY: "many"']),
        (("ISO", 20, 18, 16, 5, 1, 1, 1, 1, 1), ["time.dt_s: 1 s is too large"]),
        (("ISO", 20, 18, 16, 5, 1, 0, 1, 1, 1), ["domain.spacing_m"]),
    ],
)
def test_bad_command_lines_of_the_public_programs(tmp_path, words, reported):
    ended, path = proxy(tmp_path / "bad", *words)
    assert ended.status == 2 and "Fix: " in ended.err, ended
    for word in reported:
        assert word in ended.err, ended
    assert not path.exists()
