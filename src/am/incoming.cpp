// SPDX-License-Identifier: BSD-3-Clause
#include "am/incoming.hpp"

namespace tailrace::am {

Incoming::Incoming(Transport& transport, int max_bodies, Actions actions)
    : transport_(&transport), actions_(std::move(actions)) {
  for (int tag = max_bodies; tag-- > 0;) free_tags_.push_back(tag);
}

Incoming::Waiting& Incoming::append(const Key& key, std::span<const std::byte> head) {
  Waiting& waiting = sequences_[key].emplace_back();
  waiting.head.assign(head.begin(), head.end());
  return waiting;
}

void Incoming::take(int source, int module, const Contents& contents) {
  const Key key{source, module};
  if (sequences_.empty() || !sequences_.contains(key)) {
    Message message(source, contents);
    return actions_.deliver(module, message);
  }
  Waiting& waiting = append(key, contents.head);
  waiting.body.assign(contents.body.begin(), contents.body.end());
  waiting.complete = true;
}

void Incoming::take_announced(int source, int module, std::span<const std::byte> head,
                              const Announcement& announcement) {
  Waiting& waiting = append({source, module}, head);
  waiting.announcement = announcement;
  announced_.emplace_back(Key{source, module}, &waiting);  // elements of a deque stay where they are
  receive_bodies();
}

void Incoming::receive_bodies() {
  while (!announced_.empty() && !free_tags_.empty()) {
    const auto [key, waiting] = announced_.front();
    announced_.pop_front();
    receive_body(key, *waiting);
  }
}

void Incoming::receive_body(const Key& key, Waiting& waiting) {
  const int tag = free_tags_.back();
  free_tags_.pop_back();
  waiting.body.resize(waiting.announcement.body_bytes);
  transport_->receive_body(key.first, tag, waiting.body,
                           [this, key, &waiting, tag] { finish_body(key, waiting, tag); });
  actions_.send_ready(key.first, {.sender = waiting.announcement.sender, .tag = tag});
}

void Incoming::finish_body(const Key& key, Waiting& waiting, int tag) {
  waiting.complete = true;
  ++bodies_received_;
  free_tags_.push_back(tag);
  receive_bodies();
  deliver_complete(key);
}

void Incoming::deliver_complete(const Key& key) {
  auto& sequence = sequences_.at(key);
  while (!sequence.empty() && sequence.front().complete) {
    Waiting first = std::move(sequence.front());
    sequence.pop_front();
    Message message(key.first, first.head, std::move(first.body));
    actions_.deliver(key.second, message);
  }
  if (sequence.empty()) sequences_.erase(key);
}

}  // namespace tailrace::am
