// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/flight_order.hpp"

#include <fmt/format.h>

#include <span>

#include "mpi/collective.hpp"
#include "tailrace/error.hpp"

namespace tailrace::exchange {

FlightOrder::FlightOrder(mpi::CommView comm, std::int64_t number, bool gather, std::size_t entry_bytes) {
  const std::int64_t kind = gather ? 0 : 1, bytes = static_cast<std::int64_t>(entry_bytes);
  most_ =
      std::make_unique<std::array<std::int64_t, 6>>(std::array{number, kind, bytes, -number, -kind, -bytes});
  request_ = mpi::start_combining(comm, std::span(*most_), mpi::Combination::max);
}

FlightOrder::~FlightOrder() {
  if (request_ != MPI_REQUEST_NULL) static_cast<void>(most_.release());  // MPI may still write there
}

bool FlightOrder::agreed() {
  if (!mpi::test_all({&request_, 1})) return false;
  const auto& most = *most_;
  if (most[0] == -most[3] && most[1] == -most[4] && most[2] == -most[5]) return true;
  throw Error(
      ErrorKind::usage,
      fmt::format(
          "ranks have begun different flights of a map: number {} to {}, {}, {} to {} bytes per entry",
          -most[3], most[0], most[1] == -most[4] ? "all in one direction" : "some gather and others scatter",
          -most[5], most[2]),
      "the same flights in the same order on all ranks");
}

}  // namespace tailrace::exchange
