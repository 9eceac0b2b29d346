// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "am/frame.hpp"

namespace tailrace::am {

inline constexpr std::size_t max_head_bytes = 2048;

/// Says when messages travel. The same on all ranks.
struct Options {
  std::size_t frame_bytes = 4032;        ///< up to which small messages travel together
  std::size_t rendezvous_bytes = 16384;  ///< larger bodies are announced and received in place
  std::size_t messages_per_frame = 1U << 16U;
  int frames_in_flight = 16;  ///< credit of a sender: per receiver and lane
  int bodies_in_flight = 32;  ///< bodies that a rank receives at a time
  double max_age_s = 20e-6;   ///< for which a message waits for others while others arrive

  /// After which a `wait` ends with an error if a rank owes an answer and sends nothing. A rank that computes
  /// without looking is silent, too: only a program that knows how long can set it.
  double silence_limit_s = std::numeric_limits<double>::infinity();

  /// Memory that each frame fits into, in whole cache lines.
  [[nodiscard]] std::size_t max_frame_bytes() const noexcept {
    const std::size_t body = rendezvous_bytes > frame_bytes ? rendezvous_bytes : frame_bytes;
    return padded<std::byte>(sizeof(FrameHeader) + entry_bytes(max_head_bytes, body));
  }
};

/// Describes what a message carries: a few words about it, and the values themselves; both may be empty.
struct Contents {
  std::span<const std::byte> head{}, body{};
};

/// A message in its handler; what it refers to lasts as long as the call.
class Message {
 public:
  Message(int source, const Contents& contents) : source_(source), contents_(contents) {}
  /// With a body that is this message's own.
  Message(int source, std::span<const std::byte> head, Bytes body)
      : source_(source), own_(std::move(body)), contents_{head, own_}, owns_(true) {}
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  [[nodiscard]] int source() const noexcept { return source_; }
  /// Both are aligned to 8 bytes.
  [[nodiscard]] std::span<const std::byte> head() const noexcept { return contents_.head; }
  [[nodiscard]] std::span<const std::byte> body() const noexcept { return contents_.body; }
  /// The body as memory of the caller's own: without a copy if it was received in place.
  Bytes take_body() { return owns_ ? std::move(own_) : Bytes(contents_.body.begin(), contents_.body.end()); }

 private:
  int source_;
  Bytes own_;
  Contents contents_;
  bool owns_ = false;
};

/// Runs when a message arrives.
using Handler = std::function<void(Message& message)>;

}  // namespace tailrace::am
