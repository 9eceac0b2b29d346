// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/aggregator.hpp"

#include <utility>

#include "base/bytes.hpp"

namespace tailrace::exchange {

Aggregator::Queue::iterator Aggregator::begin_message(int rank, double now_s) {
  queue_.push_back({rank, now_s, {}});
  queue_.back().message.reserve(rules_.message_bytes);
  return by_rank_[rank] = std::prev(queue_.end());
}

void Aggregator::append(Queue::iterator waiting, std::span<const std::byte> head,
                        std::span<const std::byte> body) {
  append_bytes(waiting->message, head);
  append_bytes(waiting->message, body);
  last_ = waiting;
  waiting_bytes_ += head.size() + body.size();
  if (waiting->message.size() >= rules_.message_bytes) leave(waiting);
  while (waiting_bytes_ > rules_.total_bytes) leave(queue_.begin());
}

void Aggregator::leave(Queue::iterator which) {
  waiting_bytes_ -= which->message.size();
  by_rank_.erase(which->rank);
  const int rank = which->rank;
  Message message = std::move(which->message);
  if (last_ == which) last_ = queue_.end();
  queue_.erase(which);
  send_(rank, std::move(message));
}

void Aggregator::flush(int rank) {
  const auto found = by_rank_.find(rank);
  if (found != by_rank_.end()) leave(found->second);
}

void Aggregator::flush_old(double now_s) {
  while (!queue_.empty() && now_s - queue_.front().since_s >= rules_.age_s) leave(queue_.begin());
}

void Aggregator::flush() {
  while (!queue_.empty()) leave(queue_.begin());
}

}  // namespace tailrace::exchange
