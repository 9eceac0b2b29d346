// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "tailrace/comm.hpp"

namespace tailrace::exchange {

/// What ranks do with a map together.
enum class MapCall : std::uint8_t { gather, scatter_add, rebuild };

/// Compares what the ranks have begun to do with a map, while it is under way. For debug checks.
class FlightOrder {
 public:
  /// Which call of the map this is, counted by this rank, and the bytes of an entry of a flight. Calls of
  /// the same number are compared. @collective{comm}, does not wait
  FlightOrder(mpi::CommView comm, std::int64_t number, MapCall call, std::size_t entry_bytes);
  FlightOrder(const FlightOrder&) = delete;
  FlightOrder& operator=(const FlightOrder&) = delete;
  /// Before all ranks have answered only while an error ends the program.
  ~FlightOrder();

  /// Returns whether all ranks have answered. @local, does not wait. Errors (usage), the same on all ranks:
  /// they do different things.
  [[nodiscard]] bool agreed();
  /// Waits for it. @neighbour. Errors: as `agreed`; (internal): not all ranks have answered in time.
  void wait(double limit_s);

 private:
  std::int64_t number_;
  std::unique_ptr<std::array<std::int64_t, 4>> most_;
  mpi::Request request_ = mpi::Request::none;
};

}  // namespace tailrace::exchange
