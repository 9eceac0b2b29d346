// SPDX-License-Identifier: BSD-3-Clause
#include "output/planner/tuning_history.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>  // NOLINT: setenv

#include <ctime>
#include <filesystem>
#include <fstream>
#include <utility>

#include "output/planner/performance_model.hpp"
#include "output/planner/planner.hpp"
#include "temp_dir.hpp"

using namespace tailrace;
using namespace tailrace::output;
using tailrace::test::TempDir;

namespace {

const TuningRecord record{.strategy = "threads:3",
                          .interference = Estimate{.value = 0.1, .error = 0.03},
                          .write_interference = {},
                          .dropped = {"leaders:2,buffers=2"}};

void write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Measurements two_ranks() {
  Measurements m;
  m.bytes = 1 << 20;
  m.largest_rank_bytes = 1 << 19;
  m.datasets = 4;
  m.machine.ranks = m.machine.ranks_per_node = 2;
  return m;
}

}  // namespace

TEST_CASE("what a run has shown of its output is known to later ones, by machine and kind") {
  const TempDir directory;
  const TuningHistory history(directory.file("cache/output"), "node1");
  CHECK(!history.find("kind"));
  CHECK(history.keep("kind", record).empty());
  CHECK(history.keep("other", {.strategy = "blocking"}).empty());
  REQUIRE(history.find("kind"));
  CHECK(*history.find("kind") == record);
  CHECK(history.find("other")->strategy == "blocking");
  CHECK(!TuningHistory(directory.file("cache/output"), "node2").find("kind"));
  CHECK(history.keep("kind", {.strategy = "blocking"}).empty());
  CHECK(history.find("kind")->strategy == "blocking");
}

TEST_CASE("a history that cannot be read, or is too old, is none, and is replaced") {
  const TempDir directory;
  const auto path = directory.file("node.json");
  const TuningHistory history(directory.path(), "node");
  for (const char* const text :
       {"", "{", "[]", R"({"format": 2, "kinds": {}})", R"({"format": 1, "kinds": []})",
        R"({"format": 1, "kinds": {"kind": 3}})", R"({"format": 1, "kinds": {"kind": {"strategy": 3}}})",
        R"({"format": 1, "kinds": {"kind": {"strategy": "blocking", "dropped": {}, "time": 1000}}})",
        R"({"format": 1, "kinds": {"kind": {"strategy": "x", "dropped": ["y"], "time": 99999999999}}})"}) {
    CAPTURE(text);
    write(path, text);
    CHECK(!history.find("kind"));
    CHECK(history.keep("kind", record).empty());
    CHECK(history.find("kind") == record);
  }
}

TEST_CASE("a strategy that was dropped may be tried again after a day") {
  const TempDir directory;
  const auto path = directory.file("node.json");
  const TuningHistory history(directory.path(), "node");
  const auto dropped_before = [&](std::int64_t seconds) {
    const auto then = static_cast<std::int64_t>(time(nullptr)) - seconds;
    write(path, R"({"format": 1, "kinds": {"kind": {"strategy": "blocking", "time": )" +
                    std::to_string(then) + R"(, "dropped": {"threads:2": )" + std::to_string(then) + "}}}}");
    REQUIRE(history.find("kind"));
    return history.find("kind")->dropped;
  };
  CHECK(dropped_before(23 * 3600) == std::vector<std::string>{"threads:2"});
  CHECK(dropped_before(25 * 3600).empty());
  // A run that keeps what it has found dropped does not make that younger.
  const auto known = dropped_before(23 * 3600);
  const auto text = read(path);
  CHECK(history.keep("kind", {.strategy = "blocking", .dropped = known}).empty());
  const auto when = text.substr(text.find("\"threads:2\": ") + 13, 10);
  CHECK(read(path).find("\"threads:2\": " + when) != std::string::npos);
}

TEST_CASE("a disturbance that cannot be is not believed") {
  const TempDir directory;
  const auto path = directory.file("node.json");
  const TuningHistory history(directory.path(), "node");
  CHECK(history.keep("kind", record).empty());
  auto text = read(path);
  text.replace(text.find("0.03"), 4, "-3.0");
  write(path, text);
  REQUIRE(history.find("kind"));
  CHECK(!history.find("kind")->interference);
}

TEST_CASE("the kinds that were seen last are kept") {
  const TempDir directory;
  const TuningHistory history(directory.path(), "node");
  for (int i = 0; i < 210; ++i) CHECK(history.keep(std::to_string(i), record).empty());
  int known = 0;
  for (int i = 0; i < 210; ++i) known += history.find(std::to_string(i)) ? 1 : 0;
  CHECK(known == 200);
}

