// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "header_reader.hpp"
#include "input.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/error.hpp"

namespace tailrace::ultrasound {

/// Describes where the sources of an input file act, as every rank knows it.
struct SourceLists {
  std::vector<std::int64_t> pressure;  ///< linear indices, from 0
  std::vector<std::int64_t> velocity;  ///< the same of all velocity components and of the transducer
  std::vector<std::int64_t> delays;    ///< refers to the transducer, from 0, one per point
  std::vector<std::string> repeated;   ///< lists with a point that is there twice, and which
};

/// Reads flags, modes and lists of all sources into `header` and the result. A source whose signals cannot be
/// read, which is a problem, counts as absent. @local
SourceLists read_source_header(HeaderReader& reader, InputHeader& header);

/// Reads this rank's points of all time-varying sources and their signals, as far as the run needs them, and
/// looks at every value; the root adds to the problems. @collective{comm}
template <class Real>
Sources<Real> read_sources(mpi::CommView comm, const std::string& path, const InputHeader& header,
                           const SourceLists& lists, Problems& problems);

/// Does `action` on this rank and shares its outcome; an error of reading a damaged file gets a fix.
/// @collective{comm}
void read_together(mpi::CommView comm, const std::function<void()>& action);

}  // namespace tailrace::ultrasound
