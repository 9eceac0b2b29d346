// SPDX-License-Identifier: BSD-3-Clause
#include "output/strategies/server_spawn.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "mpi/verdict.hpp"
#include "output/core/process_placement.hpp"
#include "output/strategies/io_server.hpp"
#include "output/strategies/io_servers.hpp"

namespace tailrace::output {

namespace {

/// Says what both sides must be to understand each other.
constexpr const char* build_name = TAILRACE_VERSION " protocol 3";

/// Why there is no use in trying; looked for on the root.
std::string refusal_in_advance(mpi::CommView comm, int writers, std::string& program) {
  std::string refusal;
  if (comm.is_root()) {
    std::string looked_at;
    program = find_writer_program(looked_at);
    refusal = program.empty()
                  ? fmt::format("there is no program tailrace-writer that can be started ({})", looked_at)
                  : mpi::refusal_of_launcher(writers);
  }
  return mpi::broadcast(comm, refusal, 0);
}

/// Returns whether both sides come from the same build. @collective{all}
bool same_build(mpi::CommView all) {
  const bool same = mpi::broadcast(all, build_name, 0) == build_name;
  return mpi::min(all, std::int64_t{same}) == 1;
}

/// Describes what the writers of a group must know: the number of the first of them and of all processes of
/// the job, those that compute and then those that write, and whether they are bound.
struct Handshake {
  int first_writer = 0, processes = 0;
  bool bind = true;
};

/// From the ranks that compute to the writers of a group. @collective{all}
Handshake share(mpi::CommView all, Handshake handshake) {
  mpi::broadcast_bytes(all, std::as_writable_bytes(std::span(&handshake, 1)), 0);
  return handshake;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const auto& text : texts) all += text;
  return all;
}

/// Starts a group of writers; adds it to the result, or the refusal. @collective{comm}
void spawn_group(mpi::CommView comm, const std::string& program, int writers, const Handshake& handshake,
                 SpawnResult& result) {
  auto spawned = mpi::Spawned::start(comm, program, writers, "take --write threads", result.refusal);
  if (spawned.empty()) return;
  if (same_build(spawned.all())) {
    share(spawned.all(), handshake);
    result.writers.emplace_back(std::move(spawned), comm.size());
    return;
  }
  result.refusal = mpi::broadcast(comm, program + " belongs to another version of Tailrace", 0);
  spawned.disconnect();
}

/// Informs every writer of all processes of the job, so that those of different groups have different thread
/// placements. `descriptions` is what the ranks that compute have said of themselves.
void place_writers(std::vector<SpawnedWriters>& groups, std::string descriptions) {
  for (const auto& group : groups) descriptions += joined(mpi::gather(group.all(), "", 0));
  for (const auto& group : groups) mpi::broadcast(group.all(), descriptions, 0);
}

/// The same on the side of a writer.
ThreadPlacement place_threads(mpi::CommView all, int process, bool bind) {
  mpi::gather(all, ProcessPlacement::describe(process, Trade::writes), 0);
  return ProcessPlacement(mpi::broadcast(all, "", 0), process).placement_of_writer(bind);
}

/// Starts `groups` of `each` writers, all or none. @collective{comm}
SpawnResult spawn_groups(mpi::CommView comm, int groups, int each, bool bind) {
  std::string program, mine;
  mpi::collectively(comm, [&] { mine = ProcessPlacement::describe(comm.rank(), Trade::computes); });
  auto descriptions = joined(mpi::gather(comm, mine, 0));
  SpawnResult result;
  result.refusal = refusal_in_advance(comm, groups * each, program);
  for (int group = 0; group < groups && result.refusal.empty(); ++group)
    spawn_group(
        comm, program, each,
        {.first_writer = comm.size() + group * each, .processes = comm.size() + groups * each, .bind = bind},
        result);
  place_writers(result.writers, std::move(descriptions));
  if (result.refusal.empty()) return result;
  for (auto& writers : result.writers) writers.dismiss();
  result.writers.clear();
  return result;
}

}  // namespace

std::string find_writer_program(std::string& looked_at) {
  std::vector<std::string> places;
  if (const char* const named = std::getenv("TAILRACE_WRITER")) {
    places.emplace_back(named);
  } else {
    std::error_code code;
    const auto here = std::filesystem::read_symlink("/proc/self/exe", code);
    if (!code) places.push_back((here.parent_path() / "tailrace-writer").string());
    places.emplace_back(TAILRACE_INSTALLED_PROGRAMS "/tailrace-writer");
  }
  for (const auto& place : places) {
    if (std::filesystem::is_regular_file(place) && access(place.c_str(), X_OK) == 0)
      return std::filesystem::absolute(place).string();
    looked_at += (looked_at.empty() ? "looked for " : " and ") + place;
  }
  return {};
}

SpawnedWriters::SpawnedWriters(mpi::Spawned processes, int compute_ranks)
    : processes_(std::move(processes)),
      connection_(std::make_unique<Connection>(processes_.all(), compute_ranks)) {}

void SpawnedWriters::dismiss() {
  connection_->end();
  processes_.disconnect();
}

SpawnResult spawn_together(mpi::CommView comm, int writers, bool bind) {
  return spawn_groups(comm, 1, writers, bind);
}

SpawnResult spawn_one_by_one(mpi::CommView comm, int writers, bool bind) {
  return spawn_groups(comm, writers, 1, bind);
}

int serve_as_spawned(mpi::CommView world, SinkFactory create_sink) {
  for (const int number : {SIGTERM, SIGINT, SIGUSR2, SIGXFSZ}) std::signal(number, SIG_IGN);
  auto spawned = mpi::Spawned::by_parent();
  if (spawned.empty())
    throw Error(
        ErrorInfo{.kind = ErrorKind::usage,
                  .message = "this program is started by simulations, with --write spawn:N or spawn-each:N",
                  .path = {},
                  .hint = "give --write spawn:N to the simulation"});
  const auto all = spawned.all();
  if (same_build(all)) {
    const auto handshake = share(all, {});
    const int process = handshake.first_writer + world.rank();
    const auto thread_placement = place_threads(all, process, handshake.bind);
    IoServer(all, all.size() - world.size(),
             {.process = process,
              .processes = handshake.processes,
              .thread_placement = thread_placement,
              .create_sink = create_sink})
        .run();
  }
  spawned.disconnect();
  return 0;
}

}  // namespace tailrace::output
