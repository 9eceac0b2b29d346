# SPDX-License-Identifier: BSD-3-Clause
"""The sink hdf5-chunked through the program: smaller files that Python reads like any other."""

import h5py
import pytest

import jobs
from conftest import SENSOR_DATA
from matrix import each_value


@each_value("ranks, strategy", [1, 2, 3], ["threads", "blocking"])
def test_contents_are_those_of_the_plain_file(ranks, strategy, small, clean, tmp_path):
    output = tmp_path / "out.h5"
    options = ["--quiet", "--write", strategy, "--sink", "hdf5-chunked:6"]
    ended = jobs.run("-i", small, "-o", output, *SENSOR_DATA, *options, ranks=ranks)
    assert ended.status == 0 and not ended.err, ended
    jobs.assert_equal_files(output, clean(ranks), but=())
    assert not output.with_suffix(".h5.partial").exists()
    assert output.stat().st_size < 0.95 * clean(ranks).stat().st_size
    with h5py.File(output) as file, h5py.File(clean(ranks)) as plain:
        assert dict(file.attrs).keys() == dict(plain.attrs).keys()
        for name in ("p/1", "p/2", "p_max_all", "p_rms/1", "uz/2"):
            dataset = file[name]
            assert (dataset.compression, dataset.compression_opts, dataset.shuffle) == ("gzip", 6, True)
            assert dict(dataset.attrs) == dict(plain[name].attrs)
        assert file["t_index"].chunks is None


@pytest.mark.parametrize("level", ["0", "10", "x", ""])
def test_levels_that_do_not_exist(level, small, tmp_path):
    ended = jobs.run("-i", small, "-o", tmp_path / "out.h5", "--sink", f"hdf5-chunked:{level}")
    (message,) = jobs.messages(ended)
    assert ended.status == 1 and "hdf5-chunked[:LEVEL]" in message, ended
    assert not (tmp_path / "out.h5").exists()
