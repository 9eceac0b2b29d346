// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tailrace/exchange/field.hpp"

namespace tailrace::exchange {

/// Entries of an array, in the order of a message: as runs of neighbours where that is shorter than one by
/// one.
class Entries {
 public:
  Entries() = default;
  /// @local
  explicit Entries(std::span<const std::int64_t> places);

  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  /// Copies them one after the other to `out`. @local
  void copy_from(const Field& array, std::byte* out) const;
  /// Combines what is one after the other at `values` with them, in this order. @local
  void combine_into(const Field& array, const std::byte* values, const Combine& how) const;
  /// Visits the places in their order. @local
  template <class Visit>
  void for_each(Visit visit) const {
    for_each_run([&](std::int32_t first, std::int32_t count) {
      for (std::int32_t i = 0; i < count; ++i) visit(first + i);
    });
  }
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  struct Run {
    std::int32_t first, count;
  };
  template <class Visit>
  void for_each_run(Visit visit) const {
    for (const auto [first, count] : runs_) visit(first, count);
    for (const std::int32_t place : places_) visit(place, std::int32_t{1});
  }

  std::int64_t size_ = 0;
  std::vector<std::int32_t> places_;  ///< one by one, or none
  std::vector<Run> runs_;             ///< or as runs
};

/// Entries of an array, each with the one of another array that it is combined into, in their order.
class PairedEntries {
 public:
  /// Appends a pair. @local
  void add(std::int32_t from, std::int32_t into) {
    if (!runs_.empty() && runs_.back().from + runs_.back().count == from &&
        runs_.back().into + runs_.back().count == into)
      ++runs_.back().count;
    else
      runs_.push_back({from, into, 1});
  }
  /// @local
  void combine(const Field& from, const Field& into, const Combine& how) const;
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return runs_.capacity() * sizeof runs_[0]; }

 private:
  struct Run {
    std::int32_t from, into, count;  ///< neighbours in both arrays
  };
  std::vector<Run> runs_;
};

/// Combines the value of each position with its slot: owned slots are in `own`, the others in `landing`.
/// @local
void combine_positions(const Field& values, std::span<const std::int32_t> slots, std::int32_t owned,
                       const Field& own, const Field& landing, const Combine& how);

/// Sets all entries to the value that changes nothing when combined. @local
void set_neutral(const Field& array, const Combine& how);

}  // namespace tailrace::exchange
