// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tailrace/run/program.hpp"
#include "tailrace/run/run_size.hpp"

namespace tailrace::run {

/// The way of a case from its options to its account, the same for every simulation. A program derives from
/// it and says what is special; `execute` calls that on all ranks, in the order of the functions below.
class CaseProgram {
 public:
  CaseProgram(const CaseProgram&) = delete;
  CaseProgram& operator=(const CaseProgram&) = delete;
  virtual ~CaseProgram() = default;

  /// Makes the run and returns the exit status. @collective{comm}
  int execute();

 protected:
  /// `options` and `run` outlive the program.
  CaseProgram(const ProgramInfo& info, mpi::CommView comm, const CaseOptions& options, Run& run);

  /// Does something else than a run, if that is asked for, and returns its exit status.
  virtual std::optional<int> instead() { return {}; }
  /// Reads what the case names, refuses what cannot be computed, calls `check_memory` as soon as the size is
  /// known, and resolves with `Run::plan` what is written; with --check the program ends after that.
  virtual void plan() = 0;
  /// The ranks that compute in the run: those there are, or those of the run that is checked. @local
  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  /// The size of the computation, once it is known. @local
  [[nodiscard]] virtual RunSize size() const = 0;
  /// Bytes that the arrays of one of `ranks()` take: at least, or at most where they grow. Known before any
  /// of them is there. @local
  [[nodiscard]] virtual double needed_bytes(int rank) const = 0;
  /// The same of the memory of a rank's device, for programs that compute on devices, beside what output
  /// takes there. @local
  [[nodiscard]] virtual double device_bytes(int /*rank*/) const { return 0; }
  /// Refuses a run that its machines have not enough memory for. @collective{comm}, synchronises. Errors
  /// (input), on all ranks.
  void check_memory();
  /// Says what is computed: in the account, and to people with `report`.
  virtual void describe() {}
  /// Makes the simulation, whose calls stay good until the end.
  virtual SimulationCalls make() = 0;
  /// The simulation is after step `done`, 0 without a checkpoint.
  virtual void begin(StepIndex done);
  /// Returns what an earlier run left in the output file; see `Run::open_output`.
  [[nodiscard]] virtual output::Resume resume() const { return {}; }
  /// The output file is there.
  virtual void opened(output::Session& /*session*/) {}
  /// The steps that the run takes.
  [[nodiscard]] virtual StepSpan steps(StepIndex done) const;
  /// A step is done.
  virtual void progress(StepIndex step) { progress_->mark(step); }
  /// Completes the output and the account: with `Run::close`, to which it gives the next four.
  virtual Run::Summary close(const DriveResult& result);
  virtual output::FieldLookup final_fields(output::Session& /*session*/) { return simulation_.field; }
  virtual output::FileTail tail(StepIndex /*steps_done*/) { return {}; }
  virtual void derive(StepIndex /*steps_done*/) {}
  [[nodiscard]] virtual std::int64_t own_cells() const = 0;
  /// Says how the run ended and returns the exit status; throws the error of one that failed.
  virtual int end(const DriveResult& result, const Run::Summary& summary);
  /// Returns how fast it was, for the last line.
  [[nodiscard]] virtual std::string rate(StepIndex /*steps_done*/) { return {}; }

  /// Prints to people, once and unless they want it quiet. @local
  void report(const std::string& text) const;
  /// Puts into the account what the options say. @local
  void describe_options();
  /// Converts a checkpoint with the state of the simulation; see `Run::convert`. @collective{comm}
  int convert(const checkpoint::StateFunction& state, const std::vector<ForeignFormat>& formats);
  /// "1.0: threads:2, hdf5" of the first line. @local
  [[nodiscard]] std::string output_text() const;

  mpi::CommView comm_;
  Run& run_;
  Watch watch_;            ///< refers to the field that says an unstable computation, if there is one
  output::FileHead head_;  ///< refers to the output file
  SimulationCalls simulation_;
  double computed_s_ = 0;  ///< all steps of this run, known at the end

 private:
  [[nodiscard]] std::int64_t simulation_bytes() const;
  [[nodiscard]] double host_bytes(int rank) const;

  const ProgramInfo& info_;
  const CaseOptions& options_;
  int ranks_;
  std::optional<ProgressLines> progress_;
};

}  // namespace tailrace::run
