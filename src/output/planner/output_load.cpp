// SPDX-License-Identifier: BSD-3-Clause
#include "output/planner/output_load.hpp"

#include <algorithm>

namespace tailrace::output {

namespace {

/// Steps after `after` at which unreduced samples are due.
std::vector<StepIndex> output_steps(const Plan& plan, StepIndex after) {
  std::vector<StepIndex> steps;
  for (const auto& stream : plan.streams) {
    if (stream.reduction != Reduction::none) continue;
    const auto own = stream.cadence.steps();
    const auto from = std::upper_bound(own.begin(), own.end(), after);
    const auto middle = static_cast<std::ptrdiff_t>(steps.size());
    steps.insert(steps.end(), from, own.end());
    std::inplace_merge(steps.begin(), steps.begin() + middle, steps.end());
  }
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

/// Bytes of a sample of a stream in the file, over all ranks.
double file_bytes(const PlannedStream& stream) {
  double bytes = 0;
  for (const auto& dataset : stream.datasets)
    bytes += static_cast<double>(h5::element_count(dataset.shape) * h5::size_bytes(dataset.type));
  return bytes / static_cast<double>(std::max<StepIndex>(1, stream.cadence.samples()));
}

}  // namespace

OutputLoad::OutputLoad(const Plan& plan, StepIndex after) : plan_(plan), steps_(output_steps(plan, after)) {
  const auto outputs = static_cast<double>(std::max<std::size_t>(1, output_steps(plan, -1).size()));
  for (const auto& stream : plan.streams) {
    if (stream.reduction != Reduction::none) continue;
    const double share = static_cast<double>(stream.cadence.samples()) / outputs;
    own_bytes_ += static_cast<double>(stream.sample_bytes()) * share;
    bytes_ += file_bytes(stream) * share;
  }
}

StepIndex OutputLoad::fewest_between() const noexcept {
  StepIndex fewest = 0;
  for (std::size_t i = 1; i < steps_.size(); ++i)
    if (const auto gap = steps_[i] - steps_[i - 1]; fewest == 0 || gap < fewest) fewest = gap;
  return std::max<StepIndex>(1, fewest);
}

double OutputLoad::mean_between() const noexcept {
  if (steps_.size() < 2) return 1;
  return static_cast<double>(steps_.back() - steps_.front()) / static_cast<double>(steps_.size() - 1);
}

int OutputLoad::datasets() const noexcept {
  std::size_t count = 0;
  for (const auto& stream : plan_.streams)
    if (stream.reduction == Reduction::none) count += stream.datasets.size();
  return static_cast<int>(count);
}

double OutputLoad::own_bytes_at(StepIndex step) const noexcept {
  double bytes = 0;
  for (const auto& stream : plan_.streams)
    if (stream.reduction == Reduction::none && stream.cadence.is_due(step))
      bytes += static_cast<double>(stream.sample_bytes());
  return bytes;
}

double OutputLoad::bytes_at(StepIndex step) const noexcept {
  double bytes = 0;
  for (const auto& stream : plan_.streams)
    if (stream.reduction == Reduction::none && stream.cadence.is_due(step)) bytes += file_bytes(stream);
  return bytes;
}

}  // namespace tailrace::output
