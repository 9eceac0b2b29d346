// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "exchange_maps.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::bench {

struct TimingSettings {
  std::vector<std::string> loads = index_loads();
  int rounds = 30, components = 1;
};

/// Every transport and `auto` on each load, the ways by hand and by libraries, orders of sums, overlap, and
/// what maps cost to make: all samples, of the slowest rank each. @collective{comm}
nlohmann::json time_loads(mpi::CommView comm, const TimingSettings& settings);

}  // namespace tailrace::bench
