// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <fstream>
#include <vector>

#include "h5/file.hpp"
#include "h5/growing_file.hpp"
#include "tailrace/error.hpp"
#include "temp_dir.hpp"

using namespace tailrace;
using h5::ElementType;
using h5::File;
using h5::GrowingHead;

namespace {

void put(const std::string& path, std::int64_t at, std::span<const std::byte> bytes) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(at).write(reinterpret_cast<const char*>(bytes.data()),
                       static_cast<std::streamsize>(bytes.size()));
  REQUIRE(file);
}

}  // namespace

TEST_CASE("a file of rows grows by bytes behind its end and another head") {
  const test::TempDir directory;
  const auto path = directory.file("rows.h5");
  auto head = GrowingHead::create(path, 3, ElementType::float32);
  CHECK(head.rows() == 0);
  CHECK(head.row_bytes() == 12);
  CHECK(File::open(path).shape("/values") == h5::Shape{0, 3});
  CHECK(GrowingHead::read(path).data_offset() == head.data_offset());
  std::vector<float> values;
  for (const std::int64_t rows : {1, 4, 1000}) {
    const auto before = values.size();
    while (values.size() < static_cast<std::size_t>(3 * rows)) values.push_back(0.5F * float(values.size()));
    put(path, head.data_offset() + static_cast<std::int64_t>(before * sizeof(float)),
        std::as_bytes(std::span(values).subspan(before)));
    put(path, 0, head.with_rows(rows));
    const auto file = File::open(path);
    CHECK(file.shape("/values") == h5::Shape{static_cast<std::uint64_t>(rows), 3});
    std::vector<float> read(values.size());
    file.read("/values", std::span(read));
    CHECK(read == values);
    CHECK(GrowingHead::read(path).rows() == rows);
  }
  // What a run takes back when it continues from before.
  put(path, 0, GrowingHead::read(path).with_rows(2));
  std::vector<float> read(6);
  File::open(path).read("/values", std::span(read));
  CHECK(read == std::vector<float>(values.begin(), values.begin() + 6));
  put(path, 0, GrowingHead::read(path).with_rows(0));
  CHECK(GrowingHead::read(path).data_offset() == head.data_offset());
}

TEST_CASE("a dataset that shows rows is as long as their file has become") {
  const test::TempDir directory;
  auto head = GrowingHead::create(directory.file("rows.h5"), 2, ElementType::int64);
  auto file = File::create(directory.file("out.h5"));
  file.create_growing_view(
      {.path = "/rows/values", .shape = {0, 2}, .type = ElementType::int64, .attributes = {}}, "rows.h5",
      GrowingHead::dataset);
  file.close();
  const std::vector<std::int64_t> values{1, 2, 3, 4, 5, 6};
  put(directory.file("rows.h5"), head.data_offset(), std::as_bytes(std::span(values)));
  for (const std::int64_t rows : {0, 3, 1}) {
    put(directory.file("rows.h5"), 0, head.with_rows(rows));
    CHECK(File::open(directory.file("out.h5")).shape("/rows/values") ==
          h5::Shape{static_cast<std::uint64_t>(rows), 2});
  }
}

TEST_CASE("another file is no file of rows") {
  const test::TempDir directory;
  const auto path = directory.file("other.h5");
  auto file = File::create(path);
  file.create_dataset({.path = "/values", .shape = {4}, .type = ElementType::float32, .attributes = {}});
  file.close();
  CHECK_THROWS_WITH_AS(GrowingHead::read(path), doctest::Contains("other.h5"), Error);
}
