// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "h5/chunked.hpp"
#include "output/core/sink.hpp"

namespace tailrace::output {

/// Creates the file with all its datasets, or checks an existing one if the run continues in it; returns how
/// the datasets of the streams are cut, nothing for those without elements. To be called on the root only.
/// Errors (io); (input): all that an existing file has other than the streams need it, together.
std::vector<h5::ChunkLayout> prepare_chunked_file(const SinkContext& context);

/// Sends the root's layouts to all. @collective{comm}
void broadcast(mpi::CommView comm, std::vector<h5::ChunkLayout>& layouts);

}  // namespace tailrace::output
