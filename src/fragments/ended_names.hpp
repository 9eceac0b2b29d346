// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fragments/number_ranges.hpp"
#include "fragments/stored.hpp"

namespace tailrace::fragments {

/// Names with equal ends whose first index is `step` apart from one to the next.
struct EndedRange {
  Id first;
  std::int32_t count = 1, step = 1;
  Stored how;  ///< without a value

  /// Calls visit(id) for each name.
  template <class Visit>
  void each(Visit visit) const {
    const auto indices = first.indices();
    for (std::int32_t i = 0; i < count; ++i) {
      Id id = first.base();
      id.take(static_cast<std::int32_t>(indices[0] + std::int64_t{i} * step));
      id.take(indices.subspan(1));
      visit(id);
    }
  }
};

/// Remembers names with indices whose values were used up or deleted, so that a later use or a second writer
/// is answered with what happened. A program that runs for long has as many as it has had data fragments:
/// names that differ in their first index and ended alike are kept as ranges of it.
class EndedNames {
 public:
  /// Names of one home are often so many apart in an index; their ranges are without gaps then.
  explicit EndedNames(std::int32_t step) : step_(step) {}

  void add(const Id& id, const Stored& how);
  void add(const EndedRange& range);
  /// How a name ended; null if it did not, or has no indices. Valid until the next `add`.
  [[nodiscard]] const Stored* find(const Id& id) const;
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  /// All of them, in any order.
  [[nodiscard]] std::vector<EndedRange> ranges() const;

 private:
  struct Alike {
    Stored how;
    NumberRanges places;  ///< first indices divided by the step
  };
  struct Split;  // a name without its first index, and where it is in the ranges
  [[nodiscard]] Split split(const Id& id) const;

  std::int32_t step_;
  std::unordered_map<Id, std::vector<Alike>, IdHash> all_;
};

}  // namespace tailrace::fragments
