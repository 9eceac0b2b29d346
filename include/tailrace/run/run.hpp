// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tailrace/comm.hpp"
#include "tailrace/file_content.hpp"
#include "tailrace/resume.hpp"
#include "tailrace/run/account.hpp"
#include "tailrace/run/case_checkpoint.hpp"
#include "tailrace/run/case_output.hpp"
#include "tailrace/run/conversion.hpp"
#include "tailrace/run/driver.hpp"
#include "tailrace/run/run_size.hpp"
#include "tailrace/trace.hpp"
#include "tailrace/write_options.hpp"

namespace tailrace::device {
struct ComputeQueue;
}  // namespace tailrace::device
namespace tailrace::output {
class IoServers;
class Session;
}  // namespace tailrace::output

/// The life of a run, from its directory to its account: what does not depend on the simulation.
namespace tailrace::run {

/// Exit statuses of native programs, and of the `tailrace` command.
enum ExitStatus { success = 0, bad_input = 2, run_failed = 3, stopped_early = 4 };

/// Exit status for an error or for the end of a run.
int exit_status(ErrorKind kind) noexcept;
int exit_status(Status status) noexcept;

/// Prints "PROGRAM: message. Fix: hint" on standard error. @local
void print_error(const std::string& program, const ErrorInfo& error) noexcept;

/// Runs `simulate` on the ranks that compute, while those that the strategy of `write` sets apart serve them,
/// and returns its exit status, 0 on the others. What is wrong with the number of ranks is printed and
/// returned as `status_of(kind)`. @collective{world}
int with_io_servers(
    mpi::CommView world, const std::string& program, const output::WriteOptions& write,
    const std::function<int(mpi::CommView computing, output::IoServers* io_servers)>& simulate,
    const std::function<int(ErrorKind)>& status_of);

/// The devices of a run as a user names them: none, auto, 0, 0,2, emulated; see docs/howto/gpu.md.
struct DeviceChoice {
  std::string source;         ///< says where the text comes from: --device, or the variable
  std::string text;           ///< empty: none
  bool or_processor = false;  ///< where there is no device at all, with a warning
};

/// Describes what a user decides about any run.
struct RunOptions {
  std::string program;     ///< as it names itself in messages
  std::string directory;   ///< says where run.json, progress and traces go; empty: nowhere
  bool overwrite = false;  ///< the directory, or the output file, may exist
  std::optional<double> wall_limit_s;
  std::optional<double> pause_after_s =
      {};  ///< then the run ends in order to be resumed; see `close_for_restart`
  output::WriteOptions write;
  bool plan_only = false;    ///< measure and predict as `auto` does, and end the run then
  bool reports_plan = true;  ///< the planner's decisions are printed
  std::optional<CheckpointOptions> checkpoint = {};  ///< none are taken without, nor without a directory
  bool resume = false;                               ///< from the newest checkpoint in the directory
  std::vector<std::string> arguments =
      {};  ///< refers to the program, kept for a run that is resumed with this one
  trace::Mode trace = trace::Mode::on;  ///< off without a directory
  DeviceChoice device = {};             ///< on which the simulation computes
};

/// One run of a program, in this order: `plan`, `check_streams`, `prepare_directory`, `restore` if it
/// may be resumed, `open_output`, `drive`, `close`. Signals are heard from the construction on, and times
/// count from there. One object per process.
class Run {
 public:
  /// `io_servers` is what `with_io_servers` gives to ranks that compute; null: no processes write for others.
  /// @local
  Run(mpi::CommView comm, RunOptions options, output::IoServers* io_servers);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Returns what run.json says; the simulation fills in what it knows. @local
  [[nodiscard]] RunAccount& account() noexcept;
  /// The log of the thread that runs the steps. @local
  [[nodiscard]] trace::Log& log() noexcept;
  /// Seconds since the start. @local
  [[nodiscard]] double elapsed_s() const noexcept;
  /// Keeps what the user should know: printed by rank 0, and kept for run.json. @local
  void warn(const std::string& message);

  /// Opens the device that this rank takes, if any. Before `plan`. @collective{comm}, synchronises. Errors
  /// (usage), on all ranks: there is no such device.
  void open_device();
  /// Its queue, which outlives the simulation; null pointers: the processor computes. @local
  [[nodiscard]] device::ComputeQueue compute_queue() const noexcept;
  /// "device 0 (NAME)", or "the processor". @local
  [[nodiscard]] std::string device_text() const;
  /// Refuses a run of which each rank takes so many bytes of its device, if it has one, beside what output
  /// takes there. @collective{comm}, synchronises. Errors (input), on all ranks: there are less.
  void check_device_memory(const std::function<double(int rank)>& bytes, int ranks, const RunSize& size);
  /// Bytes of the host's memory that arrays of so many bytes take on this rank's device: an emulated one has
  /// them there. @local
  [[nodiscard]] double host_bytes_of_device(double bytes) const noexcept;

