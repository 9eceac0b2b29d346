// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "output/core/plan.hpp"
#include "output/core/resume.hpp"
#include "output/core/running_stream.hpp"
#include "output/session/device_sampler.hpp"
#include "output/session/output_pipeline.hpp"
#include "output/session/row_places.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/stream.hpp"

namespace tailrace::output {

/// Describes what becomes of the reductions when a file is closed.
enum class Ending { finished, closed_for_restart };

/// The streams of a plan, one behind the other.
std::vector<RunningStream> running_streams(const Plan& plan);

/// Takes the samples of a rank: packs what is due into buffers, gathers small ones, keeps the reductions, and
/// hands all of it to an output pipeline. Nothing here communicates but `count_jobs`. What is passed to the
/// constructor outlives it.
class Sampler {
 public:
  /// `streams` are those of the plan, as far as they have come; `rank` is for messages. `device`: null if all
  /// fields are in the host's memory. `rows`: null where they have no places.
  Sampler(const Plan& plan, std::vector<RunningStream> streams, int rank, OutputPipeline& pipeline,
          trace::Log& log, std::unique_ptr<DeviceSampler> device, std::unique_ptr<RowPlaces> rows);

  /// The jobs of the reductions that all ranks take part in, for sinks whose writes are collective.
  /// @collective{comm}
  void count_jobs(mpi::CommView comm);

  /// Takes all that is due at `step`; `flush`: it is to go to the device. After a failure it takes
  /// nothing, and hands in no rows where other ranks may. @local
  void take(StepIndex step, const FieldLookup& field, const RowsLookup& rows, bool flush);
  /// The streams with reduction `final`, unless they were taken at `step`. @local
  void take_final(StepIndex step, const FieldLookup& field);
  /// As before, of values that `fill` makes, and their record. @local
  void write_final(StepIndex step, const ShareFill& fill);
  /// Values for the last streams, which are `accumulator_streams`. @local
  void write_accumulators(const std::vector<RunningReduction>& reductions, StepIndex step);
  /// The reductions over what was taken. @local
  void write_reductions(StepIndex last_step, Ending ending);

  /// Hands over the buffer that is being filled, if there is one. @local
  void submit_batch();
  /// A job without values: all up to `step` is there. @local
  void submit_commit_mark(StepIndex step, bool flush = false);
  /// Where rows have places: hands over those that were taken last; waits for other ranks' counts, which are
  /// there unless a rank is a step behind. @local
  void place_rows();
  /// The same if it need not wait. @local
  void try_to_place_rows();
  /// All that was taken: those rows, and the buffer that is being filled. @local
  void submit_taken();
  /// As `submit_commit_mark`, with all that was taken, if a buffer is free. @local
  bool try_to_submit_commit_mark(StepIndex step, bool flush);

  /// The streams, with the reductions as they are now. @local, waits for the device
  [[nodiscard]] std::vector<RunningStream>& streams();
  [[nodiscard]] bool reduces() const noexcept;

 private:
  void take_values(StepIndex step, const FieldLookup& field, const RowsLookup& rows, bool flush);
  void accumulate(StepIndex step, const FieldLookup& field);
  void take_samples(StepIndex step, const FieldLookup& field, const RowsLookup& rows, bool flush);
  void pack_samples(StepIndex step, const FieldLookup& field, Staging& job);
  void pack_into(const FieldView& view, const Share& share, std::int64_t first, std::int64_t count,
                 Staging& job, std::span<std::byte> out);
  const device::Event* end_packing();
  void take_rows(StepIndex step, const RowsLookup& rows, Staging& job);
  void take_no_rows(StepIndex step);
  void submit_rows(const RowPlaces::Placed& rows, StepIndex step);
  void take_final(RunningStream& stream, StepIndex step, const FieldLookup& field);
  void take_final(RunningStream& stream, StepIndex step, const ShareFill& fill);
  template <class Fill>
  void submit_final(RunningStream& stream, StepIndex step, const Fill& fill);
  template <class Fill>
  void submit_values(const std::vector<Share>& shares, StepIndex step, const Fill& fill);
  void submit_missing(const RunningStream& stream, StepIndex step);
  void submit(Lease job);
  [[nodiscard]] std::int64_t batch_of(const Share& share) const;
  [[nodiscard]] std::int64_t own_jobs(const PlannedStream& stream) const;
  [[nodiscard]] FieldView field_of(const PlannedStream& stream, const FieldLookup& field) const;

  const Plan& plan_;
  std::vector<RunningStream> streams_;
  int rank_;
  OutputPipeline& pipeline_;
  trace::Log& log_;
  std::size_t staged_extents_per_step_;
  std::optional<Lease> batch_;                    ///< refers to a pool of the output pipeline's writer
  const device::Event* batch_arrival_ = nullptr;  ///< of what was last copied to it; null: all is there
  std::unique_ptr<DeviceSampler> device_;
  bool packs_on_device_ = false;     ///< since the last `end_packing`
  std::unique_ptr<RowPlaces> rows_;  ///< of a sink that has places for them
};

}  // namespace tailrace::output
