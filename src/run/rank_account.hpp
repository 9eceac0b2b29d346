// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/placement.hpp"
#include "output/session/session.hpp"
#include "output/strategies/io_servers.hpp"
#include "run/checkpointing.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/run/account.hpp"
#include "tailrace/trace.hpp"

/// run.json: the machine-readable account of a run (docs/formats/run_directory.md).
namespace tailrace::run {

/// Describes what one rank has to say.
struct RankAccount {
  std::int64_t cells = 0;
  double setup_s = 0, compute_s = 0, exchange_s = 0, pack_s = 0;
  output::Account output;
  ThreadPlacement thread_placement;
  std::int64_t predicted_memory_bytes = 0;
  nlohmann::json device = nullptr;  ///< see `RunDevice::describe`
  std::int64_t predicted_device_memory_bytes = 0;
  CheckpointAccount checkpoint;
  std::vector<output::WriterAccount> writers;  ///< processes that only write; on the root
};

/// Times of computation and exchange from a rank's log; the compute spans enclose the exchanges.
RankAccount account_from(const trace::Log& log);

/// The share of the work for output, copying and writing, that did not hold the computation up, from sums
/// over all ranks: `visible_s` is waiting and copying. Nothing where nothing was written. @local
std::optional<double> hidden_fraction(double visible_s, double output_s) noexcept;

/// Gathers the accounts of all ranks and writes DIR/run.json (rank 0). @collective{comm}
void write_account(mpi::CommView comm, const std::string& directory, const RunAccount& run, const RunEnd& end,
                   const RankAccount& mine);

/// Writes DIR/run.json for a run of so many ranks that fails in between, without the accounts of these. For a
/// failure that only this rank knows of, before it aborts the job. @local
void write_failure(const std::string& directory, const RunAccount& run, StepIndex steps_done, int ranks,
                   const ErrorInfo& error);

/// Description of a stream's datasets for `RunAccount::outputs`.
nlohmann::json describe_streams(const std::vector<output::Stream>& streams);

}  // namespace tailrace::run
