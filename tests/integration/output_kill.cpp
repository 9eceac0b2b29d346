#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <span>

#include "../unit/output_pattern.hpp"
#include "base/system.hpp"
#include "h5/file.hpp"
#include "output/core/file_content.hpp"
#include "temp_dir.hpp"

using namespace tailrace;
using namespace tailrace::output;

namespace {

constexpr Index3 domain{11, 7, 14};

/// Runs the victim; returns whether it ended well.
bool run_victim(int ranks, const std::string& arguments) {
  const auto command = fmt::format("{} {} {} {} > /dev/null 2>&1", MPIEXEC, ranks, VICTIM, arguments);
  return std::system(command.c_str()) == 0;  // NOLINT: a command of our own
}

std::int64_t recorded_steps(const h5::File& file) {
  std::vector<std::uint64_t> slots(file.shape(record_path).back());
  file.read(record_path, std::span(slots));
  return static_cast<std::int64_t>(*std::min_element(slots.begin(), slots.end()));
}

/// Opens what is left and compares all samples that the record vouches for. Returns their number.
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

struct Moment {
  const char *sink, *strategy;
  int ranks;
  double after_s;
};

/// Sinks, and strategies that go with them and write behind the computation.
constexpr std::array<std::pair<const char*, const char*>, 4> background_ways{
    {{"hdf5", "threads"}, {"hdf5", "leaders"}, {"hdf5", "uring"}, {"hdf5-chunked", "threads"}}};

std::vector<Moment> moments() {
  std::vector<Moment> all;
  for (const auto& [sink, strategy] : background_ways)
    for (const int ranks : {2, 3})
      for (const double after_s : {0.03, 0.07, 0.11, 0.15}) all.push_back({sink, strategy, ranks, after_s});
  return all;
}

constexpr double longest_end_s = 10;  // of a job one of whose ranks is killed

}  // namespace

void kill_in_mid_write(const std::string& sink, const std::string& strategy, int ranks) {
  CAPTURE(sink);
  CAPTURE(strategy);
  CAPTURE(ranks);
  const test::TempDir directory;
  const auto path = directory.file("out.h5");
  const double start_s = monotonic_s();
  const bool few_writers = sink == "hdf5-chunked" || strategy == "leaders";
  const int victim = few_writers ? 0 : ranks - 1;  // a rank that writes
  CHECK(!run_victim(ranks, fmt::format("{} {} {} kill:rank={},step=20", path, sink, strategy, victim)));
  CHECK(monotonic_s() - start_s < longest_end_s);
  const auto recorded = check_leftover(path);
  CHECK(recorded >= (strategy == "blocking" ? 19 : 1));
  CHECK(recorded < 20);
}

TEST_CASE("a rank killed in mid-write ends the job, and the file is right up to its record") {
  for (const int ranks : {1, 2, 3}) {
    for (const char* sink : {"hdf5", "hdf5-chunked"}) kill_in_mid_write(sink, "blocking", ranks);
    for (const auto& [sink, strategy] : background_ways) kill_in_mid_write(sink, strategy, ranks);
  }
}

TEST_CASE("a rank killed at any moment ends the job, and the file is right up to its record") {
  for (const auto& [sink, strategy, ranks, after_s] : moments()) {
    CAPTURE(sink);
    CAPTURE(strategy);
    CAPTURE(ranks);
    CAPTURE(after_s);
    const test::TempDir directory;
    const auto path = directory.file("out.h5");
    const double start_s = monotonic_s();
    run_victim(ranks, fmt::format("{} {} {} short:every=1000 {}", path, sink, strategy, after_s));
    CHECK(monotonic_s() - start_s < longest_end_s);
    // On a busy machine it may come before there is a file.
    if (std::filesystem::exists(path)) CHECK(check_leftover(path) <= 40);
  }
}
