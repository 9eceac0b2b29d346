// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "h5/file.hpp"
#include "tailrace/error.hpp"
#include "temp_dir.hpp"

using namespace tailrace;
using h5::File;
using h5::Found;

namespace {

/// A file with the dataset "/values", into which `add` puts what `tailrace::h5` does not make.
std::string file_with(const test::TempDir& dir, const std::function<void(hid_t)>& add) {
  const auto path = dir.file("a.h5");
  File made = File::create(path);
  made.create_dataset({.path = "/values", .shape = {1, 1, 100}, .attributes = {}});
  made.close();
  const h5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "opening");
  add(file.get());
  return path;
}

/// A dataset of a million values, of which none is written.
void add_unwritten(hid_t file, const char* name, const std::function<void(hid_t)>& set_layout) {
  const hsize_t extents = 1 << 20;
  const h5::Handle space(H5Screate_simple(1, &extents, nullptr), H5Sclose, "space");
  const h5::Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "layout");
  set_layout(layout.get());
  H5Dclose(H5Dcreate2(file, name, H5T_NATIVE_FLOAT, space.get(), H5P_DEFAULT, layout.get(), H5P_DEFAULT));
}

}  // namespace

TEST_CASE("a name is a dataset, another object, a way into another file, or nothing") {
  const test::TempDir dir;
  const auto path = file_with(dir, [&](hid_t file) {
    H5Gclose(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Lcreate_soft("/values", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/nowhere", file, "dangling", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/circle", file, "circle", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(file, "values", file, "hard", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external(dir.file("a.h5").c_str(), "/values", file, "outside", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/outside", file, "soft_outside", H5P_DEFAULT, H5P_DEFAULT);
  });
  const File file = File::open(path);
  for (const char* name : {"/values", "/soft", "/hard"}) CHECK(file.look_up(name) == Found::dataset);
  CHECK(file.look_up("/group") == Found::other_object);
  CHECK(file.look_up("/outside") == Found::other_file);
  for (const char* name : {"/nothing", "/dangling", "/circle", "/soft_outside", "/group/nothing"})
    CHECK(file.look_up(name) == Found::nothing);
}

TEST_CASE("links into pipes are not followed, nor are pipes opened") {
  const test::TempDir dir;
  REQUIRE(::mkfifo(dir.file("pipe").c_str(), 0600) == 0);
  const auto path = file_with(dir, [&](hid_t file) {
    H5Lcreate_external(dir.file("pipe").c_str(), "/values", file, "outside", H5P_DEFAULT, H5P_DEFAULT);
  });
  CHECK(File::open(path).look_up("/outside") == Found::other_file);
  CHECK_THROWS_WITH_AS(File::open(dir.file("pipe")), doctest::Contains("is no regular file"), Error);
}

TEST_CASE("storage says how much of a dataset is there, and where") {
  const test::TempDir dir;
  const auto path = file_with(dir, [&](hid_t file) {
    const hsize_t chunk = 1000;
    add_unwritten(file, "chunked", [&](hid_t layout) { H5Pset_chunk(layout, 1, &chunk); });
    add_unwritten(file, "late", [](hid_t) {});
    add_unwritten(file, "elsewhere", [&](hid_t layout) {
      H5Pset_external(layout, dir.file("values.bin").c_str(), 0, H5F_UNLIMITED);
    });
  });
  const File file = File::open(path);
  CHECK(file.storage("/values").bytes == 400);
  CHECK_FALSE(file.storage("/values").in_other_files);
  CHECK(file.storage("/chunked").bytes == 0);
  CHECK(file.storage("/late").bytes == 0);
  CHECK(file.storage("/elsewhere").in_other_files);
}

TEST_CASE("a product of extents that does not fit is the largest number") {
  constexpr auto largest = std::numeric_limits<std::uint64_t>::max();
  CHECK(h5::element_count({std::uint64_t{1} << 32, std::uint64_t{1} << 32}) == largest);
  CHECK(h5::element_count({3, 12297829382473034411U}) == largest);  // would be 1
  CHECK(h5::element_count({largest, largest, 0}) == 0);
  CHECK(h5::element_count({largest, 1, 1}) == largest);
}
