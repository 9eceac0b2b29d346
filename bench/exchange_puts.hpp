// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "tailrace/comm.hpp"

namespace tailrace::bench {

/// Single values of 8 bytes put to random places of the next rank's symmetric memory, until they are there:
/// by stores within the node, and as if between nodes, packed and one message each. @collective{comm}
nlohmann::json time_puts(mpi::CommView comm, std::int64_t puts, int rounds);

}  // namespace tailrace::bench
