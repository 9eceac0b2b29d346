// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

#include "am/frame.hpp"
#include "base/check.hpp"

namespace tailrace::am {

/// Entries that other ranks name by tokens: no pointer travels, and a token that has been used is recognised.
template <class T>
class SlotTable {
 public:
  Token insert(T value) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot].used = true;
    slots_[slot].value = std::move(value);
    return {slot, slots_[slot].generation};
  }
  /// The entry, valid until the next `insert`. Errors (internal): the token names none, or one that is gone.
  T& at(Token token) {
    TAILRACE_CHECK(token.slot < slots_.size() && slots_[token.slot].used &&
                       slots_[token.slot].generation == token.generation,
                   "a token names a message that is under way");
    return slots_[token.slot].value;
  }
  /// Removes the entry and returns it; its token is invalid from then on.
  T take(Token token) {
    T value = std::move(at(token));
    slots_[token.slot].used = false;
    ++slots_[token.slot].generation;
    free_.push_back(token.slot);
    return value;
  }
  /// Calls visit(value) for each entry.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Slot& slot : slots_)
      if (slot.used) visit(slot.value);
  }
  [[nodiscard]] std::size_t size() const noexcept { return slots_.size() - free_.size(); }

 private:
  struct Slot {
    bool used = false;
    std::uint32_t generation = 0;
    T value{};
  };
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace tailrace::am
