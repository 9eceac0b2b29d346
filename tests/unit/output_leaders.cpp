// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "base/system.hpp"
#include "output/strategies/leader_work.hpp"
#include "output/strategies/shared_region.hpp"
#include "output_pattern.hpp"

using namespace tailrace;
using namespace tailrace::output;

namespace {

constexpr Index3 domain{4, 3, 4};
constexpr int ranks = 3;
constexpr Cadence cadence{.first = 1, .every = 1, .last = 20};

using RankSplit = std::vector<Box> (*)(Index3, int);

/// Keeps the file in memory; neighbours that come in one call count as one write. It can be stalled and made
/// to fail.
class Disk final : public Sink {
 public:
  Written write(std::span<const Extent> extents, StepIndex step) override {
    const std::scoped_lock lock(mutex_);
    if (step == fail_at)
      throw Error(
          ErrorInfo{.kind = ErrorKind::io, .message = "broken", .path = "f", .offset = 7, .hint = "mend it"});
    Written written;
    std::int64_t end = -1;
    for (const auto& extent : extents) {
      written.operations += extent.offset_bytes != end;
      end = extent.offset_bytes + static_cast<std::int64_t>(extent.bytes.size());
      written.bytes += static_cast<std::int64_t>(extent.bytes.size());
      bytes.resize(std::max(bytes.size(), static_cast<std::size_t>(end)));
      std::copy(extent.bytes.begin(), extent.bytes.end(), bytes.begin() + extent.offset_bytes);
    }
    return written;
  }
  void commit_mark(int source, StepIndex steps) override { rows[source].push_back(steps); }
  void flush() override { ++flushes; }
  void close(mpi::CommView, const FileTail&, const FileEnd&) override {}
  [[nodiscard]] const std::string& warning() const noexcept override { return none_; }

  void hold() { mutex_.lock(); }
  void release() { mutex_.unlock(); }

  StepIndex fail_at = -1;
  std::vector<std::byte> bytes;
  std::map<int, std::vector<StepIndex>> rows;
  int flushes = 0;

 private:
  std::mutex mutex_;
  std::string none_;
};

/// One member's side, as its rank would have it.
struct Rank {
  Rank(int rank, RankSplit split, int buffers)
      : plan(make_plan(
            {pattern::make_stream("p", Whole{}, Reduction::none, cadence, h5::ElementType::float64, domain)},
            split(domain, ranks)[static_cast<std::size_t>(rank)], domain)),
        shape{.buffers = buffers,
              .staging_bytes = plan.staging_bytes(),
              .max_staged_extents = plan.staged_extents_per_buffer()},
        memory(SharedRegion::create(SharedJobs::bytes_for(shape))),
        jobs(SharedJobs::create(memory.bytes(), shape)),
        pool(jobs.buffers(), buffers, plan.staging_bytes(), rank) {}

  /// Puts the sample of a step into a buffer and hands it over; the buffer stays taken.
  void submit(LeaderBoard& board, StepIndex step, bool flush = false) {
    leases.push_back(std::move(*pool.try_acquire()));
    auto& job = *leases.back();
    for (const auto& share : plan.streams[0].shares) {
      const auto room = job.add(share, step - 1, 0, share.values);
      std::fill_n(reinterpret_cast<double*>(room.data()), share.values, static_cast<double>(step));
    }
    job.step = step;
    job.commit_mark = step;
    job.flush = flush;
    jobs.submit(job);
    board.bell().raise();
  }
  void wait_until_done(std::uint64_t number) const {
    for (;;) {
      const auto seen = jobs.changed().value();
      if (jobs.done() >= number) return;
      jobs.changed().wait(seen);
    }
  }

  Plan plan;
  SharedJobsShape shape;
  SharedRegion memory;
  SharedJobs jobs;
  StagingPool pool;
  std::vector<Lease> leases;
};

/// A leader with three members in one process.
struct Group {
  explicit Group(RankSplit split, int buffers = 20) {
    std::vector<GroupMember> group;
    for (int rank = 0; rank < ranks; ++rank) {
      auto& member = *members.emplace_back(std::make_unique<Rank>(rank, split, buffers));
      group.push_back({.source = rank, .jobs = member.jobs, .shares = member.plan.streams[0].shares});
    }
    work.emplace(std::move(group), board, disk, log);
  }
  void start() {
    thread = std::jthread([this] { work->run(); });
  }
  void finish() {
    work->close();
    thread.join();
  }
  /// True if the file holds samples 1 to `last` of all ranks.
  [[nodiscard]] bool holds_samples(StepIndex last) const {
    const auto count = static_cast<std::size_t>(domain.volume() * last);
    if (disk.bytes.size() != count * sizeof(double)) return false;
    const auto* const values = reinterpret_cast<const double*>(disk.bytes.data());
    for (std::size_t i = 0; i < count; ++i)
      if (values[i] != static_cast<double>(static_cast<std::int64_t>(i) / domain.volume() + 1)) return false;
    return true;
  }

  Disk disk;
  LeaderBoard board{getpid()};
  trace::Log log{"writer"};
  std::vector<std::unique_ptr<Rank>> members;
  std::optional<LeaderWork> work;
  std::jthread thread;
};

}  // namespace

