// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/system.hpp"
#include "temp_dir.hpp"
#include "trace/recorder.hpp"

using namespace tailrace;
using trace::Kind;
using trace::Mode;

namespace {

constexpr std::size_t header_bytes = 296, block_bytes = 24, event_bytes = 48;

/// An event as it lies in the file.
struct Stored {
  double start_s, end_s;
  std::int64_t step, bytes, memory_bytes;
  std::uint8_t thread, kind;
  std::uint16_t buffers;
  std::uint32_t reserved;
};
static_assert(sizeof(Stored) == event_bytes);

/// Describes what a file holds, taken apart by docs/formats/trace.md and by nothing of the module.
struct File {
  std::string bytes;
  std::map<int, std::string> threads;
  std::vector<Stored> events;
  std::vector<trace::ClockPoint> clock_points;
  std::uint32_t lost = 0;
  bool ended = false;

  template <class T>
  [[nodiscard]] T at(std::size_t position) const {
    T value;
    REQUIRE(position + sizeof value <= bytes.size());
    std::memcpy(&value, bytes.data() + position, sizeof value);
    return value;
  }
};

void take_block(File& file, std::size_t block, std::size_t size) {
  const std::size_t payload = block + block_bytes;
  file.lost += file.at<std::uint32_t>(block + 16);
  switch (file.at<std::uint8_t>(block + 4)) {
    case 1:
      file.threads[file.at<std::uint8_t>(block + 5)] = file.bytes.substr(payload, size - 1);
      break;
    case 2:
      REQUIRE(file.at<std::uint16_t>(block + 6) == event_bytes);
      for (std::size_t i = 0; i < size; i += event_bytes) file.events.push_back(file.at<Stored>(payload + i));
      break;
    case 3:
      file.clock_points.push_back(file.at<trace::ClockPoint>(payload));
      break;
    default:
      file.ended = true;
  }
}

File read(const std::string& path) {
  File file;
  std::ifstream stream(path, std::ios::binary);
  file.bytes.assign(std::istreambuf_iterator<char>(stream), {});
  REQUIRE(file.bytes.substr(0, 8) == "TRLTRACE");
  CHECK(file.at<std::uint32_t>(8) == 1);
  CHECK(file.at<std::uint32_t>(12) == header_bytes);
  std::uint32_t number = 0;
  for (std::size_t block = header_bytes; block < file.bytes.size();) {
    REQUIRE(file.bytes.substr(block, 4) == "TRBK");
    CHECK(file.at<std::uint32_t>(block + 12) == number++);
    const auto size = file.at<std::uint32_t>(block + 8);
    take_block(file, block, size);
    block += block_bytes + size;
  }
  return file;
}

trace::Recorder recorder(const std::string& path, const trace::Clock& clock = {}) {
  return {path, {.rank = 3, .ranks = 8}, clock, Mode::on};
}

}  // namespace

TEST_CASE("events of all threads lie in one file") {
  const test::TempDir dir;
  const auto path = dir.file("rank-00003.trace");
  trace::Log main("main");  // made before the recorder
  auto trace = recorder(path);
  trace.add({.local_s = 1, .offset_s = 2, .error_s = 3, .zero_s = 4});
  trace::count_buffers(2);
  main.add({Kind::output_wait, 3, 100.5, 101.0, 0});
  std::thread([] {
    trace::Log writer("writer");
    writer.add({Kind::sync, 4, 100.25, 102.0, 1 << 20});
  }).join();
  CHECK_FALSE(trace.close().has_value());
  trace::count_buffers(-2);
  main.add({Kind::compute, 5, 0, 1, 0});  // goes nowhere, but into the totals

  const auto file = read(path);
  CHECK(file.at<std::int32_t>(16) == 3);
  CHECK(file.at<std::int32_t>(20) == 8);
  CHECK(std::string(file.bytes.data() + 32) == host_name());
  CHECK(std::string(file.bytes.data() + 96) == trace::Clock().identity());
  CHECK(file.threads == std::map<int, std::string>{{0, "main"}, {1, "writer"}});
  CHECK(file.ended);
  CHECK(file.lost == 0);
  REQUIRE(file.clock_points.size() == 1);
  CHECK(file.clock_points[0].zero_s == 4);
  REQUIRE(file.events.size() == 2);
  CHECK(file.events[0].start_s == 100.5);
  CHECK(file.events[0].end_s == 101.0);
  CHECK(file.events[0].step == 3);
  CHECK(file.events[0].buffers == 2);
  CHECK(file.events[0].thread == 0);
  CHECK(file.events[0].kind == static_cast<int>(Kind::output_wait));
  CHECK(file.events[0].memory_bytes > 1 << 20);
  CHECK(file.events[1].bytes == 1 << 20);
  CHECK(file.events[1].kind == static_cast<int>(Kind::sync));
  CHECK(main.total(Kind::compute).count == 1);
}

TEST_CASE("what was recorded is in the file while the program continues") {
  const test::TempDir dir;
  auto trace = recorder(dir.file("t"));
  trace::Log log("main");
  log.add({Kind::compute, 1, 0.0, 1.0, 0});
  for (int tries = 0; tries < 500; ++tries) {
    sleep_s(0.02);
    std::ifstream file(dir.file("t"), std::ios::ate | std::ios::binary);
    if (static_cast<std::size_t>(file.tellg()) > header_bytes + 2 * block_bytes) break;
  }
  const auto file = read(dir.file("t"));
  CHECK(file.events.size() == 1);
  CHECK_FALSE(file.ended);
}

