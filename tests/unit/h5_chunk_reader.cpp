// SPDX-License-Identifier: BSD-3-Clause
#include "h5/chunk_reader.hpp"

#include <doctest/doctest.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/random.hpp"
#include "error_of.hpp"
#include "h5/dataset_reader.hpp"
#include "temp_dir.hpp"

using namespace tailrace;
using h5::ChunkReader;
using h5::DatasetReader;
using h5::ElementType;
using h5::Shape;

namespace {

/// A dataset that is closed with its file.
struct Dataset {
  h5::Handle file, set;
};

std::vector<hsize_t> hdf5_extents(const Shape& shape) {
  return {shape.begin(), shape.end()};
}

/// How a dataset is made: a chunk, filters and the type in the file.
struct Form {
  Shape shape, chunk;
  bool shuffle = false;
  int deflate = 4;
  hid_t type = H5T_NATIVE_FLOAT;
};

/// Makes a dataset /a without values.
Dataset create_chunks(const std::string& path, const Form& form) {
  const auto extents = hdf5_extents(form.shape), chunk = hdf5_extents(form.chunk);
  const int rank = static_cast<int>(extents.size());
  const h5::Handle space(H5Screate_simple(rank, extents.data(), nullptr), H5Sclose, "test");
  const h5::Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "test");
  H5Pset_chunk(properties.get(), rank, chunk.data());
  if (form.shuffle) H5Pset_shuffle(properties.get());
  if (form.deflate >= 0) H5Pset_deflate(properties.get(), static_cast<unsigned>(form.deflate));
  h5::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, "test");
  h5::Handle set(
      H5Dcreate2(file.get(), "a", form.type, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
      H5Dclose, "test");
  return {std::move(file), std::move(set)};
}

/// The same with elements that count up, in a file that is closed.
void write_counting(const std::string& path, const Form& form) {
  const auto dataset = create_chunks(path, form);
  std::vector<double> values(h5::element_count(form.shape));
  std::iota(values.begin(), values.end(), 0.0);
  REQUIRE(H5Dwrite(dataset.set.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
}

Dataset open_a(const std::string& path) {
  h5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "test");
  h5::Handle set(H5Dopen2(file.get(), "a", H5P_DEFAULT), H5Dclose, "test");
  return {std::move(file), std::move(set)};
}

/// Whether all elements of a box are what `write_counting` has written.
template <class T>
bool counts_up(const std::vector<T>& values, const Shape& shape, const Shape& start, const Shape& count) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::size_t rest = i, place = 0, factor = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      place += (start[axis] + rest % count[axis]) * factor;
      rest /= count[axis];
      factor *= shape[axis];
    }
    if (values[i] != static_cast<T>(place)) return false;
  }
  return true;
}

/// Reads boxes at random and all planes in order.
template <class T>
void check_boxes(ChunkReader& reader, const Shape& shape) {
  const auto check = [&](const Shape& start, const Shape& count) {
    std::vector<T> values(h5::element_count(count));
    REQUIRE(reader.read(h5::element_type_of<T>(), start, count, std::as_writable_bytes(std::span(values))));
    CHECK(counts_up(values, shape, start, count));
  };
  for (std::uint64_t plane = 0; plane < shape[0]; ++plane) {
    Shape start(shape.size()), count = shape;
    start[0] = plane;
    count[0] = 1;
    check(start, count);
  }
  SplitMix64 random(1);
  const auto below = [&](std::uint64_t limit) { return random.next() % limit; };
  for (int i = 0; i < 20; ++i) {
    Shape start = shape, count = shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      start[axis] = below(shape[axis]);
      count[axis] = 1 + below(shape[axis] - start[axis]);
    }
    check(start, count);
  }
  check(Shape(shape.size()), shape);
}

}  // namespace

TEST_CASE("compressed chunks are read without HDF5's filters: any box, both precisions") {
  const test::TempDir directory;
  const auto path = directory.file("a.h5");
  const std::vector<Form> forms{{.shape = {20, 12, 10}, .chunk = {7, 5, 4}},
                                {.shape = {20, 12, 10}, .chunk = {7, 5, 4}, .shuffle = true},
                                {.shape = {1, 30, 16}, .chunk = {1, 7, 5}, .deflate = 9},
                                {.shape = {9, 6, 5}, .chunk = {9, 6, 5}, .deflate = 0},
                                {.shape = {9, 6, 5}, .chunk = {1, 6, 5}, .shuffle = true},
                                {.shape = {50}, .chunk = {16}},
                                {.shape = {4, 3, 5, 6}, .chunk = {3, 2, 5, 4}}};
  for (auto form : forms) {
    CAPTURE(h5::to_string(form.shape));
    CAPTURE(form.shuffle);
    write_counting(path, form);
    {
      const auto dataset = open_a(path);
      const auto reader = ChunkReader::of(dataset.set, "test");
      REQUIRE(reader != nullptr);
      check_boxes<float>(*reader, form.shape);
      check_boxes<double>(*reader, form.shape);
    }
    form.type = H5T_NATIVE_DOUBLE;
    write_counting(path, form);
    const auto dataset = open_a(path);
    check_boxes<double>(*ChunkReader::of(dataset.set, "test"), form.shape);
  }
}

