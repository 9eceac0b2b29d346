// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "h5/file.hpp"
#include "output/core/plan.hpp"
#include "output/core/raw_file.hpp"

/// Samples in files of their own (docs/formats/snapshots.md): one file for all samples of a step, in a
/// directory beside the output file, whose datasets say only where their values are.
namespace tailrace::output {

/// Returns whether the samples of a stream go into files of their own: those that are due step by step.
bool is_split(const PlannedStream& stream) noexcept;

/// The directory of the files that belong to an output file.
std::string snapshot_directory(const std::string& path);
/// The file of a step.
std::string snapshot_path(const std::string& path, StepIndex step);

/// Creates a dataset of a split stream in an output file that will be known as `path`. @local. Errors
/// (usage): its shape has no box that is one sample.
void create_split_dataset(h5::File& file, const std::string& path, const h5::DatasetSpec& spec,
                          const Cadence& cadence);
/// Removes the files of all steps after `after`, and with the last one their directory. @local. Errors (io).
void discard_snapshots(const std::string& path, StepIndex after);
/// Errors (input): the file of a step up to `until` is missing, with its name. @local
void check_snapshots(const std::string& path, const Plan& plan, StepIndex until);

/// The files that this process writes samples into. Each is created by the first process that has samples for
/// it, with all datasets of its step, and appears when it is complete.
class SnapshotFiles {
 public:
  /// `path` of the output file; `call` takes the bytes, of all files together; `process` is the number of
  /// this one in the job. The plan outlives this.
  SnapshotFiles(std::string path, const Plan& plan, std::shared_ptr<WriteCall> call, int process);

  struct Place {
    RawFile* file = nullptr;  ///< until `max_open` others were asked for
    std::int64_t offset = 0;
    std::int64_t bytes = 0;  ///< to the end of the sample
  };
  /// Returns where byte `offset` of a dataset is; no file if the dataset's samples are not split. @local.
  /// Errors (io): the file cannot be created.
  Place locate(std::size_t dataset, std::int64_t offset);
  /// Has the system begin to move what was written onto the device. @local
  void start_flush() noexcept;
  /// Puts everything that was written since the last call onto the device. @local. Errors (io).
  void flush();
  /// @local. Errors (io).
  void close();

 private:
  static constexpr std::size_t max_open = 16;

  struct Dataset {
    const PlannedStream* stream = nullptr;  ///< null if not split
    h5::DatasetSpec sample;                 ///< unchanged in a file of its own
    std::int64_t sample_bytes = 0;
  };
  struct Open {
    StepIndex step;
    std::unique_ptr<RawFile> file;
    std::map<std::size_t, std::int64_t> places;  ///< first bytes, by dataset
  };

  Open& open(StepIndex step);
  std::map<std::size_t, std::int64_t> create(StepIndex step) const;
  std::unique_ptr<RawFile> open_raw(StepIndex step);

  std::string path_;
  std::shared_ptr<WriteCall> call_;
  int process_;
  std::vector<Dataset> datasets_;
  std::list<Open> open_;           ///< the last one used comes first
  std::set<StepIndex> unflushed_;  ///< also of those that are no longer open
};

}  // namespace tailrace::output
