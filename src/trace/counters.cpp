// SPDX-License-Identifier: BSD-3-Clause
#include "counters.hpp"

#include <fmt/format.h>

#include "tailrace/error.hpp"

#ifdef TAILRACE_HAVE_PAPI
#include <papi.h>
#include <pthread.h>

#include <mutex>
#endif

namespace tailrace::trace {

namespace {

[[noreturn]] void refuse(const char* name, const std::string& why, const std::string& hint) {
  throw Error(ErrorInfo{
      .kind = ErrorKind::usage, .message = fmt::format("{} papi: {}", name, why), .path = {}, .hint = hint});
}

#ifdef TAILRACE_HAVE_PAPI

struct Event {
  int code;
  const char* name;
};

/// In the order in which they are wanted; a machine has some of them.
constexpr std::array wanted{Event{PAPI_TOT_CYC, "PAPI_TOT_CYC"}, Event{PAPI_TOT_INS, "PAPI_TOT_INS"},
                            Event{PAPI_L3_TCM, "PAPI_L3_TCM"},   Event{PAPI_RES_STL, "PAPI_RES_STL"},
                            Event{PAPI_FP_OPS, "PAPI_FP_OPS"},   Event{PAPI_L2_TCM, "PAPI_L2_TCM"}};

struct Library {
  std::vector<Event> events;  // those that this machine counts together
  std::string refusal;        // why there are none
};

/// A set with as many of the wanted events as can be counted together, running; its number or -1. Puts the
/// events into `taken`.
int start_events(std::vector<Event>& taken) noexcept {
  int set = PAPI_NULL;
  if (PAPI_create_eventset(&set) != PAPI_OK) return -1;
  for (const auto& event : wanted)
    if (taken.size() < Counts{}.size() && PAPI_add_event(set, event.code) == PAPI_OK) taken.push_back(event);
  if (!taken.empty() && PAPI_start(set) == PAPI_OK) return set;
  PAPI_cleanup_eventset(set);
  PAPI_destroy_eventset(&set);
  taken.clear();
  return -1;
}

long long* as_papi(Counts& counts) noexcept {
  static_assert(sizeof(long long) == sizeof(std::int64_t));
  return reinterpret_cast<long long*>(counts.data());  // NOLINT: both are 64 bits long
}

void stop_events(int set) noexcept {
  Counts counts{};
  PAPI_stop(set, as_papi(counts));
  PAPI_cleanup_eventset(set);
  PAPI_destroy_eventset(&set);
}

Library open_library() {
  Library library;
  const int version = PAPI_library_init(PAPI_VER_CURRENT);
  if (version != PAPI_VER_CURRENT) {
    library.refusal =
        fmt::format("PAPI does not start: {}", version < 0 ? PAPI_strerror(version) : "other version");
    return library;
  }
  PAPI_thread_init(pthread_self);
  const int set = start_events(library.events);
  if (set < 0) {
    library.refusal = "this machine offers no hardware counters to this user";
    return library;
  }
  stop_events(set);
  return library;
}

const Library& library() {
  static const Library opened = open_library();
  return opened;
}

#endif

}  // namespace

#ifdef TAILRACE_HAVE_PAPI

void require_counters(const char* name) {
  if (!library().refusal.empty())
    refuse(
        name, library().refusal,
        "leave it out, or see kernel.perf_event_paranoid and whether the virtual machine passes counters on");
}

std::vector<std::string> counter_names() {
  std::vector<std::string> names;
  for (const auto& event : library().events) names.emplace_back(event.name);
  return names;
}

namespace {

/// The running counters of one thread.
class ThreadCounters {
 public:
  ThreadCounters() noexcept {
    PAPI_register_thread();
    std::vector<Event> events;
    events.reserve(wanted.size());
    set_ = start_events(events);
  }
  ThreadCounters(const ThreadCounters&) = delete;
  ThreadCounters& operator=(const ThreadCounters&) = delete;
  ~ThreadCounters() {
    if (set_ >= 0) stop_events(set_);
    PAPI_unregister_thread();
  }

  [[nodiscard]] Counts read() const noexcept {
    Counts counts{};
    if (set_ >= 0) PAPI_read(set_, as_papi(counts));
    return counts;
  }

 private:
  int set_ = -1;
};

}  // namespace

Counts read_counters() noexcept {
  thread_local const ThreadCounters counters;
  return counters.read();
}

#else

void require_counters(const char* name) {
  refuse(name, "this program was built without PAPI, which reads the hardware counters",
         "install PAPI (Debian: libpapi-dev) and build again, or leave it out");
}

std::vector<std::string> counter_names() {
  return {};
}

Counts read_counters() noexcept {
  return {};
}

#endif

}  // namespace tailrace::trace
