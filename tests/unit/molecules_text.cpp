// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <cmath>

#include "file_grid.hpp"
#include "phase_space_text.hpp"
#include "tailrace/error.hpp"
#include "words.hpp"

/// The header of phase-space files, and cells of files.
namespace tailrace::molecules {

namespace {

TextHeader parsed(const std::string& text) {
  return parse_text_header(text, "start.inp");
}

std::string refusal(const std::string& text) {
  try {
    parsed(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& message, const char* part) {
  INFO(message);
  const bool found = message.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("all magic words, long and short words of the header") {
  for (const char* magic : {"mardyn", "MOLDY", "ls1r1", "mrdyn", "MDProject", "MarDyn", "MARDYN"}) {
    const std::string text =
        std::string(magic) +
        " trunk 20080701\n# a comment: L 1 1 1\nt 0.5\nT 1.5 # more\nL 3 4 5\nh 1 2.5\nU 1\nI 1 2 3\n"
        "o 1 1\nC 1\n1 0 0 0 0\n0 0 0 1 2 3 0 1\n0 0 0\n1e10\nN 12\nM IRV\n1 0 0";
    const auto [header, line, bytes] = parsed(text);
    CHECK(header.time == 0.5);
    CHECK(header.temperature == 1.5);
    CHECK(header.box == Vec3{3, 4, 5});
    CHECK(header.molecules == 12);
    CHECK(header.components[0].lennard_jones[0] ==
          LennardJones{.place = {0, 0, 0}, .mass = 1, .epsilon = 2, .sigma = 3, .shifted = true});
    CHECK(line.fields == 7);
    CHECK(text.substr(static_cast<std::size_t>(bytes)) == "\n1 0 0");
    CHECK(header.warnings.size() == 2);
  }
  const auto bare = parsed("mardyn trunk 20160512 NumberOfMolecules 3\n1 1 0");
  CHECK(bare.line.fields == 15);
  CHECK(bare.bytes == 41);
  CHECK(parsed("mardyn trunk 20160512 ThT 1 2.5 N 0").header.temperature == 2.5);
}

TEST_CASE("components of mixtures, and those without masses") {
  const auto mixture = parsed(
      "mardyn trunk 20160512 C 3\n1 1 1 1 0\n0 0 0 1 1 1 0 0\n0 0 1 0.5 -2\n0 0 0 0 0 2 1.2\n0 0 0 1 0 0 "
      "0.8\n0 0 0\n"
      "0 0 0 0 0\n1 2 3\n1 0 0 0 0\n0 0 0 1 1 1 2.5 0\n0 0 0\n 1.1 1.2  1.3 1.4  1.5 1.6\n78\nN 0\n");
  REQUIRE(mixture.header.components.size() == 3);
  CHECK(mixture.header.components[0].charges[0] == Charge{.place = {0, 0, 1}, .mass = 0.5, .charge = -2});
  CHECK(mixture.header.components[0].dipoles[0].direction == Vec3{0, 0, 1});
  CHECK(mixture.header.components[1].inertia_override == Vec3{1, 2, 3});
  CHECK(mixture.header.mixing == std::vector<Mixing>{{1.1, 1.2}, {1.3, 1.4}, {1.5, 1.6}});
  CHECK(mixture.header.reaction_field_epsilon == 78);
  CHECK(has(mixture.header.warnings.at(0), "cutoffs of single"));

  const auto brief = parsed("mardyn trunk 20160512 C 1\n1 0 0 0 0\n0 0 0\t1 1 0.0979\n0 0 0\n\n1e+10\nN 0\n");
  CHECK(brief.header.components.empty());
  CHECK(brief.header.reaction_field_epsilon == 1e10);
  CHECK(has(brief.header.warnings.at(0), "lack masses"));
}

TEST_CASE("headers that are refused, with the line") {
  CHECK(has(refusal("moldyn trunk 20160512 N 0"), "does not begin as a phase-space file"));
  CHECK(has(refusal("mardyn trunk 20070701 N 0"), "too old"));
  CHECK(has(refusal("mardyn trunk 20160512\nL 1 2\nN 0"), "line 3: L wants a number, has N"));
  CHECK(has(refusal("mardyn trunk 20160512\nL 1 2 -3\nN 0"), "not positive"));
  CHECK(has(refusal("mardyn trunk 20160512\n\nColour 3\nN 0"), "line 3: unknown word Colour"));
  CHECK(has(refusal("mardyn trunk 20160512\nC 2\n1 0 0 0 0\n0 0 0 1 1 1 0 0\n0 0 0\n1e10\nN 0"),
            "line 2: C 2: 17 numbers"));
  CHECK(has(refusal("mardyn trunk 20160512\nC 1\n0 0 0 0 1\n0 0 0\n1e10\nN 0"), "Tersoff"));
  CHECK(has(refusal("mardyn trunk 20160512\nN 3\nM XYZ\n"), "line 3: unknown format of molecules XYZ"));
  CHECK(has(refusal("mardyn trunk 20160512\nL 1 1 1\n"), "without NumberOfMolecules"));
}

TEST_CASE("a header that was written says what was to be said") {
  Model model;
  model.components = {
      {.name = "a",
       .lennard_jones = {{.place = {0, 0.1, 0}, .mass = 1.0 / 3, .epsilon = 2, .sigma = 3, .shifted = true}},
       .charges = {},
       .dipoles = {},
       .quadrupoles = {}}};
  model.reaction_field_epsilon = 1e10;
  const PhaseSpaceState state{
      .time = 0.1 + 0.2, .temperature = 1.8, .box = {1.0 / 3, 2, 3}, .model = &model, .own = {}, .list = {}};
  const auto text = text_header(state, 7, 0xfedcba9876543210ULL);
  CHECK(
      text ==
      "mardyn trunk 20160512\n# state-sum fedcba9876543210\ncurrentTime 0.30000000000000004\n"
      "Length 0.3333333333333333 2 3\nTemperature 1.8\nNumberOfComponents 1\n1 0 0 0 0\n"
      "0 0.1 0 0.3333333333333333 2 3 0 1\n0 0 0\n10000000000\nNumberOfMolecules 7\nMoleculeFormat ICRVQD\n");
  const auto back = parsed(text).header;
  CHECK(back.components[0].lennard_jones == model.components[0].lennard_jones);
  CHECK(back.state_sum == 0xfedcba9876543210ULL);
  CHECK(back.box == state.box);
}

TEST_CASE("every point is in a cell that its region touches") {
  for (const auto& cells : {std::array<std::int64_t, 3>{1, 1, 1}, {7, 3, 5}, {10, 11, 49}}) {
    const Vec3 box{9, 0.7, 100.0 / 3};
    const FileGrid grid(box, cells);
    for (std::size_t d = 0; d < 3; ++d)
      CHECK(static_cast<std::int64_t>(box[d] / grid.edges()[d]) == cells[d]);
    CHECK(FileGrid::with_edges(box, grid.edges(), grid.count())->cells() == cells);
    for (std::int64_t i = 0; i < cells[0]; ++i) {
      const double low = static_cast<double>(i) * grid.edges()[0],
                   high = static_cast<double>(i + 1) * grid.edges()[0];
      const Region region{{low, 0, 0}, {high, box[1], box[2]}};
      std::int64_t count = 0;
      bool holds_low = false, holds_high = false;
      const auto first = grid.cell_of(region.low), last = grid.cell_of({std::nextafter(high, 0), 0, 0});
      for (const auto& [begin, end] : grid.cells_of(region)) {
        count += end - begin;
        holds_low = holds_low || (first >= begin && first < end);
        holds_high = holds_high || (last >= begin && last < end);
      }
      CHECK(holds_low);
      CHECK(holds_high);
      CHECK(count <= 3 * cells[1] * cells[2]);
    }
  }
  CHECK(!FileGrid::with_edges({9, 9, 9}, {3, 3, 3}, 26));
  CHECK(FileGrid::with_edges({9, 9, 9}, {3.0000000001, 3, 3}, 27)->cells()[0] == 3);
  CHECK(!FileGrid::with_edges({9, 9, 9}, {0, 3, 3}, 27));
}

}  // namespace tailrace::molecules
