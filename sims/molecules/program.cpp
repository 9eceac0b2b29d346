#include "program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>

#include "base/system.hpp"
#include "conversion.hpp"
#include "h5md.hpp"
#include "mpi/verdict.hpp"
#include "options.hpp"
#include "simulation.hpp"
#include "start.hpp"
#include "step_writers.hpp"
#include "tailrace/run/program.hpp"
#include "vtkhdf.hpp"

namespace tailrace::molecules {

namespace {

constexpr const char* program_name = "tailrace-molecules";
/// Datasets with the steps that the run is to take, and has taken once it has ended in good order.
constexpr const char *steps_path = "/Nt", *steps_done_path = "/t_index";

std::vector<std::byte> bytes_of(StepIndex step) {
  const auto number = static_cast<std::uint64_t>(step);
  const auto bytes = std::as_bytes(std::span(&number, 1));
  return {bytes.begin(), bytes.end()};
}

/// Running sums and extremes of a run are in checkpoints of ours only.
void refuse_sums(const std::vector<run::OutputTable>& tables, const std::string& subject) {
  Problems problems(subject);
  for (const auto& table : tables)
    if (table.reduction != output::Reduction::none && table.reduction != output::Reduction::final)
      problems.add(fmt::format("{}.reduce: a file of molecules has no sums and extremes over time for the "
                               "checkpoint of a run that records them",
                               table.key),
                   "begin a new run there: start.file");
  problems.throw_if_any();
}

/// One run, from the options to the account.
class Program {
 public:
  Program(mpi::CommView comm, Options& options, run::Run& run) : comm_(comm), options_(options), run_(run) {}

  /// Returns the exit status. @collective
  int execute();

 private:
  /// What is written, and where.
  struct Outputs {
    std::vector<run::OutputTable> tables;
    Index3 space;
    run::CaseOutputs outputs;
  };
  [[nodiscard]] Outputs resolve(const std::vector<run::OutputTable>& tables, std::int64_t molecules) const;
  int convert();
  StateInTransit state_of_run();
  void plan();
  void make_head(const std::vector<run::OutputTable>& tables);
  void describe();
  void describe_trajectory();
  int close(const run::DriveResult& result);
  void tell(const std::string& text) const {
    if (comm_.is_root() && !options_.quiet) say(stdout, text);
  }
  [[nodiscard]] const Problem& problem() const noexcept { return options_.problem; }

