// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "fragments/wire.hpp"
#include "tailrace/checkpoint.hpp"

/// A paused program as items of a checkpoint, of which each says itself to which rank it belongs.
namespace tailrace::fragments {

/// A data fragment, or that there was one.
struct StoredData {
  Name name;
  Stored entry;  ///< without readers, which ask again
};
/// A structured fragment that waits for what it created.
struct OpenGroup {
  GroupToken token;
  Groups::Group group;
};
/// How many names and groups were created as those of a rank.
struct Counters {
  std::int32_t creator = 0;
  std::uint64_t names = 0, groups = 0;
};
/// Fragments that have been executed.
struct Executed {
  std::int64_t fragments = 0;
};
/// A line that a body has begun to print.
struct BegunLine {
  std::string text;
};

using StateItem =
    std::variant<StoredData, EndedRange, Fragment, OpenGroup, Counters, Executed, BegunLine, Message, Stuck>;

Writer& operator<<(Writer& out, const StateItem& item);
StateItem read_item(MessageReader& in);

/// All items of a rank.
class StateItems final : public checkpoint::ItemSet {
 public:
  StateItems(const Image& image, int rank, int size) : image_(&image), rank_(rank), size_(size) {}

  /// Adds an item, which is made each time that it is needed. @local
  void add(std::function<StateItem()> make) { makers_.push_back(std::move(make)); }
  /// What was restored here, as bytes of items, in any order. @local
  [[nodiscard]] std::vector<std::vector<std::byte>> take_restored() { return std::move(restored_); }

  /// Keys spread the items of each rank evenly, whatever they are.
  [[nodiscard]] std::vector<Item> items() const override;
  void read(std::size_t item, std::span<std::byte> bytes) const override;
  [[nodiscard]] std::vector<checkpoint::KeyRange> begin_restore() override;
  [[nodiscard]] bool owns(std::uint64_t key, std::span<const std::byte> bytes) const override;
  void add(std::uint64_t key, std::span<const std::byte> bytes) override;

 private:
  static constexpr std::uint64_t keys = 4096;
  [[nodiscard]] std::uint64_t first_key_of(int rank) const {
    return keys * static_cast<std::uint64_t>(rank) / static_cast<std::uint64_t>(size_);
  }
  [[nodiscard]] std::vector<std::byte> bytes_of(std::size_t item) const;

  const Image* image_;
  int rank_, size_;
  std::vector<std::function<StateItem()>> makers_;
  std::vector<std::vector<std::byte>> restored_;
};

}  // namespace tailrace::fragments
