// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/flight_order.hpp"

#include <fmt/format.h>

#include <span>
#include <string>

#include "mpi/collective.hpp"
#include "mpi/look_until.hpp"
#include "tailrace/error.hpp"

namespace tailrace::exchange {

namespace {

const char* name_of(std::int64_t call) {
  constexpr std::array names{"begin a gather", "begin a scatter-add", "rebuild it"};
  return names[static_cast<std::size_t>(call)];
}

}  // namespace

FlightOrder::FlightOrder(mpi::CommView comm, std::int64_t number, MapCall call, std::size_t entry_bytes) {
  const std::int64_t kind{static_cast<std::uint8_t>(call)}, bytes = static_cast<std::int64_t>(entry_bytes);
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
  const auto differ = [&](std::size_t i) { return most[i] != -most[i + 3]; };
  if (!differ(0) && !differ(1) && !differ(2)) return true;
  std::string what;
  if (differ(1))
    what = fmt::format("some ranks {}, others {}", name_of(-most[4]), name_of(most[1]));
  else if (differ(2))
    what = fmt::format("all ranks {}, of {} to {} bytes per entry", name_of(most[1]), -most[5], most[2]);
  else
    what = fmt::format("all ranks {}, which for others is call {}", name_of(most[1]), most[0]);
  throw Error(ErrorKind::usage, fmt::format("in call {} of a map {}", -most[3], what),
              "the same flights and rebuilds of a map in the same order on all ranks");
}

void FlightOrder::wait(double limit_s) {
  if (mpi::look_until([&] { return agreed(); }, limit_s)) return;
  throw Error(ErrorKind::internal, fmt::format("not all ranks have called their map within {} s", limit_s),
              "the same flights and rebuilds of a map in the same order on all ranks");
}

}  // namespace tailrace::exchange
