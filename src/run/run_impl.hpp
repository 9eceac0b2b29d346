// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/system.hpp"
#include "output/core/plan.hpp"
#include "output/core/resume.hpp"
#include "output/registry/options.hpp"
#include "output/session/session.hpp"
#include "run/checkpointing.hpp"
#include "run/progress.hpp"
#include "run/run_device.hpp"
#include "run/sample_times.hpp"
#include "run/stop.hpp"
#include "run/tracing.hpp"
#include "tailrace/run/run.hpp"

namespace tailrace::run {

/// Describes what is behind `Run`, where its functions are described.
class Run::Impl {
 public:
  Impl(mpi::CommView comm, RunOptions options, output::IoServers* io_servers);

  [[nodiscard]] RunAccount& account() noexcept { return account_; }
  [[nodiscard]] trace::Log& log() noexcept { return log_; }
  [[nodiscard]] double elapsed_s() const noexcept { return monotonic_s() - account_.start_s; }
  void warn(const std::string& message);
  void open_device();
  [[nodiscard]] const RunDevice& run_device() const noexcept { return device_; }
  void check_device_memory(const std::function<double(int rank)>& bytes, int ranks, const RunSize& size);
  void check_streams(const output::Resume& resume);
  void check_places(const std::string& output);
  void prepare_directory();
  void plan(std::vector<output::Stream> streams, CaseOutputs outputs, const Box& own_box, Index3 domain);
  [[nodiscard]] double buffer_bytes() const;
  StepIndex restore(const SimulationCalls& simulation);
  std::string convert(const checkpoint::StateFunction& simulation, const Conversion& conversion,
                      const std::vector<ForeignFormat>& formats);
  output::Session& open_output(const std::string& path, const output::FileHead& head,
                               std::int64_t simulation_bytes, const output::Resume& resume);
  [[nodiscard]] std::int64_t predicted_bytes() const noexcept { return predicted_bytes_; }
  DriveResult drive(const SimulationCalls& simulation, const StepSpan& steps, const Watch& watch,
                    const std::function<void(StepIndex)>& after_step);
  Summary close(const DriveResult& result, const FinalFields& fields,
                const std::function<output::FileTail()>& tail, std::int64_t cells,
                const std::function<void()>& derive);
  Summary close_for_restart(const DriveResult& result, const std::function<void(output::Session&)>& save,
                            const std::function<output::FileTail()>& tail, std::int64_t cells);
  int guard(const std::function<int()>& body, const std::function<int(ErrorKind)>& status_of) noexcept;

 private:
  void check_directory() const;
  void check_output(const std::string& output) const;
  void describe_grids(const std::string& path);
  /// Returns what the session goes by: what the user decided, and the processes that write.
  [[nodiscard]] std::string checkpoint_directory() const { return options_.directory + "/checkpoints"; }
  void begin_segment();
  void set_segment_aside();
  void begin_traces();
  void clear_directory();
  void keep_arguments();
  StepIndex restore_state(const checkpoint::StateFunction& simulation);
  /// Name and version.
  [[nodiscard]] std::string program() const;
  void begin_checkpoints(StepIndex done, const checkpoint::StateFunction& state);
  std::size_t predict_checkpoints(const checkpoint::StateFunction& state);
  void start_steps(const StepSpan& steps, const Watch& watch);
  void mark_step(const DriveResult& so_far);
  void report_not_finite(StepIndex step);
  void report_warnings();
  void report_plan();
  [[nodiscard]] std::string stop_reason() const;
  void check_finite(const DriveResult& result);
  Summary end_with(const DriveResult& result, const std::string& reason,
                   const std::function<void()>& complete_output, std::int64_t cells);
  void warn_of_dropped();
  void warn_of_faults();
  /// Seconds that this rank copied samples, without those of checkpoints.
  [[nodiscard]] double samples_pack_s() const;
  void write_account(const RunEnd& end, std::int64_t cells);
  void write_failed_account(const ErrorInfo& error) const noexcept;
  void open_io_servers();

  mpi::CommView comm_;
  RunOptions options_;
  output::IoServers* io_servers_;
  RunDevice device_;         ///< before all that uses it
  double device_bytes_ = 0;  ///< of its memory that this rank takes
  StopRequest stop_;
  trace::Log log_{"main"};
  RunAccount account_;
  std::int64_t baseline_bytes_ = resident_memory_bytes(), predicted_bytes_ = 0;
  CaseOutputs outputs_;
  output::Plan plan_;
  std::vector<SampleTimes> sample_times_;
  std::optional<output::KeptReductions> kept_;  ///< refers to a run that is resumed, until its output is open
  StepIndex resumed_after_ = 0;
  StepIndex steps_done_ = 0;
  bool counts_steps_ = false;  ///< the file has the numbers of steps from here
  std::unique_ptr<output::Session> session_;
  std::optional<Checkpointing> checkpointing_;
  std::optional<ProgressFile> progress_;
  std::optional<Tracing> tracing_;
  Watch watch_;
  bool reported_not_finite_ = false;
  std::size_t reported_warnings_ = 0;     ///< refers to the session
  std::size_t reported_checkpoints_ = 0;  ///< warnings of these
  std::size_t reported_decisions_ = 1;    ///< the first one says what the output begins with
};

}  // namespace tailrace::run
