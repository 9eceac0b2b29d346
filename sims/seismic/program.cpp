#include "program.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <span>
#include <utility>

#include "base/system.hpp"
#include "model_file.hpp"
#include "mpi/verdict.hpp"
#include "options.hpp"
#include "proxy.hpp"
#include "receivers.hpp"
#include "solver.hpp"
#include "tailrace/run/program.hpp"

namespace tailrace::seismic {

namespace {

constexpr const char* program_name = "tailrace-seismic";
/// Datasets with the steps that the run is to take, and has taken once it has ended in good order.
constexpr const char *steps_path = "/Nt", *steps_done_path = "/t_index";

std::vector<std::byte> bytes_of(StepIndex step) {
  const auto number = static_cast<std::uint64_t>(step);
  const auto bytes = std::as_bytes(std::span(&number, 1));
  return {bytes.begin(), bytes.end()};
}

std::int64_t since_1970_ns() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

/// One run, from the options to the account.
class Program {
 public:
  Program(mpi::CommView comm, Options& options, run::Run& run) : comm_(comm), options_(options), run_(run) {}

  /// Returns the exit status. @collective
  int execute();

 private:
  void survey_domain();
  void warn();
  void plan();
  void describe();
  void write_traces(StepIndex steps_done);
  void tell_result(const run::DriveResult& result, const run::Run::Summary& summary);
  int close(const run::DriveResult& result);
  void tell(const std::string& text) const {
    if (comm_.is_root() && !options_.quiet) say(stdout, text);
  }

