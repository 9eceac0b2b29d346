// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/job_parts.hpp"

#include "base/check.hpp"

namespace tailrace::output {

JobParts::JobParts(const Plan& plan) {
  for (const auto& stream : plan.streams)
    for (const auto& spec : stream.datasets) specs_.push_back(&spec);
}

void JobParts::add(std::span<const Extent> extents) {
  for (const auto& extent : extents) {
    if (parts_.empty() || parts_.back().dataset != extent.dataset)
      parts_.push_back({.dataset = extent.dataset, .runs = {}, .bytes = extent.bytes.first(0)});
    auto& part = parts_.back();
    TAILRACE_CHECK(part.bytes.data() + part.bytes.size() == extent.bytes.data(),
                   "the values of a dataset are together in a job");
    part.bytes = {part.bytes.data(), part.bytes.size() + extent.bytes.size()};
    const auto size = static_cast<std::int64_t>(h5::size_bytes(specs_[extent.dataset]->type));
    const Run run{.offset = extent.offset_bytes / size,
                  .length = static_cast<std::int64_t>(extent.bytes.size()) / size};
    if (!part.runs.empty() && part.runs.back().offset + part.runs.back().length == run.offset)
      part.runs.back().length += run.length;
    else
      part.runs.push_back(run);
  }
}

}  // namespace tailrace::output
