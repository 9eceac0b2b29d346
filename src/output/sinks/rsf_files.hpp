// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "output/core/sink.hpp"
#include "output/sinks/hdf5_file.hpp"

/// RSF files (Madagascar): the values of each dataset of the streams in a raw file beside the output file,
/// and a header of text that says what they are. The output file keeps everything else, and names the raw
/// files as the place of its datasets.
namespace tailrace::output {

/// A dataset of a stream as an RSF file.
struct RsfFile {
  std::string header, data;               ///< NAME.rsf, and NAME.rsf@ with the whole path
  const PlannedStream* stream = nullptr;  ///< refers to the plan
  const h5::DatasetSpec* spec = nullptr;
  std::vector<std::uint64_t> extents;  ///< refers to one sample, fastest first

  [[nodiscard]] bool is_series() const noexcept { return stream->reduction == Reduction::none; }
  [[nodiscard]] std::int64_t bytes() const noexcept;
};

/// The RSF files of an output, by the numbers of the datasets; those without elements have none (no names).
/// The plan outlives them. @local. Errors (usage): two datasets would have the same file.
std::vector<RsfFile> rsf_files(const std::string& output, const Plan& plan);

/// Creates raw files, the output file and the headers, which state no sample yet. @local. Errors (io).
void create_rsf(const SinkContext& context, const std::vector<RsfFile>& files);
/// Returns where everything is in them. @local. Errors (io).
Hdf5Places rsf_places(const SinkContext& context, const std::vector<RsfFile>& files);

/// The text of a header that states no sample yet; `axes` may be empty.
std::string rsf_header(const RsfFile& file, const std::vector<Axis>& axes);
/// Has the header of a series state so many samples, in place. @local. Errors (io).
void report_samples(const RsfFile& file, StepIndex samples);

}  // namespace tailrace::output
