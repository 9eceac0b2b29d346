// SPDX-License-Identifier: BSD-3-Clause
// tailrace-fragments: runs a serialised fragment program on the ranks of a job.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "am/launch.hpp"
#include "base/files.hpp"
#include "base/system.hpp"
#include "fragments/runtime.hpp"
#include "fragments/shared_object.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/run/run.hpp"

namespace {

using namespace tailrace;  // NOLINT: the program's own file

constexpr int program_failed = 3;
constexpr int max_workers = 1024;
const std::string program_name = "tailrace-fragments";

struct Options {
  std::string file, bodies, transport = "mpi", fault, live_bytes, account;
  fragments::Options how;
  std::vector<std::string> words;
};

/// The options, or the exit status of a command line that ends the program. Words behind FILE are the
/// program's own.
std::variant<Options, int> parse(int argc, char** argv, bool says) {
  Options options;
  CLI::App app("Runs a fragment program on the ranks of a job: [OPTIONS] FILE [ARGUMENT]...", program_name);
  app.prefix_command();
  app.add_option("-t,--threads", options.how.workers, "threads of each rank that run bodies")
      ->check(CLI::Range(1, max_workers));
  app.add_option("--live-fragments", options.how.live_fragments,
                 "fragments of a rank beyond which none are created, unless nothing else can proceed");
  app.add_option("--live-bytes", options.live_bytes,
                 "the same for bytes of data fragments, such as 2GB; no limit otherwise");
  app.add_option("--balance", options.how.balance,
                 "off, or steal: ranks with nothing to do ask others for fragments");
  app.add_option("--account", options.account, "file to write: what each rank did, as JSON");
  app.add_option("--bodies", options.bodies, "shared object with the bodies of a program in a .json file");
  app.add_option("--transport", options.transport, "mpi, or local:N for N ranks as threads of one process");
  app.add_option("--fault", options.fault, "delays of messages, for tests: delayed=0.3,max_looks=50,seed=7");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = says ? app.exit(error) : error.get_exit_code();
    return status == 0 ? 0 : run::exit_status(ErrorKind::usage);
  }
  options.words = app.remaining();
  if (options.words.empty()) throw Error(ErrorKind::usage, "no program is given", "name a .so or .json file");
  options.file = options.words.front();
  options.words.erase(options.words.begin());
  if (!options.live_bytes.empty())
    options.how.live_bytes = static_cast<std::int64_t>(parse_bytes(options.live_bytes, "--live-bytes"));
  return options;
}

/// Writes how many fragments each rank has executed. Errors (io): the file cannot be written
void write_account(const std::string& path, const std::vector<std::int64_t>& executed) {
  write_durably(path, nlohmann::json{{"executed", executed}}.dump() + "\n");
}

/// Runs the program and says how it ended, on rank 0. Returns the exit status. @collective{world}
int execute(mpi::CommView world, const Options& options) {
  const auto loaded = fragments::load_program(options.file, options.bodies);
  auto choice = am::parse_transport(options.transport);
  if (!options.fault.empty()) choice.faults = am::parse_faults(options.fault);
  if (world.is_root())
    for (const auto& warning : loaded.image->warnings) fmt::print(stderr, "{}\n", warning);
  fragments::PrintedLines printed(world.is_root());
  fragments::RunOptions how{options.how, &printed, choice.local_ranks == 0};
  std::vector<std::string> errors;
  std::vector<std::int64_t> executed(
      static_cast<std::size_t>(choice.local_ranks == 0 ? world.size() : choice.local_ranks));
  am::launch(world, choice, [&](am::Endpoint& endpoint) {
    auto ending = fragments::run(endpoint, loaded.image, loaded.bodies, options.words, how);
    executed[static_cast<std::size_t>(endpoint.rank())] = ending.executed;
    if (endpoint.rank() == 0) errors = std::move(ending.errors);
  });
  for (const auto& error : errors) fmt::print(stderr, "{}\n", error);
  executed = mpi::sum(world, executed);
  if (world.is_root() && !options.account.empty()) write_account(options.account, executed);
  const double failed = mpi::max(world, errors.empty() ? 0.0 : 1.0);
  return failed > 0 ? program_failed : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const mpi::Environment environment(argc, argv);
  const auto world = environment.world();
  try {
    const auto parsed = parse(argc, argv, world.is_root());
    if (const int* const status = std::get_if<int>(&parsed)) return *status;
    return execute(world, std::get<Options>(parsed));
  } catch (const Error& error) {
    // What is wrong with files and words is the same on all ranks; anything else only this rank may know of.
    const auto kind = error.info().kind;
    const bool everywhere = kind == ErrorKind::usage || kind == ErrorKind::input;
    if (world.is_root() || !everywhere) fmt::print(stderr, "{}: {}\n", program_name, error.what());
    if (!everywhere) mpi::Environment::abort(run::exit_status(kind));
    return run::exit_status(kind);
  }
}
