// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <set>

#include "selection.hpp"

namespace tailrace::rehearse {

namespace {

std::vector<run::OutputTable> tables_of(const std::vector<std::string>& texts, SelectionContext context = {},
                                        std::size_t problems_expected = 0) {
  if (context.cells.volume() == 0) context.cells = {16, 12, 10};
  std::vector<Selection> selections;
  for (const auto& text : texts) selections.push_back(parse_selection(text));
  Problems problems("test");
  auto tables = make_tables(selections, context, problems);
  CHECK_MESSAGE(problems.size() == problems_expected, problems.message());
  return tables;
}

Box box_of(const run::OutputTable& table) {
  REQUIRE(table.shape == run::OutputTable::Shape::box);
  const auto &lo = table.corners.at(0), &hi = table.corners.at(1);
  return {{lo[0], lo[1], lo[2]}, {hi[0] + 1, hi[1] + 1, hi[2] + 1}};
}

/// Returns how often each point of a domain lies in a box.
std::vector<int> cover(const std::vector<run::OutputTable>& tables, Index3 cells) {
  std::vector<int> times(static_cast<std::size_t>(cells.volume()));
  for (const auto& table : tables) {
    const Box box = box_of(table);
    for (auto z = box.lo.z; z < box.hi.z; ++z)
      for (auto y = box.lo.y; y < box.hi.y; ++y)
        for (auto x = box.lo.x; x < box.hi.x; ++x)
          ++times.at(static_cast<std::size_t>(x + cells.x * (y + cells.y * z)));
  }
  return times;
}

}  // namespace

TEST_CASE("cuts and boxes lie where they are said to") {
  const auto tables = tables_of({"whole", "x", "y=3", "z=9", "box:1,2,3,4,5,6"});
  REQUIRE(tables.size() == 5);
  CHECK(box_of(tables[0]) == Box{{0, 0, 0}, {16, 12, 10}});
  CHECK(box_of(tables[1]) == Box{{8, 0, 0}, {9, 12, 10}});
  CHECK(box_of(tables[2]) == Box{{0, 3, 0}, {16, 4, 10}});
  CHECK(box_of(tables[3]) == Box{{0, 0, 9}, {16, 12, 10}});
  CHECK(box_of(tables[4]) == Box{{1, 2, 3}, {5, 6, 7}});
  CHECK(tables[2].name == "y3");
  CHECK(tables_of({"none"}).empty());
}

TEST_CASE("boxes without a size tile the domain, whatever their number") {
  const Index3 cells{16, 12, 10};
  for (const int count : {1, 2, 3, 8, 30, 96, 1920}) {
    const auto tables = tables_of({"boxes:" + std::to_string(count)});
    CHECK(tables.size() == static_cast<std::size_t>(count));
    const auto times = cover(tables, cells);
    CHECK(std::count(times.begin(), times.end(), 1) == cells.volume());
  }
  // A prime that does not fit: as many tiles as it takes, of which the last are left out.
  const auto times = cover(tables_of({"boxes:17"}), cells);
  CHECK(std::count_if(times.begin(), times.end(), [](int n) { return n > 1; }) == 0);
}

TEST_CASE("placement repeats for a seed and differs between seeds") {
  const auto corners = [](const std::string& text) {
    std::vector<std::vector<std::int64_t>> all;
    for (const auto& table : tables_of({text}))
      all.insert(all.end(), table.corners.begin(), table.corners.end());
    return all;
  };
  for (const std::string text : {"boxes:20,size=2x2x2", "points:40", "boxes:20,share=uneven,size=3x3x3"}) {
    CHECK(corners(text) == corners(text));
    CHECK(corners(text) != corners(text + ",seed=2"));
  }
}

TEST_CASE("shares: even all over, uneven low, one within a rank") {
  SelectionContext context{.cells = {16, 16, 40}, .ranks = 4};
  const auto low = [](const std::vector<run::OutputTable>& tables) {
    return std::count_if(tables.begin(), tables.end(), [](const auto& t) { return box_of(t).lo.z < 10; });
  };
  CHECK(low(tables_of({"boxes:64,size=2x2x2"}, context)) == 16);
  CHECK(low(tables_of({"boxes:64,size=2x2x2,share=uneven"}, context)) > 32);
  for (const int rank : {0, 3}) {
    const auto text = "boxes:64,size=2x2x2,share=one,rank=" + std::to_string(rank);
    for (const auto& table : tables_of({text}, context)) {
      const Box own = context.ownership.box(context.cells, 4, rank);
      CHECK(intersect(box_of(table), own) == box_of(table));
    }
  }
  // More ranks than planes: the first rank that owns something.
  context = {.cells = {4, 4, 1}, .ownership = parse_ownership("uneven"), .ranks = 3};
  CHECK(context.ownership.box(context.cells, 3, 0).empty());
  CHECK(tables_of({"boxes:4,share=one"}, context).size() == 4);
}

TEST_CASE("multipliers: more datasets of the same data, and the same data again") {
  const Index3 cells{16, 12, 10};
  SelectionContext context{.cells = cells, .write_multiplier = 4};
  auto tables = tables_of({"whole"}, context);
  CHECK(tables.size() == 4);
  auto times = cover(tables, cells);
  CHECK(std::count(times.begin(), times.end(), 1) == cells.volume());
  context = {.cells = cells, .data_multiplier = 3};
  tables = tables_of({"whole", "whole"}, context);
  CHECK(tables.size() == 6);
  times = cover(tables, cells);
  CHECK(std::count(times.begin(), times.end(), 6) == cells.volume());
  std::set<std::string> names;
  for (const auto& table : tables) names.insert(table.name);
  CHECK(names.size() == 6);
  context = {.cells = cells, .write_multiplier = 4};
  tables = tables_of({"points:10"}, context);
  std::size_t points = 0;
  for (const auto& table : tables) points += table.corners.size();
  CHECK(tables.size() == 4);
  CHECK(points == 10);
}

TEST_CASE("what does not fit is a problem") {
  tables_of({"x=16", "box:0,0,0,16,0,0", "boxes:2,size=17x1x1", "boxes:2000", "points:3,share=one,rank=1"},
            {}, 5);
  for (const char* text : {"boxes", "boxes:0", "boxes:2,size=3x3", "points:2,size=1x1x1", "x=-1",
                           "box:1,1,1,0,0,0", "boxes:2,rank=0", "boxes:2,color=red", "sphere:3", ""})
    CHECK_THROWS_AS(parse_selection(text), Error);
}

TEST_CASE("every point has one owner in every decomposition") {
  const Index3 cells{3, 5, 6};
  for (const std::string name : {"slabs", "pencils", "uneven", "one-owner:0"})
    for (const int ranks : {1, 2, 3, 4, 7, 40}) {
      const auto ownership = parse_ownership(name);
      std::int64_t owned = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const Box mine = ownership.box(cells, ranks, rank);
        owned += mine.volume();
        for (int other = 0; other < rank; ++other)
          CHECK(intersect(mine, ownership.box(cells, ranks, other)).empty());
      }
      CHECK(owned == cells.volume());
    }
  CHECK_THROWS_AS(parse_ownership("one-owner:-1"), Error);
  CHECK_THROWS_AS(parse_ownership("cubes"), Error);
}

}  // namespace tailrace::rehearse