TEST_CASE("a history without a directory keeps nothing, one that cannot be written says so") {
  const TempDir directory;
  const TuningHistory none("", "node");
  CHECK(none.keep("kind", record).empty());
  CHECK(!none.find("kind"));
  write(directory.file("file"), "");
  const auto reason = TuningHistory(directory.file("file/below"), "node").keep("kind", record);
  CHECK(reason.find(directory.file("file/below/node.json")) != std::string::npos);
}

TEST_CASE("outputs are of one kind to a factor of two, on the same ranks and cores") {
  const auto m = two_ranks();
  const auto kind = kind_of_output(m, "hdf5");
  auto other = m;
  other.bytes = other.bytes * 5 / 4;
  other.largest_rank_bytes = other.bytes / 2;
  CHECK(kind_of_output(other, "hdf5") == kind);
  CHECK(kind_of_output(m, "rsf") != kind);
  other.bytes *= 4;
  CHECK(kind_of_output(other, "hdf5") != kind);
  for (int Machine::*number : {&Machine::ranks, &Machine::free_cores, &Machine::threads_per_rank}) {
    other = m;
    other.machine.*number += 1;
    CHECK(kind_of_output(other, "hdf5") != kind);
  }
  other = m;
  other.each_flushed = true;
  CHECK(kind_of_output(other, "hdf5") != kind);
  other = m;
  other.datasets = 256;
  CHECK(kind_of_output(other, "hdf5") != kind);
}

TEST_CASE("the history is where the environment says, in the cache, or nowhere") {
  setenv("XDG_CACHE_HOME", "/cache", 1);
  unsetenv("TAILRACE_TUNING");
  CHECK(tuning_directory() == "/cache/tailrace/output");
  setenv("TAILRACE_TUNING", "/else/where", 1);
  CHECK(tuning_directory() == "/else/where");
  setenv("TAILRACE_TUNING", "off", 1);
  CHECK(tuning_directory().empty());
}

TEST_CASE("a disturbance that an earlier run measured holds until it is measured again") {
  PerformanceModel model(two_ranks());
  CHECK(!model.has_measured_interference());
  model.assume(Estimate{.value = 0.3, .error = 0.001}, {});
  CHECK(model.has_measured_interference());
  const auto m = model.measurements(10);
  CHECK(m.interference.value == 0.3);
  CHECK(m.interference.error == 0.02);
  CHECK(m.write_interference == assumed_interference);
}

TEST_CASE("a change must be able to repay, in the outputs that are left, what it costs") {
  auto m = two_ranks();
  m.compute_s = {1, 0.001};
  m.write.write_s = 0.4;
  m.write_error = 0.001;
  constexpr Candidate threads{.strategy = Strategy::threads, .number = 2};
  const auto decide = [&](std::int64_t left, double disturbance) {
    m.outputs_left = left;
    m.interference = m.write_interference = {.value = disturbance, .error = 0.001};
    const auto decision = choose(m);
    REQUIRE(decision.strategy() == "blocking");
    // What writes in the step has nothing on its way.
    CHECK(if_repaid(m, decision, decision.candidate).strategy() == "blocking");
    const auto repaid = if_repaid(m, decision, threads);
    CHECK(repaid.prediction().candidate == repaid.candidate);
    return std::pair(repaid.strategy(), repaid.reasons.back());
  };
  CHECK(decide(50, 0.5).first == "blocking");
  // The last output has nothing to hide behind; but what is on its way must be written before, too.
  const auto [strategy, reason] = decide(1, 0.2);
  CHECK(strategy == "threads:2");
  CHECK(reason.find("changing to blocking would take 0.48 s and gain 0.28 s in 1 outputs") == 0);
}

TEST_CASE("what was tried and clearly slower is not possible, and only that") {
  auto m = two_ranks();
  m.outputs_left = 10;
  m.dropped = {"threads:2"};
  CHECK(!predict(m, {.strategy = Strategy::threads, .number = 2}).possible);
  CHECK(predict(m, {.strategy = Strategy::threads, .number = 3, .buffers = 3}).possible);
  CHECK(is_clearly_slower(1, 1.3));
  CHECK(!is_clearly_slower(1, 1.2));
  CHECK(!is_clearly_slower(0, 1.2));  // nothing was seen before
}
