// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tailrace/comm.hpp"

namespace tailrace::mpi {

/// The ranks with which this one exchanges, as MPI's collective operations among neighbours know them.
class Neighbourhood {
 public:
  /// @collective{comm}, synchronises
  Neighbourhood(CommView comm, const std::vector<int>& to, const std::vector<int>& from);

  /// Begins to exchange `out` and `in`, in the order of the lists of ranks; the memory belongs to MPI until
  /// the request is complete. @collective{comm}, does not wait
  [[nodiscard]] MPI_Request start(std::span<const std::span<std::byte>> out,
                                  std::span<const std::span<std::byte>> in);

 private:
  /// What MPI knows of one side; it reads this until the exchange is complete.
  struct Side {
    std::vector<int> counts;
    std::vector<MPI_Aint> places;
    std::vector<MPI_Datatype> types;
    Side() = default;
    Side(const Side&) = delete;
    Side& operator=(const Side&) = delete;
    ~Side() { free_types(); }
    void set(std::span<const std::span<std::byte>> parts);
    void fill_up(std::size_t parts);
    void free_types() noexcept;
  };
  Comm comm_;
  Side out_, in_;
};

}  // namespace tailrace::mpi
