// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/window.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "base/aligned.hpp"
#include "base/system.hpp"
#include "mpi/native.hpp"
#include "mpi/node.hpp"
#include "tailrace/error.hpp"

namespace tailrace::mpi {

namespace {

constexpr std::size_t longest_bytes = std::size_t{1} << 30;  // MPI 3.1 counts are int

/// The ranks that a rank shares its machine with. @collective{comm}
class Machine {
 public:
  explicit Machine(CommView comm) {
    check(MPI_Comm_split_type(comm.get(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &ranks_),
          "MPI_Comm_split_type");
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() { MPI_Comm_free(&ranks_); }
  [[nodiscard]] CommView ranks() const { return CommView(ranks_); }

 private:
  MPI_Comm ranks_ = MPI_COMM_NULL;
};

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
/// One window at a time is made on a node. Open MPI before 5.0 names the file of a window after the number of
/// its communicator, which communicators without common ranks share, so that two of them take each other's
/// file (open-mpi/ompi, issue 9492).
class Turn {
 public:
  /// Waits until it is the turn of these ranks, which are all here then: whoever has a lock waits for nobody
  /// else. Nodes are locked in an order that all communicators have in common. @collective{comm},
  /// synchronises
  Turn(CommView comm, const Machine& machine) : comm_(comm) {
    const bool leads = machine.ranks().is_root();
    const auto order = static_cast<int>(std::hash<std::string>{}(host_name()) >> 33U);
    MPI_Comm leaders = MPI_COMM_NULL;
    check(MPI_Comm_split(comm.get(), leads ? 0 : MPI_UNDEFINED, order, &leaders), "MPI_Comm_split");
    if (leads) {
      lock_in_turn(CommView(leaders));
      check(MPI_Comm_free(&leaders), "MPI_Comm_free");
    }
    barrier(comm);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (std::uncaught_exceptions() == 0) barrier(comm_);
    if (file_ >= 0) close(file_);
  }

 private:
  void lock_in_turn(CommView leaders) {
    const auto path = fmt::format("/dev/shm/tailrace-windows-{}", getuid());
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    for (int rank = 0; rank < leaders.size(); ++rank) {
      if (rank == leaders.rank() && file_ >= 0) flock(file_, LOCK_EX);
      barrier(leaders);
    }
  }
  CommView comm_;
  int file_ = -1;
};
#else
struct Turn {
  Turn(CommView, const Machine&) {}
};
#endif

/// Calls `move` for parts of some bytes that fit in a count.
template <class Bytes, class Move>
void for_each_part(Bytes bytes, std::size_t offset, Move move) {
  for (std::size_t at = 0; at < bytes.size(); at += longest_bytes)
    move(bytes.subspan(at, std::min(longest_bytes, bytes.size() - at)), static_cast<MPI_Aint>(offset + at));
}

MPI_Datatype type_of(WindowNumber kind) {
  switch (kind) {
    case WindowNumber::float32:
      return MPI_FLOAT;
    case WindowNumber::float64:
      return MPI_DOUBLE;
    case WindowNumber::int32:
      return MPI_INT32_T;
    case WindowNumber::int64:
      return MPI_INT64_T;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op operation_of(WindowOperation how) {
  switch (how) {
    case WindowOperation::sum:
      return MPI_SUM;
    case WindowOperation::min:
      return MPI_MIN;
    case WindowOperation::max:
      return MPI_MAX;
    case WindowOperation::logical_or:
      return MPI_LOR;
  }
  return MPI_OP_NULL;
}

}  // namespace

NumberPlaces::NumberPlaces(WindowNumber kind, int numbers, const std::vector<std::ptrdiff_t>& at_bytes)
    : groups_(static_cast<int>(at_bytes.size())) {
  check(MPI_Type_contiguous(numbers, type_of(kind), Lent(group_)), "MPI_Type_contiguous");
  check(MPI_Type_commit(Lent(group_)), "MPI_Type_commit");
  check(MPI_Type_create_hindexed_block(groups_, numbers, at_bytes.data(), type_of(kind), Lent(places_)),
        "MPI_Type_create_hindexed_block");
  check(MPI_Type_commit(Lent(places_)), "MPI_Type_commit");
}

NumberPlaces::NumberPlaces(NumberPlaces&& other) noexcept
    : groups_(other.groups_),
      group_(std::exchange(other.group_, DatatypeHandle::none)),
      places_(std::exchange(other.places_, DatatypeHandle::none)) {}

NumberPlaces::~NumberPlaces() {
  if (group_ != DatatypeHandle::none) MPI_Type_free(Lent(group_));
  if (places_ != DatatypeHandle::none) MPI_Type_free(Lent(places_));
}

Group::Group(CommView comm, const std::vector<int>& ranks) {
  MPI_Group all = MPI_GROUP_NULL;
  check(MPI_Comm_group(comm.get(), &all), "MPI_Comm_group");
  const int code = MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), Lent(group_));
  MPI_Group_free(&all);
  check(code, "MPI_Group_incl");
}

Group::~Group() {
  if (native(group_) != MPI_GROUP_NULL && native(group_) != MPI_GROUP_EMPTY) MPI_Group_free(Lent(group_));
}

Window::Window(CommView comm, std::size_t bytes) : comm_(comm) {
  // MPICH 4.0 looks for the parts of the ranks of a node at places rounded otherwise than those where they
  // are, unless sizes are multiples of 16.
  const std::size_t some = padded<std::byte>(std::max<std::size_t>(bytes, 1));
  {
    const Machine machine(comm);
    const Turn turn(comm, machine);
    if (min(comm, std::int64_t{has_shared_room(machine.ranks(), some) ? 1 : 0}) == 0)
      throw Error(ErrorKind::resource, "no room in shared memory (/dev/shm) for a window",
                  "a larger /dev/shm (of a container: --shm-size), or what sends messages instead");
    check(MPI_Win_allocate(static_cast<MPI_Aint>(some), 1, MPI_INFO_NULL, comm.get(), &data_, Lent(window_)),
          "MPI_Win_allocate");
  }
  check(MPI_Win_set_errhandler(native(window_), MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
  std::memset(data_, 0, some);
  barrier(comm);
}

Window::~Window() {
  if (std::uncaught_exceptions() == 0) MPI_Win_free(Lent(window_));
}

void Window::put(std::span<const std::byte> bytes, int rank, std::size_t offset_bytes) {
  for_each_part(bytes, offset_bytes, [&](std::span<const std::byte> part, MPI_Aint at) {
    const int count = static_cast<int>(part.size());
    check(MPI_Put(part.data(), count, MPI_BYTE, rank, at, count, MPI_BYTE, native(window_)), "MPI_Put");
  });
}

void Window::get(std::span<std::byte> bytes, int rank, std::size_t offset_bytes) {
  for_each_part(bytes, offset_bytes, [&](std::span<std::byte> part, MPI_Aint at) {
    const int count = static_cast<int>(part.size());
    check(MPI_Get(part.data(), count, MPI_BYTE, rank, at, count, MPI_BYTE, native(window_)), "MPI_Get");
  });
}

void Window::accumulate(const std::byte* message, const NumberPlaces& places, int rank, WindowOperation how) {
  check(MPI_Accumulate(message, places.groups_, native(places.group_), rank, 0, 1, native(places.places_),
                       operation_of(how), native(window_)),
        "MPI_Accumulate");
}

void Window::lock_all() {
  check(MPI_Win_lock_all(MPI_MODE_NOCHECK, native(window_)), "MPI_Win_lock_all");
}

void Window::unlock_all() {
  check(MPI_Win_unlock_all(native(window_)), "MPI_Win_unlock_all");
}

void Window::flush(int rank) {
  check(MPI_Win_flush(rank, native(window_)), "MPI_Win_flush");
}

void Window::sync() {
  constexpr int unused_tag = 32002;
  int found = 0;
  check(MPI_Iprobe(MPI_ANY_SOURCE, unused_tag, comm_.get(), &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
  check(MPI_Win_sync(native(window_)), "MPI_Win_sync");
}

void Window::fence() {
  check(MPI_Win_fence(0, native(window_)), "MPI_Win_fence");
}

void Window::post(const Group& origins) {
  check(MPI_Win_post(native(origins.get()), 0, native(window_)), "MPI_Win_post");
}

void Window::start(const Group& targets) {
  check(MPI_Win_start(native(targets.get()), 0, native(window_)), "MPI_Win_start");
}

void Window::complete() {
  check(MPI_Win_complete(native(window_)), "MPI_Win_complete");
}

bool Window::test() {
  int done = 0;
  check(MPI_Win_test(native(window_), &done), "MPI_Win_test");
  return done != 0;
}

}  // namespace tailrace::mpi
