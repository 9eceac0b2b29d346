// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "exchange/transports/transports.hpp"
#include "tailrace/error.hpp"

namespace tailrace::exchange {

namespace {

std::unique_ptr<Line> open_shared_and_persistent(LineConfig config) {
  return open_divided(std::move(config), open_persistent);
}

constexpr std::array<Transport, 8> all{{
    {"persistent", "two-sided messages, prepared once", false, open_persistent},
    {"shared", "loads and stores within a node, persistent beyond", false, open_shared_and_persistent},
    {"isend", "two-sided messages", false, open_isend},
    {"neighbour", "one collective operation among neighbours", false, open_neighbour},
    {"rma-lock", "one-sided puts, a flush, then a flag", false, open_rma_lock},
    {"rma-pscw", "one-sided puts in epochs that both sides open", false, open_rma_pscw},
    {"rma-fence", "one-sided puts between fences of all ranks", true, open_rma_fence},
    {"get", "one-sided gets once a flag says that there is something", true, open_get},
}};

}  // namespace

std::vector<int> ranks_of(const std::vector<Peer>& peers) {
  std::vector<int> ranks;
  for (const Peer& peer : peers) ranks.push_back(peer.rank);
  return ranks;
}

std::span<const Transport> transports() noexcept {
  return all;
}

const Transport& find_transport(std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  if (found != all.end()) return *found;
  std::vector<std::string_view> names;
  for (const auto& one : all) names.push_back(one.name);
  throw Error(ErrorKind::usage, fmt::format("no exchange transport is called \"{}\"", name),
              fmt::format("one of {}", fmt::join(names, ", ")));
}

}  // namespace tailrace::exchange
