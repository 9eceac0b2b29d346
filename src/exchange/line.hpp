// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mpi/node.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/exchange/field.hpp"

namespace tailrace::exchange {

struct AccessOptions;

/// Another rank, and the size of the message to it or from it.
struct Peer {
  int rank = 0;
  std::size_t bytes = 0;

  friend bool operator==(const Peer&, const Peer&) = default;
};

[[nodiscard]] std::vector<int> ranks_of(const std::vector<Peer>& peers);

/// What becomes of the entries of messages that are combined where they go to, instead of being stored there.
struct Sums {
  std::vector<Field> fields;  ///< what an entry has: numbers and components
  Reduction how = Reduction::sum;
  std::int64_t count = 0;  ///< of sums of this rank
  /// To which of them the entries of the message of each of `from` go.
  std::vector<std::vector<std::int64_t>> places;
};

/// What a line carries: one message to each of `to`, one from each of `from`, by rank; none is to oneself and
/// none is empty. Whom a rank sends to, expects it.
struct LineConfig {
  mpi::CommView comm;               ///< lines alone use it
  const mpi::Node* node = nullptr;  ///< the ranks of `comm` that share memory with this one
  int tag = 0;                      ///< of this line alone
  std::vector<Peer> to, from;
  std::size_t batch_bytes = 0;         ///< a message moves in batches of so many bytes; 0: whole
  std::shared_ptr<const Sums> sums{};  ///< of a line that combines; else null
  bool* no_shared_memory = nullptr;    ///< set where the system refused it and messages are taken instead
};

/// Carries messages of known sizes between fixed peers, in rounds. All peers begin the same rounds in the
/// same order; one may be a round ahead of another. A round: `begin`; for each receiver `outgoing`, once it
/// gives memory the message is written there, then `send`; `arrived` until every sender was named; `end`
/// until it is true.
class Line {
 public:
  Line() = default;
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  /// In the middle of a round only while an error ends the program.
  virtual ~Line() = default;

  /// Begins a round. `places[i]`: where the message of sender i may land, or null; a transport that cannot
  /// land there uses memory of its own. @neighbour, does not wait, unless the transport says so
  virtual void begin(std::span<std::byte* const> places) = 0;
  /// Where the message to receiver i is to be written, or null if nothing is free yet: to be asked again.
  /// @local
  [[nodiscard]] virtual std::byte* outgoing(std::size_t i) = 0;
  /// Sends it. @neighbour, does not wait
  virtual void send(std::size_t i) = 0;
  /// All messages of this rank have been sent, and the caller has nothing else to do: a transport that can
  /// only wait for the others does so here. All ranks do this in the same order. @neighbour
  virtual void wait_for_others() {}
  /// The number of a sender whose message is there now and was not before. @local, does not wait
  [[nodiscard]] virtual std::optional<std::size_t> arrived() = 0;
  /// Its message, until `end`. Of a line that combines: all sums, the same of every sender, once all have
  /// been named.
  [[nodiscard]] virtual const std::byte* incoming(std::size_t i) const = 0;
  /// Lets the round end; returns whether it has. What came in has been read. @local, does not wait
  [[nodiscard]] virtual bool end() = 0;
  /// Memory of the messages. @local
  [[nodiscard]] virtual std::size_t memory_bytes() const noexcept = 0;
};

/// A way to carry messages.
struct Transport {
  std::string_view name, description;
  /// Opens a line. @collective{config.comm}
  std::unique_ptr<Line> (*open)(LineConfig config);
  std::string_view obstacle = {};  ///< why it cannot be used in this process
  bool ablation = false;           ///< there to be compared with; `auto` does not choose it
  bool batches = false;            ///< moves a message in batches, if asked to
  /// Opens a line that combines contributions at their owner as they come; null: they are messages there.
  /// @collective{config.comm}
  std::unique_ptr<Line> (*open_sums)(LineConfig config) = nullptr;
};

/// All transports, the default first. The same throughout a process.
std::span<const Transport> transports();
/// Errors (usage): no transport has this name, or it has an obstacle; the fix lists those that can be used.
const Transport& find_transport(std::string_view name);
/// Errors (usage): of `find_transport`, or the transport that the options name cannot do what they ask for.
/// With `auto` there is nothing to check.
void check_transport(const AccessOptions& options);

}  // namespace tailrace::exchange
