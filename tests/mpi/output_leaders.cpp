// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <numeric>

#include "base/system.hpp"
#include "environment.hpp"
#include "h5/file.hpp"
#include "mpi_case.hpp"
#include "output_fixture.hpp"
#include "writer_ground.hpp"

using namespace tailrace;
using namespace tailrace::output;
using namespace tailrace::output::fixture;

namespace {

constexpr Index3 domain{6, 5, 14};
constexpr Cadence twelve_steps{.first = 1, .every = 1, .last = 12};
const std::int64_t bytes_of_whole = twelve_steps.last * domain.volume() * std::int64_t{sizeof(float)};

/// Lets this process open no more files while it lives.
class NoMoreFiles {
 public:
  explicit NoMoreFiles(bool here) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = dup(0);  // the lowest that is free; those that are open stay of use
    close(next);
    const rlimit none{.rlim_cur = static_cast<rlim_t>(next), .rlim_max = before_.rlim_max};
    if (here) setrlimit(RLIMIT_NOFILE, &none);
  }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;
  ~NoMoreFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

/// A file in the memory of the rank that writes, which can be stalled and made to fail.
class Disk final : public Sink {
 public:
  Written write(std::span<const Extent> extents, StepIndex step) override {
    const std::scoped_lock lock(mutex_);
    if (step == fails_at_)
      throw Error(ErrorInfo{.kind = ErrorKind::io, .message = "broken", .path = "f", .hint = {}});
    Written written;
    for (const auto& extent : extents) {
      written.bytes += static_cast<std::int64_t>(extent.bytes.size());
      ++written.operations;
    }
    return written;
  }
  void commit_mark(int source, StepIndex steps) override { rows[source].push_back(steps); }
  void flush() override {}
  void close(mpi::CommView, const FileTail&, const FileEnd&) override {}
  [[nodiscard]] const std::string& warning() const noexcept override { return none_; }
  void hold() { mutex_.lock(); }
  void release() { mutex_.unlock(); }
  void fail_at(StepIndex step) {
    const std::scoped_lock lock(mutex_);
    fails_at_ = step;
  }

  std::map<int, std::vector<StepIndex>> rows;

 private:
  std::mutex mutex_;
  StepIndex fails_at_ = -1;
  std::string none_;
};

/// A writer alone, on every rank.
struct Bench : test::WriterGround {
  Bench(mpi::CommView comm, const std::string& strategy)
      : WriterGround(
            make_plan({stream("p", Whole{}, Reduction::none, domain, twelve_steps)},
                      pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())], domain),
            options_of({.strategy = strategy})),
        writer(create_writer(context(disk, comm))) {}

  void submit(StepIndex step) { submit(writer->acquire(), step); }
  void submit(Lease job, StepIndex step) {
    for (const auto* share : shares) job->add(*share, step - 1, 0, share->values);
    job->step = step;
    job->commit_mark = step;
    writer->submit(std::move(job));
  }

  Disk disk;
  std::unique_ptr<Writer> writer;
};

std::vector<StepIndex> first_steps(StepIndex last) {
  std::vector<StepIndex> steps(static_cast<std::size_t>(last));
  std::iota(steps.begin(), steps.end(), StepIndex{1});
  return steps;
}

/// All but the first rank own a part.
std::vector<Box> idle_root(Index3 size, int parts) {
  if (parts == 1) return pattern::slabs(size, 1);
  auto boxes = pattern::slabs(size, parts - 1);
  boxes.insert(boxes.begin(), Box{});
  return boxes;
}

/// Runs a session over the whole domain, changing the writer before some steps; returns its account.
Account run_whole(mpi::CommView comm, const std::string& path, Split split, const WriteOptions& options,
                  const std::map<StepIndex, std::string>& changes = {}) {
  const Box own = split(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
  pattern::Field<float> field(own);
  trace::Log log("main");
  const std::vector<Stream> streams{stream("p", Whole{}, Reduction::none, domain, twelve_steps)};
  Session session(comm, path, make_plan(streams, own, domain), head(), options, log);
  for (StepIndex step = 1; step <= twelve_steps.last; ++step) {
    const auto change = changes.find(step);
    if (change != changes.end()) session.switch_writer(options_of({.strategy = change->second}));
    field.set(step);
    session.sample(step, [&](const std::string&) { return field.view(); });
    mpi::barrier(comm);
  }
  session.finish(twelve_steps.last, tail(twelve_steps.last));
  return session.account();
}

/// Checks, on the root, all samples of `run_whole`.
void check_whole(mpi::CommView comm, const std::string& path) {
  if (!comm.is_root()) return;
  const auto file = h5::File::open(path);
  std::vector<float> values(static_cast<std::size_t>(twelve_steps.last * domain.volume()));
  file.read("/p", std::span(values));
  const auto points = pattern::part_points(Whole{}, 0, domain);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    wrong += values[i] != static_cast<float>(pattern::value(points[i % points.size()],
                                                            static_cast<StepIndex>(i / points.size()) + 1));
  CHECK(wrong == 0);
  for (const auto slot : commit_mark(file)) CHECK(slot == static_cast<std::uint64_t>(twelve_steps.last));
}

}  // namespace

