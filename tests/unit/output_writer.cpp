// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/system.hpp"
#include "output/registry/create.hpp"
#include "output_pattern.hpp"
#include "writer_ground.hpp"

using namespace tailrace;
using namespace tailrace::output;

namespace {

/// A sink in memory that can be stalled and made to fail.
class MemorySink final : public Sink {
 public:
  Written write(std::span<const Extent> extents, StepIndex step) override {
    {
      std::unique_lock lock(mutex_);
      arrived_ = step;
      changed_.notify_all();
      changed_.wait(lock, [this] { return open_; });
    }
    if (step == fail_at)
      throw Error(ErrorInfo{.kind = ErrorKind::io, .message = "broken", .path = "f", .hint = {}});
    Written written;
    for (const auto& extent : extents) {
      order.emplace_back(extent.dataset, extent.offset_bytes);
      auto& bytes = data[extent.dataset];
      bytes.resize(
          std::max(bytes.size(), static_cast<std::size_t>(extent.offset_bytes) + extent.bytes.size()));
      std::copy(extent.bytes.begin(), extent.bytes.end(), bytes.begin() + extent.offset_bytes);
      written.bytes += static_cast<std::int64_t>(extent.bytes.size());
      ++written.operations;
    }
    if (!extents.empty()) steps.push_back(step);
    threads.insert(std::this_thread::get_id());
    return written;
  }
  void commit_mark(int, StepIndex step) override { rows.push_back(step); }
  void flush() override { ++flushes; }
  void close(mpi::CommView, const FileTail&, const FileEnd&) override {}
  [[nodiscard]] const std::string& warning() const noexcept override { return none_; }

  void hold() { set_open(false); }
  void release() { set_open(true); }
  void wait_for_step(StepIndex step) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ == step; });
  }

  StepIndex fail_at = -1;
  std::map<std::size_t, std::vector<std::byte>> data;
  std::vector<StepIndex> steps, rows;
  std::vector<std::pair<std::size_t, std::int64_t>> order;
  std::set<std::thread::id> threads;
  int flushes = 0;

 private:
  void set_open(bool open) {
    const std::scoped_lock lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  StepIndex arrived_ = -1;
  std::string none_;
};

constexpr Index3 domain{4, 3, 2};
const Plan plan =
    make_plan({pattern::make_stream("p", Whole{}, Reduction::none, {.first = 1, .every = 1, .last = 20},
                                    h5::ElementType::float64, domain)},
              Box::whole(domain), domain);

/// A sample of constant value, the step, in a buffer of the writer.
Lease fill(Lease job, StepIndex step) {
  const auto& share = plan.streams[0].shares[0];
  const auto room = job->add(share, step - 1, 0, share.values);
  auto* const values = reinterpret_cast<double*>(room.data());
  std::fill_n(values, share.values, static_cast<double>(step));
  job->step = step;
  job->commit_mark = step;
  return job;
}

/// True if dataset 0 holds samples 1 to `last`, each with its own number.
bool holds_samples(const MemorySink& sink, StepIndex last) {
  const auto found = sink.data.find(0);
  if (found == sink.data.end()) return last == 0;
  const auto* const values = reinterpret_cast<const double*>(found->second.data());
  const auto count = static_cast<std::size_t>(domain.volume() * last);
  if (found->second.size() != count * sizeof(double)) return false;
  for (std::size_t i = 0; i < count; ++i)
    if (values[i] != static_cast<double>(static_cast<std::int64_t>(i) / domain.volume() + 1)) return false;
  return true;
}

WriteOptions options_for(const std::string& strategy) {
  return parse_options({.write = strategy, .sink = {}, .pace = {}, .fault = {}});
}

struct Bench : test::WriterGround {
  explicit Bench(const std::string& strategy) : WriterGround(::plan, options_for(strategy)) {}
  MemorySink sink;
  std::unique_ptr<Writer> writer = create_writer(context(sink));
};

const std::vector<std::string> all_strategies{"blocking", "threads:1", "threads:2", "threads:5"};

}  // namespace

TEST_CASE("every strategy writes all jobs in order, then commit marks and flushes") {
  for (const auto& strategy : all_strategies) {
    CAPTURE(strategy);
    Bench bench(strategy);
    std::vector<StepIndex> expected;
    for (StepIndex step = 1; step <= 20; ++step) {
      bench.writer->submit(fill(bench.writer->acquire(), step));
      expected.push_back(step);
    }
    auto last = bench.writer->acquire();
    last->flush = true;
    bench.writer->submit(std::move(last));
    bench.writer->flush_all();
    CHECK(!bench.writer->failure());
    CHECK(bench.sink.steps == expected);
    CHECK(bench.sink.rows == expected);
    CHECK(bench.sink.flushes == 1);
    CHECK(holds_samples(bench.sink, 20));
    CHECK(bench.writer->account().bytes == 20 * plan.step_bytes());
    CHECK(bench.writer->account().writes == 20);
    const auto& log = strategy == "blocking" ? bench.log : bench.writer_log;
    CHECK(log.total(trace::Kind::write).bytes == 20 * plan.step_bytes());
    CHECK(bench.reached.written() == 20);
    CHECK(bench.reached.durable() == 0);
  }
}

TEST_CASE("blocking writes on the caller's thread, threads on one other") {
  for (const auto& strategy : all_strategies) {
    Bench bench(strategy);
    for (StepIndex step = 1; step <= 5; ++step) bench.writer->submit(fill(bench.writer->acquire(), step));
    bench.writer->flush_all();
    CHECK(bench.sink.threads.size() == 1);
    CHECK((bench.sink.threads.count(std::this_thread::get_id()) == 1) == (strategy == "blocking"));
  }
}

