// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/message_area.hpp"
#include "exchange/transports/transports.hpp"
#include "mpi/neighbourhood.hpp"

namespace tailrace::exchange {

namespace {

/// One collective operation per round, which begins with the last message and ends with all of them.
class Neighbour final : public Line {
 public:
  explicit Neighbour(LineConfig config)
      : config_(std::move(config)),
        neighbourhood_(config_.comm, ranks_of(config_.to), ranks_of(config_.from)),
        out_(config_.to),
        in_(config_.from) {}
  ~Neighbour() override { mpi::abandon({}, {&request_, 1}); }

  void begin(std::span<std::byte* const> places) override {
    places_.assign(places.begin(), places.end());
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (places_[i] == nullptr) places_[i] = in_[i];
    unsent_ = config_.to.size();
    named_ = 0;
    complete_ = false;
    if (unsent_ == 0) exchange();
  }
  std::byte* outgoing(std::size_t i) override { return out_[i]; }
  void send(std::size_t) override {
    if (--unsent_ == 0) exchange();
  }
  std::optional<std::size_t> arrived() override {
    complete_ = complete_ || (unsent_ == 0 && mpi::test_all({&request_, 1}));
    if (!complete_ || named_ == config_.from.size()) return {};
    return named_++;
  }
  const std::byte* incoming(std::size_t i) const override { return places_[i]; }
  bool end() override { return mpi::test_all({&request_, 1}); }
  std::size_t memory_bytes() const noexcept override { return out_.size_bytes() + in_.size_bytes(); }

 private:
  void exchange() {
    std::vector<std::span<std::byte>> out, in;
    for (std::size_t i = 0; i < config_.to.size(); ++i) out.emplace_back(out_[i], config_.to[i].bytes);
    for (std::size_t i = 0; i < config_.from.size(); ++i) in.emplace_back(places_[i], config_.from[i].bytes);
    request_ = neighbourhood_.start(out, in);
  }

  LineConfig config_;
  mpi::Neighbourhood neighbourhood_;
  MessageArea out_, in_;
  std::vector<std::byte*> places_;
  mpi::Request request_ = mpi::Request::none;
  std::size_t unsent_ = 0, named_ = 0;  ///< messages that are not written yet; that the caller knows of
  bool complete_ = false;
};

}  // namespace

std::unique_ptr<Line> open_neighbour(LineConfig config) {
  return std::make_unique<Neighbour>(std::move(config));
}

}  // namespace tailrace::exchange
