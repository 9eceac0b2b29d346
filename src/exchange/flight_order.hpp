// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "tailrace/comm.hpp"

namespace tailrace::exchange {

/// Compares which flight of a map the ranks have begun, while it is under way. For debug checks.
class FlightOrder {
 public:
  /// The number of the flight, whether it is a gather, and the bytes of an entry. @collective{comm}, does not
  /// wait
  FlightOrder(mpi::CommView comm, std::int64_t number, bool gather, std::size_t entry_bytes);
  FlightOrder(const FlightOrder&) = delete;
  FlightOrder& operator=(const FlightOrder&) = delete;
  /// Before all ranks have answered only while an error ends the program.
  ~FlightOrder();

  /// Returns whether all ranks have answered. @local, does not wait. Errors (usage), the same on all ranks:
  /// they have begun different flights.
  [[nodiscard]] bool agreed();

 private:
  std::unique_ptr<std::array<std::int64_t, 6>> most_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace tailrace::exchange
