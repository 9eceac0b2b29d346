// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <string_view>
#include <vector>

#include "exchange/line.hpp"

namespace tailrace::test {

/// The transports of exchanges that can be used here; where the environment names one (TAILRACE_EXCHANGE),
/// this one alone: a launch is all for it.
inline std::vector<exchange::Transport> usable_transports() {
  const char* const named = std::getenv("TAILRACE_EXCHANGE");
  std::vector<exchange::Transport> list;
  for (const exchange::Transport& transport : exchange::transports())
    if (transport.obstacle.empty() && (named == nullptr || transport.name == std::string_view(named)))
      list.push_back(transport);
  return list;
}

}  // namespace tailrace::test
