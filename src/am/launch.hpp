// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "am/endpoint.hpp"
#include "am/faults.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::am {

/// Says how messages travel: `--transport mpi` between the processes of a job, `local:N` between N threads of
/// one process.
struct Choice {
  int local_ranks = 0;  ///< 0: MPI
  std::optional<Faults> faults;
  Options options;
};

/// Reads "mpi" or "local:N" with N from 1 to 1024. @local. Errors (usage): another text, with what is known.
Choice parse_transport(const std::string& text);

/// Calls `body` for each rank of the chosen transport, with an endpoint that is closed after it: once under
/// MPI, in a thread for each rank otherwise. An exception of a body ends all bodies of this process: the
/// others' `progress` throws, and the first exception is thrown here. @collective{comm}
void launch(mpi::CommView comm, const Choice& choice, const std::function<void(Endpoint&)>& body);

/// The same for ranks that are threads, without MPI. @local
void launch_local(const Choice& choice, const std::function<void(Endpoint&)>& body);

}  // namespace tailrace::am
