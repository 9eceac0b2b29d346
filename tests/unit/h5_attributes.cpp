#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tailrace/base/error.hpp"
#include "tailrace/h5/file.hpp"
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
