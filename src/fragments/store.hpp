// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fragments/awaited_names.hpp"
#include "fragments/ended_names.hpp"

namespace tailrace::fragments {

/// The data fragments whose home is one rank. A value is written once; each answer is one use of it.
class Store {
 public:
  /// For one of so many ranks that execute a program.
  explicit Store(const Image& image, int ranks = 1) : image_(&image), ended_(ranks) {}

  /// Writes a value and adds the answers to those who wait for it. Takes all of the post but its name.
  /// Returns what is known of the name, and takes nothing, if there was a value already.
  const Stored* post(Post& post, std::vector<Delivery>& deliveries);
  /// The value, if it is there; otherwise the reader is answered when it comes.
  std::optional<Value> request(const Name& name, const Reader& reader);
  /// Counts a use of a value that came to its reader without a request. Returns whether it was one of those
  /// that its use count allows.
  bool count_use(const Id& id);
  /// Deletes a value, or will when it comes.
  void remove(const Removal& removal);
  /// Deletes the values of all names of a block that is over, given one without its indices, or will when
  /// they come: nobody can read them. Those with use counts stay.
  void end_block(const Name& name);
  /// Takes an entry of an earlier run of the program, before any other use of its name.
  void restore(const Id& id, Stored entry);
  void restore(const EndedRange& range) { ended_.add(range); }

  /// Has a reader of this rank known by its number only, as long as it is all that is known of a name:
  /// `waits` says whether it waits for it.
  void know_readers(std::int32_t rank, AwaitedNames::Waits waits) {
    rank_ = rank, awaited_.emplace(std::move(waits));
  }

  /// Has a function called with each value that leaves, before it does, besides those that were given before.
  void on_release(std::function<void(const Id&, const Stored&)> function) {
    on_release_.push_back(std::move(function));
  }

  /// What is known of a name besides its readers, or null. Valid until the next call that changes something.
  [[nodiscard]] const Stored* find(const Id& id) const;
  /// Names that have a value, or of which something else is known, and those without indices whose value is
  /// gone.
  [[nodiscard]] const std::unordered_map<Id, Stored, IdHash>& entries() const noexcept { return entries_; }
  /// Names with indices whose value is gone.
  [[nodiscard]] const EndedNames& ended() const noexcept { return ended_; }
  [[nodiscard]] std::int64_t live_count() const noexcept { return live_count_; }
  [[nodiscard]] std::int64_t live_bytes() const noexcept { return live_bytes_; }

 private:
  using Entries = std::unordered_map<Id, Stored, IdHash>;
  Entries::iterator enter(const Id& id);
  Value use(Entries::iterator entry);
  void retire(Entries::iterator entry, Stored::State state);
  bool goes_with_block(const Id& id, Stored& entry);

  const Image* image_;
  Entries entries_;
  std::int32_t rank_ = -1;
  std::optional<AwaitedNames> awaited_;  ///< what has no entry
  EndedNames ended_;
  /// Live names that go with their block, by what they are without their indices.
  std::unordered_map<Id, std::vector<Id>, IdHash> with_block_;
  /// Names with indices whose block is over, by creator: what is still on its way here goes at once.
  std::map<std::int32_t, NumberRanges> over_;
  std::int64_t live_count_ = 0, live_bytes_ = 0;
  std::vector<std::function<void(const Id&, const Stored&)>> on_release_;
};

}  // namespace tailrace::fragments