  mpi::CommView comm_;
  Options& options_;
  run::Run& run_;
  Extremes extremes_;
  std::optional<Solver> solver_;
  output::FileHead head_;
  std::vector<output::Stream> receivers_;  ///< those that become SEG-Y files
  std::int64_t started_ns_ = since_1970_ns();
  double started_s_ = 0, computed_s_ = 0;
};

int Program::execute() {
  mpi::agree_on(comm_, [&] { complete_problem(options_); });
  survey_domain();
  plan();
  warn();
  if (options_.check_only) return run::success;
  run_.prepare_directory();
  describe();
  solver_.emplace(comm_, options_.problem, extremes_, run_.log());
  const StepIndex done = run_.restore(*solver_);
  if (done > 0) tell(fmt::format("going on after step {} of {}\n", done, options_.steps));
  run_.open_output(options_.output, head_, solver_->memory_bytes());
  started_s_ = monotonic_s();
  run::ProgressLines progress(comm_, options_, done);
  const auto result = run_.drive(*solver_, {.done = done, .last = options_.steps, .planned = options_.steps},
                                 {.quantity = "p", .hint = "a smaller time.dt_s, or a smoother model"},
                                 [&](StepIndex step) { progress.note(step); });
  return close(result);
}

/// Refuses media that cannot be and time steps for which the scheme is not stable.
void Program::survey_domain() {
  extremes_ = survey(comm_, options_.problem);
  mpi::agree_on(comm_, [&] {
    const double limit_s = largest_stable_dt_s(options_.problem.spacing_m, extremes_.speed_m_s);
    if (options_.problem.dt_s <= limit_s) return;
    Problems problems(options_.subject());
    problems.add(fmt::format("time.dt_s: {:g} s is too large for waves of {:.6g} m/s on this grid",
                             options_.problem.dt_s, extremes_.speed_m_s),
                 fmt::format("at most {:.6g} s", limit_s * (1 - 1e-6)));
    problems.throw_if_any();
  });
}

/// What may surprise.
void Program::warn() {
  if (extremes_.unstable == 0) return;
  const Index3& p = extremes_.first_unstable;
  run_.warn(
      fmt::format("at {} points waves grow without bound, first at x, y, z = {}, {}, {}: epsilon is below "
                  "delta and shear waves are too slow to hold them. Fix: epsilon >= delta there, or a "
                  "smaller sigma",
                  extremes_.unstable, p.x, p.y, p.z));
}

/// Resolves what is written, and refuses what does not fit.
void Program::plan() {
  run::CaseOutputs outputs;
  const auto& problem = options_.problem;
  mpi::agree_on(comm_, [&] {
    outputs = run::CaseOutputs(options_.outputs,
                               {.points = problem.shown(),
                                .interior = Box::whole(problem.shown()),
                                .steps = options_.steps,
                                .time_of_step_0_s = 0,
                                .dt_s = problem.dt_s,
                                .spacing_m = problem.spacing_m,
                                .quantities = {"p", "q"},
                                .taken_paths = {output::record_path, steps_path, steps_done_path}},
                               options_.subject());
    Problems problems(options_.subject());
    receivers_ = receiver_streams(outputs.streams(), options_.receivers, problem.dt_s, problems);
    if (!receivers_.empty() && !output::writes_hdf5(options_.write))
      problems.add(fmt::format("receivers.segy does not go with --sink {}", options_.write.sink),
                   "--sink hdf5, from which the traces are taken in the end");
    problems.throw_if_any();
  });
  head_.attributes = {{"simulation", std::string("seismic"), 0}, {"title", options_.title, 0}};
  for (const auto& [path, step] : {std::pair{steps_path, options_.steps}, {steps_done_path, StepIndex{0}}})
    head_.datasets.push_back({{path, {1}, h5::ElementType::uint64, {}}, bytes_of(step)});
  run_.plan({}, std::move(outputs), own_cells(problem, comm_.size(), comm_.rank()), problem.shown());
}

void Program::describe() {
  run::describe(options_, "seismic", TAILRACE_COMPILER, run_.account());
  const auto& problem = options_.problem;
  const Index3 &n = problem.cells, grid = problem.grid();
  if (!options_.proxy_form.empty()) return tell(proxy_summary(options_, extremes_.speed_m_s));
  tell(fmt::format(
      "tailrace-seismic {}: {}, {} x {} x {} points, {} x {} x {} with the boundary, {} steps, {} ranks; "
      "{}, {}\n",
      TAILRACE_VERSION, to_string(problem.properties.equations), n.x, n.y, n.z, grid.x, grid.y, grid.z,
      options_.steps, comm_.size(), output::strategy_text(options_.write),
      output::sink_text(options_.write)));
  const double limit_s = largest_stable_dt_s(problem.spacing_m, extremes_.speed_m_s);
  tell(fmt::format("dt = {:g} s, {:.1f} % of the largest stable one ({:.4g} s)\n", problem.dt_s,
                   100 * problem.dt_s / limit_s, limit_s));
}

/// The receivers as SEG-Y files, from the output file.
void Program::write_traces(StepIndex steps_done) {
  const auto& problem = options_.problem;
  const Survey survey{.title = options_.title,
                      .spacing_m = problem.spacing_m,
                      .dt_s = problem.dt_s,
                      .source = problem.sources.front().cell};
  for (const auto& stream : receivers_) write_receivers(comm_, survey, stream, options_.output, steps_done);
}

void Program::tell_result(const run::DriveResult& result, const run::Run::Summary& summary) {
  const double samples =
      static_cast<double>(options_.problem.grid().volume()) * static_cast<double>(result.steps_done);
  const auto memory = mpi::max(comm_, peak_memory_bytes());
  if (!options_.proxy_form.empty())
    return tell(proxy_result(options_, {.started_ns = started_ns_,
                                        .ended_ns = since_1970_ns(),
                                        .computed_s = run_.log().total(trace::Kind::compute).seconds,
                                        .total_s = run_.elapsed_s(),
                                        .samples = samples,
                                        .peak_memory_bytes = memory}));
  tell(run::end_text(summary, result.steps_done, run_.elapsed_s(),
                     fmt::format(", {:.1f} Msamples/s", samples / computed_s_ / 1e6)));
}

int Program::close(const run::DriveResult& result) {
  computed_s_ = monotonic_s() - started_s_;
  const auto fields = [this](output::Session&) -> output::FieldLookup {
    return [this](const std::string& name) { return solver_->field(name); };
  };
  const auto summary = run_.close(
      result, fields,
      [&] {
        return output::FileTail{.attributes = {},
                                .datasets = {{steps_done_path, bytes_of(result.steps_done)}}};
      },
      solver_->own_cells().volume(), [&] { write_traces(result.steps_done); });
  const auto& end = summary.end;
  if (end.error) throw Error(*end.error);
  tell_result(result, summary);
  return run::exit_status(end.status);
}

}  // namespace

int run_program(mpi::CommView comm, int argc, const char* const* argv) {
  return run::run_program<Program>(comm, program_name, [&] { return parse_options(argc, argv); });
}

}  // namespace tailrace::seismic