  mpi::CommView comm_;
  Options& options_;
  run::Run& run_;
  std::optional<Simulation> simulation_;
  output::FileHead head_;
  Trajectory trajectory_;
  double started_s_ = 0;
};

int Program::execute() {
  if (options_.conversion) return convert();
  std::vector<std::string> warnings = options_.warnings;
  const Start start(comm_, options_.problem, warnings, options_.subject());
  for (const auto& warning : warnings) run_.warn(warning);
  if (options_.check_only) {
    mpi::agree_on(comm_, [&] { static_cast<void>(resolve(options_.outputs, 1)); });
    return run::success;
  }
  simulation_.emplace(comm_, problem(), run_.log());
  simulation_->place(start.molecules(comm_, simulation_->decomposition()));
  plan();
  run_.prepare_directory();
  describe();
  const StepIndex done = run_.restore(*simulation_);
  if (done > 0)
    tell(fmt::format("going on after step {} of {}\n", done, problem().steps));
  else
    simulation_->begin();
  run_.open_output(options_.output, head_, simulation_->memory_bytes());
  describe_trajectory();
  started_s_ = monotonic_s();
  run::ProgressLines progress(comm_, options_, done);
  const auto result =
      run_.drive(*simulation_, {.done = done, .last = problem().steps, .planned = problem().steps},
                 {.quantity = {}, .hint = {}}, [&](StepIndex step) { progress.note(step); });
  return close(result);
}

/// Outputs of so many molecules. @local. Errors (input): what does not fit.
Program::Outputs Program::resolve(const std::vector<run::OutputTable>& tables, std::int64_t molecules) const {
  Outputs found;
  found.tables = Samples::placed(tables, options_.bins, molecules);
  found.space = Samples::space(found.tables, molecules);
  std::vector<std::string> names;
  for (const auto& quantity : quantities) names.emplace_back(quantity.name);
  found.outputs =
      run::CaseOutputs(found.tables,
                       {.points = found.space,
                        .interior = Box::whole(found.space),
                        .steps = problem().steps,
                        .time_of_step_0_s = problem().time_of_step_0,
                        .dt_s = problem().dt,
                        .quantities = std::move(names),
                        .taken_paths = {output::record_path, steps_path, steps_done_path, "/h5md"}},
                       options_.subject());
  return found;
}

/// Instead of a run: has the state of one checkpoint written as another. Returns the exit status.
int Program::convert() {
  run::describe(options_, "molecules", TAILRACE_COMPILER, run_.account());
  std::optional<StateInTransit> state;
  if (options_.case_file.empty())
    state.emplace(comm_);
  else
    state.emplace(state_of_run());
  const auto done = run_.convert([&](checkpoint::StateArchive& archive) { state->state(archive); },
                                 *options_.conversion, state->formats());
  if (comm_.is_root()) say(stdout, done + '\n');
  return run::success;
}

/// Without molecules. The files of the reference hold no sums over time, so that no outputs are planned.
StateInTransit Program::state_of_run() {
  std::vector<std::string> warnings = options_.warnings;
  const Start start(comm_, options_.problem, warnings, options_.subject());
  simulation_.emplace(comm_, problem(), run_.log());
  using Into = StateInTransit::Into;
  const auto into = options_.conversion->format == run::our_format ? Into::run : Into::file;
  mpi::agree_on(comm_, [&] {
    if (into == Into::run) refuse_sums(options_.outputs, options_.subject());
  });
  auto nothing = resolve({}, 1);
  run_.plan({}, std::move(nothing.outputs), {}, nothing.space);
  return {comm_, problem(), *simulation_, into};
}

/// Resolves what is written.
void Program::plan() {
  const auto molecules = simulation_->order().size();
  Outputs found;
  mpi::agree_on(comm_, [&] { found = resolve(options_.outputs, molecules); });
  auto samples = std::make_unique<Samples>(comm_, found.outputs.streams(), found.space, problem().length,
                                           problem().model, simulation_->order());
  const auto own_box = samples->own_box();
  const auto directory = options_.run_directory.empty()
                             ? std::filesystem::path(options_.output).parent_path().string()
                             : options_.run_directory;
  simulation_->set_outputs(
      std::move(samples),
      make_writers(options_.writers, {comm_, problem(), simulation_->order(), directory, options_.write}));
  trajectory_ = trajectory_of(found.tables, found.outputs);
  make_head(found.tables);
  run_.plan({}, std::move(found.outputs), own_box, found.space);
  run_.account().grid = {molecules, 1, 1};
}

void Program::make_head(const std::vector<run::OutputTable>& tables) {
  head_.attributes = {{"simulation", std::string("molecules"), 0}, {"title", options_.title, 0}};
  for (const auto& [path, step] : {std::pair{steps_path, problem().steps}, {steps_done_path, StepIndex{0}}})
    head_.datasets.push_back({{path, {1}, h5::ElementType::uint64, {}}, bytes_of(step)});
  add_h5md(comm_, head_, tables, trajectory_, problem().length, simulation_->order(), simulation_->list());
}

void Program::describe() {
  run::describe(options_, "molecules", TAILRACE_COMPILER, run_.account());
  const Vec3& length = problem().length;
  const bool kd = problem().decomposition.kind == DecompositionOptions::Kind::kd;
  tell(fmt::format(
      "tailrace-molecules {}: {} molecules in {:g} x {:g} x {:g}, {} steps, {} ranks ({}); {}, {}\n",
      TAILRACE_VERSION, simulation_->order().size(), length[0], length[1], length[2], problem().steps,
      comm_.size(), kd ? "k-d tree" : "regular", output::strategy_text(options_.write),
      output::sink_text(options_.write)));
}

/// For ParaView; the run does without if it cannot be written. @local
void Program::describe_trajectory() {
  if (!comm_.is_root() || !output::writes_hdf5(options_.write)) return;
  try {
    write_vtkhdf(trajectory_, options_.output);
  } catch (const Error& error) {
    run_.warn(error.info().message);
  }
}

int Program::close(const run::DriveResult& result) {
  const double computed_s = monotonic_s() - started_s_;
  const auto fields = [this](output::Session&) -> output::FieldLookup {
    simulation_->gather_last();
    return [this](const std::string& name) { return simulation_->field(name); };
  };
  const auto summary = run_.close(
      result, fields,
      [&] {
        return output::FileTail{.attributes = {},
                                .datasets = {{steps_done_path, bytes_of(result.steps_done)}}};
      },
      simulation_->own_molecules());
  const auto& end = summary.end;
  if (end.error) throw Error(*end.error);
  constexpr double us_per_s = 1e6;
  const double updates =
      static_cast<double>(simulation_->order().size() * std::max<StepIndex>(1, result.steps_done));
  tell(run::end_text(summary, result.steps_done, run_.elapsed_s(),
                     fmt::format(", {:.3f} us per molecule and step", us_per_s * computed_s / updates)));
  return run::exit_status(end.status);
}

}  // namespace

int run_program(mpi::CommView comm, int argc, const char* const* argv) {
  return run::run_program<Program>(comm, program_name, [&] { return parse_options(argc, argv); });
}

}  // namespace tailrace::molecules
