// SPDX-License-Identifier: BSD-3-Clause
#include "description.hpp"

namespace tailrace::poisson {

namespace {

/// The first item of a part, as `layout::split` has it.
Int begin_of(int items, int parts, const Int& part) {
  const int least = items / parts, more = items % parts;
  return part * least + (part < more) * part + (part >= more) * more;
}

/// The part that has an item, as `layout::part_of` has it.
Int part_of(int items, int parts, const Int& item) {
  const int least = items / parts, more = items % parts, in_larger = more * (least + 1);
  if (least == 0) return item;
  return (item < in_larger) * (item / (least + 1)) +
         (item >= in_larger) * (more + (item - in_larger) / least);
}

/// Values that are computed once, on a rank, for what is described inside.
void let(Scope& scope, const Int& rank, const std::vector<Int>& values, std::vector<Int> names,
         const std::function<void(Scope&, const std::vector<Int>&)>& describe) {
  if (names.size() == values.size()) return describe(scope, names);
  const auto& value = values[names.size()];
  scope
      .for_each(value, value,
                [&](Scope& inner, const Int& name) {
                  auto more = names;
                  more.push_back(name);
                  let(inner, rank, values, more, describe);
                })
      .on(rank);
}

}  // namespace

std::vector<int> Layout::counts() const {
  const Index3 n = blocks_.counts();
  return {static_cast<int>(n.x), static_cast<int>(n.y), static_cast<int>(n.z)};
}

void Layout::each_rank(Scope& scope, const PerRank& describe) const {
  scope.for_each(0, blocks_.ranks() - 1,
                 [&](Scope& all, const Int& rank) { all.for_each(rank, rank, describe).on(rank); });
}

Int Layout::blocks_on(const Int& rank) const {
  const auto n = counts();
  const auto [nx, ny, nz] = blocks_.bricks();
  const auto size = [](int items, int parts, const Int& part) {
    return begin_of(items, parts, part + 1) - begin_of(items, parts, part);
  };
  return size(n[2], nz, rank / (nx * ny)) * size(n[1], ny, rank / nx % ny) * size(n[0], nx, rank % nx);
}

void Layout::each_interval(Scope& scope, const Int& rank, const Int& looks, const Ends& ends,
                           const PerInterval& describe) {
  const auto end = scope.data<int>("end"), count = scope.data<int>("intervals");
  // Read by the condition of its interval, for the end of that, and for the begin of the next.
  const auto readers = [&](const Int& j) { return (j <= looks + 1) + (j <= looks) + (j < looks); };
  scope.call(ends)
      .into(end[0][rank], end[1][rank], end[2][rank])
      .on(rank)
      .reads(end[0][rank], 1)
      .reads(end[1][rank], readers(1))
      .reads(end[2][rank], readers(2));
  scope
      .repeat_while(
          count, 1, [&](const Int& j) { return end[j][rank] >= 0; },
          [&](Scope& one, const Int& j) {
            let(one, rank, {end[j - 1][rank], end[j][rank]}, {},
                [&](Scope& inner, const std::vector<Int>& bounds) {
                  describe(inner, {.look = j,
                                   .begin = bounds[0],
                                   .end = bounds[1],
                                   .next_end = end[j + 2][rank],
                                   .readers = readers(j + 2)});
                });
          })
      .on(rank);
}

void Layout::each_block(Scope& scope, const Int& rank, const PerBlock& describe) const {
  const auto n = counts();
  const auto [nx, ny, nz] = blocks_.bricks();
  const auto over = [&](Scope& outer, int items, int parts, const Int& part, const auto& inside) {
    outer.for_each(begin_of(items, parts, part), begin_of(items, parts, part + 1) - 1, inside).on(rank);
  };
  over(scope, n[2], nz, rank / (nx * ny), [&](Scope& layer, const Int& z) {
    over(layer, n[1], ny, rank / nx % ny, [&](Scope& line, const Int& y) {
      over(line, n[0], nx, rank % nx, [&](Scope& block, const Int& x) {
        describe_block(block, rank, {x, y, z}, describe);
      });
    });
  });
}

void Layout::describe_block(Scope& scope, const Int& rank, const std::vector<Int>& at,
                            const PerBlock& describe) const {
  const auto n = counts();
  let(scope, rank, {at[0] + n[0] * (at[1] + n[1] * at[2])}, {},
      [&](Scope& inner, const std::vector<Int>& number) {
        std::vector<Int> values{number[0] * blocks_.ranks() + rank, readers(at)};
        for (auto& neighbour : neighbours(at, number[0])) values.push_back(slot_of_block(neighbour));
        let(inner, rank, values, {}, [&](Scope& innermost, const std::vector<Int>& names) {
          describe(innermost, {.number = number[0],
                               .rank = rank,
                               .slot = names[0],
                               .readers = names[1],
                               .near = {names.begin() + 2, names.end()}});
        });
      });
}

Int Layout::slot_of_block(const Int& number) const {
  const auto n = counts();
  const auto [nx, ny, nz] = blocks_.bricks();
  const auto x = part_of(n[0], nx, number % n[0]), y = part_of(n[1], ny, number / n[0] % n[1]),
             z = part_of(n[2], nz, number / (n[0] * n[1]));
  return number * blocks_.ranks() + (z * ny + y) * nx + x;
}

std::vector<Int> Layout::neighbours(const std::vector<Int>& at, const Int& number) const {
  const auto n = counts();
  std::vector<Int> list;
  int distance = 1;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid_.dimensions); distance *= n[axis++]) {
    const auto& i = at[axis];
    if (grid_.periodic[axis]) {
      list.push_back(number + distance * ((i + n[axis] - 1) % n[axis] - i));
      list.push_back(number + distance * ((i + 1) % n[axis] - i));
    } else {
      list.push_back(number - distance * (i > 0));
      list.push_back(number + distance * (i < n[axis] - 1));
    }
  }
  return list;
}

