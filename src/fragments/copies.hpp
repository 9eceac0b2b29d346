// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fragments/machine.hpp"
#include "fragments/mail.hpp"
#include "fragments/store.hpp"

namespace tailrace::fragments {

/// Copies of values on the ranks 0, k, 2k, ..., as `locator_replicating x => k` recommends: the home of a
/// value sends them when it has one, and who reads it asks the nearest rank below that has a copy, or is to
/// get one. A value with a use count has none, as its uses are counted at its home: these ranks know that,
/// and pass questions on.
class Copies {
 public:
  using HomeOf = std::function<int(const Name&)>;
  using Deliver = std::function<void(const Id&, Delivery)>;

  /// Sets handlers, of messages and of the store. `deliver` answers those who have waited for a copy. @local
  Copies(Mail& mail, const Machine& machine, Store& store, HomeOf home_of, Deliver deliver);
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  /// Which rank is asked for a value from here: its home, or one with a copy. @local
  [[nodiscard]] int source_of(const Name& name) const;

  /// At the home: the value has been written; -1 uses are any number. Copies of one that was to be deleted
  /// serve who has waited. When the value leaves the store, its copies, and what is known of it where they
  /// are, leave too. @local, does not wait
  void written(const Name& name, const Value& value, std::int32_t uses) const;

  /// At a rank with copies: the value, if it is there; otherwise the reader is answered when it comes. @local
  std::optional<Value> request(const Name& name, const Reader& reader);
  /// Of the copies on this rank. @local
  [[nodiscard]] std::int64_t live_bytes() const noexcept { return live_bytes_; }
  /// Names of which this rank has a copy, waits for one, or knows that there is to be none. @local
  [[nodiscard]] std::size_t known() const noexcept { return copies_.size(); }

 private:
  enum class State : std::uint8_t { expected, live, counted };
  struct Copy {
    State state = State::expected;
    Value value;
    std::vector<Reader> readers;
  };
  /// How far the ranks with copies are apart; 0: there are none.
  [[nodiscard]] int step_of(const Name& name) const;
  void send(const Name& name, State state, const Value& value) const;
  void removed(const Name& name) const;
  void take(MessageReader& in);

  Mail* mail_;
  const Machine* machine_;
  const Store* store_;
  HomeOf home_of_;
  Deliver deliver_;
  std::unordered_map<Id, Copy, IdHash> copies_;
  std::int64_t live_bytes_ = 0;
};

}  // namespace tailrace::fragments
