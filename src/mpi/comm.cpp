// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/comm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <limits>
#include <numeric>

#include "base/check.hpp"
#include "base/system.hpp"
#include "base/topology.hpp"
#include "mpi/file.hpp"
#include "mpi/library.hpp"
#include "mpi/lone_start.hpp"
#include "mpi/look_until.hpp"
#include "mpi/native.hpp"
#include "mpi/openshmem.hpp"
#include "mpi/packets.hpp"
#include "mpi/pmix_plugin.h"
#include "tailrace/error.hpp"

namespace tailrace::mpi {

void check(int code, const char* operation) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(ErrorKind::internal, fmt::format("{} failed: {}", operation,
                                               std::string(text.data(), static_cast<std::size_t>(length))));
}

CommHandle::CommHandle(MPI_Comm comm) noexcept {
  if (comm != MPI_COMM_NULL) bits_ = bits_of(comm);
}

CommHandle::operator MPI_Comm() const noexcept {
  return empty() ? MPI_COMM_NULL : of_bits<MPI_Comm>(bits_);
}

CommView::CommView(CommHandle comm) : comm_(comm) {
  if (comm.empty()) return;
  check(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size_), "MPI_Comm_size");
}

CommView CommView::self() {
  return CommView(MPI_COMM_SELF);
}

int CommView::fortran() const noexcept {
  return MPI_Comm_c2f(comm_);
}

Comm Comm::duplicate(CommView parent) {
  MPI_Comm copy = MPI_COMM_NULL;
  check(MPI_Comm_dup(parent.get(), &copy), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  return Comm(copy);
}

Comm Comm::split(CommView parent, int colour) {
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_split(parent.get(), colour < 0 ? MPI_UNDEFINED : colour, parent.rank(), &part),
        "MPI_Comm_split");
  if (part != MPI_COMM_NULL) MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN);
  return Comm(part);
}

Comm Comm::neighbours(CommView parent, const std::vector<int>& to, const std::vector<int>& from) {
  MPI_Comm graph = MPI_COMM_NULL;
  const std::vector<int> to_weights(to.size() + 1, 1), from_weights(from.size() + 1, 1);
  check(MPI_Dist_graph_create_adjacent(parent.get(), static_cast<int>(from.size()), from.data(),
                                       from_weights.data(), static_cast<int>(to.size()), to.data(),
                                       to_weights.data(), MPI_INFO_NULL, 0, &graph),
        "MPI_Dist_graph_create_adjacent");
  MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
  return Comm(graph);
}

void Comm::close() {
  MPI_Comm comm = view_.get();
  view_ = CommView{};
  if (comm != MPI_COMM_NULL) check(MPI_Comm_free(&comm), "MPI_Comm_free");
}

Comm::~Comm() {
  // Freeing is collective: while an exception unwinds, other ranks may be elsewhere, so the handle is left to
  // MPI.
  if (empty() || std::uncaught_exceptions() > 0) return;
  MPI_Comm comm = view_.get();
  MPI_Comm_free(&comm);
}

Environment::Environment(int& argc, char**& argv) {
  prefer_romio();  // while there is one thread: it changes the environment
  leave_out_display_plugins();
  const LoneStart lone_start;
  openshmem::prepare();
  int granted = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &granted), "MPI_Init_thread");
  tailrace_keep_pmix_plugin();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  world_ = CommView(MPI_COMM_WORLD);
  if (granted < MPI_THREAD_FUNNELED)
    throw Error(ErrorKind::resource,
                "this MPI library was built without support for threads (MPI_THREAD_FUNNELED)");
  openshmem::begin(world_);
}

Environment::~Environment() {
  if (std::uncaught_exceptions() == 0 && !openshmem::end()) MPI_Finalize();
}

void Environment::abort(int exit_code) noexcept {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

int Environment::free_slots() {
#ifdef OMPI_MAJOR_VERSION
  int* universe = nullptr;
  int found = 0, size = 0;
  check(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, static_cast<void*>(&universe), &found),
        "MPI_Comm_get_attr");
  check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  return found != 0 && *universe > size ? *universe - size : 0;
#else
  // MPICH asks a process manager, and one that was started without waits for it for ever.
  return 0;
#endif
}

Library library() noexcept {
#ifdef OPEN_MPI
  return Library::open_mpi;
#elif defined(MPICH_NUMVERSION)
  return Library::mpich;
#else
  return Library::other;
#endif
}

std::string Environment::library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string version(text.data(), static_cast<std::size_t>(length));
  version.resize(std::min(version.find_first_of("\n,"), version.size()));
  for (auto& c : version)
    if (c == '\t') c = ' ';
  return version;
}

/// Starts a collective operation by `start(request)` and waits for it without keeping the core from others.
template <class Start>
static void complete(Start start, const char* operation) {
  Request request = Request::none;
  check(start(Lent(request)), operation);
  wait_all({&request, 1});
}

void broadcast_bytes(CommView comm, std::span<std::byte> data, int root) {
  constexpr std::size_t batch = 1U << 30;  // MPI 3.1 counts are int
  for (std::size_t done = 0; done < data.size(); done += batch) {
    const int count = static_cast<int>(std::min(batch, data.size() - done));
    const auto start = [&](MPI_Request* request) {
      return MPI_Ibcast(data.data() + done, count, MPI_BYTE, root, comm.get(), request);
    };
    complete(start, "MPI_Ibcast");
  }
}

std::string broadcast(CommView comm, std::string text, int root) {
  std::vector<char> letters(text.begin(), text.end());
  broadcast(comm, letters, root);
  return {letters.begin(), letters.end()};
}

