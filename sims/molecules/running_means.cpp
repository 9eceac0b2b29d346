// SPDX-License-Identifier: BSD-3-Clause
#include "running_means.hpp"

namespace tailrace::molecules {

void RunningMeans::add(const Values& values) {
  last_.push_back(values);
  if (last_.size() > window) last_.pop_front();
  ++count_;
  sum_ += values[0];
  sum_of_squares_ += values[0] * values[0];
}

RunningMeans::Values RunningMeans::means() const noexcept {
  Values sums{};
  for (const auto& values : last_)
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
  for (auto& sum : sums) sum /= static_cast<double>(last_.empty() ? 1 : last_.size());
  return sums;
}

std::vector<double> RunningMeans::numbers() const {
  std::vector<double> numbers{static_cast<double>(count_), sum_, sum_of_squares_};
  for (const auto& values : last_) numbers.insert(numbers.end(), values.begin(), values.end());
  return numbers;
}

void RunningMeans::restore(const std::vector<double>& numbers) {
  *this = {};
  constexpr std::size_t head = 3;
  if (numbers.size() < head) return;
  count_ = static_cast<std::int64_t>(numbers[0]);
  sum_ = numbers[1];
  sum_of_squares_ = numbers[2];
  for (std::size_t i = head; i + head <= numbers.size(); i += head)
    last_.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
}

}  // namespace tailrace::molecules
