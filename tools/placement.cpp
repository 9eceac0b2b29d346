// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/placement.hpp"
#include "base/system.hpp"
#include "tailrace/error.hpp"
#include "tailrace/option_parser.hpp"

/// Says as JSON what this machine looks like and where ranks and their writers would run: what `tailrace
/// doctor` shows.
namespace tailrace {
namespace {

struct Question {
  int ranks = 1, threads = 1;
  bool bound = false;  ///< the launcher binds each rank to cores of its own
};

/// The cores that a launcher gives to a rank, one after the other.
Cpus cores_of(const Topology& machine, const Question& question, int rank) {
  const auto cores = static_cast<int>(machine.cores.size());
  Cpus cpus;
  for (int i = 0; i < question.threads; ++i)
    cpus = united(cpus, machine.cores[static_cast<std::size_t>((rank * question.threads + i) % cores)].cpus);
  return cpus;
}

std::vector<Process> processes_of(const Topology& machine, const Question& question, const Cpus& usable) {
  std::vector<Process> processes;
  for (int rank = 0; rank < question.ranks; ++rank) {
    const auto own = question.bound ? common(cores_of(machine, question, rank), usable) : usable;
    processes.push_back({.threads = std::vector<Cpus>(static_cast<std::size_t>(question.threads), own),
                         .bound = own,
                         .allowed = usable,
                         .writers = 1});
  }
  return processes;
}

nlohmann::json answer(const Question& question) {
  const auto& machine = this_topology();
  const auto usable = common(thread_cpus(), machine.cpus());
  const auto placement = place(machine, processes_of(machine, question, usable));
  auto ranks = nlohmann::json::array();
  for (std::size_t rank = 0; rank < placement.of_process.size(); ++rank) {
    const auto& thread_placement = placement.of_process[rank];
    ranks.push_back({{"rank", rank},
                     {"cpus", to_text(thread_placement.computing)},
                     {"writer_cpus", to_text(thread_placement.writing)},
                     {"writer_place", to_text(thread_placement.place)}});
  }
  return {{"packages", machine.packages()},
          {"usable", to_text(usable)},
          {"free_cores", placement.free_cores},
          {"ranks", ranks}};
}

}  // namespace
}  // namespace tailrace

int main(int argc, char** argv) {
  using namespace tailrace;
  OptionParser parser("Where ranks and their writer threads would run on this machine, as JSON.",
                      "tailrace-placement");
  Question question;
  constexpr int most = 1 << 16;
  parser.option("RANKS", question.ranks, "of the job, on this machine").required().within(1, most);
  parser.option("THREADS", question.threads, "of each rank").required().within(1, most);
  parser.flag("--bound", question.bound, "each rank is bound to cores of its own");
  if (const auto status = parser.read_or_end(argc, argv)) return *status;
  try {
    say(stdout, answer(question).dump(2) + "\n");
    return 0;
  } catch (const Error& error) {
    say(stderr, fmt::format("tailrace-placement: {}. Fix: {}\n", error.info().message, error.info().hint));
    return 3;
  }
}
