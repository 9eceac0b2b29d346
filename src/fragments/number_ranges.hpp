// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace tailrace::fragments {

/// A set of numbers, most of which follow each other: memory for each gap, none for each number.
class NumberRanges {
 public:
  void add(std::int64_t number) {
    auto next = ranges_.upper_bound(number);
    const bool inside = next != ranges_.begin() && std::prev(next)->second >= number;
    if (inside) return;
    const bool follows = next != ranges_.begin() && std::prev(next)->second + 1 == number;
    if (next != ranges_.end() && next->first == number + 1) {
      const auto last = next->second;
      next = ranges_.erase(next);
      if (!follows) return void(ranges_.emplace_hint(next, number, last));
      std::prev(next)->second = last;
    } else if (follows) {
      std::prev(next)->second = number;
    } else {
      ranges_.emplace_hint(next, number, number);
    }
  }
  [[nodiscard]] bool contains(std::int64_t number) const {
    const auto next = ranges_.upper_bound(number);
    return next != ranges_.begin() && std::prev(next)->second >= number;
  }
  /// The first and the last number of each range, ascending.
  [[nodiscard]] const std::map<std::int64_t, std::int64_t>& all() const noexcept { return ranges_; }

 private:
  std::map<std::int64_t, std::int64_t> ranges_;
};

}  // namespace tailrace::fragments
