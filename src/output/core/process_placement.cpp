#include "output/core/process_placement.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "base/system.hpp"
#include "mpi/verdict.hpp"

namespace tailrace::output {

namespace {

struct Neighbour {
  std::string host;
  int rank = 0;
  Trade trade = Trade::computes;
  Tenant tenant;
};

/// Where each thread that computes may run. OpenMP may have bound them; else all run where this one does.
std::vector<Cpus> computing_threads() {
  std::vector<Cpus> threads(static_cast<std::size_t>(omp_get_max_threads()), thread_cpus());
  if (omp_get_proc_bind() == omp_proc_bind_false) return threads;
#pragma omp parallel
  threads[static_cast<std::size_t>(omp_get_thread_num())] = thread_cpus();
  return threads;
}

/// The processors that OpenMP has for its threads; none without binding.
Cpus places_of_openmp() {
  Cpus all;
  for (int place = 0; place < omp_get_num_places(); ++place) {
    Cpus cpus(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, cpus.data());
    std::sort(cpus.begin(), cpus.end());
    all = united(all, cpus);
  }
  return all;
}

/// Whether an MPI launcher has started this process: it may have bound it to less than it has itself.
bool is_launched() {
  constexpr std::array names{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
  return std::any_of(names.begin(), names.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

Tenant describe_this(Trade trade) {
  Tenant tenant;
  tenant.bound = united(thread_cpus(), places_of_openmp());
  tenant.allowed = tenant.bound;
  if (is_launched()) tenant.allowed = united(tenant.allowed, parent_cpus());
  tenant.allowed = common(tenant.allowed, this_topology().cpus());
  if (trade == Trade::computes) tenant.threads = computing_threads();
  return tenant;
}

void put(std::ostream& out, const Cpus& cpus) {
  out << ' ' << cpus.size();
  for (const int cpu : cpus) out << ' ' << cpu;
}

Cpus take(std::istream& in) {
  std::size_t count = 0;
  in >> count;
  Cpus cpus(count);
  for (int& cpu : cpus) in >> cpu;
  return cpus;
}

std::string encode(const Neighbour& neighbour) {
  std::ostringstream out;
  out << neighbour.host << ' ' << neighbour.rank << ' ' << (neighbour.trade == Trade::computes ? 1 : 0);
  put(out, neighbour.tenant.bound);
  put(out, neighbour.tenant.allowed);
  out << ' ' << neighbour.tenant.threads.size();
  for (const auto& cpus : neighbour.tenant.threads) put(out, cpus);
  out << '\n';
  return out.str();
}

Neighbour decode(const std::string& line) {
  std::istringstream in(line);
  Neighbour neighbour;
  int computes = 0;
  std::size_t threads = 0;
  in >> neighbour.host >> neighbour.rank >> computes;
  neighbour.trade = computes == 1 ? Trade::computes : Trade::writes;
  neighbour.tenant.bound = take(in);
  neighbour.tenant.allowed = take(in);
  in >> threads;
  for (std::size_t i = 0; i < threads; ++i) neighbour.tenant.threads.push_back(take(in));
  return neighbour;
}

/// The same for all processes of a host; those of another one may have it too.
int colour_of(const std::string& host) {
  constexpr std::uint32_t start = 2166136261U, prime = 16777619U, positive = 0x7fffffffU;  // FNV-1a
  std::uint32_t hash = start;
  for (const char c : host) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  return static_cast<int>(hash & positive);
}

/// Writer threads of the n-th process that computes on this machine.
int writers_of(const Options& options, int index) {
  if (options.strategy == "threads" || options.strategy == "uring") return 1;
  if (options.strategy != "leaders") return 0;
  return index % (options.group > 0 ? options.group : most_group) == 0 ? 1 : 0;
}

}  // namespace

Seats::Seats(mpi::CommView comm, Trade mine) {
  std::string self;
  mpi::agree_on(comm, [&] { self = describe(comm.rank(), mine); });
  auto near = mpi::Comm::split(comm, colour_of(host_name()));
  std::string all;
  for (const auto& text : mpi::gather(near, self, 0)) all += text;
  all = mpi::broadcast(near, all, 0);
  near.close();
  *this = Seats(all, comm.rank());
}

std::string Seats::describe(int number, Trade mine) {
  return encode({.host = host_name(), .rank = number, .trade = mine, .tenant = describe_this(mine)});
}

Seats::Seats(const std::string& descriptions, int own) {
  const auto host = host_name();
  std::istringstream lines(descriptions);
  for (std::string line; std::getline(lines, line);) {
    auto neighbour = decode(line);
    if (neighbour.host != host) continue;
    if (neighbour.rank == own) own_ = tenants_.size();
    tenants_.push_back(std::move(neighbour.tenant));
    trades_.push_back(neighbour.trade);
  }
}

Seat Seats::seat(const Options& options) const {
  auto tenants = tenants_;
  int index = 0;
  for (std::size_t i = 0; i < tenants.size(); ++i)
    if (trades_[i] == Trade::computes) tenants[i].writers = writers_of(options, index++);
  return settle(tenants, options.bind);
}

Seat Seats::seat_of_writer(bool bind) const {
  auto tenants = tenants_;
  for (std::size_t i = 0; i < tenants.size(); ++i) tenants[i].writers = trades_[i] == Trade::writes ? 1 : 0;
  return settle(tenants, bind);
}

Seat Seats::settle(const std::vector<Tenant>& tenants, bool bind) const {
  auto seat = place(this_topology(), tenants).seats[own_];
  if (seat.place == WriterPlace::none) return seat;
  const auto before = thread_cpus();
  const bool possible = bind && bind_thread(seat.writing) && bind_thread(before);
  if (!possible) seat = {seat.computing, tenants[own_].bound, WriterPlace::unbound};
  return seat;
}

}  // namespace tailrace::output
