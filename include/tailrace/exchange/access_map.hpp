// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tailrace/box.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/exchange/distribution.hpp"
#include "tailrace/exchange/field.hpp"

namespace tailrace::trace {
class Log;
}

namespace tailrace::exchange {

/// In which order contributions to one value are combined.
enum class Order : std::uint8_t {
  fast,            ///< as they come: results differ in their last bits from run to run
  fixed,           ///< first the owner's own, then those of other ranks by rank: the same bits in every run
  partition_free,  ///< by rank and position: ranks that hold contiguous extents of one global order get the
                   ///< same bits however many they are
};

struct AccessOptions {
  /// Or one of docs/explain/exchange.md. The environment variable TAILRACE_EXCHANGE of the first rank names
  /// what to take instead of "auto".
  std::string transport = "auto";
  Order order = Order::fixed;
  /// What goes to one rank travels as one message. False: every word of 8 bytes is put or got by itself, to
  /// be compared with, by the transports that put or get; the others are refused.
  bool aggregate = true;
  double limit_s = 60;  ///< after which a rank that waits names those it waits for
  /// Where flights leave a span for their begin and one for their finish, with the bytes sent in each; null:
  /// nowhere. It outlives the map.
  trace::Log* log = nullptr;
};

/// What exchanges of a map, all its builds together, have cost this rank so far.
struct AccessCounts {
  std::int64_t flights = 0, messages = 0, bytes = 0;  ///< messages sent, and their bytes
  std::int64_t largest_bytes = 0;                     ///< of one message
  double flight_s = 0;                                ///< from `begin` to the end of `finish`
  double cost_s = 0;                                  ///< of that, in `begin`, `progress` and `finish`
  double wait_s = 0;                                  ///< of that, in `finish` for messages of others
  std::int64_t builds = 0;
  double build_s = 0;

  /// Seconds in which values were under way while the caller did something else.
  [[nodiscard]] double hidden_s() const noexcept { return flight_s - cost_s; }
};

/// What this rank has sent to another one.
struct PeerTraffic {
  int rank = 0;
  std::int64_t messages = 0, bytes = 0;
};

/// What is known of a transport.
struct TransportTiming {
  std::string name;
  std::string obstacle = {};  ///< why it was not tried
  double cost_s = 0;  ///< that a flight takes from the computation: the median on the slowest rank, on rank 0
  bool chosen = false;
};

/// What was found out for the flights of one kind.
struct TransportChoice {
  std::string flights;           ///< "gather", "scatter_add" or "contributions"
  std::int64_t entry_bytes = 0;  ///< of all fields together
  std::vector<TransportTiming> timings;
  std::vector<std::string> left;  ///< transports that had been chosen and became slower, in their order
};

/// What a map means for this rank.
struct AccessSummary {
  std::int64_t positions = 0, owned = 0, landing = 0;  ///< of the index vector; slots
  std::int64_t rim = 0;                                ///< positions that need a value of another rank
  int reads_from = 0, read_by = 0;                     ///< ranks
  std::int64_t sent = 0;                               ///< values that one gather sends
  std::int64_t memory_bytes = 0;
  double build_s = 0;
  std::string note{};  ///< what is not as it was asked for; empty: nothing
};

/// One entry for each position of the index vector, to be combined into own slots.
struct Contribution {
  Field values;  ///< an entry per position
  Field into;    ///< an entry per slot, of which the owned ones are written
};

/// Values on their way. A map that goes before it stays behind the scenes until it has finished. Main thread
/// only.
class Flight {
 public:
  class Work;
  explicit Flight(std::unique_ptr<Work> work);
  Flight(Flight&& other) noexcept;
  Flight& operator=(Flight&&) = delete;
  /// A flight that has not finished gives up, which is only right while an error ends the program.
  ~Flight();

  /// Has `arrival(rank)` called by `progress` or `finish` once the values that this rank reads of another one
  /// are in their slots, or its contributions are in. Before the first `progress`.
  void on_arrival(std::function<void(int rank)> arrival);
  /// Takes in what has come, lets MPI continue. @local, does not wait
  void progress();
  /// Waits until all values are in their places and the fields may be used again. @neighbour. Errors
  /// (internal): ranks that did not answer in time, by name; (usage): it has finished already.
  void finish();

