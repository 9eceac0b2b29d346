// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tailrace/comm.hpp"
#include "tailrace/error.hpp"
#include "tailrace/option_parser.hpp"
#include "tailrace/run/case_checkpoint.hpp"
#include "tailrace/run/case_output.hpp"
#include "tailrace/run/command_line.hpp"
#include "tailrace/run/conversion.hpp"
#include "tailrace/run/run.hpp"

/// Describes what native programs that run cases have in common, from the command line to the exit status.
namespace tailrace::run {

class CaseFile;
struct CaseSchema;

/// Describes what a program says of itself.
struct ProgramInfo {
  std::string simulation;              ///< "seismic"; the program is tailrace-seismic
  std::string purpose;                 ///< in one line, for --help
  const CaseSchema* schema = nullptr;  ///< the keys of its cases
  std::string footer =
      "Exit status: 0 finished, 2 bad usage or input, 3 the run failed, 4 stopped in good order.";

  [[nodiscard]] std::string program() const { return "tailrace-" + simulation; }
};

/// All that a user decides about a run of any program.
struct CaseOptions {
  std::string output;         ///< file; empty only with `check_only`
  std::string case_file;      ///< absolute; empty if there is none
  std::string command;        ///< as typed
  std::string run_directory;  ///< says where run.json, progress and traces go; empty: nowhere
  bool overwrite = false;     ///< an existing run directory or output file may be replaced
  bool check_only = false;    ///< read and check everything, write nothing
  int check_ranks = 0;        ///< with `check_only`: processes that the run will have; 0: those there are
  bool quiet = false;
  bool reports_plan = true;  ///< the planner's decisions are printed, unless quiet
  std::optional<double> wall_limit_s;
  std::optional<double> pause_after_s;   ///< see `RunOptions`
  bool resume = false;                   ///< from the newest checkpoint in the run directory
  bool takes_checkpoints = true;         ///< into the run directory
  std::optional<Conversion> conversion;  ///< refers to a checkpoint, instead of a run
  std::vector<std::string> arguments;    ///< as typed, behind the name of the program
  CheckpointOptions checkpoint;
  int threads = 1;
  std::string title;
  StepIndex steps = 0;               ///< 0: as many as the input says
  std::vector<OutputTable> outputs;  ///< the [[output]] tables of the case
  output::WriteOptions write;
  bool plan_only = false;  ///< see `RunOptions`
  trace::Mode trace = trace::Mode::on;
  DeviceChoice device;      ///< refers to programs that compute on devices
  nlohmann::json resolved;  ///< the case with all defaults, for run.json

