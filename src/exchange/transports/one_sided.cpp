// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/transports/passive.hpp"
#include "exchange/transports/transports.hpp"
#include "mpi/openshmem.hpp"

namespace tailrace::exchange {

namespace {

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
    put_in_batches(window_, {out_[i], config_.to[i].bytes}, config_.batch_bytes, config_.to[i].rank,
                   offsets_[i]);
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

/// Puts, waits until all is there, then puts a flag.
template <class Memory>
class Put final : public Passive<Memory> {
 public:
  explicit Put(LineConfig config)
      : Passive<Memory>(config, config.from),
        out_(config.to),
        offsets_(numbers_from_peers(config.comm, config.from, this->places(config.from.size()))) {}
  std::byte* outgoing(std::size_t i) override { return this->was_read(i) ? out_[i] : nullptr; }
  void send(std::size_t i) override {
    const auto [rank, bytes] = this->config().to[i];
    put_in_batches(this->memory(), {out_[i], bytes}, this->config().batch_bytes, rank, offsets_[i]);
    this->memory().flush(rank);
    this->notify_receiver(i);
  }
  const std::byte* incoming(std::size_t i) const override { return this->stored(i); }
  std::size_t memory_bytes() const noexcept override { return this->stored_bytes() + out_.size_bytes(); }

 private:
  MessageArea out_;
  std::vector<std::size_t> offsets_;  ///< of outgoing messages, in the receivers' memory
};

/// The receiver gets the message out of the sender's window once a flag says that it is there.
class Get final : public Passive<PassiveWindow> {
 public:
  explicit Get(LineConfig config)
      : Passive(config, config.to),
        in_(config.from),
        offsets_(numbers_from_peers(config.comm, config.to, places(config.to.size()))) {}
  std::byte* outgoing(std::size_t i) override { return was_read(i) ? stored(i) : nullptr; }
  void send(std::size_t i) override {
    memory().sync();
    notify_receiver(i);
  }
  const std::byte* incoming(std::size_t i) const override { return in_[i]; }
  std::size_t memory_bytes() const noexcept override { return stored_bytes() + in_.size_bytes(); }

 private:
  void fetch(std::size_t i) override {
    const auto [rank, bytes] = config().from[i];
    for_each_batch(std::span(in_[i], bytes), config().batch_bytes,
                   [&, rank = rank](std::span<std::byte> batch, std::size_t at) {
                     memory().get(batch, rank, offsets_[i] + at);
                   });
    memory().flush(rank);
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
  return std::make_unique<Put<PassiveWindow>>(std::move(config));
}
std::unique_ptr<Line> open_shmem(LineConfig config) {
  return std::make_unique<Put<mpi::SymmetricMemory>>(std::move(config));
}
std::unique_ptr<Line> open_get(LineConfig config) {
  return std::make_unique<Get>(std::move(config));
}

}  // namespace tailrace::exchange
