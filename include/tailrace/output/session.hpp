#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tailrace/base/error.hpp"
#include "tailrace/mpi/comm.hpp"
#include "tailrace/output/options.hpp"
#include "tailrace/output/plan.hpp"
#include "tailrace/output/stream.hpp"
#include "tailrace/trace/trace.hpp"

namespace tailrace::output {

/// A small dataset that is complete before the first step; rank 0 writes it.
struct StaticDataset {
  h5::DatasetSpec spec;
  std::vector<std::byte> values;
};

/// What a file holds beside the streams.
struct FileHead {
  std::vector<StaticDataset> datasets;
  std::vector<h5::Attribute> attributes;  ///< of the root; texts known only at the end reserve their bytes here
};

/// What is put into the file when it is closed: replaced root texts and values of small datasets of the head.
struct FileTail {
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<std::pair<std::string, std::vector<std::byte>>> datasets;
};

/// Counters of this rank's output, for run.json.
struct Account {
  double wait_s = 0;        ///< the computation stood still for output
  double write_s = 0;       ///< in writing, wherever it ran
  double write_cpu_s = 0;   ///< CPU time of the writing
  std::int64_t bytes = 0, writes = 0, waits = 0;
};

/// Finds the field of a quantity on this rank at the time of a sample.
using FieldLookup = std::function<FieldView(const std::string& quantity)>;

/// The life of one output file: created with its whole layout before the first step, filled behind the computation,
/// closed with its reductions.
class Session {
 public:
  /// Creates the file (rank 0) and starts the writers. @collective{comm}, synchronises. Every rank throws the same error
  /// or none. `plan` was made with the same `comm`.
  Session(mpi::CommView comm, std::string path, Plan plan, const FileHead& head, const Options& options, trace::Log& log);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Takes the samples that are due at `step` and hands them over. @local. Waits while no buffer is free.
  /// After a failure in the background it takes nothing more; `failure` has the reason.
  void sample(StepIndex step, const FieldLookup& field);

  /// The first failure of this rank's writer, if any. @local
  [[nodiscard]] std::optional<ErrorInfo> failure() const;

  /// Writes the reductions over what was sampled up to `last_step`, drains the writers, writes the tail, flushes the file
  /// to the device and closes it. @collective{comm}, synchronises; throws the same error on all ranks if any writer failed
  /// at any time (the file is closed and valid in that case too, with the tail if it could be written).
  void finish(StepIndex last_step, const FileTail& tail);

  [[nodiscard]] const Account& account() const noexcept;
  /// Log of the writer's spans, null when the strategy has no writer of its own. To be read after `finish`.
  [[nodiscard]] const trace::Log* writer_log() const noexcept;
  /// Bytes of buffers and accumulators on this rank.
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tailrace::output
