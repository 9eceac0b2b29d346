// SPDX-License-Identifier: BSD-3-Clause
// tailrace-fragments: runs a serialised fragment program on the ranks of a job.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "am/launch.hpp"
#include "base/files.hpp"
#include "base/system.hpp"
#include "fragments/body_watch.hpp"
#include "fragments/checked_bodies.hpp"
#include "fragments/interpreter.hpp"
#include "fragments/runtime.hpp"
#include "fragments/same_program.hpp"
#include "fragments/saved_program.hpp"
#include "fragments/shared_object.hpp"
#include "fragments_source.hpp"
#include "run/stop.hpp"
#include "run/tracing.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/option_parser.hpp"
#include "tailrace/run/run.hpp"

namespace {

using namespace tailrace;  // NOLINT: the program's own file

constexpr int program_failed = 3;
constexpr int max_workers = 1024;
const std::string program_name = "tailrace-fragments";

struct Options {
  std::string file, bodies, bodies_argument, transport = "mpi", fault, live_bytes, account, status_file,
                                             ready, wall_limit, compress = "none", trace, trace_budget;
  fragments::Options how;
  bool checks = false, interprets = false;
  std::vector<std::string> words;
};

/// What ranks have come to.
struct Account {
  std::vector<std::int64_t> executed;
  std::vector<fragments::StatementUse> statements;
  std::int64_t executed_before = 0;
  int checkpoints = 0;
  double saved_s = 0, paused_s = 0;
};

void add_checkpoint_options(OptionParser& parser, Options& options) {
  auto& checkpoints = options.how.checkpoints;
  const auto directory = parser.option(
      "--checkpoints", checkpoints.directory,
      "directory of checkpoints: SIGUSR1 asks for one; SIGTERM, SIGINT and the wall-clock limit "
      "end the program with one, status 4");
  const auto add = [&](const char* name, auto& value, const char* text) {
    return parser.option(name, value, text).needs(directory);
  };
  add("--checkpoint-every", checkpoints.rules.every_steps,
      "one each time that a rank has executed so many fragments")
      .positive();
  add("--checkpoint-every-s", checkpoints.rules.every_s, "one each so many seconds").positive();
  add("--checkpoint-mtbf-s", checkpoints.rules.mtbf_s,
      "as often as a mean time between failures of so many seconds asks for")
      .positive();
  add("--checkpoint-keep", checkpoints.keep, "the newest that stay").positive();
  add("--checkpoint-compress", options.compress, "none, zstd or zstd:LEVEL");
  parser.flag("--resume", checkpoints.resume, "begin with the newest checkpoint that is whole")
      .needs(directory);
  add("--wall-limit", options.wall_limit, "time after which the program ends with a checkpoint: 3600, 55min");
  add("--ready", options.ready, "file to make when signals are listened to");
}

void add_run_options(OptionParser& parser, Options& options) {
  parser.option("-t,--threads", options.how.workers, "threads of each rank that run bodies, 1 to 1024")
      .within(1, max_workers);
  parser.option("--live-fragments", options.how.live_fragments,
                "fragments of a rank beyond which none are created, unless nothing else can proceed");
  parser.option("--live-bytes", options.live_bytes,
                "the same for bytes of data fragments, such as 2GB; no limit otherwise");
  parser.option("--balance", options.how.balance,
                "off; steal: ranks with nothing to do ask others for fragments; diffuse: ranks give to "
                "neighbours with less to do; auto: both");
  parser.option("--trace", options.trace, "directory with a folder trace, in which each rank leaves its own");
  parser.option("--trace-budget", options.trace_budget,
                "bytes of a rank's trace up to which it has each record, such as 64MiB; then sums only");
  parser.option("--depth", options.how.depth, "calls within each other; one more is an error").positive();
  parser.flag("--checks", options.checks,
              "bodies that change an input of type value, which may only be read, are found and named");
}

/// The options, or the exit status of a command line that ends the program. Words behind FILE are the
/// program's own; the last one counts of options that are there twice.
std::variant<Options, int> parse(std::vector<std::string> line, bool says) {
  Options options;
  OptionParser parser("Runs a fragment program on the ranks of a job: [OPTIONS] FILE [ARGUMENT]...",
                      program_name);
  parser.stop_at_first_word();
  add_run_options(parser, options);
  parser.option("--account", options.account, "file to write: what each rank did, as JSON");
  parser.option(
      "--status-file", options.status_file,
      "file to write: the exit status of a program that has run to its end; the ranks' own is 0 then, "
      "because launchers wait for seconds where it is another");
  add_checkpoint_options(parser, options);
  parser.option("--bodies", options.bodies, "shared object with the bodies of a program in a .json file");
  parser.option("--bodies-argument", options.bodies_argument, "text that such an object is given first");
  parser.option("--transport", options.transport, "mpi, or local:N for N ranks as threads of one process");
  parser.flag(
      "--interpret", options.interprets,
      "run it on one thread, fragment after fragment: what it means, without ranks, places and limits");
  parser.option("--fault", options.fault, "delays of messages, for tests: delayed=0.3,max_looks=50,seed=7");
  if (const auto help = parser.read(std::move(line))) {
    if (says) say(stdout, *help);
    return 0;
  }
  options.words = parser.rest();
  if (options.words.empty())
    throw Error(ErrorKind::usage, "no program is given", "name a .fa, .so or .json file");
  options.file = options.words.front();
  if (options.file.starts_with('-'))
    throw Error(ErrorKind::usage, fmt::format("there is no option {}", options.file),
                "--help lists the options; a program of that name is ./" + options.file);
  options.words.erase(options.words.begin());
  if (!options.live_bytes.empty())
    options.how.live_bytes = parse_byte_limit(options.live_bytes, "--live-bytes");
  options.how.checkpoints.packing.compression =
      checkpoint::parse_compression("--checkpoint-compress", options.compress);
  if (options.transport != "mpi" && !options.how.checkpoints.directory.empty())
    throw Error(ErrorKind::usage, "--checkpoints is for ranks that are processes", "leave out --transport");
  if (options.transport != "mpi" && !options.trace.empty())
    throw Error(ErrorKind::usage, "--trace is for ranks that are processes", "leave out --transport");
  return options;
}

/// What the fragments of each statement came to, on all ranks; those of which there were none are left out.
/// @collective{world}
nlohmann::json statements_of(mpi::CommView world, const fragments::Image& image,
                             const std::vector<fragments::StatementUse>& mine) {
  std::vector<std::int64_t> executed;
  std::vector<double> busy_s;
  constexpr std::array kinds{"body", "call", "for", "while", "if"};
  for (const auto& use : mine) executed.push_back(use.executed), busy_s.push_back(use.busy_s);
  executed = mpi::sum(world, executed), busy_s = mpi::sum(world, busy_s);
  auto rows = nlohmann::json::array();
  for (std::size_t i = 0; i < image.statements.size() && i < executed.size(); ++i) {
    if (executed[i] == 0 && busy_s[i] == 0) continue;
    const auto name = fragments::name_of(image, image.statements[i]);
    rows.push_back({{"file", name.file},
                    {"line", name.line},
                    {"column", name.column},
                    {"name", name.name},
                    {"kind", kinds.at(name.kind)},
                    {"executed", executed[i]},
                    {"busy_s", busy_s[i]}});
  }
  return rows;
}

/// Writes what each rank did. Errors (io): the file cannot be written
void write_account(const std::string& path, const Account& account, const nlohmann::json& statements) {
  const nlohmann::json checkpoints{
      {"taken", account.checkpoints}, {"saved_s", account.saved_s}, {"paused_s", account.paused_s}};
  write_durably(path, nlohmann::json{{"executed", account.executed},
                                     {"executed_before", account.executed_before},
                                     {"statements", statements},
                                     {"checkpoints", checkpoints}}
                              .dump() +
                          "\n");
}

/// Has signals and the wall-clock limit end the program with a checkpoint, once all ranks listen.
/// @collective{world}
void listen(mpi::CommView world, const Options& options, fragments::CheckpointOptions& checkpoints,
            std::optional<run::StopRequest>& stop) {
  if (checkpoints.directory.empty()) return;
  stop.emplace(options.wall_limit.empty() ? std::nullopt
                                          : std::optional(parse_seconds(options.wall_limit, "--wall-limit")));
  checkpoints.stops = [&stop] { return stop->requested(); };
  checkpoints.asks = [&stop] { return stop->take_checkpoint_wish(); };
  mpi::sum(world, 0.0);
  if (world.is_root() && !options.ready.empty()) write_durably(options.ready, "");
}

std::int64_t trace_bytes(const Options& options) {
  if (options.trace_budget.empty()) return trace::Recorder::usual_record_bytes;
  return static_cast<std::int64_t>(parse_bytes(options.trace_budget, "--trace-budget"));
}

void say(const std::vector<std::string>& messages) {
  for (const auto& message : messages) fmt::print(stderr, "{}\n", message);
}

/// The same by the interpreter, on the only rank. @local. Errors (usage): there are others
int interpret(mpi::CommView world, const Options& options, const fragments::Loaded& loaded) {
  if (world.size() > 1)
    throw Error(ErrorKind::usage, "--interpret runs a program on one rank",
                "leave it out, or start one process");
  const auto bodies = options.checks ? fragments::checked(loaded.bodies) : loaded.bodies;
  const auto ending = fragments::interpret(loaded.image, bodies, options.words);
  say(ending.errors), say(ending.notes);
  return ending.succeeded() ? 0 : program_failed;
}

/// Runs the program and says how it ended, on rank 0. Returns the exit status. @collective{world}
int execute(mpi::CommView world, const Options& options, const fragments::Loaded& loaded) {
  fragments::require_same_program(world, *loaded.image);
  auto choice = am::parse_transport(options.transport);
  if (!options.fault.empty()) choice.faults = am::parse_faults(options.fault);
  if (world.is_root())
    for (const auto& warning : loaded.image->warnings) fmt::print(stderr, "{}\n", warning);
  const auto bodies = options.checks ? fragments::checked(loaded.bodies) : loaded.bodies;
  fragments::PrintedLines printed(world.is_root());
  fragments::RunOptions how{options.how, &printed, choice.local_ranks == 0};
  std::optional<run::StopRequest> stop;
  listen(world, options, how.checkpoints, stop);
  fragments::SavedProgram saved(world, loaded.image->name, how.checkpoints);
  if (!how.checkpoints.directory.empty()) how.taken = &saved;
  how.counts = !options.account.empty() && how.own_process;
  std::vector<std::string> errors, notes;
  bool stopped = false;
  run::Tracing tracing(world, options.trace, options.trace.empty() ? trace::Mode::off : trace::Mode::on,
                       monotonic_s(), trace::Role::compute, trace_bytes(options));
  Account account;
  account.executed.resize(
      static_cast<std::size_t>(choice.local_ranks == 0 ? world.size() : choice.local_ranks));
  am::launch(world, choice, [&](am::Endpoint& endpoint) {
    auto ending = fragments::run(endpoint, loaded.image, bodies, options.words, how);
    account.executed[static_cast<std::size_t>(endpoint.rank())] = ending.executed;
    if (how.counts) account.statements = std::move(ending.statements);
    if (endpoint.rank() != 0) return;
    errors = std::move(ending.errors), notes = std::move(ending.notes), stopped = ending.stopped;
    account.executed_before = ending.executed_before, account.paused_s = ending.paused_s;
  });
  tracing.close();
  say(errors), say(notes);
  for (const auto& warning : saved.warnings()) fmt::print(stderr, "warning: {}\n", warning);
  if (stopped) fmt::print(stderr, "stopped in good order ({})\n", stop->reason());
  account.executed = mpi::sum(world, account.executed);
  account.checkpoints = saved.taken(), account.saved_s = saved.saved_s();
  const auto statements = statements_of(world, *loaded.image, account.statements);
  if (world.is_root() && !options.account.empty()) write_account(options.account, account, statements);
  if (mpi::max(world, stopped ? 1.0 : 0.0) > 0) return run::exit_status(run::Status::stopped);
  return mpi::max(world, errors.empty() ? 0.0 : 1.0) > 0 ? program_failed : 0;
}

/// The exit status of a rank for that of the program, which is the same on all ranks.
/// @collective{world}
int reported(mpi::CommView world, const std::string& status_file, int status) {
  if (status_file.empty()) return status;
  if (world.is_root()) write_durably(status_file, fmt::format("{}\n", status));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const mpi::Environment environment(argc, argv);
  const auto world = environment.world();
  fragments::watch_bodies();
  try {
    std::vector<std::string> line(argv + 1, argv + argc);
    auto parsed = parse(line, world.is_root());
    if (const int* const status = std::get_if<int>(&parsed)) return *status;
    const auto& given = std::get<Options>(parsed);
    const bool is_source = given.file.ends_with(".fa");
    const auto file = is_source ? compiled(world, given.file) : given.file;
    const auto loaded = fragments::load_program(file, given.bodies, given.bodies_argument);
    line.insert(line.begin(), loaded.image->options.begin(), loaded.image->options.end());
    parsed = parse(line, world.is_root());
    if (const int* const status = std::get_if<int>(&parsed)) return *status;
    const auto& options = std::get<Options>(parsed);
    const int ended =
        options.interprets ? interpret(world, options, loaded) : execute(world, options, loaded);
    return reported(world, options.status_file, ended);
  } catch (const Error& error) {
    // What is wrong with files and words is the same on all ranks; anything else only this rank may know of.
    const auto kind = error.info().kind;
    const bool everywhere = kind == ErrorKind::usage || kind == ErrorKind::input;
    if (world.is_root() || !everywhere) fmt::print(stderr, "{}: {}\n", program_name, error.what());
    if (!everywhere) mpi::Environment::abort(run::exit_status(kind));
    return run::exit_status(kind);
  }
}
