// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "h5/file.hpp"
#include "input.hpp"
#include "sensor_data.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/file_content.hpp"

/// The parts of a k-Wave output file beside its streams (docs/formats/ultrasound_output.md).
namespace tailrace::ultrasound {

/// Wall times of the phases that k-Wave reports, in seconds.
struct PhaseTimes {
  double loading = 0, preparation = 0, simulation = 0, finishing = 0;
};

/// The attributes of each dataset in k-Wave's files, of which `data_type` is "float" or "long".
std::vector<h5::Attribute> dataset_attributes(const char* data_type);

/// Scalars repeated from the input, copied mask, root attributes; those known at the end are given room.
template <class Real>
output::FileHead make_file_head(const Input<Real>& input, const SensorData& sensor_data, mpi::CommView comm,
                                int threads);

/// The values known at the end. Memory in bytes: the largest of a rank and the sum.
output::FileTail make_file_tail(StepIndex steps_done, const PhaseTimes& times, std::int64_t peak_bytes,
                                std::int64_t total_bytes);

}  // namespace tailrace::ultrasound
