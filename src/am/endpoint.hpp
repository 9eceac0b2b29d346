// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "am/counters.hpp"
#include "am/hand_over.hpp"
#include "am/incoming.hpp"
#include "am/message.hpp"
#include "am/outgoing.hpp"
#include "am/slot_table.hpp"
#include "am/transport.hpp"
#include "am/tree_sum.hpp"

/// Active messages: what is sent to a rank runs a function there when it arrives. The reasons are in
/// docs/explain/fragments.md.
namespace tailrace::am {

/// One rank's end of the messages between ranks. Messages of one module from one rank to another arrive in
/// the order in which they were sent; those of different modules may overtake each other. All functions are
/// for the one thread of the rank that communicates, but for `hand_over` and `wake`, which any thread may
/// call.
class Endpoint {
 public:
  /// Takes the transport. @local
  explicit Endpoint(std::unique_ptr<Transport> transport, const Options& options = {});
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  ~Endpoint();

  [[nodiscard]] int rank() const noexcept { return transport_->rank(); }
  [[nodiscard]] int size() const noexcept { return transport_->size(); }

  /// Has the messages of a module, from 0 to `own_module` - 1, run `handler`, which may send but not call
  /// `progress`. The same lane on all ranks, before the first message. @local
  void set_handler(int module, Lane lane, Handler handler);

  /// Sends a message to a rank, itself included; never waits and never runs a handler. A body of at most
  /// `Options::rendezvous_bytes` is copied, and `on_complete` is called at once. A larger one
  /// must stay unchanged until `on_complete`, which a later `progress` calls; it is not copied on its way to
  /// another rank. Without credit from a slow receiver, messages wait here (`waiting_bytes`). @local.
  /// Errors (internal): no such rank or module, or a head larger than `max_head_bytes`.
  void send(int to, int module, const Contents& contents, Completion on_complete = {});
  /// The largest body that `send` copies. @local
  [[nodiscard]] std::size_t copied_bytes() const noexcept { return options_.rendezvous_bytes; }
  /// The same as `send`, by any thread: the communicating one sends it in its next `progress`, and is woken
  /// for it. The head is copied, the body stays unchanged until `on_complete`, which the communicating thread
  /// calls. Messages of one thread keep their order. @local
  void hand_over(int to, int module, const Contents& contents, Completion on_complete = {});

  /// Runs the handlers of what has arrived, sends what was handed over, and lets messages move. What waits to
  /// travel together with others is sent when nothing has arrived, or when it is old. Returns whether
  /// anything was done. @local, does not wait. Errors: the transport's, and what handlers throw, which loses
  /// the messages that arrived together with that one: it is for errors that end the program.
  bool progress();
  /// Sends what waits to travel with others, as far as receivers have given credit. @local, does not wait.
  void flush();
  /// Calls `progress` until something was done, `wake` was called, or `limit_s` seconds are over; leaves the
  /// core to others and sleeps meanwhile. Returns whether anything was done or `wake` called. @local. Errors
  /// (internal): a rank was silent for `Options::silence_limit_s`, and is named.
  bool wait(double limit_s = std::numeric_limits<double>::infinity());
  /// Ends a `wait`, or the next one if none is under way. Any thread. @local
  void wake();

  /// Returns whether nothing is left to be done here that `progress` could do: nothing handed over, waiting
  /// for credit, announced or in flight. @local
  [[nodiscard]] bool quiet() const noexcept;
  /// Waits until all that any rank has sent has arrived and has been handled, then ends. No message may be
  /// sent but by handlers. @collective{ranks of the transport}
  void close();

  /// Messages of the modules that `send` was called for, and whose handlers were called. What is handed over
  /// counts once `progress` has sent it. @local
  [[nodiscard]] const Tallies& sent() const noexcept { return sent_; }
  [[nodiscard]] const Tallies& received() const noexcept { return received_; }
  /// The sums over the modules but the layer's own, which termination is detected with. @local
  [[nodiscard]] std::int64_t messages_sent() const noexcept { return sent_.messages_below(own_module); }
  [[nodiscard]] std::int64_t messages_handled() const noexcept {
    return received_.messages_below(own_module);
  }
  /// Both for one other rank, or this one; zeros if nothing passed. @local
  [[nodiscard]] PeerTally peer(int rank) const noexcept;
  [[nodiscard]] Costs costs() const noexcept;
  /// Bytes of messages that wait here for credit. @local
  [[nodiscard]] std::int64_t waiting_bytes() const noexcept { return outgoing_.waiting_bytes(); }
  /// Ranks that have owed this one an answer for `limit_s` seconds and have sent nothing since: credit, a
  /// body, or their part of a sum. Counts from the first call on. @local
  [[nodiscard]] std::vector<Silence> silences(double limit_s);
  /// Sums over all ranks, of which one can be under way. @local
  [[nodiscard]] TreeSum& sums() noexcept { return sums_; }
  [[nodiscard]] const Options& options() const noexcept { return options_; }

 private:
  struct Module {
    Handler handler;
    Lane lane = Lane::data;
  };

  Module& module(int number);
  void receive(int source, Lane lane, std::span<const std::byte> frame);
  void receive_entry(int source, const EntryHeader& entry, const Contents& contents);
  void send_to_self(int number, const Contents& contents, const Completion& on_complete);
  void announce(int to, int number, const Contents& contents, Completion on_complete);
  void send_announced(int to, const Readiness& readiness);
  void deliver(int number, Message& message);
  bool send_handed_over();
  bool deliver_to_self();

  void throw_if_silent();

  struct Announced {
    int to = 0;
    std::span<const std::byte> body;
    Completion on_complete;
  };
  struct ToSelf {
    int module = 0;
    Bytes head, body;
  };

  Options options_;
  std::unique_ptr<Transport> transport_;
  std::array<Module, module_count> modules_;
  Outgoing outgoing_;
  Incoming incoming_;
  SlotTable<Announced> announced_;
  std::vector<ToSelf> to_self_;
  HandOver<Handed> handed_over_;
  FrameSink sink_;
  Tallies sent_, received_;
  TreeSum sums_;
  SilenceWatch silence_watch_;
  double silence_look_s_ = 0;  ///< when it was looked for
  std::int64_t frames_received_ = 0, bodies_sent_ = 0, looks_ = 0, sleeps_ = 0;
  std::atomic<bool> woken_{false};
  bool in_progress_ = false;
};

}  // namespace tailrace::am
