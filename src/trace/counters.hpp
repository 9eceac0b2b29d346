// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "tailrace/trace.hpp"

namespace tailrace::trace {

/// Makes PAPI ready. Errors (usage), with `name` for the option that asked for it: the program was built
/// without PAPI, or the machine lets nobody count. Any thread, may be called again.
void require_counters(const char* name);
/// Returns what is counted on this machine, in the order of `Counts`; after `require_counters`.
std::vector<std::string> counter_names();

/// Returns what the hardware counters of the calling thread counted since its first call; zeros where there
/// are none.
Counts read_counters() noexcept;

}  // namespace tailrace::trace
