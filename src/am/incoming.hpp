// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "am/message.hpp"
#include "am/transport.hpp"

namespace tailrace::am {

/// Brings messages into the order of their sending, by sender and module: while the body of an announced one
/// is on its way, those behind it wait. Bodies are received into the memory that the handler gets.
class Incoming {
 public:
  struct Actions {
    std::function<void(int module, Message& message)> deliver;
    std::function<void(int to, const Readiness& readiness)> send_ready;
  };
  Incoming(Transport& transport, int max_bodies, Actions actions);

  /// Delivers a message, or keeps a copy of it behind others.
  void take(int source, int module, const Contents& contents);
  /// Takes note of a message whose body can be asked for.
  void take_announced(int source, int module, std::span<const std::byte> head,
                      const Announcement& announcement);

  [[nodiscard]] bool empty() const noexcept { return sequences_.empty(); }
  /// Calls visit(source) for each rank with a body that is to come.
  template <class Visit>
  void for_each_source(Visit visit) const {
    for (const auto& [key, waiting] : sequences_) visit(key.first);
  }
  [[nodiscard]] std::int64_t bodies_received() const noexcept { return bodies_received_; }

 private:
  using Key = std::pair<int, int>;  ///< source and module
  struct Waiting {
    Bytes head, body;
    Announcement announcement;
    bool complete = false;
  };

  Waiting& append(const Key& key, std::span<const std::byte> head);
  void receive_bodies();
  void receive_body(const Key& key, Waiting& waiting);
  void finish_body(const Key& key, Waiting& waiting, int tag);
  void deliver_complete(const Key& key);

  Transport* transport_;
  Actions actions_;
  std::map<Key, std::deque<Waiting>> sequences_;
  std::deque<std::pair<Key, Waiting*>> announced_;  ///< those without a tag
  std::vector<int> free_tags_;
  std::int64_t bodies_received_ = 0;
};

}  // namespace tailrace::am
