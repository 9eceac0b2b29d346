// SPDX-License-Identifier: BSD-3-Clause
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "base/system.hpp"
#include "output_async_bench.hpp"

using namespace tailrace;
using namespace tailrace::output;
using namespace tailrace::output::async_bench;

TEST_CASE("asynchronous: samples leave at once, commit marks when all before is complete, in order") {
  Bench bench(3);
  for (StepIndex step = 1; step <= 3; ++step) bench.submit(step);
  REQUIRE(bench.queue->asked.size() == 3);
  CHECK(bench.queue->asked[2].offset == data_at + 2 * sample_bytes);
  bench.queue->complete(2);
  bench.queue->complete(1);
  bench.writer->progress();
  REQUIRE(bench.queue->asked.size() == 1);  // job 1 alone holds the commit marks of all
  bench.queue->complete(0);
  for (std::uint64_t step = 1; step <= 3; ++step) {
    bench.writer->progress();
    REQUIRE(bench.queue->asked.size() == 1);
    CHECK(bench.queue->asked[0].is_commit_mark());
    CHECK(bench.recorded() == step - 1);
    CHECK(bench.reached.written() == static_cast<StepIndex>(step) - 1);
    CHECK(!bench.writer->idle());
    bench.queue->complete(0);
    CHECK(bench.recorded() == step);
  }
  bench.writer->progress();
  CHECK(bench.writer->idle());
  CHECK(bench.reached.written() == 3);
  CHECK(bench.wrong_values(3) == 0);
  CHECK(bench.writer->account().bytes == 3 * sample_bytes);
  CHECK(bench.writer->account().writes == 3);
  CHECK(bench.writer_log.total(trace::Kind::write).bytes == 3 * sample_bytes);
}

TEST_CASE("asynchronous: a buffer is free when its job is recorded, and acquire waits for that") {
  for (const int buffers : {1, 2, 5}) {
    Bench bench(buffers);
    for (StepIndex step = 1; step <= buffers; ++step) {
      auto lease = bench.writer->try_acquire();
      REQUIRE(lease);
      bench.writer->submit(fill(std::move(*lease), bench.plan, step));
    }
    CHECK(!bench.writer->try_acquire());
    bench.queue->complete(0);
    CHECK(!bench.writer->try_acquire());  // its commit mark is under way
    for (StepIndex step = buffers + 1; step <= last_step; ++step) bench.submit(step);
    bench.writer->flush_all();
    CHECK(bench.recorded() == last_step);
    CHECK(bench.wrong_values(last_step) == 0);
  }
}

TEST_CASE("asynchronous: short and interrupted operations continue until all is written") {
  Bench bench(1);
  bench.submit(1);
  bench.queue->answer(0, -EINTR);
  bench.writer->progress();
  bench.queue->answer(0, -EAGAIN);
  bench.writer->progress();
  bench.queue->complete(0, 5);
  bench.writer->progress();
  REQUIRE(bench.queue->asked.size() == 1);
  CHECK(bench.queue->asked[0].offset == data_at + 5);
  bench.queue->complete(0);
  bench.writer->progress();
  REQUIRE(bench.queue->asked.at(0).is_commit_mark());
  bench.queue->complete(0, 3);  // a commit mark that is cut continues, too
  bench.writer->progress();
  CHECK(bench.queue->asked.at(0).offset == commit_mark_at + 3);
  bench.writer->flush_all();
  CHECK(bench.recorded() == 1);
  CHECK(bench.wrong_values(1) == 0);
  CHECK(bench.writer->account().bytes == sample_bytes);
}

TEST_CASE("asynchronous: after a failure what came before is recorded, the rest is dropped") {
  Bench bench(4);
  for (StepIndex step = 1; step <= 4; ++step) bench.submit(step);
  bench.queue->complete(2);
  bench.queue->answer(1, -ENOSPC);
  bench.writer->progress();
  const auto failure = bench.writer->failure();
  REQUIRE(failure);
  RawFile same(bench.directory.file("file"), make_plain_call());
  CHECK(failure->message == same.refusal("writing", data_at + sample_bytes, ENOSPC).message);
  CHECK(failure->offset == data_at + sample_bytes);
  CHECK(failure->path == bench.directory.file("file"));
  CHECK(failure->hint.find("free space") != std::string::npos);
  bench.submit(5);
  bench.writer->flush_all();
  CHECK(bench.writer->idle());
  CHECK(bench.recorded() == 1);
  CHECK(bench.reached.written() == 1);
  for (int i = 0; i < 4; ++i) CHECK(bench.writer->try_acquire());
}

