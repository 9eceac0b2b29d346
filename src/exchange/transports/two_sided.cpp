// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <deque>

#include "exchange/message_area.hpp"
#include "exchange/transports/transports.hpp"
#include "mpi/message.hpp"

namespace tailrace::exchange {

namespace {

constexpr std::size_t longest_bytes = std::size_t{1} << 30;  // MPI 3.1 counts are int

/// The requests of one side of a line, several for a long message.
struct Requests {
  std::vector<mpi::Request> list;
  std::vector<std::size_t> message;  ///< that each belongs to
  std::vector<int> parts;            ///< of each message

  explicit Requests(const std::vector<Peer>& peers) : parts(peers.size()) {
    for (std::size_t i = 0; i < peers.size(); ++i)
      for (std::size_t at = 0; at < peers[i].bytes; at += longest_bytes) {
        list.push_back(mpi::Request::none);
        message.push_back(i);
        ++parts[i];
      }
  }
  /// The first request of a message.
  [[nodiscard]] std::size_t first(std::size_t i) const {
    return static_cast<std::size_t>(std::lower_bound(message.begin(), message.end(), i) - message.begin());
  }
};

/// What both two-sided transports share: they differ in how a request comes to be under way.
class TwoSided : public Line {
 public:
  explicit TwoSided(LineConfig config)
      : config_(std::move(config)), sends_(config_.to), receives_(config_.from), out_(config_.to) {}
  ~TwoSided() override { mpi::abandon(receives_.list, sends_.list); }

  void begin(std::span<std::byte* const> places) override {
    missing_ = receives_.parts;
    land_at(places);
    for (std::size_t i = 0; i < places_.size(); ++i)
      for_each_part(receives_, i, config_.from[i], places_[i],
                    [&](mpi::Request& request, std::span<std::byte> part) {
                      start_receive(request, part, config_.from[i].rank);
                    });
  }
  std::byte* outgoing(std::size_t i) override { return out_[i]; }
  void send(std::size_t i) override {
    for_each_part(sends_, i, config_.to[i], out_[i], [&](mpi::Request& request, std::span<std::byte> part) {
      start_send(request, part, config_.to[i].rank);
    });
  }
  std::optional<std::size_t> arrived() override {
    for (const int request : mpi::test_some(receives_.list, numbers_)) {
      const std::size_t i = receives_.message[static_cast<std::size_t>(request)];
      if (--missing_[i] == 0) arrivals_.push_back(i);
    }
    if (arrivals_.empty()) return {};
    const std::size_t i = arrivals_.front();
    arrivals_.pop_front();
    return i;
  }
  const std::byte* incoming(std::size_t i) const override { return places_[i]; }
  bool end() override { return mpi::test_all(sends_.list); }
  std::size_t memory_bytes() const noexcept override {
    return out_.size_bytes() + (in_ ? in_->size_bytes() : 0);
  }

 protected:
  virtual void start_receive(mpi::Request& request, std::span<std::byte> part, int from) = 0;
  virtual void start_send(mpi::Request& request, std::span<std::byte> part, int to) = 0;
  /// Messages land elsewhere than in the round before.
  virtual void moved() {}

  [[nodiscard]] const LineConfig& config() const noexcept { return config_; }
  [[nodiscard]] bool in_round() const noexcept {
    return std::any_of(missing_.begin(), missing_.end(), [](int parts) { return parts > 0; });
  }
  [[nodiscard]] Requests& sends() noexcept { return sends_; }
  [[nodiscard]] Requests& receives() noexcept { return receives_; }

 private:
  template <class Start>
  void for_each_part(Requests& requests, std::size_t i, const Peer& peer, std::byte* bytes, Start start) {
    std::size_t request = requests.first(i);
    for (std::size_t at = 0; at < peer.bytes; at += longest_bytes)
      start(requests.list[request++], std::span(bytes + at, std::min(longest_bytes, peer.bytes - at)));
  }
  void land_at(std::span<std::byte* const> places) {
    std::vector<std::byte*> wanted(places.begin(), places.end());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] != nullptr) continue;
      if (!in_) in_.emplace(config_.from);
      wanted[i] = (*in_)[i];
    }
    if (wanted == places_) return;
    places_.swap(wanted);
    moved();
  }

  LineConfig config_;
  Requests sends_, receives_;
  MessageArea out_;
  std::optional<MessageArea> in_;     ///< once a message has no other place
  std::vector<std::byte*> places_;    ///< where messages land
  std::vector<int> missing_;          ///< parts of each message
  std::deque<std::size_t> arrivals_;  ///< messages that are there and were not named yet
  std::vector<int> numbers_;
};

class Isend final : public TwoSided {
 public:
  using TwoSided::TwoSided;

 private:
  void start_receive(mpi::Request& request, std::span<std::byte> part, int from) override {
    request = mpi::start_receive(config().comm, part, from, config().tag);
  }
  void start_send(mpi::Request& request, std::span<std::byte> part, int to) override {
    request = mpi::start_send(config().comm, part, to, config().tag);
  }
};

class Persistent final : public TwoSided {
 public:
  using TwoSided::TwoSided;
  ~Persistent() override {
    if (in_round()) mpi::abandon(receives().list, sends().list);
    free_all(receives());
    free_all(sends());
  }

 private:
  void start_receive(mpi::Request& request, std::span<std::byte> part, int from) override {
    if (request == mpi::Request::none)
      request = mpi::prepare_receive(config().comm, part, from, config().tag);
    mpi::start(request);
  }
  void start_send(mpi::Request& request, std::span<std::byte> part, int to) override {
    if (request == mpi::Request::none) request = mpi::prepare_send(config().comm, part, to, config().tag);
    mpi::start(request);
  }
  void moved() override { free_all(receives()); }
  static void free_all(Requests& requests) noexcept {
    for (mpi::Request& request : requests.list) mpi::free_request(request);
  }
};

}  // namespace

std::unique_ptr<Line> open_isend(LineConfig config) {
  return std::make_unique<Isend>(std::move(config));
}

std::unique_ptr<Line> open_persistent(LineConfig config) {
  return std::make_unique<Persistent>(std::move(config));
}

}  // namespace tailrace::exchange
