// SPDX-License-Identifier: BSD-3-Clause
#include "h5/file.hpp"
#include "header_reader.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "temp_dir.hpp"

using namespace tailrace;
using ultrasound::entries_outside;
using ultrasound::HeaderReader;
using ultrasound::quoted;

TEST_CASE("entries outside are counted and the first one is named") {
  CHECK_FALSE(entries_outside({1, 5, 3}, 5));
  CHECK(*entries_outside({1, 0, 6, 3}, 5) == "2 of 4 entries lie outside, first 0 at position 2");
}

TEST_CASE("texts of a file are shown without what no terminal shows") {
  CHECK(quoted("float") == "\"float\"");
  CHECK(quoted("a\n\x1b[1m\xff") == "\"a??[1m?\"");
  CHECK(quoted(std::string(100, 'x')) == "\"" + std::string(60, 'x') + "...\"");
}

TEST_CASE("what cannot be read is collected, and absent from the result") {
  const test::TempDir dir;
  {
    h5::File file = h5::File::create(dir.file("in.h5"));
    file.create_dataset(
        {.path = "/Nx", .shape = {1, 1, 1}, .type = h5::ElementType::uint64, .attributes = {}});
    file.write<std::uint64_t>("/Nx", std::vector<std::uint64_t>{7});
    file.create_dataset({.path = "/dt", .shape = {1, 1, 1}, .attributes = {}});
    file.write<float>("/dt", std::vector<float>{-1});
    file.create_attribute("/", {"file_type", "output  "});
  }
  const auto file = h5::File::open(dir.file("in.h5"));
  Problems problems("in.h5");
  HeaderReader reader(file, problems);
  CHECK(reader.integer("Nx", 1, 10) == 7);
  CHECK(reader.list("Nx", "point") == std::vector<std::uint64_t>{7});
  CHECK(reader.text("file_type") == "output");
  CHECK(problems.empty());
  CHECK_FALSE(reader.integer("Nx", 1, 6));
  CHECK_FALSE(reader.integer("dt", 1, 6));
  CHECK_FALSE(reader.real("dt", 0, true));
  CHECK_FALSE(reader.list("p_source_index", "point"));
  reader.must_be("file_type", "input");
  reader.must_be_zero("Nx", "not computed", false);
  reader.must_be_zero("elastic_flag", "not computed", true);
  CHECK(reader.problems() == 6);
  for (const char* words : {"Nx = 7. Fix: a value from 1 to 6", "dataset dt holds 32-bit float",
                            "dt = -1. Fix: a finite number above 0", "dataset p_source_index is missing",
                            "file_type = \"output\". Fix: file_type = \"input\"", "Nx = 7: not computed"})
    CHECK_MESSAGE(problems.message().find(words) != std::string::npos, words);
}
