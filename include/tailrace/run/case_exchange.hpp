// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tailrace/comm.hpp"
#include "tailrace/exchange/access_map.hpp"
#include "tailrace/run/case_schema.hpp"

/// The table [exchange] of a case, and what access maps did in a run.
namespace tailrace::run {

class CaseFile;

/// The keys of [exchange], for the schema of a simulation with access maps; `order` is the default. @local
std::vector<Key> exchange_keys(exchange::Order order);
/// Reads the table. What is wrong, such as a transport that this build does not have, becomes a problem of
/// the file. @local
exchange::AccessOptions read_exchange(CaseFile& file);

/// An access map, and what run.json calls it.
struct NamedMap {
  std::string name;
  const exchange::AccessMap* map = nullptr;  ///< null: it was never made
};
/// What `RunAccount::exchange` says (docs/formats/run_directory.md): what was asked for, the transports of
/// this build, and of each map what its flights moved and cost, which transports were tried and which was
/// kept. Complete on rank 0. @collective{comm}, synchronises
nlohmann::json describe_exchange(mpi::CommView comm, const exchange::AccessOptions& options,
                                 const std::vector<NamedMap>& maps);

}  // namespace tailrace::run
