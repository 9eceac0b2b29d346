// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace tailrace::molecules {

/// Means over the last steps of what is measured in each, and the fluctuations of the potential energy since
/// the start. A value that is the same on all ranks; part of a checkpoint.
class RunningMeans {
 public:
  static constexpr std::size_t window = 1000;  ///< steps, as ls1 mardyn has it
  using Values = std::array<double, 3>;        ///< potential energy, kinetic energy, pressure

  void add(const Values& values);
  /// Summed up anew each time: a run that is resumed has the same bits.
  [[nodiscard]] Values means() const noexcept;
  /// Means of the potential energy and of its square over all steps.
  [[nodiscard]] double mean_energy() const noexcept {
    return count_ > 0 ? sum_ / static_cast<double>(count_) : 0;
  }
  [[nodiscard]] double mean_square_energy() const noexcept {
    return count_ > 0 ? sum_of_squares_ / static_cast<double>(count_) : 0;
  }

  /// As plain numbers, and from these.
  [[nodiscard]] std::vector<double> numbers() const;
  void restore(const std::vector<double>& numbers);

 private:
  std::deque<Values> last_;
  std::int64_t count_ = 0;
  double sum_ = 0, sum_of_squares_ = 0;
};

}  // namespace tailrace::molecules
