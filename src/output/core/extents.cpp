#include "output/core/extents.hpp"

#include <algorithm>

namespace tailrace::output {

Extents::Cursor::Cursor(const Slice& slice, const Piece& piece, std::span<const std::byte> bytes)
    : piece_(&piece),
      next_(bytes.data() + slice.position),
      sample_start_(slice.sample * piece.part_values),
      skip_(slice.first),
      left_(slice.count) {
  while (left_ > 0 && skip_ >= run().length) skip_ -= run().length, ++run_;
}

std::int64_t Extents::Cursor::element_bytes() const noexcept {
  return static_cast<std::int64_t>(h5::size_bytes(piece_->type));
}

std::pair<std::size_t, std::int64_t> Extents::Cursor::place() const noexcept {
  return {piece_->dataset, (sample_start_ + run().offset + skip_) * element_bytes()};
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
  std::size_t slices = 0;
  for (const auto& job : jobs) slices += job.slices.size();
  heap_.reserve(slices);
  for (const auto& job : jobs)
    for (const auto& slice : job.slices)
      if (slice.count > 0) heap_.emplace_back(slice, *job.pieces[slice.piece], job.bytes);
  std::make_heap(heap_.begin(), heap_.end(), later);
  if (!heap_.empty()) std::pop_heap(heap_.begin(), heap_.end(), later);
}

/// Puts the cursor that stands first in the file at the end.
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
