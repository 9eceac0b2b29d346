// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tailrace/comm.hpp"
#include "tailrace/error.hpp"
#include "tailrace/stream.hpp"

namespace tailrace::seismic {

/// Describes what the traces of receivers have in common.
struct Survey {
  std::string title;
  std::array<double, 3> spacing_m{1, 1, 1};
  double dt_s = 0;
  Index3 source;  ///< the first one
};

/// Finds streams of points that can be in SEG-Y files by their names. Others become problems: selections
/// that are no points, reductions, uneven times, intervals that are no whole microseconds, more samples or
/// traces than SEG-Y can count.
std::vector<output::Stream> receiver_streams(const std::vector<output::Stream>& streams,
                                             const std::vector<std::string>& names, double dt_s,
                                             Problems& problems);

/// The SEG-Y file of a stream: OUTPUT.NAME.sgy beside the output file.
std::string receiver_file(const std::string& output, const std::string& name);

/// Writes the samples that a stream took up to step `steps_done`, which the closed output file holds, as a
/// SEG-Y file of revision 1 with a trace for each point; every rank writes some of them. The file takes its
/// name when it is complete. @collective{comm}, synchronises. Errors (io), the same on all ranks.
void write_receivers(mpi::CommView comm, const Survey& survey, const output::Stream& stream,
                     const std::string& output, StepIndex steps_done);

}  // namespace tailrace::seismic
