// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "h5/file.hpp"
#include "tailrace/error.hpp"
#include "temp_dir.hpp"

using namespace tailrace;
using h5::File;

namespace {

/// Writes an attribute of the root as other programs do: fixed length, this padding, exactly these bytes.
void write_fixed(const std::string& path, const char* name, const std::string& bytes, H5T_str_t padding) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, bytes.size());
  H5Tset_strpad(type, padding);
  const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, bytes.data());
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
  H5Fclose(file);
}

void write_variable(const std::string& path, const char* name, const char* text) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, &text);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
  H5Fclose(file);
}

}  // namespace

TEST_CASE("text attributes of every padding are read without it") {
  const test::TempDir dir;
  const auto path = dir.file("a.h5");
  File::create(path).close();
  write_fixed(path, "terminated", std::string("float\0\0\0", 8), H5T_STR_NULLTERM);
  write_fixed(path, "null_padded", std::string("float\0\0\0", 8), H5T_STR_NULLPAD);
  write_fixed(path, "null_padded_full", "float", H5T_STR_NULLPAD);
  write_fixed(path, "space_padded", "float   ", H5T_STR_SPACEPAD);
  write_fixed(path, "unterminated", "float", H5T_STR_NULLTERM);
  write_fixed(path, "inner_space", "a b ", H5T_STR_NULLPAD);
  write_variable(path, "variable", "float");
  write_variable(path, "empty_variable", "");
  const File file = File::open(path);
  for (const char* name :
       {"terminated", "null_padded", "null_padded_full", "space_padded", "unterminated", "variable"}) {
    CAPTURE(name);
    CHECK(file.text_attribute("/", name) == "float");
  }
  CHECK(file.text_attribute("/", "inner_space") == "a b ");
  CHECK(file.text_attribute("/", "empty_variable") == "");
  CHECK_FALSE(file.text_attribute("/", "missing"));
  CHECK_FALSE(file.text_attribute("/no_such_object", "missing"));
}

TEST_CASE("our own attributes can be read back, and are no text when they are numbers") {
  const test::TempDir dir;
  File file = File::create(dir.file("a.h5"));
  file.create_dataset({.path = "/p",
                       .shape = {1, 1, 1},
                       .attributes = {{"data_type", "float"}, {"count", std::int64_t{7}}, {"dt", 0.5}}});
  CHECK(file.text_attribute("/p", "data_type") == "float");
  CHECK_FALSE(file.text_attribute("/p", "count"));
  CHECK_FALSE(file.text_attribute("/p", "dt"));
  file.create_attribute("/", {"empty", ""});
  CHECK(file.text_attribute("/", "empty") == "");
  CHECK_THROWS_AS(file.create_attribute("/", {"empty", "again"}), Error);
  CHECK_THROWS_AS(file.create_attribute("/missing", {"a", "b"}), Error);
}

TEST_CASE("a reserved text can be replaced by a longer one within its room") {
  const test::TempDir dir;
  File file = File::create(dir.file("a.h5"));
  file.create_attribute("/", {.name = "status", .value = "running", .reserved_bytes = 32});
  file.update_text_attribute("/", "status", "stopped in good order");
  CHECK(file.text_attribute("/", "status") == "stopped in good order");
  file.update_text_attribute("/", "status", "");
  CHECK(file.text_attribute("/", "status") == "");
  file.update_text_attribute("/", "status", std::string(100, 'x'));
  CHECK(file.text_attribute("/", "status") == std::string(31, 'x'));
  CHECK_THROWS_AS(file.update_text_attribute("/", "missing", "x"), Error);
}

TEST_CASE("lists are in attributes, of groups that are made for them") {
  const test::TempDir dir;
  auto file = File::create(dir.file("a.h5"));
  file.create_group("/a/b");
  file.create_group("/a/b");
  file.create_attribute("/a/b", {"version", std::vector<std::int64_t>{1, 1}, 0});
  file.create_attribute("/a/b", {"boundary", std::vector<std::string>{"periodic", "none"}, 0});
  const auto listed = [&](const char* name, hid_t memory, void* out) {
    const hid_t raw = H5Fopen(dir.file("a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t attribute = H5Aopen_by_name(raw, "/a/b", name, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Aget_space(attribute);
    const auto count = H5Sget_simple_extent_npoints(space);
    CHECK(H5Sget_simple_extent_ndims(space) == 1);
    CHECK(H5Aread(attribute, memory, out) >= 0);
    H5Sclose(space);
    H5Aclose(attribute);
    H5Fclose(raw);
    return count;
  };
  file.close();
  std::int64_t version[2] = {};
  CHECK(listed("version", H5T_NATIVE_INT64, version) == 2);
  CHECK((version[0] == 1 && version[1] == 1));
  char texts[2][9] = {};
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, sizeof texts[0]);
  CHECK(listed("boundary", type, texts) == 2);
  H5Tclose(type);
  CHECK(std::string(texts[0]) == "periodic");
  CHECK(std::string(texts[1]) == "none");
}

TEST_CASE("a link is another name of a dataset, which may come later") {
  const test::TempDir dir;
  auto file = File::create(dir.file("a.h5"));
  file.create_soft_link("/other/names/value", "/set/values");
  CHECK(!file.has_dataset("/other/names/value"));
  file.create_dataset({"/set/values", {2}, h5::ElementType::float64, {}});
  const std::vector<double> values{1, 2};
  file.write("/set/values", std::span(values));
  file.close();
  std::vector<double> found(2);
  File::open(dir.file("a.h5")).read("/other/names/value", std::span(found));
  CHECK(found == values);
}
