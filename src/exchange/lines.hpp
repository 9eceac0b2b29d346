// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "exchange/line.hpp"

namespace tailrace::exchange {

/// The lines of one direction of a plan: as many as flights were under way at once, for each size of entries
/// that they had. A line is opened when none is free, by all ranks alike, as they begin the same flights.
class Lines {
 public:
  /// A line in use. One that is not given back was left in the middle of a round and is not used again.
  class Lease {
   public:
    Lease(Lines& lines, std::size_t number) : lines_(&lines), number_(number) {}
    Lease(Lease&& other) noexcept : lines_(std::exchange(other.lines_, nullptr)), number_(other.number_) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() = default;
    void give_back() noexcept {
      if (lines_ != nullptr) lines_->all_[number_].used = false;
      lines_ = nullptr;
    }
    Line& operator*() const { return *lines_->all_[number_].line; }
    Line* operator->() const { return &**this; }

   private:
    Lines* lines_;
    std::size_t number_;
  };

  /// A free line for entries of this size, or a new one that `open` makes.
  template <class Open>
  Lease take(std::size_t entry_bytes, Open open) {
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (!all_[i].used && all_[i].entry_bytes == entry_bytes) return lease(i);
    all_.push_back({entry_bytes, open(), false});
    return lease(all_.size() - 1);
  }
  [[nodiscard]] bool in_use() const noexcept {
    return std::any_of(all_.begin(), all_.end(), [](const Entry& entry) { return entry.used; });
  }
  void clear() noexcept { all_.clear(); }
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    std::size_t bytes = 0;
    for (const Entry& entry : all_) bytes += entry.line->memory_bytes();
    return bytes;
  }

 private:
  struct Entry {
    std::size_t entry_bytes;
    std::unique_ptr<Line> line;
    bool used;
  };
  Lease lease(std::size_t number) {
    all_[number].used = true;
    return {*this, number};
  }
  std::vector<Entry> all_;
};

}  // namespace tailrace::exchange
