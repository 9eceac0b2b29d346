// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "output/core/plan.hpp"
#include "output/core/sink.hpp"

namespace tailrace::output {

/// Describes what a job holds for one dataset.
struct DatasetPart {
  std::size_t dataset = 0;
  std::vector<Run> runs;  ///< elements of the dataset, ascending
  std::span<const std::byte> bytes;
};

/// The extents of a job, put together by dataset, for sinks that write whole datasets at a time.
class JobParts {
 public:
  /// The datasets of the plan, whose element types turn bytes into elements.
  explicit JobParts(const Plan& plan);

  /// Takes further extents of the job, which ascend by dataset and offset. Their bytes stay where they are,
  /// and those of a dataset are together.
  void add(std::span<const Extent> extents);
  void clear() noexcept { parts_.clear(); }
  [[nodiscard]] std::span<const DatasetPart> parts() const noexcept { return parts_; }
  [[nodiscard]] std::span<const h5::DatasetSpec* const> specs() const noexcept { return specs_; }

 private:
  std::vector<const h5::DatasetSpec*> specs_;
  std::vector<DatasetPart> parts_;
};

}  // namespace tailrace::output
