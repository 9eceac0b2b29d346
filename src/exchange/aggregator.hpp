// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <span>
#include <unordered_map>

#include "base/aligned.hpp"

namespace tailrace::exchange {

/// When small records to one rank leave as one message.
struct AggregationRules {
  std::size_t message_bytes = 16384;  ///< a message that has reached this size; 0: each record leaves alone
  std::size_t total_bytes = std::size_t{1}
                            << 20;  ///< of all messages that wait; beyond, the oldest one leaves
  double age_s = 100e-6;            ///< a message whose first record waits for so long, at `flush_old`
};

/// Packs records to other ranks into one message for each of them, in their order. A message leaves when it
/// is as long as the rules say, when all that wait are, when it is old and somebody looks, and when it is
/// flushed; so that memory grows with the ranks in use, up to a bound, and not with those there are. Nothing
/// here communicates: what a message leaves by is the caller's.
class Aggregator {
 public:
  using Message = AlignedVector<std::byte>;
  /// `send` takes a message to a rank; it does not call this object.
  using Send = std::function<void(int rank, Message message)>;
  Aggregator(const AggregationRules& rules, Send send) : rules_(rules), send_(std::move(send)) {}
  Aggregator(const Aggregator&) = delete;
  Aggregator& operator=(const Aggregator&) = delete;

  /// Appends a record to the message to a rank: `head`, then `body`. `clock()` is asked when a message
  /// begins, for what `flush_old` compares with. @local
  template <class Clock>
  void append(int rank, std::span<const std::byte> head, std::span<const std::byte> body,
              const Clock& clock) {
    append(last_ != queue_.end() && last_->rank == rank ? last_ : message_to(rank, clock), head, body);
  }
  /// Returns whether the next record to a rank begins a message. @local
  [[nodiscard]] bool begins_message(int rank) const {
    return (last_ == queue_.end() || last_->rank != rank) && by_rank_.count(rank) == 0;
  }
  /// Lets the message to a rank leave, those that are older than the rules allow, or all. @local
  void flush(int rank);
  void flush_old(double now_s);
  void flush();

  [[nodiscard]] std::size_t waiting_bytes() const noexcept { return waiting_bytes_; }
  [[nodiscard]] std::size_t waiting_messages() const noexcept { return by_rank_.size(); }
  /// The most that messages can hold while they wait, with records of at most so many bytes.
  [[nodiscard]] static std::size_t bound_bytes(const AggregationRules& rules, std::size_t record_bytes) {
    return rules.message_bytes == 0 ? record_bytes : rules.total_bytes + record_bytes;
  }

 private:
  struct Waiting {
    int rank;
    double since_s;
    Message message;
  };
  using Queue = std::list<Waiting>;
  template <class Clock>
  Queue::iterator message_to(int rank, const Clock& clock) {
    const auto found = by_rank_.find(rank);
    return found != by_rank_.end() ? found->second : begin_message(rank, clock());
  }
  Queue::iterator begin_message(int rank, double now_s);
  void append(Queue::iterator waiting, std::span<const std::byte> head, std::span<const std::byte> body);
  void leave(Queue::iterator which);

  AggregationRules rules_;
  Send send_;
  Queue queue_;  ///< the oldest one first
  std::unordered_map<int, Queue::iterator> by_rank_;
  Queue::iterator last_ = queue_.end();  ///< the message that the last record went to, if it still waits
  std::size_t waiting_bytes_ = 0;
};

}  // namespace tailrace::exchange
