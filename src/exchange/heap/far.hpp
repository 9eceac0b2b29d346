// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exchange/aggregator.hpp"
#include "exchange/heap/memory.hpp"

namespace tailrace::exchange {

/// A place in the memory of another rank, as that rank knows it.
struct FarPlace {
  int rank = 0;
  std::uint32_t block = 0;
  std::uint64_t offset = 0;
};

/// Operations on the memory of ranks that loads and stores do not reach. They are records in messages, which
/// the rank that has the memory carries out, those of one rank in their order, while it is in `progress` of
/// any heap; answers come in the same way. Main thread only.
class Far {
 public:
  /// Where a place of this rank is in memory.
  using Resolve = std::function<std::byte*(std::uint32_t block, std::uint64_t offset)>;

  /// `comm` is for this alone.
  Far(mpi::CommView comm, const HeapOptions& options, HeapCounts& counts, Resolve resolve);
  Far(const Far&) = delete;
  Far& operator=(const Far&) = delete;
  /// After a `quiet` of all ranks, unless an error ends the program.
  ~Far();

  /// Begins an operation. `result` and `out` are written before the end of a `quiet` of that rank. @local,
  /// waits while too much is on its way
  void put(FarPlace to, std::span<const std::byte> bytes);
  void get(FarPlace from, std::span<std::byte> out);
  void change(const FarPlace& at, const Change& change);
  void fetch(const FarPlace& at, const Change& change, std::uint64_t& result);

  /// Lets what was begun towards a rank leave. @local
  void send(int rank) { aggregator_.flush(rank); }
  /// Waits until what was begun towards a rank, or all of them, is done. @neighbour. Errors (internal): ranks
  /// that do not answer in time.
  void quiet(int rank);
  void quiet();
  /// Waits until everything that this rank wants to read is here. @neighbour
  void wait_for_gets();

  /// Waits until `done()`, for something that is called `what` in the error, and carries out what others want
  /// meanwhile. @neighbour. Errors (internal): not within `limit_s`.
  void wait(const std::function<bool()>& done, const char* what);
  /// Carries out what others want, of all objects of the process. @local, does not wait
  static void progress_all();
  [[nodiscard]] static std::size_t bound_bytes(const HeapOptions& options);

 private:
  enum class Verb : std::uint8_t { put, put_word, change, fetch, get, value, ask, done };
  /// Precedes the bytes of each operation in a message, but for `put_word`.
  struct Record {
    Verb verb = Verb::put;
    std::uint32_t block = 0;
    std::uint64_t offset = 0;
    std::uint32_t token = 0;  ///< of who asks, for the answer
    std::uint32_t bytes = 0;  ///< that follow; of `get`: that are wanted
  };
  /// Eight bytes for the block of the record before: half the bytes of a record of its own.
  struct WordRecord {
    Verb verb = Verb::put_word;
    std::uint16_t offset_high = 0;
    std::uint32_t offset_low = 0;
    std::uint64_t word = 0;

    [[nodiscard]] std::uint64_t offset() const noexcept {
      return std::uint64_t{offset_high} << 32U | offset_low;
    }
  };
  struct Peer {
    bool used = false;                      ///< since it was asked last
    std::uint32_t asked = 0, answered = 0;  ///< whether all is done
    std::int64_t block = -1;                ///< of the last record to it, if that is a put
  };

  void progress();
  void receive(int rank, std::span<const std::byte> message);
  void serve(int rank, const Record& record, std::span<const std::byte> body);
  void reply(int rank, const Record& record, std::span<const std::byte> body);
  void take_answer(std::uint32_t token, std::span<const std::byte> body);
  std::uint32_t expect(std::span<std::byte> out);
  void begin(int rank, const Record& record, std::span<const std::byte> body);
  void append(int rank, Peer& peer, const Record& record, std::span<const std::byte> body);
  /// Returns whether it was a word for the block of the record before.
  bool put_word(const FarPlace& to, std::span<const std::byte> bytes);
  Peer& peer_of(int rank);
  void make_room();
  void post(int rank, Aggregator::Message message);
  void drop_sent();
  void ask(int rank, Peer& peer);
  [[nodiscard]] std::string silent_ranks() const;

  mpi::CommView comm_;
  double limit_s_;
  HeapCounts& counts_;
  Resolve resolve_;
  Aggregator aggregator_;
  std::map<int, Peer> peers_;  ///< that this rank has sent records to
  std::pair<int, Peer*> last_peer_{-1, nullptr};
  std::uint32_t unanswered_ = 0;
  std::vector<std::span<std::byte>> expected_;  ///< by token; where an answer goes
  std::vector<std::uint32_t> free_tokens_;
  std::size_t expected_bytes_ = 0, missing_ = 0;  ///< of answers that have not come, and their number
  std::vector<mpi::Request> sends_;
  std::vector<Aggregator::Message> sending_;  ///< their messages
  std::size_t sending_bytes_ = 0;
  std::vector<int> replied_;  ///< ranks with answers in the aggregator
};

}  // namespace tailrace::exchange
