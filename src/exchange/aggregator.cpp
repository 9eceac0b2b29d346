// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/aggregator.hpp"

#include <utility>

#include "base/bytes.hpp"

namespace tailrace::exchange {

Aggregator::Queue::iterator Aggregator::message_to(int rank, double now_s) {
  const auto found = by_rank_.find(rank);
  if (found != by_rank_.end()) return found->second;
  queue_.push_back({rank, now_s, {}});
  queue_.back().message.reserve(rules_.message_bytes);
  return by_rank_[rank] = std::prev(queue_.end());
}

void Aggregator::append(int rank, std::span<const std::byte> head, std::span<const std::byte> body,
                        double now_s) {
  const auto waiting = message_to(rank, now_s);
  append_bytes(waiting->message, head);
  append_bytes(waiting->message, body);
  waiting_bytes_ += head.size() + body.size();
  if (waiting->message.size() >= rules_.message_bytes) leave(waiting);
  while (waiting_bytes_ > rules_.total_bytes) leave(queue_.begin());
}

void Aggregator::leave(Queue::iterator which) {
  waiting_bytes_ -= which->message.size();
  by_rank_.erase(which->rank);
  const int rank = which->rank;
  Message message = std::move(which->message);
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
