// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/system.hpp"
#include "tailrace/trace.hpp"

using namespace tailrace;
using trace::Kind;

TEST_CASE("a log sums up by kind") {
  trace::Log log("main");
  CHECK(log.empty());
  log.add({Kind::compute, 0, 1.0, 1.5, 0});
  log.add({Kind::compute, 1, 2.0, 2.25, 0});
  log.add({Kind::write, 1, 2.0, 3.0, 4096});
  CHECK(log.total(Kind::compute).seconds == doctest::Approx(0.75));
  CHECK(log.total(Kind::compute).count == 2);
  CHECK(log.total(Kind::write).bytes == 4096);
  CHECK(log.total(Kind::exchange).count == 0);
  CHECK_FALSE(log.empty());
}

TEST_CASE("a scope adds its time once") {
  trace::Log log("writer");
  {
    trace::Scope scope(log, Kind::write, 7, 100);
    sleep_s(0.01);
    CHECK(scope.stop() >= 0.01);
    CHECK(scope.stop() == 0);
  }
  { const trace::Scope scope(log, Kind::close, 8); }
  CHECK(log.total(Kind::write).count == 1);
  CHECK(log.total(Kind::write).bytes == 100);
  CHECK(log.total(Kind::write).seconds >= 0.01);
  CHECK(log.total(Kind::close).count == 1);
}

TEST_CASE("kinds have the names of the trace format") {
  const std::vector<std::string> names{"setup", "compute", "exchange",   "pack", "output_wait", "gather",
                                       "write", "sync",    "checkpoint", "idle", "close"};
  REQUIRE(names.size() == trace::kind_count);
  for (std::size_t k = 0; k < names.size(); ++k) CHECK(trace::to_string(static_cast<Kind>(k)) == names[k]);
}

TEST_CASE("buffers in use are counted") {
  const int before = trace::buffers_in_use();
  trace::count_buffers(1);
  trace::count_buffers(1);
  CHECK(trace::buffers_in_use() == before + 2);
  trace::count_buffers(-1);
  trace::count_buffers(-1);
  CHECK(trace::buffers_in_use() == before);
}
