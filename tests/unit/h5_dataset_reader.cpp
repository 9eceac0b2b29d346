// SPDX-License-Identifier: BSD-3-Clause
#include "h5/dataset_reader.hpp"

#include <doctest/doctest.h>
#include <hdf5.h>

#include <numeric>

#include "error_of.hpp"
#include "temp_dir.hpp"

using namespace tailrace;
using h5::DatasetReader;
using h5::File;
using h5::Shape;

namespace {

constexpr H5Z_filter_t counting_filter = 300;  // of those that HDF5 leaves to tests
int chunks_read = 0;

std::size_t count_chunk(unsigned flags, std::size_t, const unsigned*, std::size_t bytes, std::size_t*,
                        void**) {
  if ((flags & H5Z_FLAG_REVERSE) != 0) ++chunks_read;
  return bytes;
}

std::vector<hsize_t> extents_of(const Shape& shape) {
  return {shape.begin(), shape.end()};
}

/// Writes a dataset /a that counts up in its elements; its chunks are counted when they are read.
void write_chunks(const std::string& path, const Shape& shape, const Shape& chunk) {
  const H5Z_class2_t filter{H5Z_CLASS_T_VERS, counting_filter, 1, 1, "count", nullptr, nullptr, count_chunk};
  REQUIRE(H5Zregister(&filter) >= 0);
  const auto extents = extents_of(shape), chunk_extents = extents_of(chunk);
  const int rank = static_cast<int>(shape.size());
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(rank, extents.data(), nullptr);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(properties, rank, chunk_extents.data());
  H5Pset_filter(properties, counting_filter, H5Z_FLAG_MANDATORY, 0, nullptr);
  const hid_t set = H5Dcreate2(file, "a", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  std::vector<float> values(h5::element_count(shape));
  std::iota(values.begin(), values.end(), 0.0F);
  CHECK(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
  H5Dclose(set), H5Pclose(properties), H5Sclose(space), H5Fclose(file);
}

/// Reads so many values of an index at a time, in order, and checks all elements.
void read_in_order(const DatasetReader& reader, const Shape& shape, std::size_t axis, std::uint64_t at_once) {
  double expected = 0;
  for (std::uint64_t first = 0; first < shape[axis]; first += at_once) {
    Shape start(shape.size()), count = shape;
    start[axis] = first;
    count[axis] = std::min(at_once, shape[axis] - first);
    std::vector<double> values(h5::element_count(count));
    reader.read_hyperslab<double>(start, count, values);
    for (const double value : values) REQUIRE(value == expected++);
  }
}

}  // namespace

TEST_CASE("a chunk is read once, however many parts of the dataset need it") {
  const test::TempDir directory;
  const auto path = directory.file("a.h5");
  struct Row {
    Shape shape, chunk;
    std::size_t axis;
    int chunks;
  };
  const std::vector<Row> rows{{{20, 12, 10}, {7, 5, 4}, 0, 27},
                              {{1, 30, 16}, {1, 7, 5}, 1, 20},  // two dimensions
                              {{9, 6, 5}, {9, 6, 5}, 0, 1},     // a single chunk
                              {{9, 6, 5}, {1, 6, 5}, 0, 9},     // planes
                              {{40, 3}, {16, 2}, 0, 6}};
  for (const auto& [shape, chunk, axis, chunks] : rows)
    for (const std::uint64_t at_once : {1, 2, 4, 100}) {
      CAPTURE(h5::to_string(shape));
      CAPTURE(at_once);
      write_chunks(path, shape, chunk);
      const auto file = File::open(path);
      const DatasetReader reader(file, "a");
      chunks_read = 0;
      read_in_order(reader, shape, axis, at_once);
      CHECK(chunks_read == chunks);
    }
}

TEST_CASE("a dataset without chunks is read in parts, too, and one that is missing is an error") {
  const test::TempDir directory;
  const Shape shape{3, 4, 5};
  {
    auto file = File::create(directory.file("a.h5"));
    file.create_dataset({.path = "/a", .shape = shape, .type = h5::ElementType::float32, .attributes = {}});
    std::vector<float> values(60);
    std::iota(values.begin(), values.end(), 0.0F);
    file.write<float>("/a", values);
    file.close();
  }
  const auto file = File::open(directory.file("a.h5"));
  read_in_order(DatasetReader(file, "/a"), shape, 0, 2);
  const auto error = test::error_info_of([&] { DatasetReader(file, "/b"); });
  CHECK(error.message.find("/b") != std::string::npos);
  std::vector<double> outside(5);
  CHECK_THROWS_AS(DatasetReader(file, "/a").read_hyperslab<double>({2, 3, 1}, {1, 1, 5}, outside), Error);
}
