// SPDX-License-Identifier: BSD-3-Clause
#include <deque>
#include <thread>

#include "output/core/background_thread.hpp"
#include "output/strategies/leader_group.hpp"
#include "output/strategies/writers.hpp"

namespace tailrace::output {

namespace {

/// One thread writes for a group of ranks of a node, the leader's. The members' buffers and lists of staged
/// extents lie in memory that it reaches, so nothing is copied or sent. A member does everything but the
/// writing, and the leader is a member too.
class LeadersWriter final : public Writer {
 public:
  LeadersWriter(const WriterContext& context, LeaderGroup group)
      : reached_(context.reached),
        group_(std::move(group)),
        shares_(context.shares),
        jobs_(group_.jobs),
        board_(*group_.board),
        pool_(jobs_.buffers(), context.options.buffers, context.staging_bytes, context.comm.rank()),
        beside_bytes_(static_cast<std::int64_t>(group_.own.bytes().size()) -
                      context.options.buffers * context.staging_bytes) {
    if (group_.members.empty()) return;
    work_.emplace(std::move(group_.members), board_, context.sink, context.writer_log);
    beside_bytes_ += work_->memory_bytes() + static_cast<std::int64_t>(group_.board_memory.bytes().size());
    thread_ = start_background_thread(context.writer_cpus, [this] { work_->run(); });
  }

  ~LeadersWriter() override {
    if (work_)
      work_->close();  // it writes what all members have submitted, whether they are still there or not
    else
      flush_all();  // the leader's thread never waits for this rank
    jobs_.leave();
    board_.bell().raise();
  }

  std::optional<Lease> try_acquire() override {
    finalize();
    return pool_.try_acquire();
  }

  Lease acquire() override {
    std::optional<Lease> lease;
    wait_until([&] { return (lease = pool_.try_acquire()).has_value(); });
    return std::move(*lease);
  }

  void progress() override { finalize(); }

  void submit(Lease job) override {
    finalize();
    if (lost_ || board_.failed()) return;
    jobs_.submit(*job);
    under_way_.push_back(std::move(job));
    board_.bell().raise();
  }

  [[nodiscard]] bool idle() const override { return lost_ || jobs_.done() == jobs_.submitted(); }

  void flush_all() override {
    wait_until([this] { return under_way_.empty(); });
  }

  [[nodiscard]] std::optional<ErrorInfo> failure() const override {
    if (board_.failed()) return board_.failure();
    if (!lost_) return {};
    return ErrorInfo{.kind = ErrorKind::io,
                     .message = "the rank that writes for this one has ended before all was written",
                     .path = {},
                     .hint = "look at what that rank says"};
  }

  [[nodiscard]] const Account& account() const noexcept override {
    if (!work_) return account_;
    whole_account_ = work_->account();
    whole_account_.bytes = account_.bytes;  // those of the others are theirs
    return whole_account_;
  }
  [[nodiscard]] std::int64_t memory_bytes() const noexcept override { return beside_bytes_; }

 private:
  /// Takes notice of the jobs that are done. If the leader has ended before that, they are lost.
  void finalize() {
    const bool ended = board_.ended() || leader_killed_;
    const auto done = jobs_.done(), written = jobs_.written();
    for (; finalized_ < done; ++finalized_, under_way_.pop_front())
      if (finalized_ < written) mark(*under_way_.front());
    if (ended && !under_way_.empty()) {
      lost_ = true;
      under_way_.clear();
    }
  }

  void mark(const Staging& job) {
    reached_.mark(job);
    for (const auto& staged_extent : job.staged_extents)
      account_.bytes +=
          staged_extent.count * static_cast<std::int64_t>(h5::size_bytes(shares_[staged_extent.share]->type));
  }

  /// Waits for jobs to be done until `true`; the leader knows that nothing more comes from here meanwhile.
  template <class Condition>
  void wait_until(const Condition& condition) {
    constexpr double look_s = 1;  // whether the leader's process is still there
    bool reported = false;
    for (;;) {
      const auto seen = jobs_.changed().value();
      finalize();
      if (condition()) break;
      if (!reported) {
        reported = true;
        jobs_.set_waiting(true);
        board_.bell().raise();
      }
      jobs_.changed().wait(seen, look_s);
      leader_killed_ = !board_.leader_lives();
    }
    if (reported) jobs_.set_waiting(false);
  }

  Reached& reached_;
  LeaderGroup group_;
  std::span<const Share* const> shares_;
  SharedJobs& jobs_;
  LeaderBoard& board_;
  StagingPool pool_;
  std::int64_t beside_bytes_;
  std::deque<Lease> under_way_;
  std::uint64_t finalized_ = 0;  ///< jobs that are known to be done
  bool lost_ = false, leader_killed_ = false;
  Account account_;
  mutable Account whole_account_;
  std::optional<LeaderWork> work_;  // on the leader
  std::jthread thread_;             // last: it ends before what it uses
};

}  // namespace

std::unique_ptr<Writer> make_leaders_writer(const WriterContext& context) {
  std::optional<LeaderGroup> group;
  if (context.comm.size() > 1) group = join_leader_group(context);
  if (!group) return make_threads_writer(context);
  return std::make_unique<LeadersWriter>(context, std::move(*group));
}

}  // namespace tailrace::output
