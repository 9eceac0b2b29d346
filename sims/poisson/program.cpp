// SPDX-License-Identifier: BSD-3-Clause
#include "program.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/placed_digest.hpp"
#include "base/text.hpp"
#include "checkpoint/inputs.hpp"
#include "mpi/verdict.hpp"
#include "options.hpp"
#include "rhs.hpp"
#include "solver.hpp"
#include "tailrace/run/case_program.hpp"
#include "tailrace/run/simulate.hpp"

namespace tailrace::poisson {

namespace {

constexpr const char *history_step = "/history/step", *history_residual = "/history/residual";

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// What the solution follows from, by the keys of a case. @collective{comm}
checkpoint::InputDigests inputs_of(mpi::CommView comm, const Problem& problem, const Box& own,
                                   const AlignedVector<double>& rhs) {
  const Grid& grid = problem.grid;
  const Index3 part = own.extents();
  PlacedDigest values;
  const auto row = static_cast<std::size_t>(part.x);
  for (std::int64_t z = 0; z < part.z; ++z)
    for (std::int64_t y = 0; y < part.y; ++y)
      values.add(std::span(rhs).subspan(static_cast<std::size_t>(z * part.y + y) * row, row),
                 own.lo.x + grid.cells.x * (own.lo.y + y + grid.cells.y * (own.lo.z + z)));
  return {{"problem.rhs", mpi::sum(comm, std::vector{values.sum()}).front()},
          {"problem.boundary", placed_digest<double>(std::array{problem.wall})},
          {"domain.sides", placed_digest<bool>(grid.periodic)},
          {"domain.spacing_m", placed_digest<double>(grid.spacing_m)}};
}

/// One run, from the options to the account.
class Program final : public run::CaseProgram {
 public:
  Program(mpi::CommView comm, Options& options, run::Run& run)
      : CaseProgram(program_info, comm, options, run),
        options_(options),
        blocks_(options.problem.grid.cells, options.problem.block, comm.size()) {
    watch_ = {.quantity = "u", .every = 1, .hint = "a right-hand side with smaller values"};
  }

 private:
  void plan() override;
  void describe() override;
  run::SimulationCalls make() override;
  void begin(StepIndex done) override;
  output::FileTail tail(StepIndex steps_done) override;
  run::Run::Summary close(const run::DriveResult& result) override;
  int end(const run::DriveResult& result, const run::Run::Summary& summary) override;
  [[nodiscard]] run::RunSize size() const override {
    return run::grid_size(options_.subject() + ": domain.cells", problem().grid.cells);
  }
  [[nodiscard]] double needed_bytes(int rank) const override {
    const BlockGrid blocks(problem().grid.cells, problem().block, ranks());
    return Solver::bytes(problem(), blocks.own_box(rank).volume());
  }
  [[nodiscard]] std::int64_t own_cells() const override { return blocks_.own_box(comm_.rank()).volume(); }

  [[nodiscard]] const Problem& problem() const noexcept { return options_.problem; }
  void check_blocks() const;
  void make_head();
  [[nodiscard]] std::vector<double> whole_history() const;

