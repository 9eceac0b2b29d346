// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "tailrace/comm.hpp"

namespace tailrace::ultrasound {

/// Describes which finite values a dataset may hold.
enum class Accepted { any, not_negative, positive };

/// Inline and without a branch: every value of an input is asked, several at a time.
template <class Real>
bool is_good(Real value, Accepted accepted) noexcept {
  const bool any = accepted == Accepted::any, zero = accepted == Accepted::not_negative;
  return std::isfinite(value) & (any | (value > 0) | (zero & (value == 0)));
}
/// Returns what to write instead, for a message.
const char* fix_for(Accepted accepted) noexcept;

/// Values that a dataset may not hold: how many, and where the first one is (position in the dataset).
struct BadValues {
  std::int64_t count = 0, first = std::numeric_limits<std::int64_t>::max();
  double example = 0;

  void mark(std::int64_t index, double value) noexcept;
  /// Takes in what was found elsewhere in the dataset.
  void add(const BadValues& other) noexcept;
  /// "3 values are not usable, first nan".
  [[nodiscard]] std::string text() const;
};

/// Returns what all ranks found together. @collective{comm}
BadValues combined(mpi::CommView comm, const BadValues& mine);

}  // namespace tailrace::ultrasound
