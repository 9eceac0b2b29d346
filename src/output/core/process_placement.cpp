// SPDX-License-Identifier: BSD-3-Clause
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
  Process process;
};

/// Returns where each thread that computes may run. OpenMP may have bound them; else all run where this one
/// does.
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

/// Returns whether an MPI launcher has started this process: it may have bound it to less than it has itself.
bool is_launched() {
  constexpr std::array names{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
  return std::any_of(names.begin(), names.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

Process describe_this(Trade trade) {
  Process process;
  process.bound = united(thread_cpus(), places_of_openmp());
  process.allowed = process.bound;
  if (is_launched()) process.allowed = united(process.allowed, parent_cpus());
  process.allowed = common(process.allowed, this_topology().cpus());
  if (trade == Trade::computes) process.threads = computing_threads();
  return process;
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
  put(out, neighbour.process.bound);
  put(out, neighbour.process.allowed);
  out << ' ' << neighbour.process.threads.size();
  for (const auto& cpus : neighbour.process.threads) put(out, cpus);
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
  neighbour.process.bound = take(in);
  neighbour.process.allowed = take(in);
  in >> threads;
  for (std::size_t i = 0; i < threads; ++i) neighbour.process.threads.push_back(take(in));
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
int writers_of(const WriteOptions& options, int index) {
  if (options.strategy == "threads" || options.strategy == "uring") return 1;
  if (options.strategy != "leaders") return 0;
  return index % (options.group > 0 ? options.group : max_group) == 0 ? 1 : 0;
}

}  // namespace

ProcessPlacement::ProcessPlacement(mpi::CommView comm, Trade mine) {
  std::string self;
  mpi::collectively(comm, [&] { self = describe(comm.rank(), mine); });
  auto near = mpi::Comm::split(comm, colour_of(host_name()));
  std::string all;
  for (const auto& text : mpi::gather(near, self, 0)) all += text;
  all = mpi::broadcast(near, all, 0);
  near.close();
  *this = ProcessPlacement(all, comm.rank());
}

std::string ProcessPlacement::describe(int number, Trade mine) {
  return encode({.host = host_name(), .rank = number, .trade = mine, .process = describe_this(mine)});
}

ProcessPlacement::ProcessPlacement(const std::string& descriptions, int own) {
  const auto host = host_name();
  std::istringstream lines(descriptions);
  for (std::string line; std::getline(lines, line);) {
    auto neighbour = decode(line);
    if (neighbour.host != host) continue;
    if (neighbour.rank == own) own_ = processes_.size();
    processes_.push_back(std::move(neighbour.process));
    trades_.push_back(neighbour.trade);
  }
}

ThreadPlacement ProcessPlacement::thread_placement(const WriteOptions& options) const {
  auto processes = processes_;
  int index = 0;
  for (std::size_t i = 0; i < processes.size(); ++i)
    if (trades_[i] == Trade::computes) processes[i].writers = writers_of(options, index++);
  return finalize(processes, options.bind);
}

ThreadPlacement ProcessPlacement::placement_of_writer(bool bind) const {
  auto processes = processes_;
  for (std::size_t i = 0; i < processes.size(); ++i)
    processes[i].writers = trades_[i] == Trade::writes ? 1 : 0;
  return finalize(processes, bind);
}

ThreadPlacement ProcessPlacement::finalize(const std::vector<Process>& processes, bool bind) const {
  auto thread_placement = place(this_topology(), processes).of_process[own_];
  if (thread_placement.place == WriterPlace::none) return thread_placement;
  const auto before = thread_cpus();
  const bool possible = bind && bind_thread(thread_placement.writing) && bind_thread(before);
  if (!possible) thread_placement = {thread_placement.computing, processes[own_].bound, WriterPlace::unbound};
  return thread_placement;
}

}  // namespace tailrace::output
