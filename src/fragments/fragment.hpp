// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

/// The slots of a block that was created, and of what is around it.
struct Frame {
  std::vector<Slot> slots;
  std::shared_ptr<const CallRecord> call;
};

/// Names a structured fragment that waits until all it created has run.
struct GroupToken {
  std::int32_t rank = -1;
  std::uint64_t slot = 0;
  [[nodiscard]] bool exists() const noexcept { return rank >= 0; }
  friend bool operator==(const GroupToken&, const GroupToken&) = default;
};

/// A value that a fragment needs and has.
struct Input {
  Id id;
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
               last = 0;  ///< of a loop: the iterations that are still to be created; of a repeat: k
  bool started = false;   ///< of a loop or repeat: whether its bounds are known

  /// Lets go of inputs, which are in the arguments of its resolution, so that a body may be the only one to
  /// have their memory. Use counts may read them.
  void release_inputs() {
    if (statement->rules.counts.empty()) inputs.clear();
  }
  /// Whether it runs a body; others create fragments.
  [[nodiscard]] bool runs_body() const noexcept {
    return statement->callee != nullptr && statement->callee->external;
  }
};

}  // namespace tailrace::fragments
