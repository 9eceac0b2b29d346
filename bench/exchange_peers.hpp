// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exchange_maps.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::bench {

/// A gather without an access map, by hand with MPI or by a library, for one load: the same values into the
/// same slots.
class HandWritten {
 public:
  HandWritten() = default;
  HandWritten(const HandWritten&) = delete;
  HandWritten& operator=(const HandWritten&) = delete;
  virtual ~HandWritten() = default;
  /// Fills the landing slots of `x`. @collective{comm}
  virtual void gather(std::vector<double>& x) = 0;
  /// Adds the landing slots of `x` to what their owners have. Returns false if there is no such way.
  /// @collective{comm}
  virtual bool scatter_add(std::vector<double>&) { return false; }
};

struct NamedPeer {
  std::string name;
  std::function<std::unique_ptr<HandWritten>()> make;  ///< @collective{comm}
};

/// "isend" (MPI_Isend and MPI_Irecv), "alltoallv" (MPI_Neighbor_alltoallv on a graph of the peers), and puts
/// into a window: "rma-fence", "rma-pscw", "rma-lock" (a flush, then a barrier). @collective{comm}
std::vector<NamedPeer> hand_written(mpi::CommView comm, const IndexLoad& load, int components);

}  // namespace tailrace::bench
