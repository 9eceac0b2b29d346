// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/heap/segment.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <new>

namespace tailrace::exchange {

namespace {
/// In front of each part: where its rank has what all look for.
constexpr std::size_t head_bytes = alignment_bytes;
}  // namespace

std::optional<std::size_t> FreeRanges::find(std::size_t bytes) const noexcept {
  const auto fits = [&](const auto& range) { return range.second >= padded<std::byte>(bytes); };
  if (bytes == 0) return 0;
  const auto found = std::find_if(ranges_.begin(), ranges_.end(), fits);
  return found == ranges_.end() ? std::nullopt : std::optional(found->first);
}

void FreeRanges::take(std::size_t first, std::size_t bytes) {
  if (bytes == 0) return;
  const auto range = ranges_.find(first);
  const std::size_t taken = padded<std::byte>(bytes), left = range->second - taken;
  ranges_.erase(range);
  if (left > 0) ranges_.emplace(first + taken, left);
}

void FreeRanges::give_back(std::size_t first, std::size_t bytes) {
  if (bytes == 0) return;
  auto range = ranges_.emplace(first, padded<std::byte>(bytes)).first;
  const auto join_with_next = [&](auto at) {
    const auto next = std::next(at);
    if (next == ranges_.end() || at->first + at->second != next->first) return;
    at->second += next->second;
    ranges_.erase(next);
  };
  join_with_next(range);
  if (range != ranges_.begin()) join_with_next(std::prev(range));
}

std::size_t FreeRanges::free_bytes() const noexcept {
  std::size_t sum = 0;
  for (const auto& [first, bytes] : ranges_) sum += bytes;
  return sum;
}

Segment::Segment(const mpi::Node& node, std::size_t bytes)
    : node_(&node), bytes_(head_bytes + padded<std::byte>(bytes)), ranges_(bytes_, head_bytes) {
  shared_ = mpi::SharedMemory::allocate(node, bytes_);
  if (shared_) {
    own_ = shared_->part(node.comm().rank());
    return;
  }
  try {
    alone_ = {AlignedAllocator<std::byte>().allocate(bytes_), Release{bytes_}};
    own_ = alone_.get();
  } catch (const std::bad_alloc&) {
  }
}

std::vector<std::byte*> Segment::places(std::size_t offset) const {
  const mpi::CommView comm = node_->comm();
  std::vector<std::byte*> list(static_cast<std::size_t>(comm.size()));
  list[static_cast<std::size_t>(comm.rank())] = own_ + offset;
  if (!shared_) return list;
  *reinterpret_cast<std::uint64_t*>(own_) = offset;
  shared_->fence();
  mpi::barrier(comm);
  shared_->fence();
  for (int rank = 0; rank < comm.size(); ++rank)
    list[static_cast<std::size_t>(rank)] =
        shared_->part(rank) + *reinterpret_cast<const std::uint64_t*>(shared_->part(rank));
  return list;
}

}  // namespace tailrace::exchange
