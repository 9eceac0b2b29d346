#include "output/strategies/crew_spawn.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "mpi/verdict.hpp"
#include "output/core/seats.hpp"
#include "output/strategies/crew.hpp"
#include "output/strategies/crew_server.hpp"

namespace tailrace::output {

namespace {

/// What both sides must be to understand each other.
constexpr const char* build_name = TAILRACE_VERSION " protocol 3";

#ifdef OMPI_MAJOR_VERSION
/// Processes for which the launcher has reserved places, those that run included; nothing if it does not
/// tell.
std::optional<int> reserved_places() {
  int* places = nullptr;
  int known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, static_cast<void*>(&places), &known);
  return known != 0 ? std::optional(*places) : std::nullopt;
}

bool says(const char* variable, std::string_view word) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return false;
  std::string value(text);
  std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::tolower(c); });
  return value.find(word) != std::string::npos;
}

/// Whether the launcher may put more processes on a node than it has places.
bool may_oversubscribe() {
  return says("OMPI_MCA_rmaps_base_oversubscribe", "1") ||
         says("OMPI_MCA_rmaps_base_oversubscribe", "true") ||
         says("OMPI_MCA_rmaps_base_mapping_policy", "oversubscribe") ||
         says("PRTE_MCA_rmaps_default_mapping_policy", "oversubscribe");
}

/// Open MPI's launcher, asked for processes for which it has no places, never ends the job afterwards.
std::string refusal_of_launcher(int writers) {
  const auto places = reserved_places();
  if (!places || may_oversubscribe()) return {};
  int running = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &running);
  if (*places - running >= writers) return {};
  return fmt::format(
      "the launcher has places for {} processes, {} are running, and {} more are wanted (--oversubscribe, or "
      "more "
      "slots, would allow it)",
      *places, running, writers);
}
#else
std::string refusal_of_launcher(int) {
  return {};
}
#endif

std::string text_of(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

/// Why there is no use in trying; looked for on the root.
std::string refusal_in_advance(mpi::CommView comm, int writers, std::string& program) {
  std::string refusal;
  if (comm.is_root()) {
    std::string looked_at;
    program = find_writer_program(looked_at);
    refusal = program.empty()
                  ? fmt::format("there is no program tailrace-writer that can be started ({})", looked_at)
                  : refusal_of_launcher(writers);
  }
  return mpi::broadcast(comm, refusal, 0);
}

/// Starts the program; returns MPI's code.
int spawn(mpi::CommView comm, const std::string& program, int writers, MPI_Comm& bridge) {
  MPI_Info info = MPI_INFO_NULL;
  mpi::check(MPI_Info_create(&info), "MPI_Info_create");
  std::error_code code;
  const auto directory = std::filesystem::current_path(code);  // names of files may be relative
  if (!code) MPI_Info_set(info, "wdir", directory.c_str());
  std::vector<int> codes(static_cast<std::size_t>(writers));
  const int result =
      MPI_Comm_spawn(program.c_str(), MPI_ARGV_NULL, writers, info, 0, comm.get(), &bridge, codes.data());
  MPI_Info_free(&info);
  return result;
}

/// One communicator of both sides, the ranks that compute first.
mpi::Comm merge(MPI_Comm bridge, bool writes) {
  MPI_Comm_set_errhandler(bridge, MPI_ERRORS_RETURN);
  MPI_Comm merged = MPI_COMM_NULL;
  mpi::check(MPI_Intercomm_merge(bridge, writes ? 1 : 0, &merged), "MPI_Intercomm_merge");
  auto all = mpi::Comm::duplicate(mpi::CommView(merged));
  mpi::check(MPI_Comm_free(&merged), "MPI_Comm_free");
  return all;
}

/// Whether both sides come from the same build. @collective{all}
bool same_build(mpi::CommView all) {
  const bool same = mpi::broadcast(all, build_name, 0) == build_name;
  return mpi::min(all, std::int64_t{same}) == 1;
}

/// What the writers of a group must know: the number of the first of them and of all processes of the job,
/// those that compute and then those that write, and whether they are bound.
struct Muster {
  int first_writer = 0, processes = 0;
  bool bind = true;
};

/// From the ranks that compute to the writers of a group. @collective{all}
Muster share(mpi::CommView all, Muster muster) {
  mpi::broadcast_bytes(all, std::as_writable_bytes(std::span(&muster, 1)), 0);
  return muster;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const auto& text : texts) all += text;
  return all;
}

