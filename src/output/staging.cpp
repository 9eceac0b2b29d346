#include "tailrace/output/staging.hpp"

#include <algorithm>

#include "tailrace/base/check.hpp"

namespace tailrace::output {

void Staging::clear() noexcept {
  used = 0;
  slices.clear();
  step = 0;
  record.reset();
  flush = false;
}

std::span<std::byte> Staging::add(const Piece& piece, std::int64_t sample, std::int64_t first,
                                  std::int64_t count) {
  constexpr std::size_t alignment = sizeof(double);
  const std::size_t size = static_cast<std::size_t>(count) * h5::size_bytes(piece.type);
  const std::size_t position = (used + alignment - 1) / alignment * alignment;
  TAILRACE_CHECK(position + size <= bytes.size(), "a staging buffer holds all samples of one step");
  slices.push_back({.piece = &piece, .sample = sample, .first = first, .count = count, .position = position});
  used = position + size;
  return std::span(bytes).subspan(position, size);
}

Lease::~Lease() {
  if (pool_ != nullptr) pool_->give_back(*staging_);
}

StagingPool::StagingPool(int buffers, std::int64_t bytes_each) : buffers_(static_cast<std::size_t>(buffers)) {
  free_.reserve(buffers_.size());
  for (auto& buffer : buffers_) {
    buffer.bytes.resize(static_cast<std::size_t>(bytes_each));
    std::fill(buffer.bytes.begin(), buffer.bytes.end(), std::byte{0});
    free_.push_back(&buffer);
  }
}

std::optional<Lease> StagingPool::try_acquire() {
  const std::scoped_lock lock(mutex_);
  if (free_.empty()) return {};
  Staging* const staging = free_.back();
  free_.pop_back();
  return Lease(*this, *staging);
}

Lease StagingPool::acquire() {
  std::unique_lock lock(mutex_);
  freed_.wait(lock, [this] { return !free_.empty(); });
  Staging* const staging = free_.back();
  free_.pop_back();
  return {*this, *staging};
}

void StagingPool::give_back(Staging& staging) noexcept {
  staging.clear();
  {
    const std::scoped_lock lock(mutex_);
    free_.push_back(&staging);
  }
  freed_.notify_one();
}

}  // namespace tailrace::output
