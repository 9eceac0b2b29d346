// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "h5/file.hpp"
#include "mpi_case.hpp"
#include "output_fixture.hpp"
#include "ultrasound_run.hpp"

/// Runs of the whole program in segments, on changing numbers of ranks.
namespace tailrace::ultrasound {

namespace {

using output::fixture::SharedDir;
using test::difference, test::limit_for, test::run;
namespace fs = std::filesystem;

const std::string data = TAILRACE_TEST_DATA "/ultrasound/";
const std::vector<std::string> heterogeneous{
    "-i",          data + "tvsp_heterogeneous_nonlinear_cuboid/input.h5",
    "--benchmark", "70",
    "-s",          "41",
    "-p",          "-u",
    "--p_rms",     "--p_max",
    "--p_min",     "--p_max_all",
    "--p_final",   "--u_rms",
    "--u_final"};
const std::vector<std::string> dirichlet{"-i",          data + "tvsp_dirichlet_v11_checkpoint/input.h5",
                                         "--p_raw",     "--p_rms",
                                         "--p_max",     "--p_min",
                                         "--u_rms",     "--u_max",
                                         "--u_min",     "--p_max_all",
                                         "--u_max_all", "--u_min_all",
                                         "--p_final"};
constexpr StepIndex heterogeneous_steps = 70;

/// Runs the program on the first `ranks` ranks; returns its exit status. @collective{comm}
int run_on(mpi::CommView comm, int ranks, std::vector<std::string> words,
           const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  int status = 0;
  auto some = mpi::Comm::split(comm, comm.rank() < ranks ? 0 : -1);
  if (!some.empty()) {
    status = run(some, words);
    some.close();
  }
  mpi::barrier(comm);
  return static_cast<int>(mpi::max(comm, std::int64_t{status}));
}

/// A directory with the output and the checkpoint of one run in segments.
struct Segments {
  mpi::CommView comm;
  SharedDir directory{comm};
  std::vector<std::string> words;