  Options& options_;
  BlockGrid blocks_;
  AlignedVector<double> rhs_;
  checkpoint::InputDigests inputs_;
  std::optional<Solver> solver_;
  std::optional<double> error_;
};

/// Fragments count blocks with `int`, in steps of the number of ranks.
void Program::check_blocks() const {
  const Index3 n = blocks_.counts();
  const double indices =
      static_cast<double>(n.x) * static_cast<double>(n.y) * static_cast<double>(n.z) * ranks();
  if (indices <= std::numeric_limits<std::int32_t>::max()) return;
  Problems problems(options_.subject());
  problems.add(fmt::format("solver.blocks: {} x {} x {} blocks are too many for {}", n.x, n.y, n.z,
                           counted(ranks(), "rank")),
               "larger blocks");
  problems.throw_if_any();
}

void Program::plan() {
  check_memory();
  mpi::collectively(comm_, [&] {
    check_blocks();
    complete_problem(options_);
  });
  const auto own = blocks_.own_box(comm_.rank());
  rhs_ = read_rhs(comm_, options_, own);
  inputs_ = inputs_of(comm_, problem(), own, rhs_);
  auto outputs = run::resolve_outputs(comm_, options_,
                                      {.points = problem().grid.cells,
                                       .interior = Box::whole(problem().grid.cells),
                                       .steps = options_.steps,
                                       .time_of_step_0_s = 0,
                                       .dt_s = 1,
                                       .spacing_m = problem().grid.spacing_m,
                                       .quantities = {"u", "rhs", "residual"},
                                       .taken_paths = {history_step, history_residual},
                                       .origin_m = problem().grid.origin_m()});
  make_head();
  run_.plan({}, std::move(outputs), own, problem().grid.cells);
}

/// The residuals, as many as there may be; those that are not there are NaN.
void Program::make_head() {
  std::vector<std::int64_t> steps;
  for (StepIndex step = 0; step <= options_.steps; step += problem().check_every) steps.push_back(step);
  const h5::Shape shape{steps.size()};
  head_.attributes = {{"simulation", std::string("poisson"), 0}, {"title", options_.title, 0}};
  head_.datasets = {{{history_step, shape, h5::ElementType::int64, {}}, bytes_of(steps)},
                    {{history_residual, shape, h5::ElementType::float64, {}}, bytes_of(whole_history())}};
}

std::vector<double> Program::whole_history() const {
  auto history = solver_ ? solver_->history() : std::vector<double>();
  history.resize(static_cast<std::size_t>(options_.steps / problem().check_every) + 1,
                 std::numeric_limits<double>::quiet_NaN());
  return history;
}

void Program::describe() {
  const Index3 &n = problem().grid.cells, count = blocks_.counts(), block = problem().block;
  report(
      fmt::format("tailrace-poisson {}: {}, {} x {} x {} unknowns in {} x {} x {} blocks of {} x {} x {}, at "
                  "most {} sweeps, {}; {}\n",
                  TAILRACE_VERSION, to_string(problem().method), n.x, n.y, n.z, count.x, count.y, count.z,
                  block.x, block.y, block.z, options_.steps, counted(comm_.size(), "rank"), output_text()));
}

run::SimulationCalls Program::make() {
  auto how = options_.fragments;
  how.workers = options_.threads;
  auto calls = run::calls_of(solver_.emplace(comm_, problem(), blocks_, std::move(rhs_), how));
  calls.state = [this](checkpoint::StateArchive& archive) {
    solver_->state(archive);
    checkpoint::pass_inputs(archive, options_.subject(), inputs_);
  };
  return calls;
}

void Program::begin(StepIndex done) {
  CaseProgram::begin(done);
  if (done == 0) solver_->begin();
}

output::FileTail Program::tail(StepIndex /*steps_done*/) {
  return {.attributes = {}, .datasets = {{history_residual, bytes_of(whole_history())}}};
}

run::Run::Summary Program::close(const run::DriveResult& result) {
  if (problem().solution) error_ = solver_->error();
  const double first = solver_->history().front(), last = solver_->residual();
  auto& account = run_.account();
  account.grid = problem().grid.cells;
  account.results = {{"method", to_string(problem().method)},
                     {"blocks", blocks_.blocks()},
                     {"first_residual", first},
                     {"residual", last},
                     {"converged", solver_->converged()}};
  if (error_) account.results["error"] = *error_;
  if (result.status == run::Status::finished && problem().tolerance > 0 && !solver_->converged())
    run_.warn(fmt::format(
        "after {} sweeps the residual is {:.3g} of the first one, above solver.tolerance. Fix: more "
        "time.steps, or another solver.method",
        result.steps_done, first > 0 ? last / first : 0));
  return CaseProgram::close(result);
}

int Program::end(const run::DriveResult& result, const run::Run::Summary& summary) {
  const int status = CaseProgram::end(result, summary);
  report(fmt::format("residual {:.4g} after {}, {:.4g} at first{}\n", solver_->residual(),
                     counted(result.steps_done, "sweep"), solver_->history().front(),
                     error_ ? fmt::format("; largest error {:.4g}", *error_) : ""));
  return status;
}

}  // namespace

int run_program(mpi::CommView comm, int argc, const char* const* argv) {
  return run::run_program<Program>(comm, program_info, [&] { return parse_options(argc, argv); });
}

}  // namespace tailrace::poisson
