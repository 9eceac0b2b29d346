// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

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
      : creator_(other.creator_),
        count_(other.count_),
        counter_(other.counter_),
        hash_(other.hash_),
        near_(other.near_) {
    if (count_ > in_place) copy_far(other);
  }
  Id(Id&&) noexcept = default;
  Id& operator=(Id&&) noexcept = default;
  Id& operator=(const Id& other) {
    if (this != &other) *this = Id(other);
    return *this;
  }
  ~Id() = default;

  [[nodiscard]] std::int32_t creator() const noexcept { return creator_; }
  [[nodiscard]] std::uint64_t counter() const noexcept { return counter_; }
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] std::span<const std::int32_t> indices() const noexcept {
    return {count_ > in_place ? far_.get() : near_.data(), count_};
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
  void copy_far(const Id& other) {
    far_ = std::make_unique<std::int32_t[]>(count_);
    std::ranges::copy(other.indices(), far_.get());
  }
  void spill(std::int32_t index) {
    auto more = std::make_unique<std::int32_t[]>(count_ + 1);
    std::ranges::copy(indices(), more.get());
    more[count_] = index;
    far_ = std::move(more);
  }

  std::int32_t creator_ = -1;
  std::uint32_t count_ = 0;
  std::uint64_t counter_ = 0;
  std::uint64_t hash_ = 0;
  std::array<std::int32_t, in_place> near_{};
  std::unique_ptr<std::int32_t[]> far_;
};

struct IdHash {
  std::size_t operator()(const Id& id) const noexcept { return id.hash(); }
};

}  // namespace tailrace::fragments
