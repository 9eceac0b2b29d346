// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fragments/code.hpp"
#include "fragments/id.hpp"
#include "fragments/shared.hpp"

namespace tailrace::fragments {

/// The values that the home of a declaration's data fragments depends on, besides their indices.
struct Home : Counted {
  std::uint32_t rule = 0;
  std::vector<Value> captured;
};

/// A data fragment as a program holds it: its name, what it was declared as, and where its home is.
struct Name {
  Id id;
  std::uint32_t declaration = 0;
  Shared<const Home> home;
};

/// What a slot of a frame holds.
using Slot = std::variant<std::monostate, Value, Name>;

/// A call that is being executed, for messages: where it is, what it looks like, and who called it.
struct CallRecord : Counted {
  std::uint32_t statement = 0;
  std::uint32_t depth = 0;
  std::vector<Slot> arguments;
  Shared<const CallRecord> caller;
};

/// The slots of a block that was created, which lie behind it in memory. Those of the blocks around it are in
/// their frames.
class Frame : public Counted {
 public:
  /// One with empty slots. @local
  static Shared<Frame> make(std::uint32_t first, std::uint32_t count, Shared<const Frame> outer,
                            Shared<const CallRecord> call) {
    void* const memory = ::operator new(sizeof(Frame) + count * sizeof(Slot));
    return Shared<Frame>(new (memory) Frame(first, count, std::move(outer), std::move(call)));
  }
  /// One with equal slots. @local
  [[nodiscard]] Shared<Frame> copy() const {
    auto other = make(first_, count_, outer_, call);
    std::ranges::copy(slots(), other->slots().begin());
    return other;
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame() { std::ranges::destroy(slots()); }
  void operator delete(void* memory) noexcept { ::operator delete(memory); }

  [[nodiscard]] const Slot& operator[](std::uint32_t slot) const noexcept {
    const auto& of = owner(slot);
    return of.slots()[slot - of.first_];
  }
  [[nodiscard]] Slot& own(std::uint32_t slot) noexcept { return slots()[slot - first_]; }
  /// Those that are here, not further out.
  [[nodiscard]] std::span<Slot> slots() noexcept { return {reinterpret_cast<Slot*>(this + 1), count_}; }
  [[nodiscard]] std::span<const Slot> slots() const noexcept {
    return {reinterpret_cast<const Slot*>(this + 1), count_};
  }
  /// The slot, or null if it is one of a block within this one.
  [[nodiscard]] const Slot* find(std::uint32_t slot) const noexcept {
    const auto& of = owner(slot);
    if (slot - of.first_ >= of.count_) return nullptr;
    const auto& found = of.slots()[slot - of.first_];
    return std::holds_alternative<std::monostate>(found) ? nullptr : &found;
  }

  Shared<const CallRecord> call;

 private:
  Frame(std::uint32_t first, std::uint32_t count, Shared<const Frame> outer, Shared<const CallRecord> of)
      : call(std::move(of)), first_(first), count_(count), outer_(std::move(outer)) {
    std::ranges::uninitialized_default_construct(slots());
  }
  [[nodiscard]] const Frame& owner(std::uint32_t slot) const noexcept {
    const auto* frame = this;
    while (slot < frame->first_) frame = frame->outer_.get();
    return *frame;
  }

  std::uint32_t first_, count_;  ///< slots before the first are further out
  Shared<const Frame> outer_;
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
  Shared<const Frame> frame;
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
