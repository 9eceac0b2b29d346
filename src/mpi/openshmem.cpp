// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/openshmem.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string_view>

#include "base/aligned.hpp"
#include "mpi/library.hpp"
#include "mpi/lone_start.hpp"
#include "mpi/native.hpp"
#include "mpi/verdict.hpp"
#include "tailrace/error.hpp"

namespace tailrace::mpi {

namespace {

/// The functions of OpenSHMEM that are used here, as its specification declares them.
struct Functions {
  void (*init)();
  void (*finalize)();
  int (*my_pe)();
  int (*n_pes)();
  void* (*malloc)(std::size_t);
  void (*putmem)(void*, const void*, std::size_t, int);
  void (*uint64_p)(std::uint64_t*, std::uint64_t, int);
  void (*quiet)();
};

template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));  // NOLINT: what dlsym gives
  return function != nullptr;
}

/// Of the library, which stays loaded; null where there is none.
const Functions* functions() {
  static const auto found = [] {
    std::pair<bool, Functions> result{};
    void* const library = dlopen("liboshmem.so.40", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    Functions& all = result.second;
    result.first = library != nullptr && find(library, "shmem_init", all.init) &&
                   find(library, "shmem_finalize", all.finalize) && find(library, "shmem_my_pe", all.my_pe) &&
                   find(library, "shmem_n_pes", all.n_pes) && find(library, "shmem_malloc", all.malloc) &&
                   find(library, "shmem_putmem", all.putmem) &&
                   find(library, "shmem_uint64_p", all.uint64_p) && find(library, "shmem_quiet", all.quiet);
    return result;
  }();
  return found.first ? &found.second : nullptr;
}

/// What was begun, or why nothing was.
struct Begun {
  std::byte* first = nullptr;
  std::size_t bytes = 0;
  std::map<std::size_t, std::size_t> used;  ///< parts: where each begins, and where it ends
  pid_t process = 0;
  std::string why_not = "MPI was not begun by tailrace::mpi::Environment";
};
Begun begun;  // NOLINT: one per process, as OpenSHMEM itself

constexpr auto asks = "TAILRACE_EXCHANGE";

/// What the environment says when the process first asks, which is before MPI starts.
bool is_wanted() {
  static const bool wanted = [] {
    const char* const name = std::getenv(asks);
    return name != nullptr && std::string_view(name) == "shmem";
  }();
  return wanted;
}

/// Whether Open MPI's one-sided component `rdma`, beside which OpenSHMEM ends in signal 11, is left out.
bool leaves_out_rdma(std::string_view components) {
  const bool named = components.find("rdma") != std::string_view::npos;
  return components.starts_with("^") ? named : !components.empty() && !named;
}

/// liboshmem takes the memory in front of the symbol `_end` for the data of the program. Where it finds its
/// own, processes count differently, and it writes beyond an array (open-mpi/ompi, issue 13621).
bool exports_its_end() {
  Dl_info program{}, end{};
  const auto* const symbol = static_cast<const std::byte*>(dlsym(RTLD_DEFAULT, "_end"));
  void* const headers = reinterpret_cast<void*>(getauxval(AT_PHDR));  // NOLINT: an address, by its definition
  return symbol != nullptr && dladdr(headers, &program) != 0 && dladdr(symbol - 1, &end) != 0 &&
         program.dli_fbase == end.dli_fbase;
}

constexpr auto size_variable = "SHMEM_SYMMETRIC_SIZE";
constexpr auto usual_size = "256M";

/// Of the symmetric memory, as the specification has it: a number, and what it counts (K, M, G, T; else
/// bytes).
std::size_t size_asked_for() {
  const char* const text = std::getenv(size_variable);
  char* unit = nullptr;
  const double number = std::strtod(text == nullptr ? usual_size : text, &unit);
  constexpr std::string_view units = "KMGT";
  const auto which = *unit == 0
                         ? std::string_view::npos
                         : units.find(static_cast<char>(std::toupper(static_cast<unsigned char>(*unit))));
  const double each = which == std::string_view::npos ? 1 : std::ldexp(1.0, 10 * static_cast<int>(which + 1));
  return number > 0 ? static_cast<std::size_t>(number * each) : 0;
}

/// All of the symmetric memory, or what is left of it by halves: allocators keep something for themselves.
void allocate(const Functions& shmem) {
  constexpr std::size_t min_bytes = std::size_t{1} << 16U;
  for (std::size_t bytes = size_asked_for(); bytes >= min_bytes; bytes /= 2) {
    begun.first = static_cast<std::byte*>(shmem.malloc(bytes));
    if (begun.first == nullptr) continue;
    begun.bytes = bytes;
    return;
  }
  throw Error(ErrorKind::resource,
              fmt::format("OpenSHMEM has no symmetric memory of {} bytes", size_asked_for()),
              fmt::format("{}={} in the environment of all ranks, or another exchange transport",
                          size_variable, usual_size));
}

/// A process that ends before MPI does would meet the others in liboshmem, which waits for them.
void on_exit_before_end(int status, void*) {
  if (begun.first == nullptr || getpid() != begun.process) return;
  std::fflush(nullptr);
  Environment::abort(status == 0 ? 1 : status);
}

/// In a ring: whoever asks for OpenSHMEM hears of the rank before that it does so, too.
void meet(CommView world) {
  constexpr int tag = 32004;
  constexpr double limit_s = 30;
  const int next = (world.rank() + 1) % world.size();
  const int before = (world.rank() + world.size() - 1) % world.size();
  std::array<Request, 2> requests{};
  check(MPI_Irecv(nullptr, 0, MPI_BYTE, before, tag, world.get(), Lent(requests[0])), "MPI_Irecv");
  check(MPI_Isend(nullptr, 0, MPI_BYTE, next, tag, world.get(), Lent(requests[1])), "MPI_Isend");
  if (!wait_all_for(requests, limit_s))
    throw Error(
        ErrorKind::usage,
        fmt::format("rank {} starts OpenSHMEM, and rank {} or {} does not", world.rank(), before, next),
        fmt::format("{}=shmem in the environment of all ranks, or of none", asks));
}

bool was_spawned() {
  MPI_Comm parent = MPI_COMM_NULL;
  check(MPI_Comm_get_parent(&parent), "MPI_Comm_get_parent");
  return parent != MPI_COMM_NULL;
}

void start(CommView world) {
  const Functions& shmem = *functions();
  shmem.init();
  if (shmem.my_pe() != world.rank() || shmem.n_pes() != world.size())
    throw Error(ErrorKind::internal,
                fmt::format("rank {} of {} is number {} of {} in OpenSHMEM", world.rank(), world.size(),
                            shmem.my_pe(), shmem.n_pes()),
                "another exchange transport");
  allocate(shmem);
  begun.process = getpid();
  on_exit(on_exit_before_end, nullptr);
}

/// A part of the memory that is free here, if there is one. @local
std::optional<std::size_t> take(std::size_t bytes) {
  std::size_t at = 0;
  for (const auto& [first, last] : begun.used) {
    if (first - at >= bytes) break;
    at = last;
  }
  if (begun.bytes - at < bytes) return {};
  begun.used.emplace(at, at + bytes);
  return at;
}

std::size_t used_bytes() {
  std::size_t sum = 0;
  for (const auto& [first, last] : begun.used) sum += last - first;
  return sum;
}

}  // namespace

