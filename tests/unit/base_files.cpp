// SPDX-License-Identifier: BSD-3-Clause
#include "base/files.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

#include "tailrace/error.hpp"
#include "temp_dir.hpp"

using namespace tailrace;

namespace {

/// The message of the error that `action` throws, and its kind.
template <class Action>
ErrorInfo error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.info();
  }
  FAIL("no error");
  return {};
}

}  // namespace

TEST_CASE("a file takes the place of another, or the reason names it") {
  const test::TempDir directory;
  const auto from = directory.file("new"), to = directory.file("old");
  std::ofstream(from) << "new";
  std::ofstream(to) << "old";
  replace_file(from, to);
  std::string text;
  std::ifstream(to) >> text;
  CHECK(text == "new");
  CHECK(!std::filesystem::exists(from));
  try {
    replace_file(from, to);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.info().kind == ErrorKind::io);
    CHECK(error.info().message.find(to + ": cannot be replaced: No such file") != std::string::npos);
  }
}

TEST_CASE("bytes of a file are read where they are asked for, and a file that ends early says so") {
  const test::TempDir directory;
  const auto path = directory.file("bytes");
  std::ofstream(path) << "0123456789";
  const InputFile file(path, "write it again");
  CHECK(file.size_bytes() == 10);
  std::array<std::byte, 4> some{};
  file.read(3, some);
  CHECK(some[0] == std::byte{'3'});
  CHECK(some[3] == std::byte{'6'});
  const auto error = error_of([&] { file.read(8, some); });
  CHECK(error.kind == ErrorKind::input);
  CHECK(error.message == path + ": ends at byte 10, where more is expected");
  CHECK(error.hint == "write it again");
}

TEST_CASE("what is no file, or is not there, is refused by name") {
  const test::TempDir directory;
  const auto missing = error_of([&] { InputFile(directory.file("none"), ""); });
  CHECK(missing.message.find("none: cannot be opened: No such file") != std::string::npos);
  const auto other =
      error_of([&] { InputFile(std::filesystem::path(directory.file("x")).parent_path(), ""); });
  CHECK(other.message.find("is no regular file") != std::string::npos);
}

TEST_CASE("a text is written whole in place of an older one, or the reason names the file") {
  const test::TempDir directory;
  const auto path = directory.file("text");
  write_durably(path, "a longer text");
  write_durably(path, "text");
  std::string text;
  std::ifstream(path) >> text;
  CHECK(text == "text");
  const auto error = error_of([&] { write_durably(directory.file("none/text"), "text"); });
  CHECK(error.kind == ErrorKind::io);
  CHECK(error.message.find("none/text: cannot be written: No such file") != std::string::npos);
  CHECK(error_of([] { write_durably("/dev/full", "text"); }).message ==
        "/dev/full: cannot be written: No space left on device");
}
