// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <vector>

#include "h5/file.hpp"
#include "tailrace/error.hpp"
#include "temp_dir.hpp"

using namespace tailrace;
using h5::ElementType;
using h5::File;
using h5::Shape;

namespace {

void write_counted(const std::string& path, const Shape& shape) {
  std::vector<float> values(h5::element_count(shape));
  std::iota(values.begin(), values.end(), 0.0F);
  auto file = File::create(path);
  file.create_dataset({.path = "/group/a", .shape = shape, .type = ElementType::float32, .attributes = {}});
  file.write<float>("/group/a", values);
  file.close();
}

/// Adds a dataset with a layout or type that our own files do not have.
void add_other(const std::string& path, const char* name, hid_t type, bool chunked) {
  const hsize_t extents[] = {4, 6}, chunk[] = {2, 5};
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(2, extents, nullptr);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  if (chunked) H5Pset_chunk(properties, 2, chunk);
  const hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  std::vector<float> values(24);
  std::iota(values.begin(), values.end(), 0.0F);
  CHECK(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
  H5Dclose(set), H5Pclose(properties), H5Sclose(space), H5Fclose(file);
}

}  // namespace

TEST_CASE("a dataset shows that of another file in another shape") {
  const test::TempDir directory;
  write_counted(directory.file("values.h5"), {3, 4, 2});
  auto file = File::create(directory.file("view.h5"));
  const h5::DatasetSpec flat{
      .path = "/a/b", .shape = {12, 2}, .type = ElementType::float32, .attributes = {}};
  file.create_view(flat, {.file = "values.h5", .path = "/group/a", .shape = {3, 4, 2}});
  file.close();
  const auto view = File::open(directory.file("view.h5"));
  std::vector<float> row(2);
  view.read_hyperslab<float>("/a/b", {7, 0}, {1, 2}, row);
  CHECK(row == std::vector<float>{14, 15});
  CHECK(view.storage("/a/b").in_other_files);
}

TEST_CASE("any range of a dataset of any shape is read in the order of its elements") {
  const test::TempDir directory;
  const auto path = directory.file("a.h5");
  for (const Shape& shape : {Shape{7}, Shape{3, 4}, Shape{2, 3, 4}, Shape{2, 1, 3, 2}, Shape{1, 1, 5}}) {
    CAPTURE(h5::to_string(shape));
    write_counted(path, shape);
    const auto file = File::open(path);
    const std::uint64_t n = h5::element_count(shape);
    for (std::uint64_t first = 0; first <= n; ++first)
      for (std::uint64_t count = 0; first + count <= n; ++count) {
        std::vector<double> values(count);
        file.read_range("/group/a", first, count, ElementType::float64,
                        std::as_writable_bytes(std::span(values)));
        for (std::uint64_t i = 0; i < count; ++i) REQUIRE(values[i] == static_cast<double>(first + i));
      }
  }
}

TEST_CASE("a range beyond the dataset is a bug, not a read") {
  const test::TempDir directory;
  write_counted(directory.file("a.h5"), {2, 3});
  const auto file = File::open(directory.file("a.h5"));
  std::vector<float> values(3);
  CHECK_THROWS_AS(
      file.read_range("/group/a", 4, 3, ElementType::float32, std::as_writable_bytes(std::span(values))),
      Error);
}

TEST_CASE("ranges cross chunks and are converted from other byte orders") {
  const test::TempDir directory;
  const auto path = directory.file("a.h5");
  write_counted(path, {2, 3});
  add_other(path, "chunked", H5T_NATIVE_FLOAT, true);
  add_other(path, "swapped", H5T_IEEE_F32BE, false);
  const auto file = File::open(path);
  for (const char* name : {"/chunked", "/swapped"}) {
    std::vector<float> values(17);
    file.read_range(name, 4, 17, ElementType::float32, std::as_writable_bytes(std::span(values)));
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == static_cast<float>(4 + i));
    std::vector<float> box(9), all(24);
    file.read_hyperslab<float>(name, {1, 3}, {3, 3}, box);
    CHECK(box == std::vector<float>{9, 10, 11, 15, 16, 17, 21, 22, 23});
    file.read<float>(name, all);
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == static_cast<float>(i));
  }
}

TEST_CASE("only one extent of native elements has a place in the file") {
  const test::TempDir directory;
  const auto path = directory.file("a.h5");
  write_counted(path, {2, 3});
  add_other(path, "chunked", H5T_NATIVE_FLOAT, true);
  add_other(path, "swapped", H5T_IEEE_F32BE, false);
  const auto file = File::open(path);
  CHECK(!file.place("/chunked"));
  CHECK(!file.place("/swapped"));
  const auto place = file.place("/group/a");
  REQUIRE(place);
  std::ifstream raw(path, std::ios::binary);
  std::vector<float> values(6);
  raw.seekg(static_cast<std::streamoff>(*place));
  raw.read(reinterpret_cast<char*>(values.data()), 24);
  CHECK(values == std::vector<float>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("datasets of all groups are listed, groups are not") {
  const test::TempDir directory;
  const auto path = directory.file("a.h5");
  write_counted(path, {2, 3});
  add_other(path, "b", H5T_NATIVE_FLOAT, true);
  CHECK(File::open(path).has_group("/group"));
  CHECK(!File::open(path).has_group("/b"));
  CHECK(!File::open(path).has_group("/c"));
  CHECK(File::open(path).dataset_paths() == std::vector<std::string>{"/b", "/group/a"});
}