TEST_CASE("what else there is in chunks is left to HDF5") {
  const test::TempDir directory;
  const auto path = directory.file("a.h5");
  const auto reader_of = [&](const Form& form) {
    const auto dataset = create_chunks(path, form);
    return ChunkReader::of(dataset.set, "test") != nullptr;
  };
  const Shape shape{8, 6}, chunk{4, 4};
  CHECK(reader_of({.shape = shape, .chunk = chunk}));
  CHECK(!reader_of({.shape = shape, .chunk = chunk, .deflate = -1}));
  CHECK(!reader_of({.shape = shape, .chunk = chunk, .type = H5T_NATIVE_INT}));
  CHECK(!reader_of({.shape = shape, .chunk = chunk, .type = H5T_IEEE_F32BE}));
  CHECK(!reader_of({.shape = {1, 1 << 24}, .chunk = {1, 1 << 24}}));  // 64 MiB
  // Numbers that may not survive are HDF5's to convert.
  const Form form{.shape = shape, .chunk = chunk, .type = H5T_NATIVE_DOUBLE};
  write_counting(path, form);
  const auto dataset = open_a(path);
  std::vector<float> values(48);
  CHECK(!ChunkReader::of(dataset.set, "test")
             ->read(ElementType::float32, {0, 0}, shape, std::as_writable_bytes(std::span(values))));
  DatasetReader(h5::File::open(path), "a").read_hyperslab<float>({0, 0}, shape, values);
  CHECK(counts_up(values, shape, {0, 0}, shape));
}

TEST_CASE("chunks that were not compressed, are missing or damaged are read as HDF5 reads them") {
  const test::TempDir directory;
  const auto path = directory.file("a.h5");
  const Shape shape{4, 6}, chunk{2, 6};
  std::vector<float> values(12), all(24);
  std::iota(values.begin(), values.end(), 0.0F);
  const auto write_first = [&](const std::vector<float>& bytes, std::uint32_t skipped) {
    const auto dataset = create_chunks(path, {.shape = shape, .chunk = chunk, .shuffle = true});
    const std::array<hsize_t, 2> origin{};
    REQUIRE(H5Dwrite_chunk(dataset.set.get(), H5P_DEFAULT, skipped, origin.data(),
                           bytes.size() * sizeof(float), bytes.data()) >= 0);
  };
  write_first(values, 3);
  {
    const auto dataset = open_a(path);
    const auto reader = ChunkReader::of(dataset.set, "test");
    REQUIRE(
        reader->read(ElementType::float32, {0, 0}, chunk, std::as_writable_bytes(std::span(all).first(12))));
    CHECK(std::equal(values.begin(), values.end(), all.begin()));
    CHECK(!reader->read(ElementType::float32, {0, 0}, shape, std::as_writable_bytes(std::span(all))));
  }
  std::fill(all.begin(), all.end(), 1.0F);
  DatasetReader(h5::File::open(path), "a").read_hyperslab<float>({0, 0}, shape, all);
  CHECK(std::equal(values.begin(), values.end(), all.begin()));
  CHECK(std::all_of(all.begin() + 12, all.end(), [](float value) { return value == 0.0F; }));
  write_first(values, 0);  // no stream of zlib's
  const auto error = test::error_info_of([&] {
    DatasetReader(h5::File::open(path), "a").read_hyperslab<float>({0, 0}, chunk, values);
  });
  CHECK(error.kind == ErrorKind::io);
  CHECK(error.message.find(path) != std::string::npos);
}

TEST_CASE("a chunk of which a part is left is not read again") {
  const test::TempDir directory;
  const auto path = directory.file("a.h5");
  const Shape shape{8, 6}, row{1, 6};
  write_counting(path, {.shape = shape, .chunk = {4, 3}});
  const h5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "test");
  const h5::Handle set(H5Dopen2(file.get(), "a", H5P_DEFAULT), H5Dclose, "test");
  const auto reader = ChunkReader::of(set, "test");
  std::vector<float> values(6);
  const auto read_row = [&](std::uint64_t y) {
    REQUIRE(reader->read(ElementType::float32, {y, 0}, row, std::as_writable_bytes(std::span(values))));
    return counts_up(values, shape, {y, 0}, row);
  };
  CHECK(read_row(0));
  const std::vector<float> others(h5::element_count(shape), -1.0F);
  REQUIRE(H5Dwrite(set.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, others.data()) >= 0);
  REQUIRE(H5Fflush(file.get(), H5F_SCOPE_LOCAL) >= 0);
  for (const std::uint64_t y : {1, 2, 3}) CHECK(read_row(y));
  CHECK(!read_row(4));
  CHECK(!read_row(0));  // no longer kept
}

TEST_CASE("inside a parallel region, chunks are read by the threads that wait at its end") {
  const test::TempDir directory;
  const auto path = directory.file("a.h5");
  const Shape shape{30, 40, 50};
  write_counting(path, {.shape = shape, .chunk = {4, 8, 16}});
  const auto file = h5::File::open(path);
  const DatasetReader reader(file, "a");
  std::vector<double> values(h5::element_count(shape));
#pragma omp parallel num_threads(3)
  {
#pragma omp master
    reader.read_hyperslab<double>({0, 0, 0}, shape, values);
  }
  CHECK(counts_up(values, shape, {0, 0, 0}, shape));
}
