#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tailrace/base/system.hpp"
#include "tailrace/trace/trace.hpp"
#include "temp_dir.hpp"

using namespace tailrace;
using trace::Kind;

namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("a log sums up by kind") {
  trace::Log log("main");
  log.add({Kind::compute, 0, 1.0, 1.5, 0});
  log.add({Kind::compute, 1, 2.0, 2.25, 0});
  log.add({Kind::write, 1, 2.0, 3.0, 4096});
  CHECK(log.total(Kind::compute).seconds == doctest::Approx(0.75));
  CHECK(log.total(Kind::compute).count == 2);
  CHECK(log.total(Kind::write).bytes == 4096);
  CHECK(log.total(Kind::exchange).count == 0);
  CHECK(log.spans().size() == 3);
}

TEST_CASE("the list of spans is bounded, the totals are not") {
  trace::Log log("main");
  constexpr int many = 200'100;
  for (int i = 0; i < many; ++i) log.add({Kind::exchange, i, 0.0, 0.5, 1});
  CHECK(log.spans().size() == 200'000);
  CHECK(log.total(Kind::exchange).count == many);
  CHECK(log.total(Kind::exchange).bytes == many);
  CHECK(log.total(Kind::exchange).seconds == doctest::Approx(0.5 * many));
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
  REQUIRE(log.spans().size() == 2);
  CHECK(log.spans()[0].step == 7);
  CHECK(log.spans()[0].bytes == 100);
  CHECK(log.spans()[0].end_s - log.spans()[0].start_s >= 0.01);
  CHECK(log.spans()[1].kind == Kind::close);
}

TEST_CASE("spans are written as CSV relative to the common zero") {
  const test::TempDir dir;
  trace::Log main("main"), writer("writer");
  main.add({Kind::output_wait, 3, 100.5, 101.0, 0});
  writer.add({Kind::write, 3, 100.25, 102.0, 1 << 20});
  trace::write_csv(dir.file("rank-00000.csv"), {&main, &writer}, 100.0);
  CHECK(lines_of(dir.file("rank-00000.csv")) ==
        std::vector<std::string>{"thread,kind,step,start_s,end_s,bytes",
                                 "main,output_wait,3,0.500000,1.000000,0",
                                 "writer,write,3,0.250000,2.000000,1048576"});
}

TEST_CASE("a CSV file that cannot be written is an error") {
  CHECK_THROWS(trace::write_csv("/nowhere/at/all.csv", {}, 0));
}

TEST_CASE("kinds have the names of the trace format") {
  const std::vector<std::string> names{"setup",       "compute", "exchange", "pack",
                                       "output_wait", "write",   "close"};
  REQUIRE(names.size() == trace::kind_count);
  for (std::size_t k = 0; k < names.size(); ++k) CHECK(trace::to_string(static_cast<Kind>(k)) == names[k]);
}
