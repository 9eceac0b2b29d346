// SPDX-License-Identifier: BSD-3-Clause
#include "program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "base/system.hpp"
#include "base/text.hpp"
#include "mpi/verdict.hpp"
#include "options.hpp"
#include "output/registry/options.hpp"
#include "output/session/session.hpp"
#include "results.hpp"
#include "simulation.hpp"
#include "tailrace/run/case_exchange.hpp"
#include "tailrace/run/case_program.hpp"
#include "tailrace/run/run_size.hpp"

namespace tailrace::heat {

namespace {

/// About so many elements: small ones that the ball touches, and those around them.
double elements_of(const Problem& problem) {
  const double across = problem.radius * std::ldexp(1.0, problem.level);
  const double touched = 4.2 * std::pow(across + 0.5, 3), around = 24 * across * across + 160 * across + 100;
  return std::min(touched + around, std::ldexp(1.0, 3 * problem.level));
}

/// What elements take while the mesh changes, measured in classes S to D and in other orders: those between
/// levels, of which a large mesh has a smaller part, take more.
double mesh_bytes(const Problem& problem) {
  const double elements = elements_of(problem), across = problem.order + 1;
  return (2050 + 70 * across * across * across) * elements +
         1440 * across * across * std::pow(elements, 2.0 / 3.0);
}

/// What the fields that outputs sample take on all ranks.
double sampled_bytes(const Options& options) {
  std::set<std::string> quantities;
  for (const auto& output : options.outputs)
    if (!MeshRows::offers(output.quantity)) quantities.insert(output.quantity);
  return static_cast<double>(sizeof(double) * quantities.size()) *
         static_cast<double>(options.samples.volume());
}

/// What rows of the mesh take for each element: those of one quantity as they are made, and a copy for each
/// output until it is written.
double row_bytes(const Options& options) {
  double made = 0, copies = 0;
  for (const auto& output : options.outputs) {
    if (!MeshRows::offers(output.quantity)) continue;
    const auto bytes =
        static_cast<double>(output.components) * static_cast<double>(h5::size_bytes(output.type));
    made = std::max(made, bytes);
    copies += bytes;
  }
  return made + copies;
}

/// Where the fields are sampled: point i of n along an axis lies at (i + 0.5) / n.
run::OutputDomain domain_of(const Options& options) {
  const Index3 n = options.samples;
  const auto cells = [n](double count) {
    return std::array{count / static_cast<double>(n.x), count / static_cast<double>(n.y),
                      count / static_cast<double>(n.z)};
  };
  return {.points = n,
          .interior = Box::whole(n),
          .steps = options.steps,
          .time_of_step_0_s = 0,
          .dt_s = options.problem.dt,
          .spacing_m = cells(1),
          .quantities = {"temperature", "source", "level", MeshRows::all_points, MeshRows::corners},
          .taken_paths = {},
          .origin_m = cells(0.5)};
}

std::vector<run::NamedMap> maps_of(const Mortars& mortars) {
  std::vector<run::NamedMap> maps{{"mortars", &mortars.map()}};
  if (mortars.product_map()) maps.push_back({"products", &*mortars.product_map()});
  return maps;
}

/// One run, from the options to the account.
class Program final : public run::CaseProgram {
 public:
  Program(mpi::CommView comm, Options& options, run::Run& run)
      : CaseProgram(program_info, comm, options, run), options_(options) {}

 private:
  void plan() override;
  void describe() override;
  run::SimulationCalls make() override;
  void begin(StepIndex done) override;
  void progress(StepIndex step) override;
  [[nodiscard]] run::RunSize size() const override;
  [[nodiscard]] double needed_bytes(int /*rank*/) const override {
    constexpr double of_rank = 6e6;  // whatever the mesh is
    return of_rank +
           (mesh_bytes(problem()) + row_bytes(options_) * elements_of(problem()) + sampled_bytes(options_)) /
               ranks();
  }
  [[nodiscard]] std::int64_t own_cells() const override {
    return static_cast<std::int64_t>(simulation_part_->solver().forest().leaves.size());
  }
  output::FieldLookup final_fields(output::Session& session) override;
  run::Run::Summary close(const run::DriveResult& result) override;
  int end(const run::DriveResult& result, const run::Run::Summary& summary) override;

  [[nodiscard]] const Problem& problem() const noexcept { return options_.problem; }
  void report_adaptations();
  void show_mesh(StepIndex until);

