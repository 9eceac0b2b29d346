// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "base/random.hpp"

namespace tailrace::fragments {

/// Names a data fragment, or a labelled fragment, in all ranks: who created the name, which of this rank's
/// names it is, and its indices. Up to four indices are in place. The hash is kept; to take an index costs
/// one mix of it.
class Id {
 public:
  static constexpr std::size_t in_place = 4;

  Id() = default;
  Id(std::int32_t creator, std::uint64_t counter) noexcept
      : creator_(creator),
        counter_(counter),
        hash_(mixed_bits(counter * 0x10001 + static_cast<std::uint32_t>(creator))) {}
  Id(const Id& other)
      : creator_(other.creator_), count_(other.count_), counter_(other.counter_), hash_(other.hash_) {
    if (is_far())
      far_ = copied(other.indices(), count_);
    else
      near_ = other.near_;
  }
  Id(Id&& other) noexcept
      : creator_(other.creator_),
        count_(std::exchange(other.count_, 0)),
        counter_(other.counter_),
        hash_(other.hash_) {
    take_memory(other);
  }
  Id& operator=(Id&& other) noexcept {
    if (this == &other) return *this;
    if (is_far()) delete[] far_;
    creator_ = other.creator_, counter_ = other.counter_, hash_ = other.hash_;
    count_ = std::exchange(other.count_, 0);
    take_memory(other);
    return *this;
  }
  Id& operator=(const Id& other) { return *this = Id(other); }
  ~Id() {
    if (is_far()) delete[] far_;
  }

  [[nodiscard]] std::int32_t creator() const noexcept { return creator_; }
  [[nodiscard]] std::uint64_t counter() const noexcept { return counter_; }
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] std::span<const std::int32_t> indices() const noexcept {
    return {is_far() ? far_ : near_.data(), count_};
  }
  /// The name without its indices.
  [[nodiscard]] Id base() const noexcept { return {creator_, counter_}; }

  /// Appends an index.
  void take(std::int32_t index) {
    if (count_ < in_place)
      near_[count_] = index;
    else
      spill(index);
    ++count_;
    hash_ = mixed_bits(hash_ + 0x9e3779b97f4a7c15U + static_cast<std::uint32_t>(index));
  }

  /// Appends indices.
  void take(std::span<const std::int32_t> indices) {
    for (const auto index : indices) take(index);
  }

  friend bool operator==(const Id& a, const Id& b) noexcept {
    return a.hash_ == b.hash_ && a.counter_ == b.counter_ && a.creator_ == b.creator_ &&
           std::ranges::equal(a.indices(), b.indices());
  }
  /// In the order of base names, then of indices.
  friend bool operator<(const Id& a, const Id& b) noexcept {
    if (a.creator_ != b.creator_) return a.creator_ < b.creator_;
    if (a.counter_ != b.counter_) return a.counter_ < b.counter_;
    return std::ranges::lexicographical_compare(a.indices(), b.indices());
  }

 private:
  [[nodiscard]] bool is_far() const noexcept { return count_ > in_place; }
  static std::int32_t* copied(std::span<const std::int32_t> indices, std::size_t count) {
    auto memory = std::make_unique<std::int32_t[]>(count);
    std::ranges::copy(indices, memory.get());
    return memory.release();
  }
  /// The count is that of the other one already.
  void take_memory(Id& other) noexcept {
    if (is_far())
      far_ = other.far_;
    else
      near_ = other.near_;
  }
  void spill(std::int32_t index) {
    auto* const more = copied(indices(), count_ + 1);
    more[count_] = index;
    if (is_far()) delete[] far_;
    far_ = more;
  }

  std::int32_t creator_ = -1;
  std::uint32_t count_ = 0;
  std::uint64_t counter_ = 0;
  std::uint64_t hash_ = 0;
  union {
    std::array<std::int32_t, in_place> near_{};
    std::int32_t* far_;  ///< of more
  };
};

struct IdHash {
  std::size_t operator()(const Id& id) const noexcept { return id.hash(); }
};

}  // namespace tailrace::fragments
