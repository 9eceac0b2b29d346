// SPDX-License-Identifier: BSD-3-Clause
#include "h5/file.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <vector>

#include "tailrace/error.hpp"
#include "temp_dir.hpp"

using namespace tailrace;
using h5::ElementType;
using h5::File;
using h5::Shape;

namespace {

template <class T>
std::vector<T> counted(std::size_t n) {
  std::vector<T> values(n);
  std::iota(values.begin(), values.end(), T{1});
  return values;
}

/// The error that an action throws; fails the case if it throws none.
template <class Action>
ErrorInfo error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.info();
  }
  FAIL("no error");
  return {};
}

template <class T>
void round_trip(File& file, const std::string& name, ElementType type) {
  file.create_dataset({.path = name, .shape = {2, 3, 4}, .type = type, .attributes = {}});
  const auto values = counted<T>(24);
  file.write<T>(name, values);
  std::vector<T> read(24);
  file.read<T>(name, read);
  CHECK(read == values);
  CHECK(file.type(name) == type);
  CHECK(file.shape(name) == Shape{2, 3, 4});
}

}  // namespace

TEST_CASE("datasets of every type survive a round trip") {
  const test::TempDir dir;
  File file = File::create(dir.file("a.h5"));
  round_trip<float>(file, "/f", ElementType::float32);
  round_trip<double>(file, "/d", ElementType::float64);
  round_trip<std::int64_t>(file, "/i", ElementType::int64);
  round_trip<std::uint64_t>(file, "/group/below/u", ElementType::uint64);
  file.close();

  const File again = File::open(dir.file("a.h5"));
  CHECK(again.dataset_names() == std::vector<std::string>{"d", "f", "i"});
  CHECK(again.has_dataset("/group/below/u"));
  CHECK_FALSE(again.has_dataset("/group/below"));
  CHECK_FALSE(again.has_dataset("/no/such/thing"));
  CHECK_FALSE(again.has_dataset("/f/below/a/dataset"));
  std::vector<double> converted(24);
  again.read<double>("/f", converted);
  CHECK(converted.back() == 24.0);
}

TEST_CASE("a slab of a dataset is read alone") {
  const test::TempDir dir;
  File file = File::create(dir.file("a.h5"));
  file.create_dataset({.path = "/a", .shape = {3, 4, 5}, .type = ElementType::int64, .attributes = {}});
  auto values = counted<std::int64_t>(60);
  file.write<std::int64_t>("/a", values);
  std::vector<std::int64_t> hyperslab(2 * 1 * 3);
  file.read_hyperslab<std::int64_t>("/a", {1, 2, 1}, {2, 1, 3}, hyperslab);
  CHECK(hyperslab == std::vector<std::int64_t>{32, 33, 34, 52, 53, 54});
  std::vector<std::int64_t> none;
  CHECK_NOTHROW(file.read_hyperslab<std::int64_t>("/a", {0, 0, 0}, {0, 4, 5}, none));
  std::vector<std::int64_t> outside(5);
  CHECK_THROWS_AS(file.read_hyperslab<std::int64_t>("/a", {2, 3, 1}, {1, 1, 5}, outside), Error);
  CHECK_THROWS_AS(file.read_hyperslab<std::int64_t>("/a", {0, 0}, {1, 5}, outside), Error);
  CHECK_THROWS_AS(file.read<std::int64_t>("/a", outside), Error);
  CHECK_THROWS_AS(file.write<std::int64_t>("/a", outside), Error);
}

