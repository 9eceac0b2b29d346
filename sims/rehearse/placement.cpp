// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "numbers.hpp"
#include "selection.hpp"
#include "tailrace/decomposition.hpp"

namespace tailrace::rehearse {

namespace {

using layout::Axis;
constexpr int unevenness = 3;  // power of the random numbers: half of the places lie in an eighth of an axis
constexpr std::array all_axes{Axis::x, Axis::y, Axis::z};

/// Returns how many tiles a region is cut into along x, y and z.
Index3 tile_counts(Index3 n, std::int64_t count) {
  std::tuple<std::int64_t, std::int64_t> best{count * count + 1, 0};  // tiles too many; edges of a tile
  Index3 counts{1, 1, count};
  for (std::int64_t i = 1; i <= std::min(n.x, count); ++i)
    for (std::int64_t j = 1; j <= std::min(n.y, (count + i - 1) / i); ++j) {
      const std::int64_t k = (count + i * j - 1) / (i * j);
      if (k > n.z) continue;
      const std::tuple<std::int64_t, std::int64_t> found{i * j * k - count, n.x / i + n.y / j + n.z / k};
      if (found < best) std::tie(best, counts) = std::tuple{found, Index3{i, j, k}};
    }
  return counts;
}

/// Tile number `number` of a region that is cut into `counts` tiles.
Box tile(const Box& region, Index3 counts, std::int64_t number) {
  const auto part = [](Range range, std::int64_t parts, std::int64_t i) {
    const Range inside = layout::split(range.size(), static_cast<int>(parts), static_cast<int>(i));
    return Range{range.begin + inside.begin, range.begin + inside.end};
  };
  const Range x = part(region.x(), counts.x, number % counts.x);
  const Range y = part(region.y(), counts.y, number / counts.x % counts.y);
  const Range z = part(region.z(), counts.z, number / counts.x / counts.y);
  return {{x.begin, y.begin, z.begin}, {x.end, y.end, z.end}};
}

/// A box of a size somewhere in a region that can hold it; `power` as for `Random::below`, along y and z.
Box place_box(const Box& region, Index3 size, int power, Random& random) {
  const Index3 n = region.extents();
  const Index3 lo{region.lo.x + random.below(n.x - size.x + 1),
                  region.lo.y + random.below(n.y - size.y + 1, power),
                  region.lo.z + random.below(n.z - size.z + 1, power)};
  return {lo, {lo.x + size.x, lo.y + size.y, lo.z + size.z}};
}

bool fits(Index3 size, const Box& region) {
  const Index3 n = region.extents();
  return size.x <= n.x && size.y <= n.y && size.z <= n.z;
}

/// Turns one selection into tables.
class Placement {
 public:
  Placement(const Selection& selection, const SelectionContext& context, std::string name)
      : selection_(selection), context_(context), name_(std::move(name)), random_(selection.seed) {}

