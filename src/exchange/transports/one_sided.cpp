// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <exception>

#include "exchange/message_area.hpp"
#include "exchange/transports/transports.hpp"
#include "mpi/packets.hpp"
#include "mpi/window.hpp"

namespace tailrace::exchange {

namespace {

/// Sends each of `to` a number; returns those that come, by rank. @collective{comm}
std::vector<std::size_t> numbers_from_peers(mpi::CommView comm, const std::vector<Peer>& to,
                                            const std::vector<std::size_t>& mine) {
  std::vector<mpi::Packet<std::size_t>> packets;
  for (std::size_t i = 0; i < to.size(); ++i) packets.push_back({to[i].rank, {mine[i]}});
  std::vector<std::size_t> numbers;
  for (const auto& packet : mpi::deliver(comm, packets)) numbers.push_back(packet.values.front());
  return numbers;
}

/// What both transports of active targets share: puts into the receivers' windows, all of whose messages are
/// there when an epoch ends.
class Active : public Line {
 public:
  explicit Active(LineConfig config)
      : config_(std::move(config)),
        out_(config_.to),
        places_(message_offsets(config_.from)),
        window_(config_.comm, places_.back()),
        offsets_(numbers_from_peers(config_.comm, config_.from, places_)),
        named_(config_.from.size()) {}

  std::byte* outgoing(std::size_t i) override { return out_[i]; }
  void send(std::size_t i) override {
    window_.put({out_[i], config_.to[i].bytes}, config_.to[i].rank, offsets_[i]);
  }
  const std::byte* incoming(std::size_t i) const override { return window_.data() + places_[i]; }
  bool end() override { return !open_; }
  std::size_t memory_bytes() const noexcept override { return out_.size_bytes() + places_.back(); }

 protected:
  /// Others may write here until `close`.
  void open() noexcept { open_ = true; }
  void close() noexcept {
    open_ = false;
    named_ = 0;
  }
  [[nodiscard]] bool is_open() const noexcept { return open_; }
  /// The number of the next message that the caller does not know of.
  std::optional<std::size_t> next() noexcept {
    if (open_ || named_ == config_.from.size()) return {};
    return named_++;
  }
  [[nodiscard]] const LineConfig& config() const noexcept { return config_; }
  [[nodiscard]] mpi::Window& window() noexcept { return window_; }

 private:
  LineConfig config_;
  MessageArea out_;
  std::vector<std::size_t> places_;  ///< of incoming messages, in this rank's window
  mpi::Window window_;
  std::vector<std::size_t> offsets_;  ///< of outgoing ones, in the receivers' windows
  std::size_t named_;                 ///< messages of this round that the caller knows of
  bool open_ = false;
};

/// In epochs that both sides open: post - start - complete - wait.
class Pscw final : public Active {
 public:
  explicit Pscw(const LineConfig& config)
      : Active(config),
        origins_(config.comm, ranks_of(config.from)),
        targets_(config.comm, ranks_of(config.to)) {}

  void begin(std::span<std::byte* const>) override {
    unsent_ = config().to.size();
    if (!config().from.empty()) {
      open();
      window().post(origins_);
    }
    if (unsent_ > 0) window().start(targets_);
  }
  void send(std::size_t i) override {
    Active::send(i);
    if (--unsent_ == 0) window().complete();
  }
  std::optional<std::size_t> arrived() override {
    if (is_open() && window().test()) close();
    return next();
  }

 private:
  mpi::Group origins_, targets_;
  std::size_t unsent_ = 0;
};

/// Between two fences of all ranks: the baseline.
class Fence final : public Active {
 public:
  using Active::Active;

  void begin(std::span<std::byte* const>) override {
    window().fence();
    open();
  }
  void wait_for_others() override {
    window().fence();
    close();
  }
  std::optional<std::size_t> arrived() override { return next(); }
};

/// Counters of rounds in a window, each on a cache line of its own. Whoever writes one does so with a put.
class Counters {
 public:
  explicit Counters(std::byte* first) : first_(first) {}
  static std::size_t size_bytes(std::size_t count) { return count * alignment_bytes; }
  [[nodiscard]] std::uint64_t operator[](std::size_t i) const {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(first_ + i * alignment_bytes))
        .load(std::memory_order_acquire);
  }

 private:
  std::byte* first_;
};

/// What both transports of passive targets share. A window holds, in this order: for each sender a counter of
/// the rounds whose message is there, for each receiver one of the rounds whose message it has read, the
/// messages.
class Passive : public Line {
 public:
  Passive(LineConfig config, const std::vector<Peer>& stored)
      : config_(std::move(config)),
        places_(message_offsets(stored)),
        counters_bytes_(Counters::size_bytes(config_.from.size() + config_.to.size())),
        window_(config_.comm, counters_bytes_ + places_.back()),
        counters_(window_.data()),
        named_(config_.from.size()) {
    std::vector<std::size_t> there_at, read_at;
    for (std::size_t i = 0; i < config_.from.size(); ++i) there_at.push_back(Counters::size_bytes(i));
    for (std::size_t i = 0; i < config_.to.size(); ++i)
      read_at.push_back(Counters::size_bytes(config_.from.size() + i));
    there_at_ = numbers_from_peers(config_.comm, config_.from, there_at);
    read_at_ = numbers_from_peers(config_.comm, config_.to, read_at);
    window_.lock_all();
  }
  ~Passive() override {
    if (std::uncaught_exceptions() == 0) window_.unlock_all();
  }