TEST_CASE("values written behind HDF5's back are found where the offset says") {
  const test::TempDir dir;
  const auto path = dir.file("a.h5");
  File file = File::create(path);
  const auto small = file.create_dataset({.path = "/small", .shape = {1, 1, 7}, .attributes = {}});
  const auto large = file.create_dataset({.path = "/large", .shape = {1, 1, 256 * 1024}, .attributes = {}});
  const auto next = file.create_dataset({.path = "/next", .shape = {1, 1, 128 * 1024}, .attributes = {}});
  REQUIRE(small);
  REQUIRE(large);
  REQUIRE(next);
  CHECK(*large % 65536 == 0);
  CHECK(*next % 65536 == 0);
  file.close();
  CHECK(std::filesystem::file_size(path) >= *next + 512 * 1024);  // allocated although never written

  const auto values = counted<float>(7);
  {
    std::fstream raw(path, std::ios::binary | std::ios::in | std::ios::out);
    raw.seekp(static_cast<std::streamoff>(*small));
    raw.write(reinterpret_cast<const char*>(values.data()), 28);
    raw.seekp(static_cast<std::streamoff>(*large + 4 * 1000));
    raw.write(reinterpret_cast<const char*>(values.data()), 28);
  }
  const File again = File::open(path);
  std::vector<float> read(7), hyperslab(7);
  again.read<float>("/small", read);
  CHECK(read == values);
  again.read_hyperslab<float>("/large", {0, 0, 1000}, {1, 1, 7}, hyperslab);
  CHECK(hyperslab == values);
}

TEST_CASE("an empty dataset has no offset") {
  const test::TempDir dir;
  File file = File::create(dir.file("a.h5"));
  CHECK_FALSE(file.create_dataset({.path = "/none", .shape = {1, 0, 3}, .attributes = {}}));
  CHECK(file.shape("/none") == Shape{1, 0, 3});
  std::vector<float> nothing;
  CHECK_NOTHROW(file.read<float>("/none", nothing));
}

TEST_CASE("equal contents make equal files") {
  const test::TempDir dir;
  for (const char* name : {"a.h5", "b.h5"}) {
    File file = File::create(dir.file(name));
    file.create_dataset({.path = "/p", .shape = {1, 2, 3}, .attributes = {{"data_type", "float"}}});
    file.write<float>("/p", counted<float>(6));
    file.create_attribute("/", {"n", std::int64_t{5}});
    file.close();
  }
  std::ifstream a(dir.file("a.h5"), std::ios::binary), b(dir.file("b.h5"), std::ios::binary);
  const std::string bytes_a{std::istreambuf_iterator<char>(a), {}},
      bytes_b{std::istreambuf_iterator<char>(b), {}};
  CHECK(bytes_a == bytes_b);
  CHECK(bytes_a.size() > 1000);
}

TEST_CASE("missing, foreign and damaged files are input errors that name the file") {
  const test::TempDir dir;
  const auto missing = error_of([&] { File::open(dir.file("missing.h5")); });
  CHECK(missing.kind == ErrorKind::input);
  CHECK(missing.path == dir.file("missing.h5"));
  CHECK(missing.message.find("No such file") != std::string::npos);

  std::ofstream(dir.file("text.h5")) << "this is no HDF5 file\n";
  const auto foreign = error_of([&] { File::open(dir.file("text.h5")); });
  CHECK(foreign.kind == ErrorKind::input);
  CHECK(foreign.message.find("not an HDF5 file") != std::string::npos);

  std::filesystem::create_directory(dir.file("folder.h5"));
  CHECK(error_of([&] { File::open(dir.file("folder.h5")); }).kind == ErrorKind::input);

  {
    File file = File::create(dir.file("cut.h5"));
    file.create_dataset({.path = "/p", .shape = {1, 1, 100000}, .attributes = {}});
    file.close();
  }
  std::filesystem::resize_file(dir.file("cut.h5"), 3000);
  const auto cut = error_of([&] { File::open(dir.file("cut.h5")); });
  CHECK(cut.kind == ErrorKind::input);
  CHECK(cut.message.find("damaged or truncated") != std::string::npos);
  CHECK_FALSE(cut.hint.empty());
}

TEST_CASE("files that cannot be made or updated are errors that name the path") {
  const test::TempDir dir;
  const auto nowhere = error_of([&] { File::create(dir.file("no/such/folder/a.h5")); });
  CHECK(nowhere.kind == ErrorKind::io);
  CHECK(nowhere.path == dir.file("no/such/folder/a.h5"));
  CHECK(nowhere.message.find("No such file or directory") != std::string::npos);
  const auto missing = error_of([&] { File::open_for_update(dir.file("missing.h5")); });
  CHECK(missing.kind == ErrorKind::io);
  CHECK(missing.path == dir.file("missing.h5"));
}

