// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "am/endpoint.hpp"
#include "fragments/wire.hpp"

namespace tailrace::fragments {

/// The messages between ranks: modules of the endpoint.
enum MessageKind : int {
  fragment_message,
  post_message,
  request_message,
  answer_message,
  remove_message,
  finished_message,
  report_message,
  question_message,
  knowledge_message,
  ending_message,
  printed_message,
  full_message,
  steal_message,
  stolen_message,
  load_message,
  given_message,
  wish_message,
  pause_message,
  restored_message,
  copy_message,
  push_message,
  pushed_message,
  use_message,
  block_message
};

/// Messages between ranks that run the same program, as values.
class Mail {
 public:
  Mail(am::Endpoint& endpoint, const Image& image) : endpoint_(&endpoint), image_(&image) {}

  [[nodiscard]] int rank() const noexcept { return endpoint_->rank(); }
  [[nodiscard]] int size() const noexcept { return endpoint_->size(); }
  /// The rank that a recommendation names: numbers beyond the ranks begin again. @local
  [[nodiscard]] int rank_of(std::int64_t number) const noexcept {
    return static_cast<int>((number % size() + size()) % size());
  }

  /// Has function(reader) run for each message of a kind. @local
  template <class Function>
  void handle(MessageKind kind, Function function) {
    endpoint_->set_handler(kind, am::Lane::data, [image = image_, function](am::Message& message) {
      MessageReader in(*image, message.body());
      function(in);
    });
  }
  /// Sends values to a rank. @local, does not wait
  template <class... Values>
  void send(int rank, MessageKind kind, const Values&... values) {
    Writer writer(*image_, std::move(memory_));
    (writer << ... << values);
    memory_ = writer.take();
    if (memory_.size() <= endpoint_->copied_bytes()) return endpoint_->send(rank, kind, {{}, memory_});
    const auto bytes = std::make_shared<std::vector<std::byte>>(std::move(memory_));
    endpoint_->send(rank, kind, {{}, *bytes}, [bytes] {});  // its memory lives until it has left
  }
  template <class T>
  static T read(MessageReader& in) {
    T value{};
    in >> value;
    return value;
  }

 private:
  am::Endpoint* endpoint_;
  const Image* image_;
  std::vector<std::byte> memory_;  ///< of messages that are copied, for the next one
};

}  // namespace tailrace::fragments
