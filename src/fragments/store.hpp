// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fragments/groups.hpp"

namespace tailrace::fragments {

/// Who asked for a value: a rank, and what this rank calls the question.
struct Reader {
  std::int32_t rank = 0;
  std::uint64_t token = 0;
};
struct Delivery {
  Reader to;
  Value value;
};

/// What is known of a name at its home.
struct Stored {
  enum class State : std::uint8_t { expected, live, exhausted, deleted };
  State state = State::expected;
  bool deletes = false;  ///< once it is there and has served those who asked before
  std::int32_t uses = -1;
  Value value;
  Place count_at;
  Origin writer, remover;
  std::shared_ptr<const Home> home;  ///< as in its name
  std::vector<Reader> readers;       ///< without an answer
};

/// The data fragments whose home is one rank. A value is written once; each answer is one use of it.
class Store {
 public:
  /// Writes a value and adds the answers to those who wait for it. Takes all of the post but its name.
  /// Returns the earlier entry, and takes nothing, if there was a value already.
  const Stored* post(Post& post, std::vector<Delivery>& deliveries);
  /// The value, if it is there; otherwise the reader is answered when it comes.
  std::optional<Value> request(const Name& name, const Reader& reader);
  /// Deletes a value, or will when it comes.
  void remove(const Removal& removal);
  /// Takes an entry of an earlier run of the program, before any other use of its name.
  void restore(const Id& id, Stored entry);

  /// Has a function called with each value that leaves, before it does.
  void on_release(std::function<void(const Id&, const Value&)> function) {
    on_release_ = std::move(function);
  }

  [[nodiscard]] const std::unordered_map<Id, Stored, IdHash>& entries() const noexcept { return entries_; }
  [[nodiscard]] std::int64_t live_count() const noexcept { return live_count_; }
  [[nodiscard]] std::int64_t live_bytes() const noexcept { return live_bytes_; }

 private:
  Value use(const Id& id, Stored& entry);
  void retire(const Id& id, Stored& entry, Stored::State state);

  std::unordered_map<Id, Stored, IdHash> entries_;
  std::int64_t live_count_ = 0, live_bytes_ = 0;
  std::function<void(const Id&, const Value&)> on_release_;
};

}  // namespace tailrace::fragments
