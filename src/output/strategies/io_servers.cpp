// SPDX-License-Identifier: BSD-3-Clause
#include "output/strategies/io_servers.hpp"

#include <fmt/format.h>

#include <csignal>

#include "output/core/process_placement.hpp"
#include "output/strategies/io_server.hpp"
#include "output/strategies/server_connection.hpp"
#include "output/strategies/server_spawn.hpp"
#include "output/strategies/writers.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

struct IoServers::State {
  mpi::CommView world;
  SinkFactory create_sink;
  mpi::Comm all, compute;  ///< says where some ranks write
  std::unique_ptr<Connection> ranks;
  int writers = 0;
  std::vector<SpawnedWriters> spawned;  ///< all together, or each by itself
  std::string spawned_for;              ///< the strategy
  std::string refusal;
  bool bind = true;
  std::optional<ProcessPlacement> thread_placements;  ///< says where some ranks write
};

namespace {

/// Writers that are ranks of the job. Errors (usage): there are too few ranks.
int ranks_that_write(int ranks, const WriteOptions& options) {
  if (options.strategy != "ranks") return 0;
  const int writers = options.writers;
  if (2 * writers <= ranks) return writers;
  const auto text = "ranks" + ranks_argument(options);
  const std::string fix = ranks > 1
                              ? fmt::format("at least {} ranks, or at most ranks:{}", 2 * writers, ranks / 2)
                              : fmt::format("at least {} ranks, or --write threads", 2 * writers);
  throw Error(ErrorInfo{
      .kind = ErrorKind::usage,
      .message = fmt::format("--write {} on {} rank{}: of these {} would write, and no fewer must compute",
                             text, ranks, ranks == 1 ? "" : "s", writers),
      .path = {},
      .rank = 0,  // all ranks see it
      .hint = fix});
}

}  // namespace

int ranks_that_compute(int ranks, const WriteOptions& options) {
  return ranks - ranks_that_write(ranks, options);
}

IoServers::IoServers(mpi::CommView world, const WriteOptions& options, SinkFactory create_sink)
    : state_(std::make_unique<State>()) {
  state_->create_sink = create_sink;
  state_->world = world;
  state_->bind = options.bind;
  state_->writers = ranks_that_write(world.size(), options);
  if (state_->writers == 0) return;
  const int compute_ranks = world.size() - state_->writers;
  state_->all = mpi::Comm::duplicate(world);
  state_->compute = mpi::Comm::split(world, world.rank() < compute_ranks ? 0 : -1);
  state_->thread_placements.emplace(state_->all, computes() ? Trade::computes : Trade::writes);
  if (computes()) state_->ranks = std::make_unique<Connection>(state_->all, compute_ranks);
}

IoServers::~IoServers() {
  if (state_->ranks) state_->ranks->end();
  for (auto& writers : state_->spawned) writers.dismiss();
}

bool IoServers::computes() const noexcept {
  return state_->world.rank() < state_->world.size() - state_->writers;
}

mpi::CommView IoServers::compute_comm() const noexcept {
  return state_->writers == 0 ? state_->world : state_->compute.view();
}

int IoServers::serve() {
  for (const int number : {SIGTERM, SIGINT, SIGUSR2, SIGXFSZ}) std::signal(number, SIG_IGN);
  const auto& world = state_->world;
  IoServer(state_->all, world.size() - state_->writers,
           {.process = world.rank(),
            .processes = world.size(),
            .thread_placement = state_->thread_placements->placement_of_writer(state_->bind),
            .create_sink = state_->create_sink})
      .run();
  return 0;
}

bool IoServers::start_servers(const WriteOptions& options, bool in_turns) {
  if (state_->spawned.empty() && state_->refusal.empty()) {
    const auto comm = compute_comm();
    auto spawned = in_turns ? spawn_one_by_one(comm, options.writers, state_->bind)
                            : spawn_together(comm, std::min(options.writers, comm.size()), state_->bind);
    state_->refusal = std::move(spawned.refusal);
    state_->spawned = std::move(spawned.writers);
    state_->spawned_for = options.strategy;
  }
  return !connections(options.strategy).empty();
}

const std::string& IoServers::refusal() const noexcept {
  return state_->refusal;
}

std::vector<Connection*> IoServers::connections(const std::string& strategy) const {
  std::vector<Connection*> connections;
  if (strategy == state_->spawned_for)
    for (const auto& writers : state_->spawned) connections.push_back(&writers.connection());
  if (strategy == "ranks" && state_->ranks) connections.push_back(state_->ranks.get());
  return connections;
}

std::vector<Connection*> IoServers::all_connections() const {
  auto all = connections("ranks");
  for (auto* const connection : connections(state_->spawned_for)) all.push_back(connection);
  return all;
}

void IoServers::begin_traces(const std::string& directory, trace::Mode mode, const trace::Clock& clock,
                             double zero_s) {
  if (directory.empty() || mode == trace::Mode::off) return;
  for (auto* const connection : all_connections()) connection->begin_traces(directory, mode, clock, zero_s);
}

std::vector<WriterAccount> IoServers::report() {
  std::vector<WriterAccount> accounts;
  for (auto* const connection : all_connections())
    for (auto& account : connection->report()) accounts.push_back(std::move(account));
  return accounts;
}

}  // namespace tailrace::output
