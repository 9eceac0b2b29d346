// SPDX-License-Identifier: BSD-3-Clause
#include "h5/chunked.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "tailrace/error.hpp"
#include "temp_dir.hpp"

using namespace tailrace;
using h5::ChunkedDataset;
using h5::ChunkLayout;
using h5::File;

namespace {

h5::DatasetSpec spec(const char* path) {
  return {.path = path, .shape = {5, 4}, .type = h5::ElementType::float64, .attributes = {}};
}

std::vector<double> counted(std::size_t count, double first) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

}  // namespace

TEST_CASE("the layout of chunks is read back") {
  const test::TempDir directory;
  auto file = File::create(directory.file("a.h5"));
  file.create_chunked_dataset(spec("/a/b"), {.chunk = {2, 4}, .shuffle = true, .deflate = 7});
  file.create_chunked_dataset(spec("/c"), {.chunk = {1, 3}, .deflate = 0});
  file.create_chunked_dataset(spec("/d"), {.chunk = {5, 4}});
  file.create_dataset(spec("/e"));
  CHECK(file.chunk_layout("/a/b")->chunk == h5::Shape{2, 4});
  CHECK(file.chunk_layout("/a/b")->shuffle);
  CHECK(file.chunk_layout("/a/b")->deflate == 7);
  CHECK(file.chunk_layout("/a/b")->filters() == 2);
  CHECK(!file.chunk_layout("/c")->shuffle);
  CHECK(file.chunk_layout("/c")->deflate == 0);
  CHECK(file.chunk_layout("/d")->filters() == 0);
  CHECK(!file.chunk_layout("/e"));
  CHECK_THROWS_AS(static_cast<void>(file.chunk_layout("/f")), Error);
}

TEST_CASE("whole chunks are at their places, those never written read as 0") {
  const test::TempDir directory;
  auto file = File::create(directory.file("a.h5"));
  file.create_chunked_dataset(spec("/p"), {.chunk = {2, 4}, .shuffle = true, .deflate = 1});
  std::optional<ChunkedDataset> dataset(std::in_place, file, "/p");
  const auto first = counted(8, 100), last = counted(8, 200);  // of the last, four values lie outside
  dataset->write_chunk({4, 0}, std::as_bytes(std::span(last)), 3);
  dataset->write_chunk({0, 0}, std::as_bytes(std::span(first)), 3);
  CHECK_THROWS_AS(dataset->write_chunk({1, 0}, std::as_bytes(std::span(first)), 3), Error);
  dataset.reset();
  file.close();  // HDF5 1.10 remembers the filters of the chunk that was written last wrongly
  std::vector<double> values(20);
  File::open(directory.file("a.h5")).read<double>("/p", values);
  std::vector<double> expected(20, 0);
  std::copy_n(first.begin(), 8, expected.begin());
  std::copy_n(last.begin(), 4, expected.begin() + 16);
  CHECK(values == expected);
}

TEST_CASE("threads may use files at the same time") {
  const test::TempDir directory;
  const auto work = [&](int number) {
    const auto path = directory.file(std::to_string(number) + ".h5");
    for (int i = 0; i < 20; ++i) {
      auto file = File::create(path);
      file.create_dataset(spec("/p"));
      file.write<double>("/p", counted(20, number));
      file.close();
      CHECK_THROWS_AS(File::open(directory.file("missing.h5")), Error);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 4; ++number) threads.emplace_back(work, number);
  }
  for (int number = 0; number < 4; ++number) {
    std::vector<double> values(20);
    File::open(directory.file(std::to_string(number) + ".h5")).read<double>("/p", values);
    CHECK(values == counted(20, number));
  }
}