  /// Returns whether a run takes place, and files of it come into being.
  [[nodiscard]] bool runs() const noexcept { return !check_only && !conversion; }
  /// Returns what messages about the case are about.
  [[nodiscard]] std::string subject() const { return case_file.empty() ? "the command line" : case_file; }
};

/// The command line as typed.
struct CaseWords {
  std::string case_file, out_directory, output, trace;
  std::string exchange;  ///< refers to programs with the table [exchange]
  std::string device;    ///< refers to programs that compute on devices
  bool takes_device = false;
  bool overwrite = false, check_only = false, allow_outside = false;
  int check_ranks = 0;                ///< 0: not given
  std::vector<std::string> settings;  ///< "key=value"
  output::OptionTexts write;
  Conversion conversion;  ///< refers to programs that know other formats
  RunWords run;
};

/// The parser of a program's command line, without options. @local
OptionParser make_parser(const ProgramInfo& info);
/// Adds --case, --out, -o, --set, --overwrite, and what `add_check_options`, `add_write_options`,
/// `add_trace_option` and `add_run_options` add; `words` outlives the parser.
void add_case_options(OptionParser& parser, CaseWords& words);
/// Adds --exchange, for a program whose schema has `exchange_keys`, likewise.
void add_exchange_option(OptionParser& parser, CaseWords& words);
/// Adds --device, for a program that computes on devices, likewise; without it the variable TAILRACE_DEVICE
/// counts.
void add_device_option(OptionParser& parser, CaseWords& words);
/// Adds --check, --ranks and --allow-outside, likewise.
void add_check_options(OptionParser& parser, CaseWords& words);
/// A request that ends the program at once: help or version.
struct Notice {
  std::string text;
};
/// Prints what was asked for on standard output. @local
void print_notice(const Notice& notice) noexcept;
/// Reads the words of the command line into what the options of `app` name. @local. Returns what to print if
/// that was asked for. Errors (usage): a word that no option takes, or a wrong value.
std::optional<Notice> read_words(OptionParser& parser, const ProgramInfo& info, const CaseWords& words,
                                 int argc, const char* const* argv);
/// Finds out what was typed, as far as no case is needed for it. The output goes to -o, into the run
/// directory, or to `fallback`, if that is no empty name. @local. Errors (usage): there is no place for the
/// output.
void finalize(const CaseWords& words, int argc, const char* const* argv, const std::string& fallback,
              CaseOptions& options);

/// The case file that the words name, or what `settings` alone say if they name none. @local
CaseFile open_case(const ProgramInfo& info, const CaseWords& words, const std::vector<std::string>& settings);
/// Reads [case]: that the case is one of this simulation, and the title. What is wrong becomes problems of
/// the file. @local
void read_case_table(CaseFile& file, const std::string& simulation, CaseOptions& options);
/// Reads [write], [checkpoint] and [trace], over which the words go; likewise. @local
void read_run_tables(CaseFile& file, const CaseWords& words, CaseOptions& options);
/// Makes these tables of the resolved case complete, and keeps it in the options. @local. Errors (input): all
/// problems of the case together.
void finish_case(CaseFile& file, CaseOptions& options);

/// A line on standard output every ten seconds, which says how far the steps are.
class ProgressLines {
 public:
  /// Silent on all ranks but the root, and with --quiet. The clock starts now. @local
  ProgressLines(mpi::CommView comm, const CaseOptions& options, StepIndex done);
  /// Prints a line if it is time for one. @local
  void mark(StepIndex step);

 private:
  bool reports_;
  StepIndex done_, steps_;
  double started_s_, reported_s_;
};

/// Returns how a run ended and after how many seconds, for people; `rate` is behind that. @local
std::string end_text(const Run::Summary& summary, StepIndex steps_done, double elapsed_s,
                     const std::string& rate = {});

/// Prints an error of the command line or the case and returns the exit status. @local
using RefuseCommandLine = std::function<int(const ErrorInfo&)>;

/// Describes what `parse` makes of the command line, or the exit status if the program ends with it: a
/// request is answered by the root, an error reported by `refuse` on the root. Every rank reads the same
/// words and files and comes to the same result. @collective{comm}
template <class Parse>
auto read_command_line(mpi::CommView comm, const Parse& parse, const RefuseCommandLine& refuse)
    -> std::variant<std::variant_alternative_t<0, std::invoke_result_t<Parse>>, int> {
  try {
    auto parsed = parse();
    if (auto* options = std::get_if<0>(&parsed)) return std::move(*options);
    if (comm.is_root()) print_notice(std::get<Notice>(parsed));
    return success;
  } catch (const Error& error) {
    return refuse(error.info());
  }
}

/// Makes the run with `execute`, on the ranks that compute, and returns its exit status; an error's status is
/// `status_of(kind)`. @collective{world}
int run_case(mpi::CommView world, const std::string& program, const CaseOptions& options,
             const std::function<int(mpi::CommView computing, Run& run)>& execute,
             const std::function<int(ErrorKind)>& status_of);

/// A whole program: `Program`, made of the ranks that compute, what `parse` returned, and the run, does the
/// rest in `execute`. Returns the exit status. @collective{world}
template <class Program, class Parse>
int run_program(mpi::CommView world, const ProgramInfo& info, const Parse& parse) {
  const auto program = info.program();
  auto parsed = read_command_line(world, parse, [&](const ErrorInfo& error) {
    if (world.is_root()) print_error(program, error);
    return int{exit_status(error.kind)};
  });
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  auto& options = std::get<0>(parsed);
  return run_case(
      world, program, options,
      [&](mpi::CommView computing, Run& run) { return Program(computing, options, run).execute(); },
      [](ErrorKind kind) { return exit_status(kind); });
}

}  // namespace tailrace::run
