// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>

#include <nlohmann/json.hpp>

#include "base/system.hpp"
#include "base/topology.hpp"
#include "connections.hpp"
#include "mpi/node.hpp"
#include "tests.hpp"

namespace tailrace::bench::network {

namespace {

/// Where a rank runs, as far as that says what it shares with others.
struct Place {
  int node = 0, package = -1, numa = -1, core = -1;
};

Place place_of(mpi::CommView comm) {
  const mpi::Node node(comm);
  Place place{.node = node.ranks().front()};
  const int cpu = sched_getcpu();
  const auto& cores = this_topology().cores;
  for (std::size_t i = 0; i < cores.size(); ++i)
    if (std::find(cores[i].cpus.begin(), cores[i].cpus.end(), cpu) != cores[i].cpus.end())
      place = {place.node, cores[i].package, cores[i].numa, static_cast<int>(i)};
  return place;
}

std::vector<Place> all_places(mpi::CommView comm) {
  const Place mine = place_of(comm);
  std::vector<Place> all(static_cast<std::size_t>(comm.size()));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm.get());
  return all;
}

/// The smallest part of the machine that both are in.
const char* shared(const Place& a, const Place& b) {
  if (a.node != b.node) return "nothing";
  if (a.core == b.core && a.core >= 0) return "core";
  if (a.package == b.package && a.numa == b.numa) return "memory domain";
  return a.package == b.package ? "socket" : "node";
}

/// Seconds of so many round trips.
double ping_pong(Endpoint& endpoint, bool first, Bytes message, int count) {
  const double begin = monotonic_s();
  for (int i = 0; i < count; ++i) {
    if (first) endpoint.send(message);
    endpoint.receive();
    if (!first) endpoint.send(message);
    endpoint.flush();
  }
  return monotonic_s() - begin;
}

}  // namespace

nlohmann::json matrix_rows(mpi::CommView comm, const Settings& settings) {
  const Connections connections(comm, all_adapters().front(), settings.largest());
  const auto places = all_places(comm);
  Source source(settings);
  nlohmann::json rows = nlohmann::json::array();
  for (const std::size_t size : settings.sizes)
    for (int a = 0; a < comm.size(); ++a)
      for (int b = a + 1; b < comm.size(); ++b) {
        const int count = settings.repetitions(size);
        std::vector<double> seconds(static_cast<std::size_t>(settings.windows));
        const bool takes_part = comm.rank() == a || comm.rank() == b;
        for (int window = -1; window < settings.windows && takes_part; ++window) {
          auto& endpoint = connections.to(comm.rank() == a ? b : a);
          const double s = ping_pong(endpoint, comm.rank() == a, source.next(size), count);
          if (window >= 0) seconds[static_cast<std::size_t>(window)] = s;
        }
        mpi::barrier(comm);  // with pauses: the others leave the cores to these two
        MPI_Bcast(seconds.data(), settings.windows, MPI_DOUBLE, a, comm.get());
        rows.push_back(
            {{"test", "matrix"},
             {"a", a},
             {"b", b},
             {"shared", shared(places[static_cast<std::size_t>(a)], places[static_cast<std::size_t>(b)])},
             {"adapter", all_adapters().front().name},
             {"size", size},
             {"messages", count},
             {"seconds", seconds}});
      }
  return rows;
}

}  // namespace tailrace::bench::network
