// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tailrace/comm.hpp"

namespace tailrace::mpi {

/// The ranks with which this one exchanges, as MPI's collective operations among neighbours know them.
class Neighbourhood {
 public:
  /// @collective{comm}, synchronises
  Neighbourhood(CommView comm, const std::vector<int>& to, const std::vector<int>& from);
  ~Neighbourhood();

  /// Begins to exchange `out` and `in`, in the order of the lists of ranks; the memory belongs to MPI until
  /// the request is complete. @collective{comm}, does not wait
  [[nodiscard]] Request start(std::span<const std::span<std::byte>> out,
                              std::span<const std::span<std::byte>> in);

 private:
  struct Side;
  Comm comm_;
  std::unique_ptr<Side> out_, in_;  ///< MPI reads them until the exchange is complete
};

}  // namespace tailrace::mpi