namespace openshmem {

std::string obstacle() {
  if (!is_open_mpi()) return "this MPI library has no OpenSHMEM";
  if (!is_wanted())
    return fmt::format(
        "OpenSHMEM starts and ends with MPI, on ranks that have {}=shmem in their environment: tailrace run "
        "and "
        "tailrace resume set that for the case and the option --exchange",
        asks);
  const char* const components = std::getenv("OMPI_MCA_osc");
  if (components != nullptr && !leaves_out_rdma(components))
    return fmt::format(
        "with OMPI_MCA_osc={} a process that uses Open MPI's OpenSHMEM ends in signal 11: leave the variable "
        "unset, or ^rdma",
        components);
  if (functions() == nullptr) return "there is no liboshmem.so.40 of Open MPI";
  return exports_its_end() ? "" : "OpenSHMEM wants a program linked with -Wl,--export-dynamic-symbol=_end";
}

void prepare() {
  if (!is_open_mpi() || !is_wanted()) return;
  setenv("OMPI_MCA_osc", "^rdma", 0);
  setenv(size_variable, usual_size, 0);
}

void begin(CommView world) {
  if (!is_open_mpi() || !is_wanted()) return;
  if (was_spawned() || !has_launcher()) {
    begun.why_not = was_spawned() ? "other ranks have started this one" : "it takes a launcher";
    return;
  }
  meet(world);
  if (min(world, std::int64_t{obstacle().empty() ? 1 : 0}) == 0)
    begun.why_not = "some rank cannot have it";
  else
    start(world);
}

bool end() {
  if (begun.first == nullptr) return false;
  begun.first = nullptr;
  functions()->finalize();
  return true;
}

}  // namespace openshmem

