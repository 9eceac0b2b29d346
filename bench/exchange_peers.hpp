// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exchange_maps.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::bench {

/// A gather as one writes it by hand with MPI, for one load: the same values into the same slots as an access
/// map brings.
class HandWritten {
 public:
  HandWritten() = default;
  HandWritten(const HandWritten&) = delete;
  HandWritten& operator=(const HandWritten&) = delete;
  virtual ~HandWritten() = default;
  /// Fills the landing slots of `x`. @collective{comm}
  virtual void gather(std::vector<double>& x) = 0;
};

struct NamedPeer {
  std::string name;
  std::unique_ptr<HandWritten> way;
};

/// "isend" (MPI_Isend and MPI_Irecv), "alltoallv" (MPI_Neighbor_alltoallv on a graph of the peers), and puts
/// into a window: "rma-fence", "rma-pscw", "rma-lock" (a flush, then a barrier). @collective{comm}
std::vector<NamedPeer> hand_written(mpi::CommView comm, const IndexLoad& load, int components);

}  // namespace tailrace::bench