  /// Once planned: refuses streams that the sink cannot write, into a new file or into one that this run or
  /// `resume` continues, and warns if it leaves no checkpoints in which a run could be resumed.
  /// @collective{comm}, synchronises. Errors (usage), on all ranks.
  void check_streams(const output::Resume& resume = {});
  /// Refuses places that hold something which the run may not replace: its directory, and the output file.
  /// @collective{comm}, synchronises. Errors (usage), on all ranks: one of them exists, or there is no
  /// checkpoint to resume from.
  void check_places(const std::string& output);
  /// Makes the directory, removes what an earlier run left there, and begins the traces. Of a run that is
  /// to be resumed it changes nothing: that is left to `restore`.
  /// @collective{comm}, synchronises. Errors (usage, input, io), on all ranks: it exists and may not, has no
  /// checkpoint to resume from, or cannot be made.
  void prepare_directory();
  /// Resolves the streams of the simulation and the outputs of the case for this rank (`output::make_plan`).
  /// @collective{comm}, synchronises. Errors (input), on all ranks.
  void plan(std::vector<output::Stream> streams, CaseOutputs outputs, const Box& own_box, Index3 domain);
  /// Bytes of this rank's staging buffers and reductions, once planned; 0 before. @local
  [[nodiscard]] double buffer_bytes() const;
  /// If the run is to be resumed: restores the simulation and the running reductions from the newest
  /// checkpoint that is whole, and returns its step; `open_output` then opens the file that is there. Only
  /// then are the account and the traces of the earlier segment put aside (docs/formats/run_directory.md), so
  /// that a case that does not fit leaves the directory as it was. Returns 0 otherwise.
  /// @collective{comm}, synchronises. Errors, on all ranks: (input) there is no such checkpoint; (io) the
  /// earlier segment cannot be put aside.
  StepIndex restore(const SimulationCalls& simulation);
  /// Instead of a run, once it is planned: converts a checkpoint, with the state of the simulation. Returns a
  /// line that says what was done. @collective{comm}, synchronises. Errors: as `convert_checkpoint`.
  std::string convert(const checkpoint::StateFunction& simulation, const Conversion& conversion,
                      const std::vector<ForeignFormat>& formats);
  /// Creates the output file with what was planned; the outputs of the case and the numbers of steps are
  /// added to the head. With a step in `resume`, for a computation that is resumed, it opens the file that an
  /// earlier run left. The simulation is, with arrays of `simulation_bytes`, and has talked to the other
  /// ranks once. @collective{comm}, synchronises
  output::Session& open_output(const std::string& path, const output::FileHead& head,
                               std::int64_t simulation_bytes, const output::Resume& resume = {});
  /// Largest memory of this rank during the run, known once the output is open; from the first step on with
  /// the buffers of checkpoints. @local
  [[nodiscard]] std::int64_t predicted_bytes() const noexcept;

  /// Runs the steps; see `run::drive`. @collective{comm}
  DriveResult drive(const SimulationCalls& simulation, const StepSpan& steps, const Watch& watch,
                    const std::function<void(StepIndex)>& after_step);

  /// Computes, from what is recorded, what the final fields need beside the simulation, and returns where to
  /// find them. @collective
  using FinalFields = std::function<output::FieldLookup(output::Session&)>;

  /// Describes how a run ended, for people.
  struct Summary {
    RunEnd end;
    bool paused = false;                    ///< stopped only in order to be resumed
    double wait_s = 0;                      ///< largest over the ranks
    std::optional<double> hidden_fraction;  ///< refers to all ranks
  };
  /// Takes the final fields, completes the output file with the `tail` and writes the account. What failed
  /// is in the summary, the same on all ranks; it is not thrown. `cells` are this rank's. When the output is
  /// complete and the run has not failed, `derive` makes other files from it, if it is given; if that fails,
  /// so has the run. `derive` throws the same error on all ranks, or none. @collective{comm}, synchronises
  Summary close(const DriveResult& result, const FinalFields& fields,
                const std::function<output::FileTail()>& tail, std::int64_t cells,
                const std::function<void()>& derive = {});

  /// As `close`, for a run that stopped before the end of the computation and that another one resumes from:
  /// `save` keeps the simulation's state, then the reductions are left unfinished in the file. If the state
  /// cannot be kept, the file stays as it is. @collective{comm}, synchronises
  Summary close_for_restart(const DriveResult& result, const std::function<void(output::Session&)>& save,
                            const std::function<output::FileTail()>& tail, std::int64_t cells);

  /// Runs `body`, the whole program, and returns its exit status, or prints its error and returns
  /// `status_of(kind)`. A failure that only this rank knows of aborts the job, after it left an account.
  /// @collective{comm}
  int guard(const std::function<int()>& body, const std::function<int(ErrorKind)>& status_of) noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tailrace::run
