// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tailrace/decomposition.hpp"
#include "tailrace/run/case_file.hpp"
#include "tailrace/run/case_program.hpp"

/// A whole program from one class: what a simulation on a grid says of itself, and nothing else.
namespace tailrace::run {

/// Describes what a simulation gives: its name and its keys, its domain, its fields and its state.
template <class S>
concept CaseSimulation = Resumable<S> && std::derived_from<typename S::Options, CaseOptions> &&
    std::constructible_from<S, mpi::CommView, const typename S::Options&> &&
    requires(CaseFile& file, typename S::Options& options, const typename S::Options& given, int ranks) {
  { S::name } -> std::convertible_to<std::string>;     // the program is tailrace-NAME
  { S::purpose } -> std::convertible_to<std::string>;  // in one line
  { S::quantities() } -> std::same_as<std::vector<OfferedQuantity>>;
  { S::keys() } -> std::same_as<std::vector<Key>>;     // its own
  { S::read(file, options) } -> std::same_as<void>;    // @local: these, and the number of steps
  { S::domain(given) } -> std::same_as<OutputDomain>;  // @local
  { S::decomposition(given, ranks) } -> std::same_as<layout::Decomposition>;  // @local
};

/// The command line of a program without options of its own, as far as no case is needed for it; what to
/// print if that was asked for. @local. Errors (usage): it names no case, or no place for the output.
std::optional<Notice> read_case_words(const ProgramInfo& info, CaseWords& words, int argc,
                                      const char* const* argv, CaseOptions& options);

/// The outputs of the case in a domain. @collective{comm}, synchronises. Errors (input), the same on all
/// ranks.
CaseOutputs resolve_outputs(mpi::CommView comm, const CaseOptions& options, const OutputDomain& domain);

/// The way of such a simulation's case.
template <CaseSimulation S>
class SimulationProgram final : public CaseProgram {
 public:
  using Options = typename S::Options;
  /// `options` and `run` outlive the program. @local
  SimulationProgram(mpi::CommView comm, const Options& options, Run& run)
      : CaseProgram(info(), comm, options, run),
        options_(options),
        own_(S::decomposition(options, comm.size()).box(comm.rank())) {
    watch_ = {.quantity = S::quantities().front().name, .hint = "a smaller time step"};
  }

  /// What the simulation says of itself, with its keys. @local
  static const ProgramInfo& info() {
    static const CaseSchema schema = [] {
      std::vector<std::string> names;
      for (const auto& quantity : S::quantities()) names.push_back(quantity.name);
      return make_schema(S::name, names, S::keys());
    }();
    static const ProgramInfo made{.simulation = S::name, .purpose = S::purpose, .schema = &schema};
    return made;
  }

  /// Reads the command line, and the case file that it names. @local
  static std::variant<Options, Notice> parse(int argc, const char* const* argv) {
    CaseWords words;
    Options options;
    if (auto notice = read_case_words(info(), words, argc, argv, options)) return std::move(*notice);
    auto file = open_case(info(), words, {});
    read_case_table(file, S::name, options);
    S::read(file, options);
    options.outputs = read_output_tables(file, S::quantities(), "");
    read_run_tables(file, words, options);
    finish_case(file, options);
    return options;
  }

 private:
  void plan() override {
    const auto domain = S::domain(options_);
    points_ = domain.points;
    check_memory();
    auto outputs = resolve_outputs(comm_, options_, domain);
    head_.attributes = {{"simulation", std::string(S::name), 0}, {"title", options_.title, 0}};
    run_.plan({}, std::move(outputs), own_, domain.points);
  }
  [[nodiscard]] RunSize size() const override { return grid_size(options_.subject() + ": grid", points_); }
  /// A value of 4 bytes for each quantity of a point is the least.
  [[nodiscard]] double needed_bytes(int rank) const override {
    const auto points = S::decomposition(options_, ranks()).box(rank).volume();
    return 4.0 * static_cast<double>(points) * static_cast<double>(S::quantities().size());
  }
  SimulationCalls make() override {
    simulation_ = std::make_unique<S>(comm_, options_);
    return calls_of(*simulation_);
  }
  [[nodiscard]] std::int64_t own_cells() const override { return own_.volume(); }

  const Options& options_;
  Box own_;
  Index3 points_;
  std::unique_ptr<S> simulation_;
};

/// The `main` of a simulation's program; returns the exit status.
template <CaseSimulation S>
int simulate(int argc, char** argv) {
  const mpi::Environment environment(argc, argv);
  using Program = SimulationProgram<S>;
  return run_program<Program>(environment.world(), Program::info(),
                              [&] { return Program::parse(argc, argv); });
}

}  // namespace tailrace::run
