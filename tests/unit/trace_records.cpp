// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "temp_dir.hpp"
#include "trace/recorder.hpp"

using namespace tailrace;
using trace::Mode;

namespace {

constexpr std::size_t head_bytes = 296, block_head_bytes = 24, record_bytes = 32;

/// The blocks of a file that are about records, taken apart by docs/formats/trace.md.
struct Blocks {
  std::map<int, std::vector<trace::Record>> records;  // by thread
  std::map<int, std::string> summaries;               // by thread: the last one
  std::vector<std::string> names;
  std::map<int, std::string> threads;
};

template <class T>
T value_of(const std::string& bytes, std::size_t position) {
  T value;
  REQUIRE(position + sizeof value <= bytes.size());
  std::memcpy(&value, bytes.data() + position, sizeof value);
  return value;
}

Blocks read_blocks(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  Blocks blocks;
  for (std::size_t block = head_bytes; block < bytes.size();) {
    REQUIRE(bytes.substr(block, 4) == "TRBK");
    const int type = value_of<std::uint8_t>(bytes, block + 4),
              thread = value_of<std::uint8_t>(bytes, block + 5);
    const auto payload = bytes.substr(block + block_head_bytes, value_of<std::uint32_t>(bytes, block + 8));
    if (type == 1) blocks.threads[thread] = payload.c_str();
    if (type == 5) blocks.names.push_back(payload);
    if (type == 7) blocks.summaries[thread] = payload;
    if (type == 6) {
      CHECK(value_of<std::uint16_t>(bytes, block + 6) == record_bytes);
      for (std::size_t i = 0; i < payload.size(); i += record_bytes)
        blocks.records[thread].push_back(value_of<trace::Record>(payload, i));
    }
    block += block_head_bytes + payload.size();
  }
  return blocks;
}

trace::Recorder recorder_within(const std::string& path, std::int64_t budget_bytes,
                                const trace::Clock& clock = {}) {
  return {path, {.rank = 0, .ranks = 1}, clock, Mode::on, budget_bytes};
}

constexpr std::int64_t plenty = 1 << 20;

}  // namespace

TEST_CASE("records, names and summaries lie in the file, by the trace's clock") {
  const test::TempDir dir;
  const auto path = dir.file("rank-00000.trace");
  auto trace = recorder_within(path, plenty, {1000.0, 0.5});
  trace::Log log("fragments");
  log.add(trace::TypeName{7, 2, 12, 5, "for i", "p.fa"});
  CHECK(log.add(
      trace::Record{.time_s = 2, .subject = 1ULL << 40, .object = 9, .amount = 3, .type = 7, .event = 4}));
  log.add(trace::Summary{1, 2, 1.5, 0.25, {std::byte{1}}});
  log.add(trace::Summary{1, 4, 2, 0.25, {std::byte{42}}});  // in place of the one before
  CHECK_FALSE(trace.close().has_value());
  CHECK_FALSE(log.add(trace::Record{}));

  const auto blocks = read_blocks(path);
  CHECK(blocks.threads == std::map<int, std::string>{{0, "fragments"}});
  REQUIRE(blocks.records.at(0).size() == 1);
  const auto& record = blocks.records.at(0)[0];
  CHECK(record.time_s == 2 + 1000.0 + 0.5 * 2);
  CHECK(record.subject == 1ULL << 40);
  CHECK(record.object == 9);
  CHECK(record.amount == 3);
  CHECK(record.type == 7);
  CHECK(record.event == 4);
  REQUIRE(blocks.names.size() == 1);
  const auto& name = blocks.names[0];
  CHECK(value_of<std::uint16_t>(name, 0) == 7);
  CHECK(value_of<std::uint8_t>(name, 2) == 2);
  CHECK(value_of<std::int32_t>(name, 4) == 12);
  CHECK(value_of<std::int32_t>(name, 8) == 5);
  CHECK(name.substr(12) == std::string("for i\0p.fa\0", 11));
  const auto& summary = blocks.summaries.at(0);
  CHECK(value_of<double>(summary, 0) == 1 + 1000.0 + 0.5 * 1);
  CHECK(value_of<double>(summary, 8) == 4 + 1000.0 + 0.5 * 4);
  CHECK(value_of<double>(summary, 16) == 2 + 1000.0 + 0.5 * 2);
  CHECK(value_of<double>(summary, 24) == 0.25);
  CHECK(value_of<std::uint8_t>(summary, 32) == 42);
}

TEST_CASE("records end with the budget, on all threads, and have no holes") {
  const test::TempDir dir;
  const auto path = dir.file("rank-00000.trace");
  constexpr std::int64_t budget = 3000;
  auto trace = recorder_within(path, budget * static_cast<std::int64_t>(record_bytes));
  trace::Log main("fragments");
  std::int64_t kept = 0;
  for (std::uint64_t i = 0; i < 2 * budget; ++i) kept += main.add(trace::Record{.subject = i}) ? 1 : 0;
  CHECK(kept == budget);
  bool other = true;
  std::thread([&] { other = trace::Log("worker 1").add(trace::Record{}); }).join();
  CHECK_FALSE(other);
  main.add(trace::Summary{0, 1, 1, 1, {}});
  CHECK_FALSE(trace.close().has_value());
  const auto blocks = read_blocks(path);
  REQUIRE(std::ssize(blocks.records.at(0)) == budget);
  for (std::uint64_t i = 0; i < budget; ++i) REQUIRE(blocks.records.at(0)[i].subject == i);
  CHECK(blocks.records.count(1) == 0);
  CHECK(blocks.summaries.count(0) == 1);
}

TEST_CASE("spans and records of a log have one number") {
  const test::TempDir dir;
  const auto path = dir.file("rank-00000.trace");
  auto trace = recorder_within(path, plenty);
  trace::Log log("worker 1");
  log.add({trace::Kind::compute, 0, 1, 2, 0});
  log.add(trace::Record{});
  CHECK_FALSE(trace.close().has_value());
  const auto blocks = read_blocks(path);
  CHECK(blocks.threads == std::map<int, std::string>{{0, "worker 1"}});
  CHECK(blocks.records.count(0) == 1);
}