TEST_CASE("every event is written or counted as lost, however fast they come") {
  const test::TempDir dir;
  auto trace = recorder(dir.file("t"));
  constexpr int threads = 3, each = 200'000;
  {
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t)
      workers.emplace_back([each] {
        trace::Log log("worker");
        for (int i = 0; i < each; ++i) log.add({Kind::exchange, i, 1.0 * i, i + 0.5, i});
        CHECK(log.total(Kind::exchange).count == each);
      });
    for (auto& worker : workers) worker.join();
  }
  CHECK_FALSE(trace.close().has_value());
  const auto file = read(dir.file("t"));
  CHECK(file.events.size() + file.lost == std::size_t{threads} * each);
  CHECK(file.events.size() >= std::size_t{threads} * 16384 / 2);
  for (const auto& [number, name] : file.threads) {  // each thread's in order, and whole
    std::int64_t last = -1;
    for (const auto& event : file.events) {
      if (event.thread != number) continue;
      if (event.step < last) last = -1;  // a later log of the same name
      CHECK_MESSAGE((event.step > last && event.bytes == event.step && event.start_s == double(event.step)),
                    "thread ", name, " step ", event.step);
      last = event.step;
    }
  }
}

TEST_CASE("logs of one name at the same time have different names, one after the other the same") {
  const test::TempDir dir;
  auto trace = recorder(dir.file("t"));
  const auto use = [](trace::Log& log) { log.add({Kind::write, 1, 0, 1, 0}); };
  trace::Log first("writer");
  use(first);
  for (int i = 0; i < 300; ++i) {
    trace::Log other("writer");
    use(other);
  }
  CHECK_FALSE(trace.close().has_value());
  const auto file = read(dir.file("t"));
  CHECK(file.threads == std::map<int, std::string>{{0, "writer"}, {1, "writer 2"}});
  CHECK(file.events.size() == 301);
}

TEST_CASE("a log continues with the next recorder") {
  const test::TempDir dir;
  trace::Log log("main");
  for (const char* name : {"a", "b"}) {
    auto trace = recorder(dir.file(name));
    log.add({Kind::compute, 1, 0, 1, 0});
  }
  CHECK(read(dir.file("a")).events.size() == 1);
  CHECK(read(dir.file("b")).events.size() == 1);
  CHECK_THROWS(([&] { const auto one = recorder(dir.file("c")), two = recorder(dir.file("d")); }()));
}

TEST_CASE("a file that cannot be written is reported, and nothing waits for it") {
  CHECK_THROWS(recorder("/nowhere/at/all.trace"));
  auto trace = recorder("/dev/full");
  trace::Log log("main");
  for (int i = 0; i < 100'000; ++i) log.add({Kind::compute, i, 0, 1, 0});
  const auto failure = trace.close();
  REQUIRE(failure.has_value());
  CHECK(failure->kind == ErrorKind::io);
  CHECK(failure->message.find("/dev/full") != std::string::npos);
  CHECK(failure->message.find("No space left") != std::string::npos);
}

TEST_CASE("clocks that are made wrong show in the events and have another identity") {
  const test::TempDir dir;
  const trace::Clock wrong(5.0, 0.5);
  {
    auto trace = recorder(dir.file("t"), wrong);
    trace::Log log("main");
    log.add({Kind::compute, 1, 10.0, 20.0, 0});
  }
  const auto file = read(dir.file("t"));
  REQUIRE(file.events.size() == 1);
  CHECK(file.events[0].start_s == 20.0);
  CHECK(file.events[0].end_s == 35.0);
  CHECK(wrong.identity() != trace::Clock().identity());
  CHECK(wrong.identity().size() < 64);
  CHECK(trace::Clock().identity().size() < 64);
  CHECK(trace::Clock().identity() == trace::Clock().identity());
  CHECK(trace::Clock(0, 1e-5).identity() != trace::Clock(0, 2e-5).identity());
}

TEST_CASE("the environment makes clocks wrong by rank") {
  const auto clock_with = [](const char* text, int rank) {
    setenv("TAILRACE_CLOCK_SKEW", text, 1);
    struct Cleared {
      ~Cleared() { unsetenv("TAILRACE_CLOCK_SKEW"); }
    } const cleared;
    return trace::Clock::of_rank(rank);
  };
  CHECK(clock_with("2.5", 2).shown_at(100) == 105);
  CHECK(clock_with("2.5,0.1", 2).shown_at(100) == 125);
  CHECK(clock_with("-1,0", 1).shown_at(0) == -1);
  CHECK(clock_with("2.5", 0).shown_at(100) == 100);
  CHECK(clock_with("", 3).shown_at(100) == 100);
  CHECK(trace::Clock::of_rank(3).shown_at(100) == 100);
  for (const char* text : {"x", "1,", ",1", "1;2", "1 ", "1,2,3"})
    CHECK_THROWS_WITH_AS(clock_with(text, 1), doctest::Contains("TAILRACE_CLOCK_SKEW"), Error);
}

TEST_CASE("modes of the trace") {
  CHECK(trace::parse_mode("--trace", "off") == Mode::off);
  CHECK(trace::parse_mode("--trace", "on") == Mode::on);
  CHECK_THROWS_WITH_AS(trace::parse_mode("--trace", "yes"), "--trace yes: unknown. Fix: one of off, on, papi",
                       Error);
  CHECK(trace::Recorder::memory_bytes(2, Mode::off) == 0);
  CHECK(trace::Recorder::memory_bytes(2, Mode::on) == 2 * 16384 * 48);
  try {  // counts, or says why not
    const auto mode = trace::parse_mode("--trace", "papi");
    CHECK(mode == Mode::papi);
  } catch (const Error& error) {
    CHECK(error.info().kind == ErrorKind::usage);
    CHECK(error.info().message.starts_with("--trace papi: "));
    CHECK_FALSE(error.info().hint.empty());
  }
}