  std::vector<run::OutputTable> tables() {
    using Kind = Selection::Kind;
    const Box whole = Box::whole(context_.cells);
    switch (selection_.kind) {
      case Kind::none:
        break;
      case Kind::whole:
        add_box(name_, whole);
        break;
      case Kind::cut:
        add_box(name_, cut());
        break;
      case Kind::box:
        if (!(intersect(selection_.box, whole) == selection_.box)) fail("lies outside of the domain");
        add_box(name_, selection_.box);
        break;
      case Kind::varying:
        add_rows();
        break;
      case Kind::boxes:
        add_boxes();
        break;
      case Kind::points:
        add_points();
        break;
    }
    return std::move(tables_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    const Index3& n = context_.cells;
    throw Error(ErrorInfo{
        .kind = ErrorKind::usage,
        .message = fmt::format("selection \"{}\": {}", selection_.text, what),
        .path = {},
        .hint = fmt::format("indices count from 0, the domain has {} x {} x {} points", n.x, n.y, n.z)});
  }

  [[nodiscard]] Box cut() const {
    const Axis axis = all_axes[selection_.axis];
    const Box whole = Box::whole(context_.cells);
    const std::int64_t n = layout::range_of(whole, axis).size();
    const std::int64_t index = selection_.index.value_or(n / 2);
    if (index >= n) fail(fmt::format("{} is outside of the domain", index));
    return layout::with_range(whole, axis, {index, index + 1});
  }

  /// Returns where boxes and points may lie.
  [[nodiscard]] Box region() const {
    const auto box_of = [&](int rank) {
      return context_.ownership.box(context_.cells, context_.ranks, rank);
    };
    if (selection_.share != Selection::Share::one) return Box::whole(context_.cells);
    if (selection_.owner >= context_.ranks)
      fail(fmt::format("there is no rank {}: the run has {}", selection_.owner,
                       counted(context_.ranks, "rank")));
    int rank = std::max(selection_.owner, 0);
    while (selection_.owner < 0 && rank + 1 < context_.ranks && box_of(rank).empty()) ++rank;
    if (box_of(rank).empty()) fail(fmt::format("rank {} owns no points", rank));
    return box_of(rank);
  }

  [[nodiscard]] int power() const { return selection_.share == Selection::Share::uneven ? unevenness : 1; }

  void add_boxes() {
    const Box where = region();
    if (selection_.count > where.volume()) fail("more boxes than points");
    const Index3 counts = tile_counts(where.extents(), selection_.count);
    const Index3 smallest = tile(where, counts, counts.volume() - 1).extents();
    const bool tiled = selection_.share != Selection::Share::uneven;
    const Index3 size = selection_.size.value_or(smallest);
    if (!fits(size, where))
      fail(fmt::format("the boxes are larger than the {} points there", where.volume()));
    for (std::int64_t i = 0; i < selection_.count; ++i) {
      const Box home = tile(where, counts, i);
      const auto name = selection_.count == 1 ? name_ : fmt::format("{}-{:03}", name_, i + 1);
      if (tiled && !selection_.size)
        add_box(name, home);
      else
        add_box(name, place_box(tiled && fits(size, home) ? home : where, size, power(), random_));
    }
  }

  void add_points() {
    const Box where = region();
    run::OutputTable table = make_table(name_);
    table.shape = run::OutputTable::Shape::points;
    for (std::int64_t i = 0; i < selection_.count; ++i) {
      const Index3 p = place_box(where, {1, 1, 1}, power(), random_).lo;
      table.corners.push_back({p.x, p.y, p.z});
    }
    const auto parts = static_cast<int>(std::min(context_.write_multiplier, selection_.count));
    for (int part = 0; part < parts; ++part) {
      const Range range = layout::split(selection_.count, parts, part);
      auto share = table;
      share.name = part_name(name_, part, parts);
      share.corners.assign(table.corners.begin() + range.begin, table.corners.begin() + range.end);
      add_copies(share);
    }
  }

  void add_rows() {
    if (context_.reduction != output::Reduction::none)
      throw Error(ErrorInfo{.kind = ErrorKind::usage,
                            .message = fmt::format("selection \"{}\": rows cannot be reduced to one {}",
                                                   selection_.text, output::to_string(context_.reduction)),
                            .path = {},
                            .hint = "leave --reduce out"});
    auto table = make_table(name_);
    table.shape = run::OutputTable::Shape::rows;
    table.components = row_components;
    add_copies(table);
  }

  /// A box as one dataset or, cut along its longest axis, as several.
  void add_box(const std::string& name, const Box& box) {
    const Index3 n = box.extents();
    const Axis axis = n.z >= n.y && n.z >= n.x ? Axis::z : n.y >= n.x ? Axis::y : Axis::x;
    const Range range = layout::range_of(box, axis);
    const auto parts = static_cast<int>(std::min(context_.write_multiplier, range.size()));
    for (int part = 0; part < parts; ++part) {
      const Range inside = layout::split(range.size(), parts, part);
      const Box batch = layout::with_range(box, axis, {range.begin + inside.begin, range.begin + inside.end});
      auto table = make_table(part_name(name, part, parts));
      table.shape = run::OutputTable::Shape::box;
      table.corners = {{batch.lo.x, batch.lo.y, batch.lo.z},
                       {batch.hi.x - 1, batch.hi.y - 1, batch.hi.z - 1}};
      add_copies(table);
    }
  }

  void add_copies(const run::OutputTable& table) {
    for (std::int64_t copy = 1; copy <= context_.data_multiplier; ++copy) {
      tables_.push_back(table);
      if (copy > 1) tables_.back().name += fmt::format("-copy{}", copy);
    }
  }

  static std::string part_name(const std::string& name, int part, int parts) {
    return parts == 1 ? name : fmt::format("{}-part{}", name, part + 1);
  }

  [[nodiscard]] run::OutputTable make_table(const std::string& name) const {
    run::OutputTable table;
    table.key = fmt::format("selection \"{}\"", selection_.text);
    table.name = name;
    table.quantity = std::string(quantity);
    table.unit = std::string(unit);
    if (context_.reduction != output::Reduction::final) table.every = context_.every;
    table.reduction = context_.reduction;
    table.type = context_.type;
    return table;
  }

  const Selection& selection_;
  const SelectionContext& context_;
  std::string name_;
  Random random_;
  std::vector<run::OutputTable> tables_;
};

/// The word that begins the names of a selection's datasets.
std::string word_of(const Selection& selection) {
  const auto& text = selection.text;
  std::string word = text.substr(0, text.find_first_of(":="));
  if (selection.index) word += fmt::format("{}", *selection.index);
  return word;
}

}  // namespace

std::vector<run::OutputTable> make_tables(const std::vector<Selection>& selections,
                                          const SelectionContext& context, Problems& problems) {
  std::vector<run::OutputTable> all;
  std::map<std::string, int> uses;
  for (const auto& selection : selections) {
    auto name = word_of(selection);
    if (const int use = ++uses[name]; use > 1) name += fmt::format("_{}", use);
    try {
      auto tables = Placement(selection, context, name).tables();
      std::move(tables.begin(), tables.end(), std::back_inserter(all));
    } catch (const Error& error) {
      problems.add(error.info().message, error.info().hint);
    }
  }
  return all;
}

}  // namespace tailrace::rehearse
