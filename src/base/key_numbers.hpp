// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace tailrace {

/// Numbers distinct keys in the order in which they come. A table with open addressing, at most half full:
/// no memory is taken per key.
template <class Key, class Hash = std::hash<Key>>
class KeyNumbers {
 public:
  static constexpr std::int32_t none = -1;

  /// The number of a key, and whether it is new.
  std::pair<std::int32_t, bool> number(const Key& key) {
    if (2 * (size_ + 1) > table_.size()) grow(2 * table_.size());
    Entry& entry = table_[place_of(key)];
    const bool is_new = entry.number == none;
    if (is_new) entry = {key, static_cast<std::int32_t>(size_++)};
    return {entry.number, is_new};
  }
  /// The number of a key, or `none`.
  [[nodiscard]] std::int32_t find(const Key& key) const { return table_[place_of(key)].number; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Takes the memory for so many keys at once.
  void reserve(std::size_t keys) {
    std::size_t places = table_.size();
    while (places < 2 * keys) places *= 2;
    if (places > table_.size()) grow(places);
  }

 private:
  struct Entry {
    Key key{};
    std::int32_t number = none;
  };
  static constexpr std::size_t smallest = 64;

  /// The place where a key is, or where it would be.
  [[nodiscard]] std::size_t place_of(const Key& key) const {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = mixed_bits(Hash{}(key)) & mask;
    while (table_[at].number != none && table_[at].key != key) at = (at + 1) & mask;
    return at;
  }
  void grow(std::size_t places) {
    std::vector<Entry> old(places);
    old.swap(table_);
    for (const Entry& entry : old)
      if (entry.number != none) table_[place_of(entry.key)] = entry;
  }

  std::vector<Entry> table_ = std::vector<Entry>(smallest);
  std::size_t size_ = 0;
};

}  // namespace tailrace
