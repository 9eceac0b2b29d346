// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "output/core/sink.hpp"
#include "output/sinks/adios_file.hpp"

namespace tailrace::output {

/// Describes how a dataset of a stream is in an output of ADIOS2.
struct AdiosVariable {
  std::string name;
  h5::Shape shape;          ///< refers to a sample
  std::int64_t values = 0;  ///< refers to a sample, over all ranks; with 0 there is no variable
  bool series = false;      ///< a sample in each step, not one value per point in the last one
};

/// The name of a dataset's variable: its path without the leading '/'.
std::string adios_name(const std::string& path);

/// The shape of one of the samples that a dataset of this shape holds: what follows the extents of the
/// samples, or all values in one row if no extents are those of the samples alone.
h5::Shape sample_shape(const h5::Shape& dataset, std::uint64_t samples);

/// The variables of all datasets, as they are numbered in jobs.
std::vector<AdiosVariable> adios_variables(const Plan& plan);

/// Puts all values of a dataset of the head into the step. @local
void put_whole(AdiosFile& file, const h5::DatasetSpec& spec, const std::byte* values);

/// Makes an empty directory for the output, in place of the file or the output of ADIOS2 that has the name.
/// @local. Errors (io): something else has it.
void make_adios_directory(const std::string& path);

/// Defines the variables; on the root puts the attributes, the datasets of the head and a commit mark of 0
/// into the first step, which is all that it holds. @collective{context.comm}
void lay_out(AdiosFile& file, const SinkContext& context, const std::vector<AdiosVariable>& variables);

}  // namespace tailrace::output