  Options& options_;
  std::optional<Samples> samples_;
  std::optional<MeshRows> mesh_rows_;
  std::optional<output::Stream> mesh_stream_;  ///< the first one with all points
  std::optional<Simulation> simulation_part_;
  std::optional<Result> result_;
  std::size_t reported_ = 0;  ///< adaptations
};

void Program::plan() {
  check_memory();
  run::CaseOutputs outputs;
  mpi::collectively(
      comm_, [&] { outputs = run::CaseOutputs(options_.outputs, domain_of(options_), options_.subject()); });
  if (!problem().ball_enters())
    run_.warn(
        "the ball never enters the cube: nothing is heated. Fix: heat.centre, heat.velocity or time.steps");
  samples_.emplace(comm_, outputs.streams(), options_.samples);
  mesh_rows_.emplace(outputs.streams(), problem().order);
  for (const auto& stream : outputs.streams())
    if (stream.quantity == MeshRows::all_points && !mesh_stream_) mesh_stream_ = stream;
  head_.attributes = {{"simulation", std::string("heat"), 0}, {"title", options_.title, 0}};
  run_.plan({}, std::move(outputs), samples_->own_box(), options_.samples);
}

run::RunSize Program::size() const {
  if (sampled_bytes(options_) > needed_bytes(0) * ranks() / 2)
    return run::grid_size(fmt::format("{}: domain.cells", options_.subject()), options_.samples);
  return {.text = fmt::format("{}: heat.level = {} and heat.radius = {} make about {:.3g} elements",
                              options_.subject(), problem().level, problem().radius, elements_of(problem())),
          .fits = [all = elements_of(problem())](double share) {
            return fmt::format("about {:.3g} elements at most", share * all);
          }};
}

void Program::describe() {
  const NpbClass* const known = class_of(problem());
  report(fmt::format("tailrace-heat {}: NPB UA class {}, {} steps, {}; {}\n", TAILRACE_VERSION,
                     known == nullptr ? 'U' : known->name, options_.steps, counted(comm_.size(), "rank"),
                     output_text()));
  if (known == nullptr) report("the keys are those of no class of NPB: computed, not verified (class U)\n");
  report(npb_head(problem()));
}

run::SimulationCalls Program::make() {
  return run::calls_of(simulation_part_.emplace(comm_, problem(), options_.exchange, std::move(*samples_),
                                                std::move(*mesh_rows_), run_.log()));
}

void Program::begin(StepIndex done) {
  CaseProgram::begin(done);
  if (done == 0) simulation_part_->begin();
  reported_ = done == 0 ? 0 : simulation_part_->solver().adaptations().size();
  report_adaptations();
}

void Program::report_adaptations() {
  const auto& list = simulation_part_->solver().adaptations();
  for (; reported_ < list.size(); ++reported_)
    if (options_.verbose) report(npb_adaptation(list[reported_]));
}

void Program::progress(StepIndex step) {
  CaseProgram::progress(step);
  report_adaptations();
}

output::FieldLookup Program::final_fields(output::Session& session) {
  simulation_part_->sample_last();
  return CaseProgram::final_fields(session);
}

run::Run::Summary Program::close(const run::DriveResult& result) {
  auto& solver = simulation_part_->solver();
  if (result.status == run::Status::finished) result_ = result_of(problem(), solver);
  run_.account().results = to_json(problem(), solver, result_);
  run_.account().exchange =
      run::describe_exchange(comm_, options_.exchange.access(), maps_of(solver.mortars()));
  run_.account().grid = {solver.forest().total, 1, 1};
  const auto summary = CaseProgram::close(result);
  show_mesh(result.steps_done);
  return summary;
}

/// For ParaView; the run does without if it cannot be written. @local
void Program::show_mesh(StepIndex until) {
  if (!mesh_stream_ || !comm_.is_root() || !output::writes_hdf5(options_.write)) return;
  try {
    write_vtkhdf(*mesh_stream_, until, options_.output, problem().order, options_.vtkhdf, options_.cells);
  } catch (const Error& error) {
    run_.warn(error.info().message);
  }
}

/// A computation that stopped before its end has no result.
int Program::end(const run::DriveResult& result, const run::Run::Summary& summary) {
  const int status = CaseProgram::end(result, summary);
  const auto& solver = simulation_part_->solver();
  if (options_.verbose) report(npb_timers(solver.phases(), solver.computed_s()));
  if (status != 0 || !result_) return status;
  if (comm_.is_root())  // also with --quiet: it is the result
    say(stdout, npb_result(problem(), *result_, solver.computed_s(), comm_.size(), options_.threads));
  constexpr int not_verified = 1;
  return result_->verified().value_or(true) ? status : not_verified;
}

}  // namespace

int run_program(mpi::CommView comm, int argc, const char* const* argv, const NumberRule& own) {
  return run::run_program<Program>(comm, program_info, [&] { return parse_options(argc, argv, own); });
}

}  // namespace tailrace::heat
