// SPDX-License-Identifier: BSD-3-Clause
#include "am/local.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "tailrace/error.hpp"

namespace tailrace::am {

namespace {

struct Arrived {
  int source = 0;
  Bytes frame;
};

/// Describes a body that is being received.
struct PostedBody {
  std::span<std::byte> bytes;
  Completion received;
};

/// Where others put what is for a rank.
struct Inbox {
  std::mutex mutex;
  std::array<std::vector<Arrived>, lane_count> frames;
  std::map<std::pair<int, int>, PostedBody> posted;  ///< by source and tag
  std::vector<Completion> completed;                 ///< for this rank's thread to call
  std::atomic<bool> any{false};                      ///< there may be something
  Doorbell bell;
};

}  // namespace

struct LocalRanks::State {
  explicit State(int size) : inboxes(static_cast<std::size_t>(size)) {}

  Inbox& inbox(int rank) { return inboxes[static_cast<std::size_t>(rank)]; }
  std::int64_t sum(std::int64_t value);
  void throw_if_failed() const {
    if (failed_rank.load() < 0) return;
    throw Error(ErrorKind::internal, fmt::format("rank {} has ended with an error", failed_rank.load()));
  }

  std::deque<Inbox> inboxes;
  std::atomic<int> failed_rank{-1};
  std::mutex mutex;
  std::condition_variable met;
  std::int64_t total = 0, last_total = 0;
  std::size_t here = 0, round = 0;
};

/// Sums up over all ranks, which wait for each other.
std::int64_t LocalRanks::State::sum(std::int64_t value) {
  std::unique_lock lock(mutex);
  total += value;
  if (++here == inboxes.size()) {
    last_total = std::exchange(total, 0);
    here = 0;
    ++round;
    met.notify_all();
  } else {
    met.wait(lock, [this, mine = round] { return round != mine || failed_rank.load() >= 0; });
    throw_if_failed();
  }
  return last_total;
}

namespace {

class LocalTransport : public Transport {
 public:
  LocalTransport(LocalRanks::State& ranks, int rank)
      : ranks_(&ranks), rank_(rank), inbox_(&ranks.inbox(rank)) {}

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return static_cast<int>(ranks_->inboxes.size()); }
  [[nodiscard]] Bytes empty_frame() override;
  void send(int to, Lane lane, Bytes frame) override;
  void send_body(int to, int tag, std::span<const std::byte> bytes, Completion sent) override;
  void receive_body(int from, int tag, std::span<std::byte> bytes, Completion received) override;
  bool look(const FrameSink& sink) override;
  [[nodiscard]] bool quiet() const noexcept override { return sent_.empty(); }
  [[nodiscard]] Doorbell& bell() noexcept override { return inbox_->bell; }
  [[nodiscard]] bool arrivals_ring() const noexcept override { return true; }
  bool all_arrived() override { return ranks_->sum(balance_) == 0; }

 private:
  void give(Lane lane, std::vector<Arrived>& frames, const FrameSink& sink);

  LocalRanks::State* ranks_;
  int rank_;
  Inbox* inbox_;
  std::vector<Completion> sent_;  ///< of bodies, to be called in the next `look`
  std::vector<Bytes> spare_;
  std::int64_t balance_ = 0;  ///< frames sent minus frames received
};

Bytes LocalTransport::empty_frame() {
  if (spare_.empty()) return {};
  Bytes frame = std::move(spare_.back());
  spare_.pop_back();
  frame.clear();
  return frame;
}

/// Puts something into an inbox under its lock, and wakes its owner.
template <class Put>
void put_into(Inbox& inbox, Put put) {
  {
    const std::lock_guard lock(inbox.mutex);
    put();
    inbox.any.store(true);
  }
  inbox.bell.ring();
}

void LocalTransport::send(int to, Lane lane, Bytes frame) {
  ++balance_;
  Inbox& inbox = ranks_->inbox(to);
  put_into(inbox, [&] { inbox.frames[static_cast<std::size_t>(lane)].push_back({rank_, std::move(frame)}); });
}

void LocalTransport::send_body(int to, int tag, std::span<const std::byte> bytes, Completion sent) {
  Inbox& inbox = ranks_->inbox(to);
  PostedBody posted;
  {
    const std::lock_guard lock(inbox.mutex);
    auto node = inbox.posted.extract({rank_, tag});
    TAILRACE_CHECK(!node.empty(), "a body is sent after its receiver is ready");
    posted = std::move(node.mapped());
  }
  TAILRACE_CHECK(posted.bytes.size() == bytes.size(), "a body has the size that was announced");
  std::copy(bytes.begin(), bytes.end(), posted.bytes.begin());
  put_into(inbox, [&] { inbox.completed.push_back(std::move(posted.received)); });
  sent_.push_back(std::move(sent));
}

void LocalTransport::receive_body(int from, int tag, std::span<std::byte> bytes, Completion received) {
  const std::lock_guard lock(inbox_->mutex);
  inbox_->posted[{from, tag}] = {bytes, std::move(received)};
}

void LocalTransport::give(Lane lane, std::vector<Arrived>& frames, const FrameSink& sink) {
  constexpr std::size_t max_spare = 64;
  for (Arrived& arrived : frames) {
    --balance_;
    sink(arrived.source, lane, arrived.frame);
    if (spare_.size() < max_spare) spare_.push_back(std::move(arrived.frame));
  }
}

bool LocalTransport::look(const FrameSink& sink) {
  ranks_->throw_if_failed();
  std::array<std::vector<Arrived>, lane_count> frames;
  std::vector<Completion> completed = std::exchange(sent_, {});
  if (inbox_->any.load()) {
    const std::lock_guard lock(inbox_->mutex);
    inbox_->any.store(false);
    frames.swap(inbox_->frames);
    completed.insert(completed.end(), std::make_move_iterator(inbox_->completed.begin()),
                     std::make_move_iterator(inbox_->completed.end()));
    inbox_->completed.clear();
  }
  for (const Lane lane : {Lane::control, Lane::data})
    give(lane, frames[static_cast<std::size_t>(lane)], sink);
  for (const Completion& complete : completed) complete();
  return !completed.empty() || !frames[0].empty() || !frames[1].empty();
}

}  // namespace

LocalRanks::LocalRanks(int size) : state_(std::make_unique<State>(size)) {}
LocalRanks::~LocalRanks() = default;

std::unique_ptr<Transport> LocalRanks::transport(int rank) {
  return std::make_unique<LocalTransport>(*state_, rank);
}

void LocalRanks::fail(int rank) {
  {
    const std::lock_guard lock(state_->mutex);
    int none = -1;
    state_->failed_rank.compare_exchange_strong(none, rank);
  }
  state_->met.notify_all();
  for (Inbox& inbox : state_->inboxes) inbox.bell.ring();
}

}  // namespace tailrace::am
