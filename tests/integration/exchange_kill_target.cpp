// SPDX-License-Identifier: BSD-3-Clause
/// Flights of an access map without an end, until one rank is killed or stops inside a flight after so many:
/// exchange-kill-target kill|stop RANK FLIGHTS TRANSPORT
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/system.hpp"
#include "exchange/line.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/error.hpp"
#include "tailrace/exchange/access_map.hpp"

using namespace tailrace;

namespace {

struct Fault {
  std::string kind;
  int rank = 0, flights = 0;
};

/// Says so first, so that a test knows that the job came as far as this.
void fail(const Fault& fault) {
  std::fprintf(stderr, "rank %d will %s in flight %d\n", fault.rank, fault.kind.c_str(), fault.flights);
  if (fault.kind == "kill") std::raise(SIGKILL);
  for (;;) sleep_s(1);
}

/// Every rank reads all values; where one stops, the others read their own only, so that a gather wants
/// nothing from it. In turns values are gathered and summed up.
void fly(mpi::CommView comm, const Fault& fault, const std::string& transport) {
  constexpr std::int64_t size = 3000;
  const exchange::Block rows(size, comm.size());
  const bool reads_all = fault.kind == "kill" || comm.rank() == fault.rank;
  std::vector<std::int64_t> all(static_cast<std::size_t>(reads_all ? size : rows.count(comm.rank())));
  std::iota(all.begin(), all.end(), reads_all ? 0 : rows.contiguous_from(comm.rank()));
  const bool as_they_come = exchange::find_transport(transport).open_sums != nullptr;
  auto map =
      exchange::AccessMap::make(comm, rows, all,
                                {.transport = transport,
                                 .order = as_they_come ? exchange::Order::fast : exchange::Order::fixed,
                                 .limit_s = 3});
  std::vector<double> x(static_cast<std::size_t>(map.array_size()));
  for (int flight = 1;; ++flight) {
    // Who stops looks into MPI no more when the others send: what has come by then is taken where a flight
    // begins.
    if (fault.kind == "stop" && flight == fault.flights) {
      mpi::barrier(comm);
      if (comm.rank() != fault.rank) sleep_s(1);
    }
    const auto field = map.view(std::span(x));
    auto under_way = flight % 2 == 0 ? map.begin_gather(field) : map.begin_scatter_add(field);
    if (flight == fault.flights && comm.rank() == fault.rank) fail(fault);
    under_way.finish();
    std::fill(x.begin(), x.end(), 0.0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  mpi::Environment environment(argc, argv);
  const Fault fault{argv[1], std::stoi(argv[2]), std::stoi(argv[3])};
  try {
    fly(environment.world(), fault, argv[4]);
  } catch (const Error& error) {
    std::fprintf(stderr, "error of rank %d: %s\n", environment.world().rank(), error.what());
    std::fflush(stderr);
    mpi::Environment::abort(3);
  }
}
