// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/spawn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "base/text.hpp"
#include "mpi/native.hpp"
#include "mpi/verdict.hpp"
#include "tailrace/error.hpp"

namespace tailrace::mpi {

namespace {
std::string text_of(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

/// How long processes that were started may take until they have joined.
int join_limit_s() {
  constexpr int usual_s = 120;
  const char* const text = std::getenv("TAILRACE_START_LIMIT");
  if (text == nullptr) return usual_s;
  if (const auto asked_s = parse_number<int>(text, 1, std::numeric_limits<int>::max())) return *asked_s;
  throw Error(ErrorInfo{.kind = ErrorKind::usage,
                        .message = fmt::format("environment variable TAILRACE_START_LIMIT = \"{}\"", text),
                        .path = {},
                        .hint = "a number of seconds, at least 1, or unset it"});
}

/// Ends the job if it lives longer than the limit: MPI has no way out of a start that never comes to an end.
class JoinWatch {
 public:
  JoinWatch(const std::string& program, const std::string& otherwise, int limit_s)
      : thread_([=](const std::stop_token& stop) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          std::condition_variable_any changed;
          changed.wait_for(lock, stop, std::chrono::seconds(limit_s), [] { return false; });
          if (stop.stop_requested()) return;
          fmt::print(stderr,
                     "tailrace: the processes of {} that MPI started have not joined within {} s. Fix: start "
                     "the run again (Open MPI 4 with PMIx 4 loses such a start now and then), or {}; "
                     "TAILRACE_START_LIMIT is the limit in seconds\n",
                     program, limit_s, otherwise);
          std::fflush(stderr);
          constexpr int run_failed = 3;
          std::_Exit(run_failed);
        }) {}

 private:
  std::jthread thread_;
};

/// Starts the processes; returns MPI's code.
int start_processes(CommView comm, const std::string& program, int count, MPI_Comm& bridge) {
  MPI_Info info = MPI_INFO_NULL;
  check(MPI_Info_create(&info), "MPI_Info_create");
  std::error_code code;
  const auto directory = std::filesystem::current_path(code);  // names of files may be relative
  if (!code) MPI_Info_set(info, "wdir", directory.c_str());
  std::vector<int> codes(static_cast<std::size_t>(count));
  const int result =
      MPI_Comm_spawn(program.c_str(), MPI_ARGV_NULL, count, info, 0, comm.get(), &bridge, codes.data());
  MPI_Info_free(&info);
  return result;
}

bool says(const char* variable, std::string_view word) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return false;
  std::string value(text);
  std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::tolower(c); });
  return value.find(word) != std::string::npos;
}
}  // namespace

bool may_oversubscribe() {
  return says("OMPI_MCA_rmaps_base_oversubscribe", "1") ||
         says("OMPI_MCA_rmaps_base_oversubscribe", "true") ||
         says("OMPI_MCA_rmaps_base_mapping_policy", "oversubscribe") ||
         says("PRTE_MCA_rmaps_default_mapping_policy", "oversubscribe");
}

Spawned::Spawned(CommHandle bridge, bool is_started) : bridge_(bridge) {
  MPI_Comm_set_errhandler(bridge, MPI_ERRORS_RETURN);
  MPI_Comm merged = MPI_COMM_NULL;
  check(MPI_Intercomm_merge(bridge, is_started ? 1 : 0, &merged), "MPI_Intercomm_merge");
  all_ = Comm::duplicate(CommView(merged));
  check(MPI_Comm_free(&merged), "MPI_Comm_free");
}

Spawned Spawned::start(CommView comm, const std::string& program, int count, const std::string& otherwise,
                       std::string& refusal) {
  int limit_s = 0;
  collectively(comm, [&] { limit_s = join_limit_s(); });
  const auto mine = Comm::duplicate(comm);  // errors are returned there
  MPI_Comm bridge = MPI_COMM_NULL;
  std::optional<JoinWatch> watch;
  if (comm.is_root()) watch.emplace(program, otherwise, limit_s);
  const int code = start_processes(mine, program, count, bridge);
  watch.reset();
  if (max(comm, std::int64_t{code != MPI_SUCCESS || bridge == MPI_COMM_NULL}) == 0) return {bridge, false};
  refusal = broadcast(comm, "MPI_Comm_spawn refused: " + text_of(code), 0);
  return {};
}

Spawned Spawned::by_parent() {
  MPI_Comm bridge = MPI_COMM_NULL;
  check(MPI_Comm_get_parent(&bridge), "MPI_Comm_get_parent");
  if (bridge == MPI_COMM_NULL) return {};
  return {bridge, true};
}

void Spawned::disconnect() {
  all_.close();
  MPI_Comm bridge = std::exchange(bridge_, CommHandle{});
  check(MPI_Comm_disconnect(&bridge), "MPI_Comm_disconnect");
}

#ifdef OMPI_MAJOR_VERSION
namespace {
/// Processes for which the launcher has reserved places, those that run included; nothing if it does not
/// say so.
std::optional<int> reserved_places() {
  int* places = nullptr;
  int known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, static_cast<void*>(&places), &known);
  return known != 0 ? std::optional(*places) : std::nullopt;
}
}  // namespace

/// Open MPI's launcher, asked for processes for which it has no places, never ends the job afterwards.
std::string refusal_of_launcher(int count) {
  const auto places = reserved_places();
  if (!places || may_oversubscribe()) return {};
  int running = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &running);
  if (*places - running >= count) return {};
  return fmt::format(
      "the launcher has places for {} processes, {} are running, and {} more are wanted (--oversubscribe, or "
      "more "
      "slots, would allow it)",
      *places, running, count);
}
#else
std::string refusal_of_launcher(int) {
  return {};
}
#endif

}  // namespace tailrace::mpi
