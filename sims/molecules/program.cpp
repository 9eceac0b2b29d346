// SPDX-License-Identifier: BSD-3-Clause
#include "program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/system.hpp"
#include "base/text.hpp"
#include "conversion.hpp"
#include "h5md.hpp"
#include "model_digests.hpp"
#include "mpi/verdict.hpp"
#include "options.hpp"
#include "output/registry/options.hpp"
#include "output/session/session.hpp"
#include "simulation.hpp"
#include "start.hpp"
#include "step_writers.hpp"
#include "tailrace/run/case_program.hpp"
#include "vtkhdf.hpp"

namespace tailrace::molecules {

namespace {

/// Running sums and extremes of a run are in checkpoints of ours only.
void refuse_sums(const std::vector<run::OutputTable>& tables, const std::string& subject) {
  Problems problems(subject);
  for (const auto& table : tables)
    if (table.reduction != output::Reduction::none && table.reduction != output::Reduction::final)
      problems.add(fmt::format("{}.reduce: a file of molecules has no sums and extremes over time for the "
                               "checkpoint of a run that takes them",
                               table.key),
                   "begin a new run there: start.file");
  problems.throw_if_any();
}

/// One run, from the options to the account.
class Program final : public run::CaseProgram {
 public:
  Program(mpi::CommView comm, Options& options, run::Run& run)
      : CaseProgram(program_info, comm, options, run), options_(options) {}

 private:
  std::optional<int> instead() override;
  void plan() override;
  void describe() override;
  run::SimulationCalls make() override;
  void begin(StepIndex done) override;
  void opened(output::Session& session) override;
  output::FieldLookup final_fields(output::Session& session) override;
  [[nodiscard]] run::RunSize size() const override;
  [[nodiscard]] double needed_bytes(int rank) const override;
  [[nodiscard]] std::int64_t own_cells() const override { return simulation_->own_molecules(); }
  [[nodiscard]] std::string rate(StepIndex steps_done) override;

  /// Describes what is written, and where.
  struct Outputs {
    std::vector<run::OutputTable> tables;
    Index3 space;
    run::CaseOutputs outputs;
  };
  [[nodiscard]] Outputs resolve(const std::vector<run::OutputTable>& tables, std::int64_t molecules) const;
  Start open_start(std::vector<std::string>& warnings);
  void check(const Start& start);
  StateInTransit state_of_run();
  [[nodiscard]] std::string directory_of_writers() const;
  void plan_outputs();
  void make_head(const std::vector<run::OutputTable>& tables);
  [[nodiscard]] const Problem& problem() const noexcept { return options_.problem; }

