// SPDX-License-Identifier: BSD-3-Clause
#include "program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/system.hpp"
#include "base/text.hpp"
#include "cube.hpp"
#include "mpi/verdict.hpp"
#include "options.hpp"
#include "tailrace/run/case_program.hpp"
#include "verify.hpp"

namespace tailrace::rehearse {

namespace {

constexpr int wrong_values = 1;

/// Looks at a file on the root and says the verdict. @collective{comm}, synchronises
int verify_file(mpi::CommView comm, const std::string& path) {
  std::optional<ErrorInfo> failure;
  std::int64_t good = 0;
  try {
    if (comm.is_root()) {
      const auto verdict = verify(path);
      say(verdict.good() ? stdout : stderr, to_string(verdict));
      good = verdict.good() ? 1 : 0;
    }
  } catch (...) {
    failure = describe_current_exception();
  }
  mpi::barrier(comm);  // a large file may take longer than a verdict of the ranks waits
  mpi::agree(comm, failure);
  return mpi::max(comm, good) == 1 ? run::success : wrong_values;
}

/// One rehearsal, from the options to the verdict on its file.
class Program final : public run::CaseProgram {
 public:
  Program(mpi::CommView comm, const Options& options, run::Run& run)
      : CaseProgram(program_info, comm, options, run), options_(options), own_box_(own_box()) {}

 private:
  std::optional<int> instead() override;
  void plan() override;
  void describe() override;
  run::SimulationCalls make() override;
  output::FileTail tail(StepIndex steps_done) override;
  [[nodiscard]] run::RunSize size() const override {
    return run::grid_size(options_.subject() + ": domain.cells", options_.formula.cells);
  }
  /// The field, and this rank's part of the particles if they are spread evenly.
  [[nodiscard]] double needed_bytes(int rank) const override {
    const auto points = options_.ownership.box(options_.formula.cells, ranks(), rank).volume();
    return static_cast<double>(points) * static_cast<double>(h5::size_bytes(options_.formula.type)) +
           static_cast<double>(options_.particle_formula.count) * sizeof(Particle) / ranks();
  }
  [[nodiscard]] std::int64_t own_cells() const override { return own_box_.volume(); }
  run::Run::Summary close(const run::DriveResult& result) override;
  int end(const run::DriveResult& result, const run::Run::Summary& summary) override;

  [[nodiscard]] std::vector<run::OutputTable> all_tables(Problems& problems) const;
  [[nodiscard]] run::OutputDomain domain() const;
  void warn();
  void calibrate();
  [[nodiscard]] Box own_box() const {
    return options_.ownership.box(options_.formula.cells, comm_.size(), comm_.rank());
  }

