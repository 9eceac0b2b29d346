// SPDX-License-Identifier: BSD-3-Clause
#include "decomposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.hpp"
#include "base/text.hpp"
#include "tailrace/error.hpp"

namespace tailrace::molecules {

namespace {

constexpr int field_bits = 30;  // of a plane and of a number of ranks
constexpr std::int64_t field_mask = (std::int64_t{1} << field_bits) - 1;

std::int64_t packed(const Cut& cut) noexcept {
  return ((static_cast<std::int64_t>(cut.axis) << field_bits | cut.plane) << field_bits) | cut.low_ranks;
}

Cut unpacked(std::int64_t number) noexcept {
  return {.axis = static_cast<std::size_t>(number >> (2 * field_bits) & 3),
          .plane = number >> field_bits & field_mask,
          .low_ranks = static_cast<int>(number & field_mask)};
}

/// Area of all parts, without what is the same for all grids. Images of a rank's own molecules are work, too.
double area(const Vec3& box, const std::array<int, 3>& grid) noexcept {
  double sum = 0;
  for (std::size_t d = 0; d < 3; ++d) sum += grid[d] * box[(d + 1) % 3] * box[(d + 2) % 3];
  return sum;
}

std::array<int, 3> min_area_grid(const Vec3& box, int ranks) {
  std::array<int, 3> best{};
  double least = std::numeric_limits<double>::max();
  for (int x = 1; x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    for (int y = 1; y <= ranks / x; ++y) {
      if (ranks / x % y != 0) continue;
      const std::array grid{x, y, ranks / x / y};
      if (area(box, grid) < least) best = grid, least = area(box, grid);
    }
  }
  return best;
}

[[noreturn]] void refuse_numbers() {
  throw Error({.kind = ErrorKind::input,
               .message = "the numbers of a decomposition of the box are not consistent",
               .path = {},
               .hint = "the file is damaged, or another program wrote it"});
}

}  // namespace

Decomposition Decomposition::regular(const Vec3& box, int ranks, std::optional<std::array<int, 3>> grid) {
  TAILRACE_CHECK(ranks > 0, "a decomposition needs a rank");
  const auto parts = grid.value_or(min_area_grid(box, ranks));
  const bool positive = *std::ranges::min_element(parts) > 0;
  if (!positive || std::int64_t{parts[0]} * parts[1] * parts[2] != ranks)
    throw Error({.kind = ErrorKind::input,
                 .message = fmt::format("a grid of {} x {} x {} parts is not one for {}", parts[0], parts[1],
                                        parts[2], counted(ranks, "rank")),
                 .path = {},
                 .hint = "give three positive numbers whose product is the number of ranks, or none"});
  return {{box, {parts[0], parts[1], parts[2]}}, ranks, false};
}

Decomposition Decomposition::kd(const CellGrid& cells, std::span<const Cut> cuts, int ranks) {
  Decomposition all(cells, ranks, true);
  for (const Cut& cut : cuts) all.cuts_.push_back(packed(cut));
  all.check_cuts();
  return all;
}

Decomposition::Branch Decomposition::root() const noexcept {
  return {.cells = grid_.whole(), .first = 0, .ranks = static_cast<int>(cuts_.size()) + 1, .cut = 0};
}

std::array<Decomposition::Branch, 2> Decomposition::divided(const Branch& branch) const noexcept {
  const Cut cut = unpacked(cuts_[branch.cut]);
  Branch low = branch, high = branch;
  low.cells.high[cut.axis] = high.cells.low[cut.axis] = cut.plane;
  low.ranks = cut.low_ranks;
  high.ranks -= cut.low_ranks;
  high.first += cut.low_ranks;
  low.cut += 1;
  // The part below has a cut less than ranks.
  high.cut += static_cast<std::size_t>(cut.low_ranks);
  return {low, high};
}

Region Decomposition::region(int rank) const {
  TAILRACE_CHECK(rank >= 0 && rank < ranks_, "no such rank");
  if (!tree_) {
    const auto x = grid_.cells[0], y = grid_.cells[1];
    const Cell3 at{rank % x, rank / x % y, rank / x / y};
    return grid_.region({at, {at[0] + 1, at[1] + 1, at[2] + 1}});
  }
  Branch branch = root();
  if (rank >= branch.ranks) return {};
  while (branch.ranks > 1) {
    const auto parts = divided(branch);
    branch = parts[rank < parts[1].first ? 0 : 1];
  }
  return grid_.region(branch.cells);
}

int Decomposition::owner(const Vec3& r) const noexcept {
  if (!Region{{}, grid_.box}.contains(r)) return -1;
  const Cell3 cell = grid_.cell_of(r);
  if (!tree_) return static_cast<int>(grid_.index(cell));
  int first = 0, ranks = static_cast<int>(cuts_.size()) + 1;
  for (std::size_t at = 0; ranks > 1;) {
    const Cut cut = unpacked(cuts_[at]);
    const bool low = cell[cut.axis] < cut.plane;
    at += low ? 1 : static_cast<std::size_t>(cut.low_ranks);
    first += low ? 0 : cut.low_ranks;
    ranks = low ? cut.low_ranks : ranks - cut.low_ranks;
  }
  return first;
}

std::vector<int> Decomposition::ranks_meeting(const Region& region) const {
  const CellBox met = grid_.cells_of(region);
  std::vector<int> found;
  if (!tree_) {
    for (auto z = met.low[2]; z < met.high[2]; ++z)
      for (auto y = met.low[1]; y < met.high[1]; ++y)
        for (auto x = met.low[0]; x < met.high[0]; ++x)
          found.push_back(static_cast<int>(grid_.index({x, y, z})));
    return found;
  }
  std::vector<Branch> open{root()};
  while (!open.empty()) {
    const Branch branch = open.back();
    open.pop_back();
    bool meets = true;
    for (std::size_t d = 0; d < 3; ++d)
      meets = meets && branch.cells.low[d] < met.high[d] && met.low[d] < branch.cells.high[d];
    if (!meets) continue;
    if (branch.ranks == 1) {
      found.push_back(branch.first);
      continue;
    }
    const auto [low, high] = divided(branch);
    open.push_back(high);
    open.push_back(low);
  }
  return found;
}

std::vector<std::int64_t> Decomposition::numbers() const {
  std::vector<std::int64_t> all{tree_ ? 1 : 0, ranks_, grid_.cells[0], grid_.cells[1], grid_.cells[2]};
  all.insert(all.end(), cuts_.begin(), cuts_.end());
  return all;
}

Decomposition Decomposition::restored(const Vec3& box, std::span<const std::int64_t> numbers) {
  if (numbers.size() < 5 || numbers[1] < 1 || numbers[1] > field_mask) refuse_numbers();
  for (const auto cells : numbers.subspan(2, 3))
    if (cells < 1 || cells > field_mask) refuse_numbers();
  Decomposition all({box, {numbers[2], numbers[3], numbers[4]}}, static_cast<int>(numbers[1]),
                    numbers[0] != 0);
  all.cuts_.assign(numbers.begin() + 5, numbers.end());
  const std::int64_t plane = numbers[2] * numbers[3];  // a product of three may not fit
  if (!all.tree_ && (!all.cuts_.empty() || plane > numbers[1] || plane * numbers[4] != numbers[1]))
    refuse_numbers();
  if (all.tree_) all.check_cuts();
  return all;
}

/// Every cut divides its cells and its ranks, so that no region is empty and every walk ends.
void Decomposition::check_cuts() const {
  if (static_cast<std::int64_t>(cuts_.size()) >= ranks_) refuse_numbers();
  std::vector<Branch> open{root()};
  while (!open.empty()) {
    const Branch branch = open.back();
    open.pop_back();
    if (branch.ranks == 1) continue;
    const Cut cut = unpacked(cuts_[branch.cut]);
    if (cut.axis > 2 || cut.low_ranks < 1 || cut.low_ranks >= branch.ranks ||
        cut.plane <= branch.cells.low[cut.axis] || cut.plane >= branch.cells.high[cut.axis])
      refuse_numbers();
    const auto [low, high] = divided(branch);
    open.push_back(low);
    open.push_back(high);
  }
}

}  // namespace tailrace::molecules
