// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fragments/code.hpp"
#include "fragments/id.hpp"

namespace tailrace::fragments {

/// The values that the home of a declaration's data fragments depends on, besides their indices.
struct Home {
  std::uint32_t rule = 0;
  std::vector<Value> captured;
};

/// A data fragment as a program holds it: its name, what it was declared as, and where its home is.
struct Name {
  Id id;
  std::uint32_t declaration = 0;
  std::shared_ptr<const Home> home;
};

/// What a slot of a frame holds.
using Slot = std::variant<std::monostate, Value, Name>;

/// A call that is being executed, for messages: where it is, what it looks like, and who called it.
struct CallRecord {
  std::uint32_t statement = 0;
  std::uint32_t depth = 0;
  std::vector<Slot> arguments;
  std::shared_ptr<const CallRecord> caller;
};

/// The slots of a block that was created. Those of the blocks around it are in their frames.
struct Frame {
  std::shared_ptr<const Frame> outer;
  std::uint32_t first = 0;  ///< slot that is here; those before it are further out
  std::vector<Slot> slots;
  std::shared_ptr<const CallRecord> call;

  [[nodiscard]] const Slot& operator[](std::uint32_t slot) const noexcept {
    const auto& of = owner(slot);
    return of.slots[slot - of.first];
  }
  [[nodiscard]] Slot& own(std::uint32_t slot) noexcept { return slots[slot - first]; }
  /// The slot, or null if it is one of a block within this one.
  [[nodiscard]] const Slot* find(std::uint32_t slot) const noexcept {
    const auto& of = owner(slot);
    const bool here = slot - of.first < of.slots.size();
    return here && !std::holds_alternative<std::monostate>(of.slots[slot - of.first])
               ? &of.slots[slot - of.first]
               : nullptr;
  }

 private:
  [[nodiscard]] const Frame& owner(std::uint32_t slot) const noexcept {
    const auto* frame = this;
    while (slot < frame->first) frame = frame->outer.get();
    return *frame;
  }
};

/// Names a structured fragment that waits until all it created has run: the rank that opened the group, and
/// which of its groups it is. The group is on this rank, modulo the ranks that there are.
struct GroupToken {
  std::int32_t creator = -1;
  std::uint64_t counter = 0;
  [[nodiscard]] bool exists() const noexcept { return creator >= 0; }
  friend bool operator==(const GroupToken&, const GroupToken&) = default;
};
struct GroupHash {
  std::size_t operator()(const GroupToken& token) const noexcept {
    return token.counter * 0x10001 + static_cast<std::uint32_t>(token.creator);
  }
};

/// What a recording knows of a fragment. It goes with the fragment to other ranks, and is not saved.
struct Mark {
  std::uint64_t number = 0;  ///< of all ranks' fragments; 0: it is not recorded
  std::uint32_t hops = 0;    ///< times that it has gone to another rank
  std::uint32_t waited = 0;  ///< 1: it could not run at once
};

/// A value that a fragment needs; not set until it comes.
struct Input {
  Name name;
  Value value;
};

/// A computation fragment.
struct Fragment {
  const Statement* statement = nullptr;
  std::shared_ptr<const Frame> frame;
  std::vector<Input> inputs;
  GroupToken group;  ///< whom to notify when it, and all it created, has run
  GroupToken inner;  ///< of a structured fragment that is at work: its own
  std::int32_t next = 0,
               last = 0;           ///< of a loop: the iterations that are still to be created; of a repeat: k
  bool started = false;            ///< of a loop or repeat: whether its bounds are known
  std::uint8_t moves = 0;          ///< to ranks that had less to do
  Mark mark;                       ///< not in its form as bytes
  std::int64_t foreign_bytes = 0;  ///< of inputs that came from other ranks; not sent

  /// How often a fragment moves to ranks that have less to do.
  static constexpr std::uint8_t max_moves = 8;

  /// The fragment with what another rank knew of it.
  [[nodiscard]] Fragment with(const Mark& known) && {
    mark = known;
    return std::move(*this);
  }
  /// Sets an input for which the fragment waits.
  void set_input(const Id& id, Value value) {
    const auto found = std::ranges::find_if(inputs, [&](const Input& input) { return input.name.id == id; });
    found->value = std::move(value);
  }
  /// The inputs for which it waits.
  [[nodiscard]] std::vector<Name> missing() const {
    std::vector<Name> names;
    for (const auto& input : inputs)
      if (!input.value.is_set()) names.push_back(input.name);
    return names;
  }
  /// Lets go of the values of inputs, which are in the arguments of its resolution, so that a body may be the
  /// only one to have their memory. Use counts may read them.
  void release_inputs() {
    if (!statement->rules.counts_are_plain) return;
    for (auto& input : inputs) input.value = {};
  }
  /// Whether it may run on any rank: nothing says where, or it is said that it may.
  [[nodiscard]] bool may_move() const noexcept {
    return (!recommended() || statement->rules.stealable) && moves < max_moves && !started && !inner.exists();
  }
  /// Whether it is said where it runs.
  [[nodiscard]] bool recommended() const noexcept {
    const auto* const callee = statement->callee;
    return statement->placed_by_label || !statement->rules.rank.empty() ||
           (callee != nullptr && !callee->rules.rank.empty());
  }
  /// Whether it runs a body; others create fragments.
  [[nodiscard]] bool runs_body() const noexcept {
    return statement->callee != nullptr && statement->callee->external;
  }
};

}  // namespace tailrace::fragments