 private:
  std::unique_ptr<Work> work_;  ///< none once finished
};

/// What a vector of global indices asks of the ranks that own them, planned once: gathers bring the owners'
/// values, scatter-adds bring contributions back, any number of times, while the caller computes. An array of
/// a map has a slot for each value that this rank owns, then one for each distinct value that it reads of
/// others (landing slots). docs/explain/exchange.md has the method. Main thread only.
class AccessMap {
 public:
  /// Plans for this rank's `indices`: any order, with repetitions, none at all. @collective{comm},
  /// synchronises. Cost: about one exchange, by messages among ranks that need each other's values; memory
  /// proportional to what the rank owns and reads. Errors, the same on all ranks (input): an index out of
  /// range, a distribution of other ranks or whose functions contradict each other; (resource): more than
  /// 2^31 - 1 slots or positions on a rank; (usage): an unknown transport, or one that cannot do what the
  /// options ask for; ranks that give different transports, orders or `aggregate`.
  static AccessMap make(mpi::CommView comm, const Distribution& distribution,
                        std::span<const std::int64_t> indices, const AccessOptions& options = {});
  AccessMap(AccessMap&&) noexcept;
  AccessMap& operator=(AccessMap&&) noexcept;
  /// @collective{comm}
  ~AccessMap();

  /// Plans anew, for instance after a change of the mesh; no flight is under way. Arrays of before do not fit
  /// any more.
  /// @collective{comm}, synchronises. Errors as for `make`, and (usage) on each rank by itself: a flight is
  /// under way; the map is then as before.
  void rebuild(const Distribution& distribution, std::span<const std::int64_t> indices);

  /// The slot of each position. @local
  [[nodiscard]] std::span<const std::int32_t> slots() const noexcept;
  [[nodiscard]] std::int64_t owned() const noexcept;       ///< slots 0 to owned - 1 are this rank's values
  [[nodiscard]] std::int64_t array_size() const noexcept;  ///< slots in all
  /// Positions whose values are all here, and the others, ascending. @local. Cost: the first call makes both
  /// lists.
  [[nodiscard]] std::span<const std::int32_t> interior() const;
  [[nodiscard]] std::span<const std::int32_t> rim() const;
  /// Counts builds from 1 on.
  [[nodiscard]] std::int64_t generation() const noexcept;
  /// A view of an array of at least `array_size` entries that remembers the generation: after a rebuild it is
  /// refused.
  template <FieldNumber T>
  [[nodiscard]] Field view(std::span<T> values, int components = 1) const noexcept {
    Field one = field(values, components);
    one.generation = generation();
    return one;
  }
  /// The same of objects of the program's own.
  template <class T>
  [[nodiscard]] Field view_of_objects(std::span<T> values) const noexcept {
    Field one = objects(values);
    one.generation = generation();
    return one;
  }

  /// Begins to bring the owners' values into the landing slots of `fields`. Owned slots stay as they are,
  /// landing slots are not read, until `finish`. All ranks begin the same flights in the same order, with as
  /// many fields of the same types.
  /// @collective{comm}, does not wait, but where `auto` compares what the ranks have measured (twice). Errors
  /// (input): a field shorter than `array_size`, or of another generation.
  [[nodiscard]] Flight begin_gather(std::span<const Field> fields);
  [[nodiscard]] Flight begin_gather(const Field& field) { return begin_gather(std::span(&field, 1)); }
  /// Begins to combine the landing slots of all ranks into the owned slots of their owners, which have this
  /// rank's own part already. Landing slots keep their values. Not with `Order::partition_free`, which needs
  /// single contributions. Errors (input): a field shorter than `array_size`, or of another generation;
  /// (usage): a combination that the fields do not have.
  /// @collective{comm}, does not wait.
  [[nodiscard]] Flight begin_scatter_add(std::span<const Field> fields, const Combine& how = {});
  [[nodiscard]] Flight begin_scatter_add(const Field& field, const Combine& how = {}) {
    return begin_scatter_add(std::span(&field, 1), how);
  }
  /// The same from one contribution per position, with any order; what this rank contributes to its own
  /// values included. With `Order::partition_free`, contributions to values that no other rank reads are
  /// taken by `finish`: they may be computed while the others are under way.
  /// @collective{comm}, does not wait.
  [[nodiscard]] Flight begin_scatter_add(std::span<const Contribution> contributions,
                                         const Combine& how = {});
  [[nodiscard]] Flight begin_scatter_add(const Contribution& contribution, const Combine& how = {}) {
    return begin_scatter_add(std::span(&contribution, 1), how);
  }

  [[nodiscard]] AccessSummary describe() const;
  [[nodiscard]] const AccessCounts& counts() const noexcept;
  /// By rank; only those that something was sent to. @local
  [[nodiscard]] std::vector<PeerTraffic> traffic() const;
  /// Spans in the log belong to this step from now on. @local
  void mark_step(StepIndex step) noexcept;
  /// What `auto` has found out so far. @local
  [[nodiscard]] std::vector<TransportChoice> choices() const;

 private:
  struct State;
  explicit AccessMap(std::shared_ptr<State> state);
  /// Errors (usage): the map was moved away.
  [[nodiscard]] State& state() const;
  std::shared_ptr<State> state_;  ///< and of its flights
};

}  // namespace tailrace::exchange
