// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>
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

/// What flights of the same lines have in common.
struct LineKey {
  std::size_t entry_bytes = 0;  ///< of all fields together
  std::string sums = {};        ///< of lines that combine: the types of the fields, and how; else empty

  friend bool operator==(const LineKey&, const LineKey&) = default;
};

/// Memory that a flight uses and leaves to the next one of its line.
struct FlightRoom {
  std::vector<std::size_t> unsent;  ///< messages, last one first
  std::vector<char> here;           ///< messages that have come
  std::vector<std::byte*> places;   ///< where messages may land
};

/// The lines of one direction of a plan: as many as flights were under way at once, for each key that they
/// had. All ranks begin the same flights in the same order, so they open lines and choose their
/// transports alike.
class Lines {
 public:
  class Lease;

  /// `settings` outlive this.
  explicit Lines(const LineSettings& settings) : settings_(settings) {}
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  /// @collective{settings.comm}
  ~Lines();

  /// A free line for this key, or a new one, of what `configure()` says. @collective{settings.comm}; waits
  /// when a transport is chosen.
  template <class Configure>
  [[nodiscard]] Lease take(const LineKey& key, const Configure& configure);
  /// Returns whether `take` will find a line, of a transport that is decided on. The same on all ranks.
  /// @local
  [[nodiscard]] bool has_free(const LineKey& key) const noexcept;
  [[nodiscard]] bool in_use() const noexcept;
  /// Drops all lines; what was found out about transports stays if `same_shape`, but for transports that have
  /// become slower. None is in use. @collective{settings.comm}, synchronises
  void clear(bool same_shape);
  [[nodiscard]] std::size_t memory_bytes() const noexcept;
  /// Calls `visit(entry_bytes, choice)` for each choice that there was. @local
  template <class Visit>
  void for_each_choice(Visit visit) const {
    for (const Group& group : groups_)
      if (group.choice) visit(group.key.entry_bytes, *group.choice);
  }

 private:
  struct Entry {
    const Transport* transport;
    LineConfig config;
    std::unique_ptr<Line> line;
    bool used;
    FlightRoom room;
  };
  /// The lines of one key.
  struct Group {
    LineKey key;
    std::optional<Choice> choice;
    std::list<Entry> entries;
  };
  Group& group_of(const LineKey& key);
  /// The transport of the next flight. @collective{settings.comm}
  const Transport& next_of(Group& group);
  static Entry* free_entry(Group& group, const Transport& transport) noexcept;
  static Entry& open(Group& group, const Transport& transport, LineConfig config);
  /// The transport of a group, or null while it is being chosen.
  [[nodiscard]] const Transport* transport_of(const Group& group) const noexcept {
    return group.choice ? group.choice->chosen() : settings_.transport;
  }
  /// MPI does not forget what is under way when its communicator is freed.
  void finish_comparison();
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
  /// Into how many batches message i to a receiver is divided. @local
  [[nodiscard]] std::int64_t batches(std::size_t i) const noexcept {
    const std::size_t each = entry_->config.batch_bytes, bytes = to()[i].bytes;
    return each == 0 ? 1 : static_cast<std::int64_t>((bytes + each - 1) / each);
  }
  [[nodiscard]] FlightRoom& room() const noexcept { return entry_->room; }
  /// Whether the line combines what it carries.
  [[nodiscard]] bool combines() const noexcept { return entry_->config.sums != nullptr; }

 private:
  Group* group_;
  Entry* entry_;
};

template <class Configure>
Lines::Lease Lines::take(const LineKey& key, const Configure& configure) {
  Group& group = group_of(key);
  const Transport& transport = next_of(group);
  Entry* const found = free_entry(group, transport);
  return {group, found != nullptr ? *found : open(group, transport, configure())};
}

}  // namespace tailrace::exchange
