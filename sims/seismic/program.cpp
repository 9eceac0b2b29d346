// SPDX-License-Identifier: BSD-3-Clause
#include "program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/placed_digest.hpp"
#include "base/signal.hpp"
#include "base/system.hpp"
#include "base/text.hpp"
#include "checkpoint/inputs.hpp"
#include "model_file.hpp"
#include "mpi/verdict.hpp"
#include "options.hpp"
#include "output/registry/options.hpp"
#include "proxy.hpp"
#include "receivers.hpp"
#include "solver.hpp"
#include "tailrace/run/case_program.hpp"

namespace tailrace::seismic {

namespace {

/// Of where sources are and of what they do; the values of a Ricker wavelet follow from the rest.
std::uint64_t digest_of(const SourceTexts& texts, const std::vector<Source>& sources) {
  PlacedDigest digest;
  std::int64_t place = 0;
  const auto add = [&](std::span<const double> numbers) {
    digest.add(numbers, place);
    place += static_cast<std::int64_t>(numbers.size());
  };
  for (const Index3& cell : texts.cells)
    for (const auto index : {cell.x, cell.y, cell.z}) digest.add(index, place++);
  add(texts.amplitudes);
  add(texts.delays_s);
  digest.add(texts.cutoff_hz, place++);
  if (texts.samples || texts.dataset) add(sources.front().values);
  return digest.sum();
}

std::int64_t since_1970_ns() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

/// What the waves depend on beside their state; the time step belongs to that.
checkpoint::InputDigests inputs_of(const Options& options, const Extremes& extremes) {
  const auto& problem = options.problem;
  const auto& boundary = problem.boundary;
  checkpoint::InputDigests inputs;
  const auto keys = keys_of(problem.properties);
  for (std::size_t i = 0; i < keys.size(); ++i) inputs[keys[i]] = extremes.digests[i];
  inputs["domain.spacing_m"] = placed_digest<double>(problem.spacing_m);
  inputs["boundary"] = placed_digest<std::uint64_t>(std::array{
      static_cast<std::uint64_t>(boundary.kind), static_cast<std::uint64_t>(boundary.width), boundary.seed});
  inputs["source"] = digest_of(options.sources, problem.sources);
  return inputs;
}

/// One run, from the options to the account.
class Program final : public run::CaseProgram {
 public:
  Program(mpi::CommView comm, Options& options, run::Run& run)
      : CaseProgram(program_info, comm, options, run), options_(options) {
    watch_ = {.quantity = "p", .hint = "a smaller time.dt_s, or a smoother model"};
  }

 private:
  void plan() override;
  void describe() override;
  run::SimulationCalls make() override;
  void derive(StepIndex steps_done) override;
  [[nodiscard]] run::RunSize size() const override {
    return run::grid_size(options_.subject() + ": domain.cells", options_.problem.cells);
  }
  [[nodiscard]] double needed_bytes(int rank) const override { return needed_memory(rank).host_bytes; }
  [[nodiscard]] double device_bytes(int rank) const override { return needed_memory(rank).device_bytes; }
  [[nodiscard]] std::int64_t own_cells() const override { return solver_->own_cells().volume(); }
  int end(const run::DriveResult& result, const run::Run::Summary& summary) override;
  [[nodiscard]] std::string rate(StepIndex steps_done) override {
    return fmt::format(", {:.1f} Msamples/s", samples(steps_done) / computed_s_ / 1e6);
  }

  /// The device that computes, if one does.
  [[nodiscard]] std::optional<device::ComputeQueue> device() const {
    const auto queue = run_.compute_queue();
    return queue.device != nullptr ? std::optional(queue) : std::nullopt;
  }
  [[nodiscard]] SolverMemory needed_memory(int rank) const {
    return Solver::needed_memory(options_.problem, ranks(), rank, device().has_value());
  }
  void survey_domain();
  void plan_outputs();
  void warn_of_wavelets();
  void warn();
  [[nodiscard]] double samples(StepIndex steps_done) const {
    return static_cast<double>(options_.problem.grid().volume()) * static_cast<double>(steps_done);
  }