  [[nodiscard]] std::string output() const { return directory.file("out.h5"); }
  [[nodiscard]] std::string checkpoint() const { return directory.file("state.h5"); }
  /// One segment; returns whether a checkpoint is there after it.
  bool run_segment(int ranks, StepIndex steps, const std::string& strategy = "threads",
                   const std::string& device = "none") {
    CHECK(run_on(comm, ranks, words,
                 {"-o", output(), "--checkpoint_file", checkpoint(), "--checkpoint_timesteps",
                  fmt::format("{}", steps), "--write", strategy, "--device", device}) == 0);
    const bool exists = fs::exists(checkpoint());
    mpi::barrier(comm);
    return exists;
  }
};

using Contents = std::map<std::string, std::vector<std::byte>>;

/// The bytes of every dataset but the commit mark, and the names of all datasets and root attributes.
Contents contents(const std::string& path) {
  Contents all;
  const auto file = h5::File::open(path);
  for (const auto& name : file.dataset_paths()) {
    auto& bytes = all[name];
    const auto count = h5::element_count(file.shape(name));
    if (name == output::commit_mark_path) continue;
    bytes.resize(count * h5::size_bytes(file.type(name)));
    file.read_range(name, 0, count, file.type(name), bytes);
  }
  return all;
}

/// Returns what a run without a stop leaves, made once for each number of ranks and list of words.
const Contents& whole_run(mpi::CommView comm, const std::vector<std::string>& words, int ranks = 1) {
  static std::map<std::pair<int, std::vector<std::string>>, Contents> known;
  const std::pair key(ranks, words);
  const bool missing = mpi::max(comm, std::int64_t{!known.contains(key)}) > 0;
  if (missing) {
    const SharedDir directory(comm);
    CHECK(run_on(comm, ranks, words, {"-o", directory.file("out.h5")}) == 0);
    known[key] = comm.is_root() ? contents(directory.file("out.h5")) : Contents{};
    mpi::barrier(comm);
  }
  return known.at(key);
}

void check_equal(mpi::CommView comm, const std::string& path, const Contents& wanted) {
  if (comm.is_root()) {
    const auto found = contents(path);
    CHECK(found.size() == wanted.size());
    for (const auto& [name, bytes] : wanted)
      CHECK_MESSAGE((found.contains(name) && found.at(name) == bytes), name);
  }
  mpi::barrier(comm);
}

std::int64_t number_in(const std::string& path, const char* name) {
  std::vector<std::int64_t> value(1);
  h5::File::open(path).read(name, std::span(value));
  return value[0];
}

}  // namespace

namespace {

/// Runs on `a` and then on `b` ranks for all a and b of which the larger is the number of ranks; of two
/// ranks, for all. `wanted_pair` leaves some out.
template <class WantedPair>
void check_two_segments(mpi::CommView comm, const WantedPair& wanted_pair) {
  const auto& wanted = whole_run(comm, heterogeneous);
  const std::vector<std::string> strategies{"blocking", "threads", "threads:3"};
  for (int a = 1; a <= comm.size(); ++a)
    for (int b = 1; b <= comm.size(); ++b) {
      if (std::max(a, b) < comm.size() && comm.size() > 2) continue;  // these ran on fewer ranks
      if (!wanted_pair(a, b)) continue;
      CAPTURE(a);
      CAPTURE(b);
      Segments segments{.comm = comm, .words = heterogeneous};
      const StepIndex stop = 5 + 12 * a + 3 * b;  // before and after the first sample
      CHECK(segments.run_segment(a, stop, strategies[static_cast<std::size_t>(a) % 3]));
      if (comm.is_root()) CHECK(number_in(segments.output(), "t_index") == stop);
      mpi::barrier(comm);
      CHECK(!segments.run_segment(b, heterogeneous_steps, strategies[static_cast<std::size_t>(b) % 3]));
      check_equal(comm, segments.output(), wanted);
    }
}

}  // namespace

MPI_CASE("two segments on a and b ranks end as a run without a stop, byte for byte", ranks{2, 3, 4}) {
  check_two_segments(comm, [](int a, int b) { return (a + b) % 2 == 1; });  // each a and each b
}
MPI_CASE("full: two segments on any a and b ranks end as a run without a stop, byte for byte",
         ranks{2, 3, 4}) {
  check_two_segments(comm, [](int, int) { return true; });
}

MPI_CASE("many segments, some of them before the first sample", ranks{1, 3}) {
  const auto& wanted = whole_run(comm, heterogeneous);
  Segments segments{.comm = comm, .words = heterogeneous};
  int count = 1;
  for (; segments.run_segment(1 + count % comm.size(), 8); ++count)
    if (comm.is_root()) CHECK(number_in(segments.checkpoint(), "t_index") == 8 * count);
  CHECK(count == 9);
  check_equal(comm, segments.output(), wanted);
}

MPI_CASE("a segment may end with the run's last step", ranks{2}) {
  const auto& wanted = whole_run(comm, heterogeneous);
  Segments segments{.comm = comm, .words = heterogeneous};
  CHECK(segments.run_segment(2, heterogeneous_steps / 2));
  CHECK(!segments.run_segment(1, heterogeneous_steps / 2));
  check_equal(comm, segments.output(), wanted);
}

MPI_CASE("double precision continues in double precision", ranks{1, 3}) {
  auto words = heterogeneous;
  words.insert(words.end(), {"--precision", "float64"});
  const auto& wanted = whole_run(comm, words);
  Segments segments{.comm = comm, .words = words};
  CHECK(segments.run_segment(comm.size(), 60));
  if (comm.is_root()) CHECK(h5::File::open(segments.checkpoint()).type("ux_sgx") == h5::ElementType::float64);
  mpi::barrier(comm);
  CHECK(!segments.run_segment(1, heterogeneous_steps));
  check_equal(comm, segments.output(), wanted);
}

MPI_CASE("every kind of source, medium, mask and grid continues as if it had not stopped", ranks{1, 2, 3}) {
  int turn = comm.size();  // each on one number of ranks
  for (const char* name :
       {"2d_intensity", "2d_stokes", "2d_initial_pressure", "intensity_boxes", "transducer",
        "initial_pressure_and_velocity_source", "velocity_additive_many", "velocity_and_pressure", "odd_all",
        "pressure_dirichlet_many", "sensors_unsorted", "stokes_nonlinear", "reductions"}) {
    if (turn++ % 3 != 0) continue;
    const std::string from = data + "independent/" + name;
    std::vector<std::string> words =
        nlohmann::json::parse(std::ifstream(from + "/case.json")).at("arguments");
    words.insert(words.end(), {"-i", from + "/input.h5"});
    const auto& wanted = whole_run(comm, words);
    const auto steps = number_in(from + "/input.h5", "/Nt");
    Segments segments{.comm = comm, .words = words};
    CHECK(segments.run_segment(comm.size(), steps / 3));
    CHECK(!segments.run_segment(1 + comm.size() / 2, steps));
    check_equal(comm, segments.output(), wanted);
  }
}

MPI_CASE("segments on a device and on processors continue each other's checkpoints", ranks{1, 3}) {
  const char* const named = std::getenv("TAILRACE_TEST_DEVICE");
  const std::string device = named != nullptr ? named : "emulated";
  bool device_first = comm.size() == 1;
  for (const char* name : {"2d_intensity", "odd_all", "velocity_additive_many"}) {
    const std::string from = data + "independent/" + name;
    const auto facts = nlohmann::json::parse(std::ifstream(from + "/case.json"));
    std::vector<std::string> words = facts.at("arguments");
    words.insert(words.end(), {"-i", from + "/input.h5"});
    const auto steps = number_in(from + "/input.h5", "/Nt");
    Segments segments{.comm = comm, .words = words};
    CHECK(segments.run_segment(comm.size(), steps / 3, "threads", device_first ? device : "none"));
    CHECK(!segments.run_segment(1 + comm.size() / 2, steps, "threads", device_first ? "none" : device));
    if (comm.is_root()) {
      const auto reference = h5::File::open(from + "/reference.h5"),
                 result = h5::File::open(segments.output());
      for (const std::string path : facts.at("datasets")) {
        const double found = difference(reference, result, path);
        CHECK_MESSAGE(found < limit_for(path), fmt::format("{}: {} of {}", name, found, path));
      }
    }
    device_first = !device_first;
    mpi::barrier(comm);
  }
}

MPI_CASE("the reference's own checkpoint comes to the reference's end", ranks{1, 2, 3, 4, 7}) {
  const std::string from = data + "tvsp_dirichlet_v11_checkpoint/";
  Segments segments{.comm = comm, .words = dirichlet};
  if (comm.is_root()) {
    fs::copy_file(from + "checkpoint_t120.h5", segments.checkpoint());
    fs::copy_file(from + "output_after_leg1.h5", segments.output());
  }
  mpi::barrier(comm);
  CHECK(segments.run_segment(comm.size(), 30));
  CHECK(!segments.run_segment(1 + comm.size() / 2, 200));
  if (comm.is_root()) {
    const auto reference = h5::File::open(from + "reference_double.h5"),
               result = h5::File::open(segments.output());
    for (const auto& name : reference.dataset_names()) {
      const double found = difference(reference, result, name);
      CHECK_MESSAGE(found < limit_for(name), fmt::format("{} of {}", found, name));
    }
    CHECK(number_in(segments.output(), "t_index") == 200);
    // What k-Wave's segment took is counted: 0.34 s of simulation, 0.65 s in all.
    const auto time = result.text_attribute("/", "simulation_phase_execution_time");
    REQUIRE(time);
    CHECK(std::stod(*time) >= 0.34);
  }
  mpi::barrier(comm);
}

MPI_CASE("a checkpoint holds all that the reference's own holds, with its values", ranks{1, 2, 3}) {
  Segments segments{.comm = comm, .words = dirichlet};
  CHECK(segments.run_segment(comm.size(), 120));
  if (comm.is_root()) {
    const auto reference = h5::File::open(data + "tvsp_dirichlet_v11_checkpoint/checkpoint_t120.h5"),
               ours = h5::File::open(segments.checkpoint());
    const auto names = reference.dataset_names();
    CHECK(std::count(names.begin(), names.end(), "duxdx") == 1);
    for (const auto& name : names) {
      REQUIRE_MESSAGE(ours.has_dataset(name), name);
      CHECK_MESSAGE(ours.shape(name) == reference.shape(name), name);
      CHECK_MESSAGE(ours.type(name) == reference.type(name), name);
      for (const auto* attribute : {"data_type", "domain_type"})
        CHECK_MESSAGE(ours.text_attribute(name, attribute) == reference.text_attribute(name, attribute),
                      name);
      const double found = difference(reference, ours, name);
      CHECK_MESSAGE(found < 1e-5, fmt::format("{} of {}", found, name));
    }
    for (const auto* attribute : {"file_type", "major_version", "minor_version", "file_description"})
      CHECK(ours.text_attribute("/", attribute) == reference.text_attribute("/", attribute));
  }
  mpi::barrier(comm);
}

MPI_CASE("what does not belong together is refused, and stays as it is", ranks{1, 3}) {
  Segments segments{.comm = comm, .words = dirichlet};
  CHECK(segments.run_segment(comm.size(), 20));
  const auto before = comm.is_root() ? contents(segments.output()) : Contents{};
  const auto run_again = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), {"-o", segments.output(), "--checkpoint_file", segments.checkpoint(),
                               "--checkpoint_timesteps", "9"});
    return run_on(comm, comm.size(), words, more);
  };
  CHECK(run_again(dirichlet, {"--u_raw"}) == 1);
  CHECK(run_again({dirichlet.begin(), dirichlet.end() - 2}, {}) == 1);  // without two that were recorded
  CHECK(run_again(dirichlet, {"-s", "5"}) == 1);
  CHECK(run_again(heterogeneous, {}) == 1);
  CHECK(run_on(comm, comm.size(), dirichlet,
               {"-o", segments.checkpoint(), "--checkpoint_file", segments.checkpoint(),
                "--checkpoint_timesteps", "9"}) == 1);
  check_equal(comm, segments.output(), before);
  CHECK(!segments.run_segment(1, 200));
  check_equal(comm, segments.output(), whole_run(comm, dirichlet));
}

}  // namespace tailrace::ultrasound
