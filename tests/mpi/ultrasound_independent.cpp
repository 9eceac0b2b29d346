// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "h5/file.hpp"
#include "mpi_case.hpp"
#include "temp_dir.hpp"
#include "ultrasound_run.hpp"

/// Every case of tests/data/ultrasound/independent, run as the program runs it, against the results of
/// another solver in double precision (its README.md); and byte for byte the same for every rank count.
namespace tailrace::ultrasound {

namespace {

using test::difference, test::limit_for, test::values_of;

struct Case {
  std::string directory;
  std::vector<std::string> arguments, datasets;
};

/// All cases, in the same order on every rank.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& entry :
       std::filesystem::directory_iterator(TAILRACE_TEST_DATA "/ultrasound/independent")) {
    if (!std::filesystem::exists(entry.path() / "case.json")) continue;
    const auto facts = nlohmann::json::parse(std::ifstream(entry.path() / "case.json"));
    cases.push_back({entry.path().string(), facts.at("arguments"), facts.at("datasets")});
  }
  std::sort(cases.begin(), cases.end(),
            [](const Case& a, const Case& b) { return a.directory < b.directory; });
  return cases;
}

/// Returns what the first rank count wrote, by file and dataset.
std::map<std::string, std::vector<double>>& first_results() {
  static std::map<std::string, std::vector<double>> results;
  return results;
}

void compare(const Case& item, const std::string& output_path, int ranks, bool on_device) {
  const auto reference = h5::File::open(item.directory + "/reference.h5"),
             output = h5::File::open(output_path);
  for (const auto& path : item.datasets) {
    const std::string what = fmt::format("{}: {} on {} ranks", item.directory, path, ranks);
    CHECK_MESSAGE(output.has_dataset(path), what);
    if (!output.has_dataset(path)) continue;
    const double found = difference(reference, output, path);
    CHECK_MESSAGE(found < limit_for(path), fmt::format("{}: {}", what, found));
    if (on_device) continue;  // whose transforms may round otherwise where a rank has other planes
    const auto values = values_of(output, path);
    const auto [known, is_first] = first_results().try_emplace(item.directory + path, values);
    CHECK_MESSAGE(known->second == values, what << " differs from the first rank count");
  }
}

/// Every eighth case, or so, from `first` on: all of them in one take long on a busy machine.
void check_share(mpi::CommView comm, std::size_t first, const std::string& device = {},
                 std::size_t every = 8) {
  const auto cases = all_cases();
  REQUIRE(cases.size() > first);
  const tailrace::test::TempDir mine;
  const std::string output = mpi::broadcast(comm, mine.path(), 0) + "/output.h5";
  for (std::size_t i = first; i < cases.size(); i += every) {
    const auto& item = cases[i];
    std::vector<std::string> words{"-i", item.directory + "/input.h5", "-o", output};
    words.insert(words.end(), item.arguments.begin(), item.arguments.end());
    if (!device.empty()) words.insert(words.end(), {"--device", device});
    const int status = test::run(comm, words);
    CHECK_MESSAGE(status == 0, item.directory);
    if (status == 0 && comm.is_root()) compare(item, output, comm.size(), !device.empty());
  }
}

/// The device of tests.
std::string device_text() {
  const char* const text = std::getenv("TAILRACE_TEST_DEVICE");
  return text != nullptr ? text : "emulated";
}

}  // namespace

MPI_CASE("independent references, part 1 of 8", ranks{1, 3}) {
  check_share(comm, 0);
}
MPI_CASE("independent references, part 2 of 8", ranks{2, 7}) {
  check_share(comm, 1);
}
MPI_CASE("independent references, part 3 of 8", ranks{1, 4}) {
  check_share(comm, 2);
}
MPI_CASE("independent references, part 4 of 8", ranks{3, 7}) {
  check_share(comm, 3);
}
MPI_CASE("independent references, part 5 of 8", ranks{1, 2}) {
  check_share(comm, 4);
}
MPI_CASE("independent references, part 6 of 8", ranks{3, 4}) {
  check_share(comm, 5);
}
MPI_CASE("independent references, part 7 of 8", ranks{1, 7}) {
  check_share(comm, 6);
}
MPI_CASE("independent references, part 8 of 8", ranks{2, 3}) {
  check_share(comm, 7);
}
MPI_CASE("independent references on a device, part 1 of 5", ranks{1}) {
  for (const std::size_t share : {0, 3, 5}) check_share(comm, share, device_text());
}
MPI_CASE("independent references on a device, part 2 of 5", ranks{1}) {
  for (const std::size_t share : {1, 7}) check_share(comm, share, device_text());
}
MPI_CASE("independent references on a device, part 3 of 5", ranks{2}) {
  check_share(comm, 2, device_text());
}
MPI_CASE("independent references on a device, part 4 of 5", ranks{3}) {
  check_share(comm, 4, device_text());
}
MPI_CASE("independent references on a device, part 5 of 5", ranks{7}) {
  check_share(comm, 6, device_text(), 20);
}
MPI_CASE("full: independent references on any number of ranks with a device", ranks{1, 2, 3, 7}) {
  for (std::size_t share = 0; share < 8; ++share) check_share(comm, share, device_text());
}
MPI_CASE("full: independent references on any number of ranks", ranks{1, 2, 3, 4, 7}) {
  for (int share = 0; share < 8; ++share) check_share(comm, share);
}

}  // namespace tailrace::ultrasound
