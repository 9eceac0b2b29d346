// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "output/planner/model.hpp"

namespace tailrace::output {

/// Describes what a process finds out about its machine, for the planner.
struct Host {
  std::string name;
  int free_cores = 0;                  ///< refers to the machine, on which nobody computes
  double quota_cores = 0;              ///< cores' worth of time that its control group allows; 0: no limit
  int threads = 1;                     ///< with which it computes
  std::int64_t memory_free_bytes = 0;  ///< 0: unknown
  std::int64_t dirty_limit_bytes = 0;  ///< see `Machine`; 0: unknown
  int spawn_slots = 0;                 ///< processes that MPI says there is room for

  friend bool operator==(const Host&, const Host&) = default;
};

/// Of this process, but for what MPI and the other processes of the machine say. @local
Host this_host();

/// As one line, and back. @local
std::string to_text(const Host& host);
Host host_from(const std::string& text);

/// The machine that these ranks, one host each, compute on. @local
Machine machine_of(const std::vector<Host>& ranks);

}  // namespace tailrace::output