MPI_CASE("the writer changes between all strategies in the middle of a run, and no sample is lost",
         shared_by{2, 3, 7}) {
  const SharedDir directory(comm);
  // Two numbers of ranks share the strategies that a run can begin with.
  for (std::size_t first = comm.size() % 2; first < strategies.size(); first += 2) {
    std::map<StepIndex, std::string> changes;
    for (StepIndex step = 2; step <= twelve_steps.last; ++step)
      changes[step] = strategies[(first + static_cast<std::size_t>(step)) % strategies.size()];
    const auto account = run_whole(comm, directory.file("out.h5"), pattern::pencils,
                                   options_of({.strategy = strategies[first]}), changes);
    check_whole(comm, directory.file("out.h5"));
    CHECK(mpi::sum(comm, account.bytes) == twelve_steps.last * domain.volume() * std::int64_t{sizeof(float)});
  }
}

MPI_CASE("leaders make fewer writes than threads of all ranks", ranks{2, 3, 4, 7}) {
  const SharedDir directory(comm);
  const auto writes = [&](const std::string& strategy) {
    // While the first write takes its time, the others come.
    const auto account = run_whole(comm, directory.file("out.h5"), pattern::pencils,
                                   options_of({.strategy = strategy}, "stall:nth=1,s=200ms"));
    check_whole(comm, directory.file("out.h5"));
    const bool leads = writer_of({.strategy = strategy}, comm.rank(), comm.size()) == comm.rank();
    if (!leads) CHECK(account.writes == 0);
    if (!leads) CHECK(account.write_s == 0);
    CHECK(mpi::sum(comm, account.bytes) == bytes_of_whole);
    return mpi::sum(comm, account.writes);
  };
  const auto threads = writes("threads");
  CHECK(writes("leaders") < threads);
  CHECK(writes("leaders:2") < threads);
}

MPI_CASE("nodes of any number of ranks have leaders of their own", ranks{1, 2, 3, 4, 7}) {
  const SharedDir directory(comm);
  for (const int node : {1, 2, 3})
    for (const Split split : {Split{pattern::slabs}, Split{idle_root}, Split{pattern::one_owner}}) {
      const test::RanksPerNode nodes(node);
      const auto account =
          run_whole(comm, directory.file("out.h5"), split, options_of({.strategy = "leaders:4"}));
      check_whole(comm, directory.file("out.h5"));
      if (comm.rank() % node != 0) CHECK(account.writes == 0);
    }
}

MPI_CASE("a slow leader holds back its members, whose buffers are all there is, and keeps their order",
         ranks{2, 3, 7}) {
  for (const int buffers : {1, 2, 4}) {
    Bench bench(comm, fmt::format("leaders:node,buffers={}", buffers));
    if (comm.is_root()) bench.disk.hold();
    mpi::barrier(comm);
    for (StepIndex step = 1; step <= buffers; ++step) {
      auto lease = bench.writer->try_acquire();
      REQUIRE(lease);
      bench.submit(std::move(*lease), step);
    }
    CHECK(!bench.writer->try_acquire());
    CHECK(!bench.writer->idle());
    CHECK(bench.reached.written() == 0);
    mpi::barrier(comm);
    if (comm.is_root()) bench.disk.release();
    for (StepIndex step = buffers + 1; step <= 12; ++step) bench.submit(step);
    bench.writer->flush_all();
    CHECK(bench.writer->idle());
    CHECK(bench.reached.written() == 12);
    mpi::barrier(comm);
    CHECK(bench.writer->account().bytes == 12 * bench.plan.step_bytes());
    if (!comm.is_root()) continue;
    for (int rank = 0; rank < comm.size(); ++rank) CHECK(bench.disk.rows[rank] == first_steps(12));
  }
}

