// SPDX-License-Identifier: BSD-3-Clause
#include "output/core/extents.hpp"

#include <algorithm>

namespace tailrace::output {

Extents::Cursor::Cursor(const StagedExtent& staged_extent, const Share& share,
                        std::span<const std::byte> bytes)
    : share_(&share),
      next_(bytes.data() + staged_extent.position),
      sample_start_(staged_extent.sample * share.part_values),
      skip_(staged_extent.first),
      left_(staged_extent.count) {
  while (left_ > 0 && skip_ >= run().length) skip_ -= run().length, ++run_;
}

std::int64_t Extents::Cursor::element_bytes() const noexcept {
  return static_cast<std::int64_t>(h5::size_bytes(share_->type));
}

std::pair<std::size_t, std::int64_t> Extents::Cursor::place() const noexcept {
  return {share_->dataset, (sample_start_ + run().offset + skip_) * element_bytes()};
}

Extent Extents::Cursor::take() noexcept {
  const auto [dataset, offset] = place();
  const std::int64_t length = std::min(run().length - skip_, left_);
  const auto bytes = static_cast<std::size_t>(length * element_bytes());
  const Extent extent{.dataset = dataset, .offset_bytes = offset, .bytes = {next_, bytes}};
  next_ += bytes;
  left_ -= length;
  skip_ = 0;
  ++run_;
  return extent;
}

Extents::Extents(std::span<const JobView> jobs) {
  std::size_t staged_extents = 0;
  for (const auto& job : jobs) staged_extents += job.staged_extents.size();
  heap_.reserve(staged_extents);
  for (const auto& job : jobs)
    for (const auto& staged_extent : job.staged_extents)
      if (staged_extent.count > 0)
        heap_.emplace_back(staged_extent, *job.shares[staged_extent.share], job.bytes);
  std::make_heap(heap_.begin(), heap_.end(), later);
  if (!heap_.empty()) std::pop_heap(heap_.begin(), heap_.end(), later);
}

/// Puts the cursor that is first in the file at the end.
void Extents::choose() {
  Cursor& current = heap_.back();
  if (current.done()) {
    heap_.pop_back();
    if (!heap_.empty()) std::pop_heap(heap_.begin(), heap_.end(), later);
  } else if (heap_.size() > 1 && later(current, heap_.front())) {
    std::push_heap(heap_.begin(), heap_.end(), later);
    std::pop_heap(heap_.begin(), heap_.end(), later);
  }
}

std::optional<Extent> Extents::next() {
  if (heap_.empty()) return {};
  if (heap_.back().done() || heap_.size() > 1) choose();
  if (heap_.empty()) return {};
  policy_ = heap_.back().policy();
  return heap_.back().take();
}

}  // namespace tailrace::output