TEST_CASE("with B buffers, B samples are taken while a write hangs and the next one waits") {
  for (const int buffers : {1, 2, 5}) {
    Bench bench("threads:" + std::to_string(buffers));
    bench.sink.hold();
    for (StepIndex step = 1; step <= buffers; ++step) {
      auto lease = bench.writer->try_acquire();
      REQUIRE(lease);
      bench.writer->submit(fill(std::move(*lease), step));
    }
    bench.sink.wait_for_step(1);
    CHECK(!bench.writer->try_acquire());
    std::jthread releaser([&] {
      sleep_s(0.02);
      bench.sink.release();
    });
    bench.writer->submit(
        fill(bench.writer->acquire(), buffers + 1));  // comes back when the first write is done
    bench.writer->flush_all();
    CHECK(holds_samples(bench.sink, buffers + 1));
  }
}

TEST_CASE("after a failure later jobs are dropped, nothing hangs and the reason is kept") {
  for (const auto& strategy : all_strategies) {
    CAPTURE(strategy);
    Bench bench(strategy);
    bench.sink.fail_at = 4;
    for (StepIndex step = 1; step <= 20; ++step) bench.writer->submit(fill(bench.writer->acquire(), step));
    bench.writer->flush_all();
    REQUIRE(bench.writer->failure());
    CHECK(bench.writer->failure()->message == "broken");
    CHECK(bench.sink.rows == std::vector<StepIndex>{1, 2, 3});
    CHECK(holds_samples(bench.sink, 3));
  }
}

TEST_CASE("a lease that is given up frees its buffer") {
  Bench bench("threads:1");
  { auto lease = bench.writer->acquire(); }
  auto lease = bench.writer->try_acquire();
  REQUIRE(lease);
  CHECK((*lease)->staged_extents.empty());
}

TEST_CASE("a writer that goes while an exception unwinds still writes what it was given") {
  Bench bench("threads:3");
  const auto run = [&] {
    const auto writer = std::move(bench.writer);
    for (StepIndex step = 1; step <= 3; ++step) writer->submit(fill(writer->acquire(), step));
    throw std::runtime_error("the computation broke");
  };
  CHECK_THROWS_AS(run(), std::runtime_error);
  CHECK(holds_samples(bench.sink, 3));
}

TEST_CASE("buffers do not grow") {
  StagingPool pool(1, plan.step_bytes());
  auto lease = pool.acquire();
  const auto& share = plan.streams[0].shares[0];
  lease->add(share, 0, 0, share.values);
  CHECK(lease->room() == 0);
  CHECK_THROWS_AS(lease->add(share, 1, 0, share.values), Error);
}

TEST_CASE("the samples of several steps in one job are handed to the sink in the order of the file") {
  const auto two = [](const char* name) {
    return pattern::make_stream(name, Whole{}, Reduction::none, {.first = 1, .every = 1, .last = 20},
                                h5::ElementType::float64, domain);
  };
  const Plan both = make_plan({two("a"), two("b")}, Box::whole(domain), domain);
  StagingPool pool(1, 3 * both.step_bytes());
  auto job = pool.acquire();
  for (StepIndex step = 1; step <= 3; ++step)
    for (const auto& stream : both.streams) {
      const auto room = job->add(stream.shares[0], step - 1, 0, domain.volume());
      std::fill_n(reinterpret_cast<double*>(room.data()), domain.volume(), static_cast<double>(step));
    }
  MemorySink sink;
  Account account;
  trace::Log log("main");
  run_job(*job, shares_of(both), sink, account, log);
  CHECK(sink.order == std::vector<std::pair<std::size_t, std::int64_t>>{
                          {0, 0}, {0, 192}, {0, 384}, {1, 0}, {1, 192}, {1, 384}});
  CHECK(holds_samples(sink, 3));
}

TEST_CASE("many points are handed to the sink in batches") {
  Points points;
  for (int i = 0; i < 5000; ++i)
    if (i % 2 == 0) points.points.push_back({0, 0, 0}), points.points.push_back({3, 2, 1});
  const Box own{{0, 0, 0}, {3, 3, 2}};
  const Plan spread =
      make_plan({pattern::make_stream("p", points, Reduction::none, {.first = 1, .every = 1, .last = 2},
                                      h5::ElementType::float32, domain)},
                own, domain);
  const auto& share = spread.streams[0].shares[0];
  REQUIRE(share.runs.size() == 2500);
  StagingPool pool(1, spread.staging_bytes());
  auto lease = pool.acquire();
  const auto room = lease->add(share, 1, 0, share.values);
  auto* const values = reinterpret_cast<float*>(room.data());
  for (int i = 0; i < 2500; ++i) values[i] = static_cast<float>(i + 1);
  MemorySink sink;
  Account account;
  trace::Log log("main");
  run_job(*lease, shares_of(spread), sink, account, log);
  CHECK(account.writes == 2500);
  const auto& bytes = sink.data.at(0);
  REQUIRE(bytes.size() == (5000 + 4999) * sizeof(float));
  const auto* const file = reinterpret_cast<const float*>(bytes.data());
  for (std::size_t i = 0; i < 2500; ++i) REQUIRE(file[5000 + 2 * i] == static_cast<float>(i + 1));
}
