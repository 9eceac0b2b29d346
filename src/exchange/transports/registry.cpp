// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>

#include "exchange/transports/transports.hpp"
#include "mpi/library.hpp"
#include "mpi/openshmem.hpp"
#include "tailrace/error.hpp"
#include "tailrace/exchange/access_map.hpp"

namespace tailrace::exchange {

namespace {

std::unique_ptr<Line> open_shared_and_persistent(LineConfig config) {
  return open_divided(std::move(config), open_persistent);
}

/// What the conformance suite found of MPI libraries.
std::string_view uneven_neighbours() {
  return mpi::library() == mpi::Library::mpich ? "MPICH 4.0 loses messages of MPI_Ineighbor_alltoallw where "
                                                 "a rank sends to more or fewer ranks than "
                                                 "it receives from"
                                               : "";
}

std::array<Transport, 11> make_list() {
  static const std::string no_shmem = mpi::openshmem::obstacle();
  return {{
      {"persistent", "two-sided messages, prepared once", open_persistent},
      {"shared", "loads and stores within a node, persistent beyond", open_shared_and_persistent},
      {"isend", "two-sided messages", open_isend},
      {"neighbour", "one collective operation among neighbours", open_neighbour, uneven_neighbours()},
      {"rma-lock", "one-sided puts, a flush, then a flag", open_rma_lock, {}, false, true},
      {"rma-pscw", "one-sided puts in epochs that both sides open", open_rma_pscw, {}, false, true},
      {"router", "stored and forwarded, so that a rank sends few messages to many peers", open_router},
      {"rma-fence", "one-sided puts between fences of all ranks", open_rma_fence, {}, true, true},
      {"get", "one-sided gets once a flag says that there is something", open_get, {}, true, true},
      {"rma-accumulate",
       "contributions are added in their owner's memory as they come; gathers as rma-lock",
       open_rma_lock,
       {},
       true,
       false,
       open_accumulate},
      {"shmem", "puts of OpenSHMEM, then a flag", open_shmem, no_shmem, true, true},
  }};
}

}  // namespace

std::vector<int> ranks_of(const std::vector<Peer>& peers) {
  std::vector<int> ranks;
  for (const Peer& peer : peers) ranks.push_back(peer.rank);
  return ranks;
}

std::span<const Transport> transports() {
  static const auto list = make_list();
  return list;
}

namespace {

/// The names of the transports that can be used and have a property.
template <class Has>
std::string usable(Has has) {
  std::vector<std::string_view> names;
  for (const auto& one : transports())
    if (one.obstacle.empty() && has(one)) names.push_back(one.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

const Transport& find_transport(std::string_view name) {
  const auto hint = "auto, or one of " + usable([](const Transport&) { return true; });
  const auto all = transports();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  if (found == all.end())
    throw Error(ErrorKind::usage, fmt::format("no exchange transport is called \"{}\"", name), hint);
  if (!found->obstacle.empty())
    throw Error(ErrorKind::usage,
                fmt::format("the exchange transport {} is not to be had: {}", name, found->obstacle), hint);
  return *found;
}

void check_transport(const AccessOptions& options) {
  if (options.transport == "auto") return;
  const Transport& transport = find_transport(options.transport);
  if (transport.open_sums != nullptr && options.order != Order::fast)
    throw Error(ErrorKind::usage,
                fmt::format("the exchange transport {} adds contributions as they come", transport.name),
                "the order fast, or another transport");
  if (!options.aggregate && !transport.batches)
    throw Error(ErrorKind::usage,
                fmt::format("the exchange transport {} sends one message to each rank, not word by word",
                            transport.name),
                "aggregate, auto, or one of " + usable([](const Transport& one) { return one.batches; }));
}

}  // namespace tailrace::exchange