/// Starts a group of writers; adds it to the result, or the refusal. @collective{comm}
void spawn_group(mpi::CommView comm, const std::string& program, int writers, const Muster& muster,
                 SpawnResult& result) {
  const auto mine = mpi::Comm::duplicate(comm);  // errors are returned there
  MPI_Comm bridge = MPI_COMM_NULL;
  const int code = spawn(mine, program, writers, bridge);
  if (mpi::max(comm, std::int64_t{code != MPI_SUCCESS || bridge == MPI_COMM_NULL}) != 0) {
    result.refusal = mpi::broadcast(comm, "MPI_Comm_spawn refused: " + text_of(code), 0);
    return;
  }
  auto all = merge(bridge, false);
  if (same_build(all)) {
    share(all, muster);
    result.writers.emplace_back(bridge, std::move(all), comm.size());
    return;
  }
  result.refusal = mpi::broadcast(comm, program + " belongs to another version of Tailrace", 0);
  all.close();
  mpi::check(MPI_Comm_disconnect(&bridge), "MPI_Comm_disconnect");
}

/// Tells every writer of all processes of the job, so that those of different groups have different seats.
/// `tenants` is what the ranks that compute have said of themselves.
void seat_writers(std::vector<SpawnedWriters>& groups, std::string tenants) {
  for (const auto& group : groups) tenants += joined(mpi::gather(group.all(), "", 0));
  for (const auto& group : groups) mpi::broadcast(group.all(), tenants, 0);
}

/// The same on the side of a writer.
Seat take_seat(mpi::CommView all, int process, bool bind) {
  mpi::gather(all, Seats::describe(process, Trade::writes), 0);
  return Seats(mpi::broadcast(all, "", 0), process).seat_of_writer(bind);
}

/// Starts `groups` of `each` writers, all or none. @collective{comm}
SpawnResult spawn_groups(mpi::CommView comm, int groups, int each, bool bind) {
  std::string program, mine;
  mpi::agree_on(comm, [&] { mine = Seats::describe(comm.rank(), Trade::computes); });
  auto tenants = joined(mpi::gather(comm, mine, 0));
  SpawnResult result;
  result.refusal = refusal_in_advance(comm, groups * each, program);
  for (int group = 0; group < groups && result.refusal.empty(); ++group)
    spawn_group(
        comm, program, each,
        {.first_writer = comm.size() + group * each, .processes = comm.size() + groups * each, .bind = bind},
        result);
  seat_writers(result.writers, std::move(tenants));
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

SpawnedWriters::SpawnedWriters(MPI_Comm bridge, mpi::Comm all, int compute_ranks)
    : bridge_(bridge), all_(std::move(all)), link_(std::make_unique<Link>(all_, compute_ranks)) {}

void SpawnedWriters::dismiss() {
  link_->end();
  all_.close();
  mpi::check(MPI_Comm_disconnect(&bridge_), "MPI_Comm_disconnect");
}

SpawnResult spawn_together(mpi::CommView comm, int writers, bool bind) {
  return spawn_groups(comm, 1, writers, bind);
}

SpawnResult spawn_one_by_one(mpi::CommView comm, int writers, bool bind) {
  return spawn_groups(comm, writers, 1, bind);
}

int serve_as_spawned(mpi::CommView world) {
  for (const int number : {SIGTERM, SIGINT, SIGUSR2, SIGXFSZ}) std::signal(number, SIG_IGN);
  MPI_Comm bridge = MPI_COMM_NULL;
  mpi::check(MPI_Comm_get_parent(&bridge), "MPI_Comm_get_parent");
  if (bridge == MPI_COMM_NULL)
    throw Error(
        ErrorInfo{.kind = ErrorKind::usage,
                  .message = "this program is started by simulations, with --write spawn:N or spawn-each:N",
                  .path = {},
                  .hint = "give --write spawn:N to the simulation"});
  auto all = merge(bridge, true);
  if (same_build(all)) {
    const auto muster = share(all, {});
    const int process = muster.first_writer + world.rank();
    const auto seat = take_seat(all, process, muster.bind);
    CrewServer(all, all.view().size() - world.size(),
               {.process = process, .processes = muster.processes, .seat = seat})
        .run();
  }
  all.close();
  mpi::check(MPI_Comm_disconnect(&bridge), "MPI_Comm_disconnect");
  return 0;
}

}  // namespace tailrace::output