MPI_CASE("a failure of the leader is that of all its members, and nobody hangs", ranks{2, 3, 4, 7}) {
  Bench bench(comm, "leaders");
  bench.disk.fail_at(4);
  mpi::barrier(comm);  // before anybody's jobs are written
  for (StepIndex step = 1; step <= 12; ++step) bench.submit(step);
  bench.writer->flush_all();
  mpi::barrier(comm);  // a member may be through before the leader has come to the fourth step of another
  REQUIRE(bench.writer->failure());
  CHECK(bench.writer->failure()->message == "broken");
  CHECK(bench.writer->failure()->kind == ErrorKind::io);
  CHECK(bench.reached.written() <= 3);
  bench.submit(13);  // dropped
  bench.writer->flush_all();
  CHECK(bench.writer->idle());
}

MPI_CASE("a leader that goes early has written what it was given, what comes later is lost, and reported",
         ranks{2, 3, 4, 7}) {
  Bench bench(comm, "leaders");
  for (StepIndex step = 1; step <= 2; ++step) bench.submit(step);
  mpi::barrier(comm);
  if (comm.is_root()) {
    bench.writer.reset();
    for (int rank = 0; rank < comm.size(); ++rank) CHECK(bench.disk.rows[rank] == first_steps(2));
  }
  mpi::barrier(comm);
  if (comm.is_root()) return;
  bench.writer->flush_all();
  CHECK(bench.reached.written() == 2);
  CHECK(!bench.writer->failure());
  for (StepIndex step = 3; step <= 12; ++step) bench.submit(step);
  bench.writer->flush_all();
  REQUIRE(bench.writer->failure());
  CHECK(bench.writer->failure()->message.find("has ended before all was written") != std::string::npos);
  CHECK(bench.reached.written() == 2);
}

MPI_CASE("a member that goes early has its jobs written, and the others continue", ranks{2, 3, 4, 7}) {
  Bench bench(comm, "leaders");
  for (StepIndex step = 1; step <= 2; ++step) bench.submit(step);
  if (comm.rank() == 1) bench.writer.reset();
  if (comm.rank() != 1) {
    for (StepIndex step = 3; step <= 12; ++step) bench.submit(step);
    bench.writer->flush_all();
    CHECK(!bench.writer->failure());
  }
  mpi::barrier(comm);
  if (!comm.is_root()) return;
  bench.writer->flush_all();
  for (int rank = 0; rank < comm.size(); ++rank)
    CHECK(bench.disk.rows[rank] == first_steps(rank == 1 ? 2 : 12));
}

MPI_CASE("where the system refuses shared memory, ranks write on threads of their own and say why",
         ranks{2, 3, 4, 7}) {
  std::optional<Bench> bench;
  {
    const NoMoreFiles refused(comm.rank() == comm.size() - 1);
    bench.emplace(comm, "leaders");
  }
  const auto reason = fmt::format(
      "--write leaders: {0} of {0} ranks write on threads of their own: creation of memory that processes "
      "share failed: Too many open files",
      comm.size());
  CHECK(bench->warning == (comm.is_root() ? reason : ""));
  for (StepIndex step = 1; step <= 12; ++step) bench->submit(step);
  bench->writer->flush_all();
  CHECK(!bench->writer->failure());
  CHECK(bench->disk.rows[comm.rank()] == first_steps(12));
  CHECK(bench->disk.rows.size() == 1);
}

MPI_CASE("leaders without members say so, unless that was asked for", ranks{2, 3}) {
  const test::RanksPerNode nodes(1);
  CHECK((Bench(comm, "leaders").warning.find("no rank shares a node") != std::string::npos) ==
        comm.is_root());
  CHECK(Bench(comm, "leaders:1").warning.empty());
}

MPI_CASE("the memory of leaders and members is bounded and known", ranks{2, 7}) {
  const SharedDir directory(comm);
  const Box own = pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
  trace::Log log("main");
  const auto plan = make_plan({stream("p", Whole{}, Reduction::none, domain)}, own, domain);
  Session session(comm, directory.file("out.h5"), plan, head(), options_of({.strategy = "leaders"}), log);
  const auto beside = session.memory_bytes() - plan.memory_bytes(2);
  CHECK(beside > 0);
  CHECK(beside < 64 << 10);
  CHECK(session.warnings().empty());
  session.finish(0, tail(0));
}
