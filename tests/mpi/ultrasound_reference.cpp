// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "environment.hpp"
#include "h5/file.hpp"
#include "mpi_case.hpp"
#include "temp_dir.hpp"
#include "ultrasound_run.hpp"

/// The shared reference cases, run as the program runs them, against results of an independent
/// double-precision solver (tests/data/README.md); and byte for byte the same for every rank count, thread
/// count and write strategy.
namespace tailrace::ultrasound {

namespace {

const std::string data = TAILRACE_TEST_DATA "/ultrasound/";

using test::difference, test::limit_for, test::run, test::values_of;

struct Case {
  std::string name;
  std::vector<std::string> arguments;
  std::vector<std::string> datasets;
};

const std::vector<Case> cases{
    {"ivp_homogeneous_index",
     {"-s", "1", "--p_raw", "--p_max", "--p_min", "--p_rms", "--p_final", "--u_raw", "--u_final"},
     {"p", "p_max", "p_min", "p_rms", "p_final", "ux", "uy", "uz", "ux_final", "uy_final", "uz_final"}},
    {"tvsp_heterogeneous_nonlinear_cuboid",
     {"-s", "41", "--p_raw", "--u_raw", "--p_rms", "--p_max", "--p_min", "--p_max_all", "--p_min_all",
      "--p_final", "--u_rms", "--u_max", "--u_final"},
     {"p/1",      "p/2",      "p/3",      "p_rms/1",  "p_rms/2",  "p_rms/3",   "p_max/1",
      "p_max/2",  "p_max/3",  "p_min/1",  "p_min/2",  "p_min/3",  "p_max_all", "p_min_all",
      "p_final",  "ux/1",     "uy/2",     "uz/3",     "ux_rms/1", "uy_rms/2",  "uz_rms/3",
      "ux_max/1", "uy_max/2", "uz_max/3", "ux_final", "uy_final", "uz_final"}},
    {"tvsp_dirichlet_v11_checkpoint",
     {"--p_raw", "--p_rms", "--p_max", "--p_min", "--p_max_all", "--p_final", "--u_rms", "--u_max", "--u_min",
      "--u_max_all"},
     {"p", "p_rms", "p_max", "p_min", "p_max_all", "p_final", "ux_rms", "uy_rms", "uz_rms", "ux_max",
      "uy_min", "uz_max_all"}}};

/// All datasets of one output, to be compared bit by bit.
std::map<std::string, std::vector<double>> contents(const std::string& path, const Case& item) {
  const auto file = h5::File::open(path);
  std::map<std::string, std::vector<double>> all;
  for (const auto& name : item.datasets) all[name] = values_of(file, name);
  return all;
}

void compare(const Case& item, const std::string& output) {
  const auto reference = h5::File::open(data + item.name + "/reference_double.h5"),
             result = h5::File::open(output);
  for (const auto& name : item.datasets) {
    const double found = difference(reference, result, name);
    CHECK_MESSAGE(found < limit_for(name), fmt::format("{}: {} of {}", item.name, found, name));
  }
}

/// Within the limits of the processor.
void check_on_device(mpi::CommView comm, const Case& item) {
  const tailrace::test::TempDir mine;
  const std::string output = mpi::broadcast(comm, mine.path(), 0) + "/output.h5";
  const char* const device = std::getenv("TAILRACE_TEST_DEVICE");
  std::vector<std::string> words{"-i",       data + item.name + "/input.h5",         "-o", output,
                                 "--device", device != nullptr ? device : "emulated"};
  words.insert(words.end(), item.arguments.begin(), item.arguments.end());
  REQUIRE(run(comm, words) == 0);
  if (comm.is_root()) compare(item, output);
}

void check_case(mpi::CommView comm, const Case& item, int first_turn) {
  // Kept between rank counts: the result must not depend on them either.
  static std::map<std::string, std::map<std::string, std::vector<double>>> first_results;
  const tailrace::test::TempDir mine;
  const std::string directory = mpi::broadcast(comm, mine.path(), 0), output = directory + "/output.h5";
  // Strategies and numbers of threads take turns over the numbers of ranks, and each case begins with another
  // one. The last strategy runs with messages between pairs of ranks, the others with memory that all share.
  const int turn = comm.size() == 7 ? 4 : comm.size() - 1;
  const std::vector<std::string> strategies{"blocking", "threads", "threads:3"};
  const auto& strategy = strategies[static_cast<std::size_t>(turn + first_turn) % strategies.size()];
  const char* threads = turn % 2 == 0 ? "2" : "1";
  std::optional<tailrace::test::RanksPerNode> pairs;
  if (strategy == "threads:3") pairs.emplace(2);
  std::vector<std::string> words{
      "-i", data + item.name + "/input.h5", "-o", output, "-t", threads, "--write", strategy};
  words.insert(words.end(), item.arguments.begin(), item.arguments.end());
  REQUIRE(run(comm, words) == 0);
  if (!comm.is_root()) return;
  const auto all = contents(output, item);
  const auto [known, is_first] = first_results.try_emplace(item.name, all);
  for (const auto& [name, values] : all)
    CHECK_MESSAGE(values == known->second.at(name),
                  fmt::format("{} differs: {} ranks, {} threads, {}", name, comm.size(), threads, strategy));
  compare(item, output);
}

}  // namespace

MPI_CASE("initial pressure, homogeneous, index mask", shared_by{1, 2, 3, 4, 7}) {
  check_case(comm, cases[0], 0);
}
MPI_CASE("heterogeneous, non-linear, absorbing, cuboid mask", shared_by{1, 2, 3, 4, 7}) {
  check_case(comm, cases[1], 1);
}
MPI_CASE("Dirichlet source, input format 1.1", shared_by{1, 2, 3, 4, 7}) {
  check_case(comm, cases[2], 2);
}
MPI_CASE("full: the reference cases on a device", ranks{1, 2, 3, 7}) {
  for (const auto& item : cases) check_on_device(comm, item);
}

}  // namespace tailrace::ultrasound