/// A block reads each of its neighbours once, also itself.
Int Layout::readers(const std::vector<Int>& at) const {
  const auto n = counts();
  Int others = 0, inside = 1;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid_.dimensions); ++axis) {
    if (grid_.periodic[axis]) {
      others = others + std::min(n[axis] - 1, 2);
      if (n[axis] == 1) inside = 0;
      continue;
    }
    const Int low = at[axis] > 0, high = at[axis] < n[axis] - 1;
    others = others + low + high;
    inside = inside * low * high;
  }
  return others + 1 - inside;
}

Int Layout::slot_of_sum(int sums, const Int& number) const {
  return number * blocks_.ranks() + part_of(sums, blocks_.ranks(), number);
}

/// A level of the tree of sums.
struct Layout::Level {
  int items, sums;  ///< below, and here
  bool lowest;
  Each each;
  Int looks;
  Data<double> lower, upper;
  Adding bodies;
};

/// One sum, for all sweeps or looks.
void Layout::describe_sum(Scope& scope, const Int& rank, const Int& number, const Level& level) const {
  const int last = level.items - 1;
  std::vector<Int> values{slot_of_sum(level.sums, number)};
  for (int i = 0; i < fan_in; ++i) {
    const Int item = number * fan_in + i;
    const Int within = (item <= last) * item + (item > last) * last;
    values.push_back(level.lowest ? slot_of_block(within) : slot_of_sum(level.items, within));
  }
  let(scope, rank, values, {}, [&](Scope& inner, const std::vector<Int>& at) {
    const auto &lower = level.lower, &upper = level.upper;
    const Int readers = level.sums == 1 ? blocks_.ranks() : 1;
    const auto add = [&](Scope& one, const Int& k, const Int& more) {
      one.call(level.bodies.add)
          .with(level.items - number * fan_in, lower[k][at[1]], lower[k][at[2]], lower[k][at[3]],
                lower[k][at[4]])
          .into(upper[k][at[0]])
          .on(rank)
          .reads(upper[k][at[0]], readers + more);
    };
    each_interval(inner, rank, level.looks, level.bodies.ends, [&](Scope& interval, const Interval& s) {
      if (level.each == Each::look)
        add(interval, s.look, 1);
      else
        interval.for_each(s.begin + 1, s.end, [&](Scope& one, const Int& k) { add(one, k, k == s.end); })
            .on(rank);
      interval.call(level.bodies.passed)
          .with(s.look, upper[level.each == Each::look ? s.look : s.end][at[0]])
          .into(s.next_end)
          .on(rank)
          .reads(s.next_end, s.readers);
    });
  });
}

Layout::Sums Layout::sums(Scope& main, const std::string& name, Each each, const Int& looks,
                          const Data<double>& parts, const Adding& bodies) const {
  std::vector<Level> levels;
  auto lower = parts;
  for (int items = blocks_.blocks(); levels.empty() || items > 1;) {
    const int sums = (items + fan_in - 1) / fan_in;
    const auto upper = main.data<double>(name);
    levels.push_back({.items = items,
                      .sums = sums,
                      .lowest = levels.empty(),
                      .each = each,
                      .looks = looks,
                      .lower = lower,
                      .upper = upper,
                      .bodies = bodies});
    lower = upper;
    items = sums;
  }
  return {lower, [this, levels](Scope& scope, const Int& rank) {
            const int ranks = blocks_.ranks();
            for (const auto& level : levels)
              scope
                  .for_each(
                      begin_of(level.sums, ranks, rank), begin_of(level.sums, ranks, rank + 1) - 1,
                      [&](Scope& inner, const Int& number) { describe_sum(inner, rank, number, level); })
                  .on(rank);
          }};
}

}  // namespace tailrace::poisson
