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

FlightOrder::FlightOrder(mpi::CommView comm, std::int64_t number, MapCall call, std::size_t entry_bytes)
    : number_(number) {
  const std::int64_t kind{static_cast<std::uint8_t>(call)}, bytes = static_cast<std::int64_t>(entry_bytes);
  most_ = std::make_unique<std::array<std::int64_t, 4>>(std::array{kind, bytes, -kind, -bytes});
  request_ = mpi::start_combining(comm, std::span(*most_), mpi::Combination::max);
}

FlightOrder::~FlightOrder() {
  if (request_ != mpi::Request::none) static_cast<void>(most_.release());  // MPI may still write there
}

bool FlightOrder::agreed() {
  if (!mpi::test_all({&request_, 1})) return false;
  const auto [kind, bytes, minus_kind, minus_bytes] = *most_;
  if (kind == -minus_kind && bytes == -minus_bytes) return true;
  const auto what =
      kind != -minus_kind
          ? fmt::format("some ranks {}, others {}", name_of(-minus_kind), name_of(kind))
          : fmt::format("all ranks {}, of {} to {} bytes per entry", name_of(kind), -minus_bytes, bytes);
  throw Error(ErrorKind::usage, fmt::format("in call {} of a map {}", number_, what),
              "the same flights and rebuilds of a map in the same order on all ranks");
}

void FlightOrder::wait(double limit_s) {
  if (mpi::look_until([&] { return agreed(); }, limit_s)) return;
  throw Error(ErrorKind::internal,
              fmt::format("not all ranks have made call {} of their map within {} s", number_, limit_s),
              "the same flights and rebuilds of a map in the same order on all ranks");
}

}  // namespace tailrace::exchange