TEST_CASE("asynchronous: an operation that takes nothing is a full disk, not a loop") {
  Bench bench(1);
  bench.submit(1);
  bench.queue->answer(0, 0);
  bench.writer->flush_all();
  REQUIRE(bench.writer->failure());
  CHECK(bench.writer->failure()->message.find("No space left") != std::string::npos);
  CHECK(bench.recorded() == 0);
}

TEST_CASE("asynchronous: a failed commit mark and a failed flush are failures") {
  Bench bench(2);
  bench.submit(1, true);
  bench.submit(2, true);
  bench.queue->complete(0);
  bench.queue->complete(0);
  bench.writer->progress();
  bench.queue->complete(0);
  bench.writer->progress();
  REQUIRE(bench.queue->asked.size() == 1);
  CHECK(bench.queue->asked[0].is_flush());
  CHECK(bench.reached.durable() == 0);
  bench.queue->answer(0, 0);
  bench.writer->progress();
  CHECK(bench.reached.durable() == 1);
  bench.queue->complete(0);
  bench.writer->progress();
  REQUIRE(bench.queue->asked.at(0).is_flush());
  bench.queue->answer(0, -EIO);
  bench.writer->flush_all();
  REQUIRE(bench.writer->failure());
  CHECK(bench.writer->failure()->message.find("flushing to the device failed") != std::string::npos);
  CHECK(bench.reached.durable() == 1);
  CHECK(bench.reached.written() == 1);
}

TEST_CASE("asynchronous: an injected error needs no system call") {
  Bench bench(3, "write:step=2,error=EROFS");
  for (StepIndex step = 1; step <= 3; ++step) bench.submit(step);
  CHECK(bench.queue->asked.size() == 1);
  bench.writer->flush_all();
  CHECK(bench.writer->failure()->message.find("Read-only") != std::string::npos);
  CHECK(bench.recorded() == 1);
}

TEST_CASE("asynchronous: short writes continue") {
  Bench bench(2, "short:every=2;short:probability=0.5");
  for (StepIndex step = 1; step <= last_step; ++step) bench.submit(step);
  bench.writer->flush_all();
  CHECK(bench.recorded() == last_step);
  CHECK(bench.wrong_values(last_step) == 0);
}

TEST_CASE("asynchronous: a stall holds back what follows, but no commit mark") {
  Bench bench(2, "stall:nth=1,s=1h");
  const double now_s = monotonic_s();
  bench.submit(1);
  bench.submit(2);
  REQUIRE(bench.queue->asked.size() == 2);
  CHECK(bench.queue->asked[0].not_before_s >= now_s + 3600);
  CHECK(bench.queue->asked[1].not_before_s == bench.queue->asked[0].not_before_s);
  bench.queue->complete(0);
  bench.writer->progress();
  CHECK(bench.queue->asked[1].not_before_s == 0);
  bench.writer->flush_all();
}

TEST_CASE("asynchronous: a pace spreads operations") {
  Bench bench(3, {}, "bandwidth=1kB/s,latency=10s");
  for (StepIndex step = 1; step <= 3; ++step) bench.submit(step);
  REQUIRE(bench.queue->asked.size() == 3);
  const double each_s = 10 + static_cast<double>(sample_bytes) * 1e-3;
  for (std::size_t i = 1; i < 3; ++i)
    CHECK(bench.queue->asked[i].not_before_s - bench.queue->asked[i - 1].not_before_s ==
          doctest::Approx(each_s));
  bench.writer->flush_all();
}

TEST_CASE("asynchronous: a kill leaves half a write") {
  Bench bench(2, "kill:step=2");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    bench.submit(1);
    bench.writer->flush_all();
    bench.submit(2);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(bench.recorded() == 1);
  CHECK(bench.wrong_values(1) == 0);
  CHECK(std::filesystem::file_size(bench.directory.file("file")) ==
        static_cast<std::uintmax_t>(data_at + sample_bytes + sample_bytes / 2));
}

TEST_CASE("asynchronous: a queue that breaks ends the writing without a hang") {
  Bench bench(2);
  bench.submit(1);
  bench.queue->broken = true;
  bench.submit(2);
  REQUIRE(bench.writer->failure());
  CHECK(bench.writer->failure()->message == "the queue is gone");
  bench.submit(3);
  bench.writer->flush_all();
  CHECK(bench.writer->idle());
  CHECK(bench.writer->try_acquire());
}

