// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "output/core/sink.hpp"
#include "output/core/write_call.hpp"
#include "output/sinks/job_parts.hpp"

namespace tailrace::output {

/// Describes what sinks have in common whose library writes each job by all ranks together: the parts of a
/// job are put together, failures that are known are agreed on before the library is entered, those that it
/// reports after it. All functions of a job throw the same error on all ranks or none.
class CollectiveSink : public Sink {
 public:
  explicit CollectiveSink(const SinkContext& context);

  Written write(std::span<const Extent> extents, StepIndex step) final;
  void finish_job(StepIndex step) final;
  void commit_mark(int source, StepIndex steps) final;
  void flush() final;
  void close(mpi::CommView comm, const FileTail& tail, const FileEnd& end) final;
  [[nodiscard]] bool collective() const noexcept final { return true; }

 protected:
  [[nodiscard]] mpi::CommView comm() const noexcept { return comm_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const h5::DatasetSpec& spec(std::size_t dataset) const { return *job_.specs()[dataset]; }

  /// Before ranks agree on what has failed so far: throws what is known to fail in `write_parts`, where
  /// others may wait for a rank that leaves it. Nothing by default. @collective{comm}
  virtual void prepare(std::span<const DatasetPart> /*parts*/) {}
  /// The first byte of a dataset in the file.
  [[nodiscard]] virtual std::int64_t place(std::size_t dataset) const = 0;
  /// Writes this rank's parts of a job; `touched` has a bit for each dataset that any rank has values of.
  /// Returns what must be called on all ranks is called here whatever fails; the first failure is thrown
  /// after it.
  /// @collective{comm}
  virtual void write_parts(std::span<const DatasetPart> parts, std::span<const std::uint64_t> touched,
                           StepIndex step) = 0;
  /// @collective{comm}
  virtual void write_commit_mark(int source, StepIndex steps) = 0;
  /// With what the file is to end with, which `finish` may also put there. @collective{comm}
  virtual void close_file(const FileTail& tail, const FileEnd& end) = 0;
  /// After `close_file`, on the root. @local
  virtual void finish(const FileTail& tail, const FileEnd& end) = 0;

  /// Puts everything that this machine has written onto the device. @local
  virtual void flush_files() const { flush_file(path_); }
  static void flush_file(const std::string& path);

  /// True if the failure of the last job came out of `write_parts`, on whichever rank.
  [[nodiscard]] bool failed_in_library() const noexcept { return failed_in_library_; }

  /// Runs `action`; the first failure is kept until all ranks can hear of it.
  void keep_failure_of(const std::function<void()>& action);

 private:
  void disturb(const DatasetPart& part, StepIndex step);
  void share_failure();

  mpi::CommView comm_;
  std::string path_;
  JobParts job_;
  std::unique_ptr<WriteCall> disturbance_;  ///< pace and faults, around nothing
  std::optional<ErrorInfo> failure_;        ///< refers to this rank, not yet reported to the others
  bool failed_in_library_ = false;
};

/// True if the bit of a dataset is set.
inline bool is_touched(std::span<const std::uint64_t> touched, std::size_t dataset) {
  return (touched[dataset / 64] >> (dataset % 64) & 1U) != 0;
}

}  // namespace tailrace::output