TEST_CASE("jobs of several ranks for one step leave as one write, whatever the decomposition") {
  for (const RankSplit split : {pattern::slabs, pattern::pencils, pattern::one_owner}) {
    Group group(split);
    for (StepIndex step = 1; step <= 5; ++step)
      for (auto& member : group.members) member->submit(group.board, step);
    group.start();
    group.finish();
    CHECK(group.holds_samples(5));
    CHECK(group.work->account().writes == 5);
    CHECK(group.work->account().bytes == 5 * domain.volume() * 8);
    for (int rank = 0; rank < ranks; ++rank)
      CHECK(group.disk.rows[rank] == std::vector<StepIndex>{1, 2, 3, 4, 5});
  }
}

TEST_CASE("a member that is ahead or behind changes nothing in the file") {
  Group group(pattern::slabs);
  group.start();
  for (StepIndex step = 1; step <= 9; ++step) group.members[2]->submit(group.board, step);
  for (StepIndex step = 1; step <= 3; ++step) group.members[1]->submit(group.board, step);
  group.members[2]->wait_until_done(9);  // nobody else comes for a while
  for (StepIndex step = 4; step <= 9; ++step) group.members[1]->submit(group.board, step);
  for (StepIndex step = 1; step <= 9; ++step) group.members[0]->submit(group.board, step, step == 9);
  group.finish();
  CHECK(group.holds_samples(9));
  CHECK(group.disk.flushes == 1);
  for (const auto& member : group.members) CHECK(member->jobs.written() == 9);
}

TEST_CASE("a full ring is written behind a slow disk, slot after slot") {
  Group group(pattern::slabs, 2);
  group.disk.hold();
  group.start();
  for (auto& member : group.members)
    for (StepIndex step = 1; step <= 2; ++step) member->submit(group.board, step);
  for (auto& member : group.members) {
    CHECK(!member->pool.try_acquire());
    CHECK(member->jobs.done() == 0);
  }
  group.disk.release();
  for (StepIndex step = 3; step <= 20; ++step)
    for (auto& member : group.members) {
      member->wait_until_done(static_cast<std::uint64_t>(step - 2));
      member->leases.erase(member->leases.begin());
      member->submit(group.board, step);
    }
  group.finish();
  CHECK(group.holds_samples(20));
}

TEST_CASE("after a failure all jobs are dropped and every member can read why") {
  Group group(pattern::slabs);
  group.disk.fail_at = 3;
  for (StepIndex step = 1; step <= 6; ++step)
    for (auto& member : group.members) member->submit(group.board, step);
  group.start();
  group.finish();
  CHECK(group.holds_samples(2));
  const auto failure = group.board.failure();
  REQUIRE(failure);
  CHECK(failure->kind == ErrorKind::io);
  CHECK(failure->message == "broken");
  CHECK(failure->path == "f");
  CHECK(failure->offset == 7);
  CHECK(failure->hint == "mend it");
  for (const auto& member : group.members) {
    CHECK(member->jobs.done() == 6);
    CHECK(member->jobs.written() == 2);
  }
  CHECK(group.disk.rows[1] == std::vector<StepIndex>{1, 2});
}

TEST_CASE("a leader that closes writes what it was given, then says that it has ended") {
  Group group(pattern::slabs);
  group.start();
  CHECK(!group.board.ended());
  for (auto& member : group.members) member->submit(group.board, 1);
  group.finish();
  CHECK(group.holds_samples(1));
  CHECK(group.board.ended());
}

TEST_CASE("texts of failures are cut to the room that they have") {
  LeaderBoard board(getpid());
  CHECK(!board.failure());
  board.fail({.kind = ErrorKind::io, .message = std::string(100'000, 'm'), .path = "p", .hint = {}});
  CHECK(board.failure()->message == std::string(8191, 'm'));
  CHECK(board.failure()->path == "p");
}

TEST_CASE("memory without a name is shared with a process that is informed where it is") {
  constexpr std::size_t bytes = 10'000;
  auto region = SharedRegion::create(bytes);
  CHECK(region.bytes().size() == bytes);
  CHECK(std::all_of(region.bytes().begin(), region.bytes().end(), [](auto b) { return b == std::byte{0}; }));
  const auto handle = region.handle();
  const pid_t child = fork();
  if (child == 0) {
    const auto same = SharedRegion::open(handle);
    same.bytes()[bytes - 1] = std::byte{42};
    _exit(0);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(region.bytes()[bytes - 1] == std::byte{42});
  const auto other = SharedRegion::create(bytes);
  auto wrong = handle;
  wrong.descriptor = other.handle().descriptor;
  CHECK_THROWS_AS(SharedRegion::open(wrong), Error);
  region.close();
  CHECK_THROWS_AS(SharedRegion::open(handle), Error);
  CHECK(region.bytes()[bytes - 1] == std::byte{42});
}

TEST_CASE("a signal wakes another process, and one that was raised before is not slept through") {
  const auto region = SharedRegion::create(sizeof(SharedSignal));
  auto& signal = *new (region.bytes().data()) SharedSignal;
  const auto seen = signal.value();
  const pid_t child = fork();
  if (child == 0) {
    signal.wait(seen);
    _exit(signal.value() == seen ? 1 : 0);
  }
  sleep_s(0.02);  // so that it sleeps, as a rule
  signal.raise();
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  signal.wait(seen);
  signal.wait(signal.value(), 1e-3);  // returns by itself
}

TEST_CASE("the process of a leader that is gone is noticed") {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(!LeaderBoard(child).leader_lives());
  CHECK(LeaderBoard(getpid()).leader_lives());
}
