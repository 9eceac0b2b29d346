// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "exchange/choice.hpp"
#include "exchange/line.hpp"

namespace tailrace::exchange {

/// What the lines of a map have in common.
struct LineSettings {
  mpi::CommView comm;
  const Transport* transport = nullptr;  ///< of all lines; null: the fastest of `timings`
  std::vector<TransportTiming> timings;
};

/// The lines of one direction of a plan: as many as flights were under way at once, for each size of entries
/// that they had. All ranks begin the same flights in the same order, so they open lines and choose their
/// transports alike.
class Lines {
 public:
  class Lease;
  using Configure = std::function<LineConfig()>;

  /// `settings` outlive this.
  explicit Lines(const LineSettings& settings) : settings_(settings) {}
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  /// A free line for entries of this size, or a new one. @collective{settings.comm}; waits when a transport
  /// is chosen.
  [[nodiscard]] Lease take(std::size_t entry_bytes, const Configure& configure);
  /// Returns whether `take` will find a line, of a transport that is decided on. The same on all ranks.
  /// @local
  [[nodiscard]] bool has_free(std::size_t entry_bytes) const noexcept;
  [[nodiscard]] bool in_use() const noexcept;
  /// Drops all lines; what was found out about transports stays if `same_shape`, but for transports that have
  /// become slower. None is in use. @collective{settings.comm}, synchronises
  void clear(bool same_shape);
  [[nodiscard]] std::size_t memory_bytes() const noexcept;
  /// Calls `visit(entry_bytes, choice)` for each choice that there was. @local
  template <class Visit>
  void for_each_choice(Visit visit) const {
    for (const Group& group : groups_)
      if (group.choice) visit(group.entry_bytes, *group.choice);
  }

 private:
  struct Entry {
    const Transport* transport;
    LineConfig config;
    std::unique_ptr<Line> line;
    bool used;
  };
  /// The lines for entries of one size.
  struct Group {
    std::size_t entry_bytes;
    std::optional<Choice> choice;
    std::list<Entry> entries;
  };
  Group& group_of(std::size_t entry_bytes);
  /// The transport of a group, or null while it is being chosen.
  [[nodiscard]] const Transport* transport_of(const Group& group) const noexcept {
    return group.choice ? group.choice->chosen() : settings_.transport;
  }
  static void drop_losers(Group& group, const Transport& chosen);

  const LineSettings& settings_;
  std::list<Group> groups_;
};

/// A line in use. One that is not given back was left in the middle of a round and is not used again.
class Lines::Lease {
 public:
  Lease(Group& group, Entry& entry) : group_(&group), entry_(&entry) { entry.used = true; }
  /// The line is free again; the flight took `cost_s` from the computation. @local
  void give_back(double cost_s) {
    if (group_->choice) group_->choice->record(*entry_->transport, cost_s);
    entry_->used = false;
  }
  Line* operator->() const { return entry_->line.get(); }
  [[nodiscard]] const std::vector<Peer>& to() const noexcept { return entry_->config.to; }
  [[nodiscard]] const std::vector<Peer>& from() const noexcept { return entry_->config.from; }

 private:
  Group* group_;
  Entry* entry_;
};

}  // namespace tailrace::exchange