  void begin(std::span<std::byte* const>) override {
    ++round_;
    std::fill(named_.begin(), named_.end(), false);
  }
  std::optional<std::size_t> arrived() override {
    window_.sync();
    for (std::size_t i = 0; i < named_.size(); ++i) {
      if (named_[i] || counters_[i] < round_) continue;
      named_[i] = true;
      fetch(i);
      return i;
    }
    return {};
  }
  bool end() override {
    for (std::size_t i = 0; i < config_.from.size(); ++i) notify(config_.from[i].rank, read_at_[i]);
    return true;
  }

 protected:
  /// The message of sender i is where the transport stores messages.
  virtual void fetch(std::size_t) {}
  /// Returns whether receiver i has read the message of the round before.
  [[nodiscard]] bool was_read(std::size_t i) {
    window_.sync();
    return counters_[config_.from.size() + i] + 1 >= round_;
  }
  void notify_receiver(std::size_t i) { notify(config_.to[i].rank, there_at_[i]); }
  [[nodiscard]] const LineConfig& config() const noexcept { return config_; }
  [[nodiscard]] mpi::Window& window() noexcept { return window_; }
  /// Where message i is in this rank's window, and its memory.
  [[nodiscard]] std::size_t place(std::size_t i) const noexcept { return counters_bytes_ + places_[i]; }
  [[nodiscard]] std::byte* stored(std::size_t i) const noexcept { return window_.data() + place(i); }
  [[nodiscard]] std::size_t window_bytes() const noexcept { return counters_bytes_ + places_.back(); }
  [[nodiscard]] std::vector<std::size_t> places(std::size_t count) const {
    std::vector<std::size_t> list;
    for (std::size_t i = 0; i < count; ++i) list.push_back(place(i));
    return list;
  }

 private:
  /// Writes the number of the round into another rank's window.
  void notify(int rank, std::size_t offset) {
    window_.put(std::as_bytes(std::span(&round_, 1)), rank, offset);
    window_.flush(rank);
  }

  LineConfig config_;
  std::vector<std::size_t> places_;
  std::size_t counters_bytes_;
  mpi::Window window_;
  Counters counters_;
  /// Where the counters for this rank's news are, in other windows.
  std::vector<std::size_t> there_at_, read_at_;
  std::vector<bool> named_;
  std::uint64_t round_ = 0;
};

/// Puts, flushes, then puts a flag.
class Lock final : public Passive {
 public:
  explicit Lock(LineConfig config)
      : Passive(config, config.from),
        out_(config.to),
        offsets_(numbers_from_peers(config.comm, config.from, places(config.from.size()))) {}
  std::byte* outgoing(std::size_t i) override { return was_read(i) ? out_[i] : nullptr; }
  void send(std::size_t i) override {
    const auto [rank, bytes] = config().to[i];
    window().put({out_[i], bytes}, rank, offsets_[i]);
    window().flush(rank);
    notify_receiver(i);
  }
  const std::byte* incoming(std::size_t i) const override { return stored(i); }
  std::size_t memory_bytes() const noexcept override { return window_bytes() + out_.size_bytes(); }

 private:
  MessageArea out_;
  std::vector<std::size_t> offsets_;  ///< of outgoing messages, in the receivers' windows
};

/// The receiver gets the message out of the sender's window once a flag says that it is there.
class Get final : public Passive {
 public:
  explicit Get(LineConfig config)
      : Passive(config, config.to),
        in_(config.from),
        offsets_(numbers_from_peers(config.comm, config.to, places(config.to.size()))) {}
  std::byte* outgoing(std::size_t i) override { return was_read(i) ? stored(i) : nullptr; }
  void send(std::size_t i) override {
    window().sync();
    notify_receiver(i);
  }
  const std::byte* incoming(std::size_t i) const override { return in_[i]; }
  std::size_t memory_bytes() const noexcept override { return window_bytes() + in_.size_bytes(); }

 private:
  void fetch(std::size_t i) override {
    const auto [rank, bytes] = config().from[i];
    window().get({in_[i], bytes}, rank, offsets_[i]);
    window().flush(rank);
  }
  MessageArea in_;
  std::vector<std::size_t> offsets_;  ///< of incoming messages, in the senders' windows
};

}  // namespace

std::unique_ptr<Line> open_rma_pscw(LineConfig config) {
  return std::make_unique<Pscw>(config);
}
std::unique_ptr<Line> open_rma_fence(LineConfig config) {
  return std::make_unique<Fence>(std::move(config));
}
std::unique_ptr<Line> open_rma_lock(LineConfig config) {
  return std::make_unique<Lock>(std::move(config));
}
std::unique_ptr<Line> open_get(LineConfig config) {
  return std::make_unique<Get>(std::move(config));
}

}  // namespace tailrace::exchange