SymmetricMemory::SymmetricMemory(CommView comm, std::size_t bytes) : comm_(comm) {
  const std::size_t some = padded<std::byte>(std::max<std::size_t>(bytes, 1));
  std::optional<std::size_t> at;
  const auto take_some = [&] {
    if (begun.first == nullptr)
      throw Error(ErrorKind::usage, "OpenSHMEM was not started with MPI: " + begun.why_not,
                  "another exchange transport");
    at = take(some);
    if (!at)
      throw Error(ErrorKind::resource,
                  fmt::format("no {} bytes of OpenSHMEM's memory on rank {}: {} of {} are in use", some,
                              comm_.rank(), used_bytes(), begun.bytes),
                  "a larger SHMEM_SYMMETRIC_SIZE (such as 1G) in the environment of all ranks, or another "
                  "exchange transport");
  };
  try {
    collectively(comm_, take_some);
  } catch (...) {
    if (at) begun.used.erase(*at);
    throw;
  }
  origin_bytes_ = *at;
  std::memset(data(), 0, some);
}

SymmetricMemory::~SymmetricMemory() {
  if (std::uncaught_exceptions() > 0) return;
  functions()->quiet();
  barrier(comm_);
  begun.used.erase(origin_bytes_);
}

std::byte* SymmetricMemory::data() const noexcept {
  return begun.first + origin_bytes_;
}

int SymmetricMemory::process_of(int rank) {
  const auto [found, is_new] = processes_.try_emplace(rank, rank);
  if (!is_new) return found->second;
  MPI_Group here = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  check(MPI_Comm_group(comm_.get(), &here), "MPI_Comm_group");
  check(MPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
  const int code = MPI_Group_translate_ranks(here, 1, &rank, world, &found->second);
  MPI_Group_free(&here);
  MPI_Group_free(&world);
  check(code, "MPI_Group_translate_ranks");
  return found->second;
}

void SymmetricMemory::put(std::span<const std::byte> bytes, int rank, std::size_t offset_bytes) {
  functions()->putmem(begun.first + offset_bytes, bytes.data(), bytes.size(), process_of(rank));
}

void SymmetricMemory::put(std::uint64_t number, int rank, std::size_t offset_bytes) {
  functions()->uint64_p(reinterpret_cast<std::uint64_t*>(begun.first + offset_bytes),
                        number,  // NOLINT: memory
                        process_of(rank));
}

void SymmetricMemory::flush(int) {
  functions()->quiet();  // OpenSHMEM does not wait for a single rank
}

void SymmetricMemory::sync() {
  constexpr int unused_tag = 32003;
  int found = 0;
  check(MPI_Iprobe(MPI_ANY_SOURCE, unused_tag, comm_.get(), &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

}  // namespace tailrace::mpi