  Options& options_;
  double molecules_ = 0;  ///< about so many
  std::optional<Simulation> simulation_;
  Trajectory trajectory_;
};

/// Converts a checkpoint, with the state of a run where the case names one.
std::optional<int> Program::instead() {
  if (!options_.conversion) return {};
  describe_options();
  std::optional<StateInTransit> state;
  if (options_.case_file.empty())
    state.emplace(comm_);
  else
    state.emplace(state_of_run());
  return convert([&](checkpoint::StateArchive& archive) { state->state(archive); }, state->formats());
}

/// Opens the start, and puts what follows from it into the resolved case.
Start Program::open_start(std::vector<std::string>& warnings) {
  Start start(comm_, options_.problem, warnings, options_.subject());
  options_.steps = problem().steps;
  options_.resolved["time"]["steps"] = problem().steps;
  options_.resolved["model"]["reaction_field_epsilon"] = problem().model.reaction_field_epsilon;
  return start;
}

void Program::plan() {
  std::vector<std::string> warnings = options_.warnings;
  const auto start = open_start(warnings);
  for (const auto& warning : warnings) run_.warn(warning);
  molecules_ = start.count();
  check_memory();
  mpi::collectively(comm_, [&] {
    static_cast<void>(Decomposition::regular(problem().length, ranks(), problem().decomposition.grid));
  });
  if (options_.check_only) return check(start);
  simulation_.emplace(comm_, problem(), run_.log());
  simulation_->place(start.molecules(comm_, simulation_->decomposition()));
  plan_outputs();
}

/// What a run would refuse later, without keeping any molecule.
void Program::check(const Start& start) {
  start.check(comm_);
  mpi::collectively(comm_, [&] {
    const auto molecules = static_cast<std::int64_t>(molecules_);
    static_cast<void>(resolve(options_.outputs, std::max<std::int64_t>(1, molecules)));
  });
}

run::RunSize Program::size() const {
  const auto* const lattice = std::get_if<StartLattice>(&problem().start);
  const auto from = lattice != nullptr ? fmt::format("start.density = {:g}", lattice->density)
                                       : std::get<StartFile>(problem().start).path;
  return {.text = fmt::format("{}: {} makes {:g} molecules", options_.subject(), from, molecules_),
          .fits = [all = molecules_](double share) {
            return fmt::format("about {:.3g} molecules at most", share * all);
          }};
}

/// A molecule while it is handed out, and position, velocity, force and id where it stays.
double Program::needed_bytes(int /*rank*/) const {
  constexpr double columns = 10;
  return molecules_ / ranks() * (sizeof(Molecule) + columns * sizeof(double));
}

run::SimulationCalls Program::make() {
  auto calls = run::calls_of(*simulation_);
  calls.state = [this, inputs = digests_of(problem().model)](checkpoint::StateArchive& archive) {
    simulation_->state(archive);
    checkpoint::pass_inputs(archive, options_.subject(), inputs);
  };
  return calls;
}

void Program::begin(StepIndex done) {
  CaseProgram::begin(done);
  mpi::collectively_on_root(comm_, [&] { make_directories(options_.writers, directory_of_writers()); });
  if (done == 0) simulation_->begin();
}

/// Outputs of so many molecules. @local. Errors (input): what does not fit.
Program::Outputs Program::resolve(const std::vector<run::OutputTable>& tables, std::int64_t molecules) const {
  Outputs found;
  found.tables = Samples::placed(tables, options_.bins, molecules);
  found.space = Samples::space(found.tables, molecules);
  std::vector<std::string> names;
  for (const auto& quantity : quantities) names.emplace_back(quantity.name);
  found.outputs = run::CaseOutputs(found.tables,
                                   {.points = found.space,
                                    .interior = Box::whole(found.space),
                                    .steps = problem().steps,
                                    .time_of_step_0_s = problem().time_of_step_0,
                                    .dt_s = problem().dt,
                                    .quantities = std::move(names),
                                    .taken_paths = {"/h5md"}},
                                   options_.subject());
  return found;
}

/// Without molecules. The files of the reference hold no sums over time, so that no outputs are planned.
StateInTransit Program::state_of_run() {
  std::vector<std::string> warnings = options_.warnings;
  static_cast<void>(open_start(warnings));
  simulation_.emplace(comm_, problem(), run_.log());
  using Into = StateInTransit::Into;
  const auto into = options_.conversion->format == run::our_format ? Into::run : Into::file;
  mpi::collectively(comm_, [&] {
    if (into == Into::run) refuse_sums(options_.outputs, options_.subject());
  });
  auto nothing = resolve({}, 1);
  run_.plan({}, std::move(nothing.outputs), {}, nothing.space);
  return {comm_, problem(), *simulation_, into};
}

std::string Program::directory_of_writers() const {
  if (!options_.run_directory.empty()) return options_.run_directory;
  return std::filesystem::path(options_.output).parent_path().string();
}

/// Resolves what is written.
void Program::plan_outputs() {
  const auto molecules = simulation_->order().size();
  Outputs found;
  mpi::collectively(comm_, [&] { found = resolve(options_.outputs, molecules); });
  auto samples = std::make_unique<Samples>(comm_, found.outputs.streams(), found.space, problem().length,
                                           problem().model, simulation_->order());
  const auto own_box = samples->own_box();
  simulation_->set_outputs(std::move(samples),
                           make_writers(options_.writers, {comm_, problem(), simulation_->order(),
                                                           directory_of_writers(), options_.write}));
  trajectory_ = trajectory_of(found.tables, found.outputs);
  make_head(found.tables);
  run_.plan({}, std::move(found.outputs), own_box, found.space);
  run_.account().grid = {molecules, 1, 1};
}

void Program::make_head(const std::vector<run::OutputTable>& tables) {
  head_.attributes = {{"simulation", std::string("molecules"), 0}, {"title", options_.title, 0}};
  add_h5md(comm_, head_, tables, trajectory_, problem().length, simulation_->order(), simulation_->list());
}

void Program::describe() {
  const Vec3& length = problem().length;
  const bool kd = problem().decomposition.kind == DecompositionOptions::Kind::kd;
  report(fmt::format("tailrace-molecules {}: {} molecules in {:g} x {:g} x {:g}, {} steps, {} ({}); {}\n",
                     TAILRACE_VERSION, simulation_->order().size(), length[0], length[1], length[2],
                     problem().steps, counted(comm_.size(), "rank"), kd ? "k-d tree" : "regular",
                     output_text()));
}

/// For ParaView; the run does without if it cannot be written. @local
void Program::opened(output::Session& /*session*/) {
  if (!comm_.is_root() || !output::writes_hdf5(options_.write)) return;
  try {
    write_vtkhdf(trajectory_, options_.output);
  } catch (const Error& error) {
    run_.warn(error.info().message);
  }
}

output::FieldLookup Program::final_fields(output::Session& session) {
  simulation_->gather_last();
  return CaseProgram::final_fields(session);
}

std::string Program::rate(StepIndex steps_done) {
  constexpr double us_per_s = 1e6;
  const auto updates = simulation_->order().size() * std::max<StepIndex>(1, steps_done);
  return fmt::format(", {:.3f} us per molecule and step",
                     us_per_s * computed_s_ / static_cast<double>(updates));
}

}  // namespace

int run_program(mpi::CommView comm, int argc, const char* const* argv) {
  return run::run_program<Program>(comm, program_info, [&] { return parse_options(argc, argv); });
}

}  // namespace tailrace::molecules
