// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/lustre.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tailrace/error.hpp"
#include "temp_dir.hpp"

using namespace tailrace;
using namespace tailrace::output;

namespace {

namespace fs = std::filesystem;

/// A directory with a program `lfs` that is the only one in the PATH while this lives.
class WithLfs {
 public:
  explicit WithLfs(const std::string& script) : path_(std::getenv("PATH")) {
    const auto program = dir_.file("lfs");
    std::ofstream(program) << "#!/bin/sh\n" << script;
    fs::permissions(program, fs::perms::owner_all);
    setenv("PATH", dir_.path().c_str(), 1);
  }
  WithLfs(const WithLfs&) = delete;
  WithLfs& operator=(const WithLfs&) = delete;
  ~WithLfs() { setenv("PATH", path_.c_str(), 1); }
  [[nodiscard]] std::string file(const std::string& name) const { return dir_.file(name); }

 private:
  test::TempDir dir_;
  std::string path_;
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

ErrorInfo refusal(const std::string& path, const LustreStripes& stripes) {
  try {
    create_on_lustre(path, stripes);
  } catch (const Error& error) {
    return error.info();
  }
  FAIL("not refused");
  return {};
}

}  // namespace

TEST_CASE("lfs gets the stripes that are given, word by word") {
  // The last word is the file, which the real program makes.
  const WithLfs lfs(
      "for word; do echo \"[$word]\"; done > \"$0.words\"\nfor file; do :; done; : > \"$file\"\n");
  const auto output = lfs.file("a name; with 'signs'.h5.partial");
  create_on_lustre(output, {.count = 8, .bytes = 4 << 20});
  CHECK(text_of(lfs.file("lfs.words")) ==
        fmt::format("[setstripe]\n[-c]\n[8]\n[-S]\n[4194304]\n[{}]\n", output));
  CHECK(fs::exists(output));
  create_on_lustre(output, {.count = 3});
  CHECK(text_of(lfs.file("lfs.words")) == fmt::format("[setstripe]\n[-c]\n[3]\n[{}]\n", output));
  create_on_lustre(output, {.bytes = 65536});
  CHECK(text_of(lfs.file("lfs.words")) == fmt::format("[setstripe]\n[-S]\n[65536]\n[{}]\n", output));
}

TEST_CASE("what lfs says against it is passed on") {
  const WithLfs lfs("echo \"error on ioctl for '$4' (3):\"; echo 'not on Lustre' >&2; exit 25\n");
  const auto error = refusal("/somewhere/out.h5.partial", {.count = 2});
  CHECK(error.kind == ErrorKind::usage);
  CHECK(
      error.message ==
      "/somewhere/out.h5.partial: its stripes cannot be set: error on ioctl for '/somewhere/out.h5.partial' "
      "(3): not on Lustre");
  CHECK(error.hint.find("write.lustre_count") != std::string::npos);
}

TEST_CASE("an lfs that dies or is missing is no success") {
  {
    const WithLfs lfs("kill -9 $$\n");
    CHECK(refusal("out.h5", {.count = 2}).message.find("without a word") != std::string::npos);
  }
  const WithLfs lfs("");
  fs::remove(lfs.file("lfs"));
  CHECK(refusal("out.h5", {.count = 2}).message.find("lfs: No such file") != std::string::npos);
}
