// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>

#include "am/doorbell.hpp"
#include "am/frame.hpp"

namespace tailrace::am {

/// Called once when the memory that it speaks of is free, or filled. By the thread that calls `look`.
using Completion = std::function<void()>;
/// Takes a frame that has arrived, as long as the call lasts.
using FrameSink = std::function<void(int source, Lane lane, std::span<const std::byte> frame)>;

/// Carries frames and bodies between ranks. Frames from one rank on one lane arrive in the order of their
/// sending, or at least those of one kind. One thread per rank calls it; `bell().ring()` any.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  [[nodiscard]] virtual int rank() const noexcept = 0;
  [[nodiscard]] virtual int size() const noexcept = 0;

  /// An empty frame, with the memory of an earlier one if there is any.
  [[nodiscard]] virtual Bytes empty_frame() = 0;
  /// Starts to send a frame to another rank. Does not wait.
  virtual void send(int to, Lane lane, Bytes frame) = 0;
  /// Starts to send a body; `bytes` must stay unchanged until `sent`. The receiver has started to receive it.
  virtual void send_body(int to, int tag, std::span<const std::byte> bytes, Completion sent) = 0;
  /// Starts to receive a body; no other one from this rank with this tag is under way.
  virtual void receive_body(int from, int tag, std::span<std::byte> bytes, Completion received) = 0;

  /// Lets messages move; gives frames that have arrived to the sink, those of lane `control` first. Returns
  /// whether anything was given or completed. Does not wait. Errors: the transport's own.
  virtual bool look(const FrameSink& sink) = 0;
  /// Whether nothing that was started here is under way.
  [[nodiscard]] virtual bool quiet() const noexcept = 0;

  /// Wakes this rank's thread.
  [[nodiscard]] virtual Doorbell& bell() noexcept = 0;
  /// Whether an arrival rings the bell; otherwise somebody has to look for it.
  [[nodiscard]] virtual bool arrivals_ring() const noexcept = 0;

  /// Whether all frames that any rank has sent have been given to sinks. All ranks call it together, and
  /// wait for each other; nobody may depend on a `look` of a rank that waits here.
  virtual bool all_arrived() = 0;
};

}  // namespace tailrace::am
