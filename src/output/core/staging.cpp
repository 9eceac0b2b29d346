// SPDX-License-Identifier: BSD-3-Clause
#include "output/core/staging.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "tailrace/trace.hpp"

namespace tailrace::output {

namespace {

/// Returns where the next values in a buffer begin.
std::size_t aligned(std::size_t used) noexcept {
  return static_cast<std::size_t>(staged_bytes(static_cast<std::int64_t>(used)));
}

}  // namespace

void Staging::clear() noexcept {
  used = 0;
  staged_extents.clear();
  rows.clear();
  step = 0;
  commit_mark.reset();
  flush = false;
}

std::span<std::byte> Staging::add(const Share& share, std::int64_t sample, std::int64_t first,
                                  std::int64_t count) {
  const std::size_t size = static_cast<std::size_t>(count) * h5::size_bytes(share.type);
  const std::size_t position = aligned(used);
  TAILRACE_CHECK(position + size <= bytes.size(), "a staging buffer holds all samples of one step");
  staged_extents.push_back(
      {.share = share.number, .sample = sample, .first = first, .count = count, .position = position});
  used = position + size;
  return bytes.subspan(position, size);
}

void Staging::add_rows(std::size_t dataset, std::int64_t sample, std::span<const std::byte> values) {
  const std::size_t position = aligned(used);
  make_room(position + values.size());
  rows.push_back({.dataset = dataset, .sample = sample, .position = position, .bytes = values.size()});
  std::copy(values.begin(), values.end(), bytes.begin() + static_cast<std::ptrdiff_t>(position));
  used = position + values.size();
}

void Staging::make_room(std::size_t needed) {
  if (needed <= bytes.size()) return;
  AlignedVector<std::byte> memory(needed + needed / 4);  // sizes mostly change little from sample to sample
  std::copy_n(bytes.begin(), used, memory.begin());
  larger_ = std::move(memory);
  bytes = larger_;
}

Lease::~Lease() {
  if (pool_ != nullptr) pool_->give_back(*staging_);
}

std::span<std::byte> StagingMemory::take(std::size_t bytes) {
  if (memory_.size() < bytes) {
    memory_ = {};  // before there is more
    memory_.assign(bytes, std::byte{0});
  }
  return std::span(memory_).first(bytes);
}

StagingPool::StagingPool(int buffers, std::int64_t bytes_each, int source, StagingMemory* kept) {
  auto& memory = kept != nullptr ? *kept : own_;
  share_out(memory.take(static_cast<std::size_t>(buffers) * distance(bytes_each)), buffers, bytes_each,
            source);
}

StagingPool::StagingPool(std::span<std::byte> memory, int buffers, std::int64_t bytes_each, int source) {
  std::fill(memory.begin(), memory.end(), std::byte{0});
  share_out(memory, buffers, bytes_each, source);
}

std::size_t StagingPool::distance(std::int64_t bytes_each) noexcept {
  constexpr std::size_t line = 64;  // no two buffers share a cache line
  return (static_cast<std::size_t>(bytes_each) + line - 1) / line * line;
}

void StagingPool::share_out(std::span<std::byte> memory, int buffers, std::int64_t bytes_each, int source) {
  buffers_.resize(static_cast<std::size_t>(buffers));
  free_.reserve(buffers_.size());
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    buffers_[i].bytes = memory.subspan(i * distance(bytes_each), static_cast<std::size_t>(bytes_each));
    buffers_[i].source = source;
    free_.push_back(&buffers_[i]);
  }
}

std::optional<Lease> StagingPool::try_acquire() {
  const std::scoped_lock lock(mutex_);
  if (free_.empty()) return {};
  return take();
}

Lease StagingPool::acquire() {
  std::unique_lock lock(mutex_);
  freed_.wait(lock, [this] { return !free_.empty(); });
  return take();
}

Lease StagingPool::take() {
  Staging* const staging = free_.back();
  free_.pop_back();
  trace::count_buffers(1);
  return {*this, *staging};
}

void StagingPool::give_back(Staging& staging) noexcept {
  staging.clear();
  trace::count_buffers(-1);
  {
    const std::scoped_lock lock(mutex_);
    free_.push_back(&staging);
  }
  freed_.notify_one();
}

}  // namespace tailrace::output