  const Options& options_;
  Box own_box_;
  std::optional<Load> load_;
  std::optional<ParticleFormula> particle_formula_;
  std::optional<Particles> particles_;
  std::optional<ParticleVerdict> particle_verdict_;  ///< at the end
  std::optional<Cube> cube_;
  bool rounds_ = false;  ///< some dataset holds float32
};

std::optional<int> Program::instead() {
  if (options_.verify_only.empty()) return {};
  return verify_file(comm_, options_.verify_only);
}

/// Resolves what is written, and refuses what does not fit.
void Program::plan() {
  check_memory();
  run::CaseOutputs outputs;
  mpi::collectively(comm_, [&] {
    const auto& load = options_.load;
    const auto subject = options_.subject();
    Problems problems(subject);
    const auto check_rank = [&](const char* what, int rank) {
      if (rank >= ranks())
        problems.add(fmt::format("{}: there is no rank {}", what, rank),
                     fmt::format("a rank from 0 to {}", ranks() - 1));
    };
    check_rank("rehearse.slow_rank", load.slow_rank.value_or(0));
    check_rank("rehearse.decomposition", options_.ownership.owner);
    if (load.work == Work::broadcast && ranks() == 1)
      problems.add("rehearse.compute: one rank has nobody to broadcast to",
                   "start at least 2 ranks, or choose matmul, memory or none");
    const auto tables = all_tables(problems);
    problems.throw_if_any(ErrorKind::usage);
    outputs = run::CaseOutputs(tables, domain(), subject);
  });
  if (options_.particle_formula.count > 0)
    particle_formula_.emplace(options_.formula.cells, options_.particle_formula);
  head_ = make_head(options_.formula, outputs.streams(), particle_formula_);
  for (const auto& stream : outputs.streams())
    rounds_ = rounds_ || stream.datasets.front().type == h5::ElementType::float32;
  run_.plan({}, std::move(outputs), own_box_, options_.formula.cells);
}

/// The selections and the [[output]] tables.
std::vector<run::OutputTable> Program::all_tables(Problems& problems) const {
  auto context = options_.selection_context;
  context.ranks = ranks();
  auto tables = make_tables(options_.selections, context, problems);
  for (const auto& table : options_.outputs) {
    const auto taken = std::any_of(tables.begin(), tables.end(),
                                   [&](const auto& other) { return other.name == table.name; });
    if (taken)
      problems.add(fmt::format("{}.name: \"{}\" is the name of a selection", table.key, table.name),
                   "choose another name");
    tables.push_back(table);
  }
  return tables;
}

run::OutputDomain Program::domain() const {
  const Index3& cells = options_.formula.cells;
  return {.points = cells,
          .interior = Box::whole(cells),
          .steps = options_.steps,
          .time_of_step_0_s = 0,
          .dt_s = 1,
          .quantities = {quantity},
          .taken_paths = head_paths()};
}

/// Warns of what may surprise.
void Program::warn() {
  const auto values = (options_.steps + 1) * options_.formula.cells.volume();
  if (!rounds_ || values <= largest_exact_float32) return;
  run_.warn(
      fmt::format("float32 holds integers up to {} only: of the {} values the large ones are rounded, and "
                  "neighbours may be equal. Fix: float64 informs them all apart",
                  largest_exact_float32, values));
}

void Program::calibrate() {
  load_.emplace(comm_, options_.load, options_.threads);
  load_->calibrate();
  const Index3& n = options_.formula.cells;
  report(fmt::format("tailrace-rehearse {}: {} x {} x {} points, {} steps, {}; {}\n", TAILRACE_VERSION, n.x,
                     n.y, n.z, options_.steps, counted(comm_.size(), "rank"), output_text()));
  if (load_->units() == 0) return report("computing: nothing but the field\n");
  constexpr double us_per_s = 1e6;
  const auto cost = load_->unit_s() > 0 ? fmt::format(", {:.2f} us", us_per_s * load_->unit_s()) : "";
  report(
      fmt::format("computing: {} units per step (a unit: {}{})\n", load_->units(), load_->unit_text(), cost));
}

void Program::describe() {
  warn();
  calibrate();
  run_.account().config["rehearse"]["compute_units"] = load_->units();
}

run::SimulationCalls Program::make() {
  if (particle_formula_) particles_.emplace(comm_, options_.formula, options_.ownership, *particle_formula_);
  return run::calls_of(cube_.emplace(comm_, options_.formula, own_box_, options_.selection_context.type,
                                     *load_, particles_ ? &*particles_ : nullptr, run_.log()));
}

run::Run::Summary Program::close(const run::DriveResult& result) {
  if (particles_) particle_verdict_ = particles_->compare(result.steps_done);
  return CaseProgram::close(result);
}

output::FileTail Program::tail(StepIndex steps_done) {
  return make_tail(steps_done, particle_verdict_ ? std::optional(particle_verdict_->sum) : std::nullopt);
}

int Program::end(const run::DriveResult& result, const run::Run::Summary& summary) {
  const int status = CaseProgram::end(result, summary);
  if (particle_verdict_) report(to_string(*particle_verdict_) + '\n');
  int verdict = options_.verify ? verify_file(comm_, options_.output) : run::success;
  if (particle_verdict_ && !particle_verdict_->good()) verdict = wrong_values;
  return verdict == run::success ? status : verdict;
}

}  // namespace

int run_program(mpi::CommView comm, int argc, const char* const* argv) {
  return run::run_program<Program>(comm, program_info, [&] { return parse_options(argc, argv); });
}

}  // namespace tailrace::rehearse