TEST_CASE("errors about datasets name the file and the dataset") {
  const test::TempDir dir;
  File file = File::create(dir.file("a.h5"));
  std::vector<float> values(3);
  const auto error = error_of([&] { file.read<float>("/c0", values); });
  CHECK(error.message.find("a.h5") != std::string::npos);
  CHECK(error.message.find("/c0") != std::string::npos);
  CHECK(error.path == dir.file("a.h5"));
  file.create_dataset({.path = "/p", .shape = {1}, .attributes = {}});
  CHECK_THROWS_AS(file.create_dataset({.path = "/p", .shape = {1}, .attributes = {}}), Error);
}

TEST_CASE("a file can be changed in place") {
  const test::TempDir dir;
  {
    File file = File::create(dir.file("a.h5"));
    file.create_dataset(
        {.path = "/t_index", .shape = {1, 1, 1}, .type = ElementType::uint64, .attributes = {}});
    file.write<std::uint64_t>("/t_index", std::vector<std::uint64_t>{0});
    file.close();
  }
  {
    File file = File::open_for_update(dir.file("a.h5"));
    file.write<std::uint64_t>("/t_index", std::vector<std::uint64_t>{50});
    file.close();
  }
  std::vector<std::uint64_t> value(1);
  File::open(dir.file("a.h5")).read<std::uint64_t>("/t_index", value);
  CHECK(value[0] == 50);
}

TEST_CASE("shapes and types print for people") {
  CHECK(h5::to_string(Shape{1, 2, 3}) == "(1, 2, 3)");
  CHECK(h5::element_count({2, 3, 4}) == 24);
  CHECK(h5::element_count({}) == 1);
  CHECK(std::string(h5::to_string(ElementType::float32)) == "32-bit float");
  CHECK(h5::size_bytes(ElementType::float32) == 4);
  CHECK(h5::size_bytes(ElementType::uint64) == 8);
  CHECK(h5::library_version().starts_with("1."));
}

TEST_CASE("the names of external parts are where they can be exchanged") {
  const test::TempDir dir;
  const auto path = dir.file("a.h5"), raw = dir.file("a.raw"), other = dir.file("b.raw");
  std::ofstream(raw, std::ios::binary) << std::string(4096, 'r');
  std::ofstream(other, std::ios::binary) << std::string(4096, 'o');
  std::vector<h5::ExternalPart> parts(1000, {.file = raw, .offset = 8, .bytes = 4});
  parts.push_back({.file = other, .offset = 0, .bytes = 1});  // behind the last byte
  {
    File file = File::create(path);
    file.create_external_dataset(
        {.path = "/group/v", .shape = {1000}, .type = ElementType::float32, .attributes = {}}, parts);
    for (int i = 0; i < 20; ++i)  // these make the header continue elsewhere
      file.create_attribute("/group/v", {.name = fmt::format("a{}", i), .value = std::string(200, 'x')});
    file.close();
  }
  const auto names = File::open(path).external_names("/group/v");
  REQUIRE(names.size() == parts.size());
  CHECK(names[0].file == raw);
  CHECK(names.back().file == other);
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
      .seekp(static_cast<std::streamoff>(names[2].place))
      .write(reinterpret_cast<const char*>(&names.back().number), 8);
  std::vector<float> values(1000);
  const File file = File::open(path);
  file.read<float>("/group/v", values);
  const auto found = file.external_parts("/group/v");
  CHECK(found.size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK((values[i] == values[0]) == (i != 2));
    CHECK(found[i].file == (i == 2 ? other : raw));
  }
  CHECK_THROWS_WITH_AS(static_cast<void>(File::open(path).external_names("/group")),
                       doctest::Contains("opening dataset"), Error);
}