  Options& options_;
  Extremes extremes_;
  std::optional<Solver> solver_;
  std::vector<output::Stream> receivers_;  ///< those that become SEG-Y files
  std::int64_t started_ns_ = since_1970_ns();
};

void Program::plan() {
  mpi::collectively(comm_, [&] { complete_problem(options_); });
  check_memory();
  survey_domain();
  plan_outputs();
  warn();
}

run::SimulationCalls Program::make() {
  auto calls = run::calls_of(solver_.emplace(comm_, options_.problem, extremes_, run_.log(),
                                             SolverPlace{.bricks = {}, .device = device()}));
  calls.state = [&, inputs = inputs_of(options_, extremes_)](checkpoint::StateArchive& archive) {
    solver_->state(archive);
    checkpoint::pass_inputs(archive, options_.subject(), inputs);
  };
  return calls;
}

/// Refuses media that cannot be and time steps for which the scheme is not stable.
void Program::survey_domain() {
  extremes_ = survey(comm_, options_.problem);
  mpi::collectively(comm_, [&] {
    const double limit_s = largest_stable_dt_s(options_.problem.spacing_m, extremes_.speed_m_s);
    if (options_.problem.dt_s <= limit_s) return;
    Problems problems(options_.subject());
    problems.add(fmt::format("time.dt_s: {:g} s is too large for waves of {:.6g} m/s on this grid",
                             options_.problem.dt_s, extremes_.speed_m_s),
                 fmt::format("at most {:.6g} s", limit_s * (1 - 1e-6)));
    problems.throw_if_any();
  });
}

/// Warns of wavelets that derivatives of 8th order on this grid do not carry.
void Program::warn_of_wavelets() {
  constexpr double min_points = 4;
  const auto& problem = options_.problem;
  const double spacing_m = *std::max_element(problem.spacing_m.begin(), problem.spacing_m.end());
  double frequency_hz = 0;
  for (const auto& source : problem.sources)
    frequency_hz = std::max(frequency_hz, mean_frequency_hz<double>(source.values, problem.dt_s));
  const double points = extremes_.slowest_m_s / (frequency_hz * spacing_m);
  if (frequency_hz == 0 || points >= min_points) return;
  run_.warn(fmt::format(
      "waves of the source's mean frequency, {:.4g} Hz, have {:.2g} points per wavelength where "
      "they are slowest ({:.5g} m/s): the grid distorts them. Fix: at least {} points, by a lower "
      "source.fcut_hz or a smaller domain.spacing_m",
      frequency_hz, points, extremes_.slowest_m_s, min_points));
}

/// Warns of what may surprise.
void Program::warn() {
  warn_of_wavelets();
  if (extremes_.unstable == 0) return;
  const Index3& p = extremes_.first_unstable;
  run_.warn(
      fmt::format("at {} points waves grow without bound, first at x, y, z = {}, {}, {}: epsilon is below "
                  "delta and shear waves are too slow to hold them. Fix: epsilon >= delta there, or a "
                  "smaller sigma",
                  extremes_.unstable, p.x, p.y, p.z));
}

/// Resolves what is written, and refuses what does not fit.
void Program::plan_outputs() {
  run::CaseOutputs outputs;
  const auto& problem = options_.problem;
  mpi::collectively(comm_, [&] {
    outputs = run::CaseOutputs(options_.outputs,
                               {.points = problem.shown(),
                                .interior = Box::whole(problem.shown()),
                                .steps = options_.steps,
                                .time_of_step_0_s = 0,
                                .dt_s = problem.dt_s,
                                .spacing_m = problem.spacing_m,
                                .quantities = {"p", "q"}},
                               options_.subject());
    Problems problems(options_.subject());
    receivers_ = receiver_streams(outputs.streams(), options_.receivers, problem.dt_s, problems);
    if (!receivers_.empty() && !output::writes_hdf5(options_.write))
      problems.add(fmt::format("receivers.segy does not go with --sink {}", options_.write.sink),
                   "--sink hdf5, from which the traces are taken in the end");
    problems.throw_if_any();
  });
  head_.attributes = {{"simulation", std::string("seismic"), 0}, {"title", options_.title, 0}};
  run_.plan({}, std::move(outputs), seismic::own_cells(problem, comm_.size(), comm_.rank()), problem.shown());
}

void Program::describe() {
  const auto& problem = options_.problem;
  const Index3 &n = problem.cells, grid = problem.grid();
  if (!options_.proxy_form.empty()) return report(proxy_summary(options_, extremes_.speed_m_s));
  report(fmt::format(
      "tailrace-seismic {}: {}, {} x {} x {} points, {} x {} x {} with the boundary, {} steps, {}; "
      "{}\n",
      TAILRACE_VERSION, to_string(problem.properties.equations), n.x, n.y, n.z, grid.x, grid.y, grid.z,
      options_.steps, counted(comm_.size(), "rank"), output_text()));
  if (device()) report(fmt::format("computed by {}\n", run_.device_text()));
  const double limit_s = largest_stable_dt_s(problem.spacing_m, extremes_.speed_m_s);
  report(fmt::format("dt = {:g} s, {:.1f} % of the largest stable one ({:.4g} s)\n", problem.dt_s,
                     100 * problem.dt_s / limit_s, limit_s));
}

/// The receivers as SEG-Y files, from the output file.
void Program::derive(StepIndex steps_done) {
  const auto& problem = options_.problem;
  const Survey survey{.title = options_.title,
                      .spacing_m = problem.spacing_m,
                      .dt_s = problem.dt_s,
                      .source = problem.sources.front().cell};
  for (const auto& stream : receivers_) write_receivers(comm_, survey, stream, options_.output, steps_done);
}

int Program::end(const run::DriveResult& result, const run::Run::Summary& summary) {
  if (options_.proxy_form.empty() || summary.end.error) return CaseProgram::end(result, summary);
  const auto memory = mpi::max(comm_, peak_memory_bytes());
  report(proxy_result(options_, {.started_ns = started_ns_,
                                 .ended_ns = since_1970_ns(),
                                 .computed_s = run_.log().total(trace::Kind::compute).seconds,
                                 .total_s = run_.elapsed_s(),
                                 .samples = samples(result.steps_done),
                                 .peak_memory_bytes = memory}));
  return run::exit_status(summary.end.status);
}

}  // namespace

int run_program(mpi::CommView comm, int argc, const char* const* argv) {
  return run::run_program<Program>(comm, program_info, [&] { return parse_options(argc, argv); });
}

}  // namespace tailrace::seismic
