// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/aggregator.hpp"

#include <cstring>
#include <utility>

namespace tailrace::exchange {

Aggregator::Queue::iterator Aggregator::begin_message(int rank, double now_s) {
  constexpr std::size_t last_record_bytes = 128;  // of a usual one, which may go beyond the size
  queue_.push_back({rank, now_s, {}});
  queue_.back().message.reserve(rules_.message_bytes + last_record_bytes);
  return by_rank_[rank] = std::prev(queue_.end());
}

void Aggregator::append(Queue::iterator waiting, std::span<const std::byte> head,
                        std::span<const std::byte> body) {
  Message& message = waiting->message;
  const std::size_t at = message.size();
  message.resize(at + head.size() + body.size());
  std::memcpy(message.data() + at, head.data(), head.size());
  if (!body.empty()) std::memcpy(message.data() + at + head.size(), body.data(), body.size());
  last_ = waiting;
  waiting_bytes_ += head.size() + body.size();
  if (message.size() >= rules_.message_bytes) leave(waiting);
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