namespace {
template <class T>
T reduce(CommView comm, T value, MPI_Datatype type, MPI_Op op) {
  T result{};
  complete(
      [&](MPI_Request* request) { return MPI_Iallreduce(&value, &result, 1, type, op, comm.get(), request); },
      "MPI_Iallreduce");
  return result;
}
template <class T>
std::vector<T> add_up(CommView comm, std::vector<T> values, MPI_Datatype type) {
  complete(
      [&](MPI_Request* request) {
        return MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), type, MPI_SUM,
                              comm.get(), request);
      },
      "MPI_Iallreduce");
  return values;
}
}  // namespace

double sum(CommView comm, double value) {
  return reduce(comm, value, MPI_DOUBLE, MPI_SUM);
}
std::int64_t sum(CommView comm, std::int64_t value) {
  return reduce(comm, value, MPI_INT64_T, MPI_SUM);
}
double max(CommView comm, double value) {
  return reduce(comm, value, MPI_DOUBLE, MPI_MAX);
}
std::int64_t max(CommView comm, std::int64_t value) {
  return reduce(comm, value, MPI_INT64_T, MPI_MAX);
}
double min(CommView comm, double value) {
  return reduce(comm, value, MPI_DOUBLE, MPI_MIN);
}
std::int64_t min(CommView comm, std::int64_t value) {
  return reduce(comm, value, MPI_INT64_T, MPI_MIN);
}

std::vector<std::int64_t> sum(CommView comm, const std::vector<std::int64_t>& values) {
  return add_up(comm, values, MPI_INT64_T);
}
std::vector<double> sum(CommView comm, const std::vector<double>& values) {
  return add_up(comm, values, MPI_DOUBLE);
}
std::vector<std::uint64_t> sum(CommView comm, const std::vector<std::uint64_t>& values) {
  return add_up(comm, values, MPI_UINT64_T);
}

void unite_bits(CommView comm, std::span<std::uint64_t> words) {
  complete(
      [&](MPI_Request* request) {
        return MPI_Iallreduce(MPI_IN_PLACE, words.data(), static_cast<int>(words.size()), MPI_UINT64_T,
                              MPI_BOR, comm.get(), request);
      },
      "MPI_Iallreduce");
}

std::int64_t exclusive_scan(CommView comm, std::int64_t value) {
  return exclusive_scan(comm, std::vector{value})[0];
}

std::vector<std::int64_t> exclusive_scan(CommView comm, const std::vector<std::int64_t>& values) {
  std::vector<std::int64_t> before(values.size());
  complete(
      [&](MPI_Request* r) {
        return MPI_Iexscan(values.data(), before.data(), static_cast<int>(values.size()), MPI_INT64_T,
                           MPI_SUM, comm.get(), r);
      },
      "MPI_Iexscan");
  if (comm.is_root()) std::fill(before.begin(), before.end(), 0);
  return before;
}

std::vector<std::vector<std::byte>> gather(CommView comm, const std::vector<std::byte>& bytes, int root) {
  const int length = static_cast<int>(bytes.size());
  const bool here = comm.rank() == root;
  std::vector<int> lengths(here ? static_cast<std::size_t>(comm.size()) : 0);
  complete(
      [&](MPI_Request* r) {
        return MPI_Igather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, root, comm.get(), r);
      },
      "MPI_Igather");
  std::vector<int> offsets(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  std::vector<std::byte> all(here ? static_cast<std::size_t>(offsets.back() + lengths.back()) : 0);
  complete(
      [&](MPI_Request* r) {
        return MPI_Igatherv(bytes.data(), length, MPI_BYTE, all.data(), lengths.data(), offsets.data(),
                            MPI_BYTE, root, comm.get(), r);
      },
      "MPI_Igatherv");
  std::vector<std::vector<std::byte>> parts;
  for (std::size_t r = 0; r < lengths.size(); ++r)
    parts.emplace_back(all.begin() + offsets[r], all.begin() + offsets[r] + lengths[r]);
  return parts;
}

std::vector<std::string> gather(CommView comm, const std::string& text, int root) {
  const auto bytes = std::as_bytes(std::span(text));
  std::vector<std::string> texts;
  for (const auto& part : gather(comm, std::vector(bytes.begin(), bytes.end()), root))
    texts.emplace_back(reinterpret_cast<const char*>(part.data()), part.size());  // NOLINT: bytes are letters
  return texts;
}

Request start_barrier(CommView comm) {
  Request request = Request::none;
  check(MPI_Ibarrier(comm.get(), Lent(request)), "MPI_Ibarrier");
  return request;
}

void barrier(CommView comm) {
  Request request = start_barrier(comm);
  wait_all({&request, 1});
}

bool test_all(std::span<Request> requests) {
  return for_each_batch(requests, [](LentRequests& lent, std::size_t) {
    int done = 0;
    check(MPI_Testall(lent.size(), lent.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    return done != 0;
  });
}

bool wait_all_for(std::span<Request> requests, double limit_s) {
  return look_until([&] { return test_all(requests); }, limit_s);
}

void wait_all(std::span<Request> requests) {
  wait_all_for(requests, std::numeric_limits<double>::infinity());
}

void abandon(std::span<Request> receives, std::span<Request> sends) noexcept {
  for (Request& request : receives)
    if (request != Request::none) MPI_Cancel(Lent(request));
  try {
    wait_all_for(receives, 1);
  } catch (const Error&) {  // the error that ends the program is already under way
  }
  for (Request& request : sends)
    if (request != Request::none) MPI_Request_free(Lent(request));
}

}  // namespace tailrace::mpi