TEST_CASE("asynchronous: of many scattered points a bounded number is under way") {
  Points points;
  for (int i = 0; i < 3000; ++i) points.points.push_back({0, 0, 0}), points.points.push_back({3, 2, 1});
  Bench bench(1);
  bench.writer.reset();
  bench.plan =
      make_plan({pattern::make_stream("p", points, Reduction::none, {.first = 1, .every = 1, .last = 2},
                                      h5::ElementType::float64, domain)},
                Box{{0, 0, 0}, {3, 3, 2}}, domain);
  bench.shares = shares_of(bench.plan);
  AsyncWriterParts parts;
  parts.memory.resize(StagingPool::distance(bench.plan.staging_bytes()));
  auto made = std::make_unique<HandQueue>(bench.directory.file("file"));
  auto& queue = *made;
  parts.queue = std::move(made);
  bench.writer = make_async_writer(bench.context(), std::move(parts));
  bench.submit(2);
  CHECK(queue.asked.size() == AsyncQueue::max_under_way);
  bench.writer->flush_all();
  CHECK(queue.max_asked == AsyncQueue::max_under_way);
  CHECK(bench.writer->account().writes == 3000);
  std::ifstream file(bench.directory.file("file"), std::ios::binary);
  file.seekg(data_at + 6000 * static_cast<std::streamoff>(sizeof(double)));
  std::vector<double> values(5999);  // the last one belongs to another rank
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(double)));
  REQUIRE(file);
  for (std::size_t i = 0; i < values.size(); ++i) REQUIRE(values[i] == (i % 2 == 0 ? 2.0 : 0.0));
}

TEST_CASE("asynchronous: the device starts every 16 MiB") {
  Bench bench(1);
  const auto jobs = flush_every_bytes / sample_bytes + 1;
  for (std::int64_t i = 0; i < jobs; ++i) bench.submit(1);
  bench.writer->flush_all();
  CHECK(bench.queue->started_flushes == 1);
}

TEST_CASE("asynchronous: a stream that retries is tried again after pauses that keep nobody") {
  Bench bench(2, {}, {}, OnFailure::retry);
  const double now_s = monotonic_s();
  bench.submit(1);
  bench.submit(2);
  for (int i = 0; i < 3; ++i) {
    bench.queue->answer(i == 0 ? 0 : 1, -ENOSPC);  // of job 1
    bench.writer->progress();
    CHECK(!bench.writer->failure());
    REQUIRE(bench.queue->asked.size() == 2);
    REQUIRE(bench.queue->asked[1].is_pause());
    CHECK(bench.queue->asked[1].not_before_s > now_s);
    bench.queue->answer(1, -ETIME);
    bench.writer->progress();
    REQUIRE(bench.queue->asked.size() == 2);
    CHECK(bench.queue->asked[1].offset == data_at);
  }
  bench.writer->flush_all();
  CHECK(bench.recorded() == 2);
  CHECK(bench.wrong_values(2) == 0);
  CHECK(bench.writer->account().retries == 3);
}

TEST_CASE("asynchronous: a stream that drops continues, and the file knows of it before its commit mark") {
  Bench bench(3, {}, {}, OnFailure::drop);
  for (StepIndex step = 1; step <= 3; ++step) bench.submit(step);
  bench.queue->answer(1, -EIO);  // of job 2
  bench.writer->flush_all();
  CHECK(!bench.writer->failure());
  CHECK(bench.recorded() == 3);
  CHECK(bench.sink.dropped_after == std::vector<StepIndex>{1});
  CHECK(bench.writer->account().dropped_bytes == sample_bytes);
  CHECK(bench.writer->account().bytes == 2 * sample_bytes);
}

TEST_CASE("asynchronous: the meter learns what each job took, the next one's samples not counted twice") {
  Bench bench(2);
  Meter& meter = bench.sink.meter();
  const double start_s = monotonic_s();
  bench.submit(1);
  bench.submit(2, true);
  CHECK(meter.read().jobs == 0);
  sleep_s(0.03);
  bench.queue->complete(0);
  bench.writer->progress();  // samples of 1 are there, its commit mark is asked for
  sleep_s(0.03);
  bench.queue->complete(0);
  bench.writer->flush_all();
  const auto totals = meter.read();
  CHECK(totals.jobs == 2);
  CHECK(totals.last_step == 2);
  CHECK(totals.cost.bytes == 2 * sample_bytes);
  CHECK(totals.cost.write_s >= 0.06);
  CHECK(totals.cost.write_s <=
        monotonic_s() - start_s);  // in full, both were under way for half as long again
  CHECK(totals.cost.submit_s > 0);
  CHECK(totals.flushed_at_s > 0);
}
