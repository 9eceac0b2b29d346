// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>

#include "../unit/output_pattern.hpp"
#include "base/system.hpp"
#include "h5/file.hpp"
#include "tailrace/file_content.hpp"
#include "temp_dir.hpp"

using namespace tailrace;
using namespace tailrace::output;

namespace {

constexpr Index3 domain{11, 7, 14};

/// Runs the kill target; returns whether it ended well.
bool run_target(int ranks, const std::string& arguments) {
  const auto command = fmt::format("{} {} {} {} > /dev/null 2>&1", MPIEXEC, ranks, KILL_TARGET, arguments);
  return std::system(command.c_str()) == 0;  // NOLINT: a command of our own
}

std::int64_t recorded_steps(const h5::File& file) {
  std::vector<std::uint64_t> slots(file.shape(commit_mark_path).back());
  file.read(commit_mark_path, std::span(slots));
  return static_cast<std::int64_t>(*std::min_element(slots.begin(), slots.end()));
}

/// Opens what is left and compares all samples that the commit mark vouches for. Returns their number.
std::int64_t check_leftover(const std::string& path) {
  const auto file = h5::File::open(path);
  const auto recorded = recorded_steps(file);
  std::vector<float> values(h5::element_count(file.shape("/p")));
  file.read("/p", std::span(values));
  const auto points = pattern::part_points(Whole{}, 0, domain);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(recorded * domain.volume()); ++i) {
    const auto step = static_cast<StepIndex>(i / points.size()) + 1;
    wrong += values[i] != static_cast<float>(pattern::value(points[i % points.size()], step));
  }
  CHECK(wrong == 0);
  return recorded;
}

struct Way {
  const char *sink, *strategy;
  int ranks;  ///< in the normal suite; with the label full on 1, 2 and 3
};

/// Each sink that gives a guarantee with the strategies that write differently.
constexpr std::array<Way, 6> ways{{{"hdf5", "blocking", 2},
                                   {"hdf5-chunked", "blocking", 1},
                                   {"hdf5", "threads", 3},
                                   {"hdf5", "leaders", 2},
                                   {"hdf5", "uring", 1},
                                   {"hdf5-chunked", "threads", 3}}};

constexpr double longest_end_s = 10;  // of a job one of whose ranks is killed

/// Runs a job that ends by a kill and returns the samples that its file vouches for.
std::int64_t left_by(const Way& way, int ranks, const std::string& fault) {
  CAPTURE(way.sink);
  CAPTURE(way.strategy);
  CAPTURE(ranks);
  CAPTURE(fault);
  const test::TempDir directory;
  const auto path = directory.file("out.h5");
  const double start_s = monotonic_s();
  CHECK(!run_target(ranks, fmt::format("{} {} {} {}", path, way.sink, way.strategy, fault)));
  CHECK(monotonic_s() - start_s < longest_end_s);
  return check_leftover(path);
}

/// The first half of a write is in the file when its process dies.
void kill_in_mid_write(const Way& way, int ranks) {
  const bool rank_0_writes =
      way.sink == std::string("hdf5-chunked") || way.strategy == std::string("leaders");
  const auto recorded =
      left_by(way, ranks, fmt::format("kill:rank={},step=20", rank_0_writes ? 0 : ranks - 1));
  CHECK(recorded >= (way.strategy == std::string("blocking") ? 19 : 1));
  CHECK(recorded < 20);
}

/// A rank dies while it computes step `step`; writers may be busy with any step before it.
void kill_while_computing(const Way& way, int ranks, int step) {
  const auto recorded = left_by(way, ranks, fmt::format("short:every=1000 {}", step));
  const bool each_sample_waits = way.strategy == std::string("blocking") && way.sink == std::string("hdf5");
  CHECK(recorded >= (each_sample_waits ? step - 1 : 0));
  CHECK(recorded < step);
}

}  // namespace

TEST_CASE("a rank killed in mid-write ends the job, and the file is right up to its commit mark") {
  for (const Way& way : ways) kill_in_mid_write(way, way.ranks);
}

TEST_CASE("a rank killed while it computes ends the job, and the file is right up to its commit mark") {
  kill_while_computing({"hdf5", "threads", 3}, 3, 2);
  kill_while_computing({"hdf5", "leaders", 2}, 2, 13);
  kill_while_computing({"hdf5-chunked", "threads", 3}, 3, 39);
}

TEST_CASE("full: kills of every way on every number of ranks") {
  for (const Way& way : ways)
    for (const int ranks : {1, 2, 3}) {
      kill_in_mid_write(way, ranks);
      for (const int step : {1, 2, 13, 26, 40}) kill_while_computing(way, ranks, step);
    }
}
