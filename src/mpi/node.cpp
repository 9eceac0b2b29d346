// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/node.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <limits>
#include <string>

#include "base/text.hpp"
#include "mpi/native.hpp"
#include "mpi/verdict.hpp"
#include "tailrace/error.hpp"

namespace tailrace::mpi {

namespace {

/// The most ranks that may count as a node.
int read_largest_node() {
  const char* text = std::getenv("TAILRACE_RANKS_PER_NODE");
  if (text == nullptr) return std::numeric_limits<int>::max();
  const auto most = parse_number<int>(text, 1, std::numeric_limits<int>::max());
  if (most) return *most;
  throw Error(ErrorInfo{.kind = ErrorKind::usage,
                        .message = fmt::format("environment variable TAILRACE_RANKS_PER_NODE = \"{}\"", text),
                        .path = {},
                        .hint = "a number of at least 1, or unset it"});
}

/// The same on all ranks, or the same error.
int largest_node(CommView parent) {
  int most = 0;
  collectively(parent, [&] { most = read_largest_node(); });
  return most;
}

/// The ranks of one machine, in the order of the parent.
Comm split_by_machine(CommView parent, int max_ranks) {
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_split_type(parent.get(), MPI_COMM_TYPE_SHARED, parent.rank(), MPI_INFO_NULL, &part),
        "MPI_Comm_split_type");
  const CommView view(part);
  Comm machine = Comm::split(view, view.rank() / max_ranks);
  check(MPI_Comm_free(&part), "MPI_Comm_free");
  return machine;
}

std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

Node::Node(CommView parent) : Node(parent, largest_node(parent)) {}

Node::Node(CommView parent, int max_ranks)
    : comm_(split_by_machine(parent, max_ranks)), ranks_(static_cast<std::size_t>(comm_.view().size())) {
  const int mine = parent.rank();
  check(MPI_Allgather(&mine, 1, MPI_INT, ranks_.data(), 1, MPI_INT, comm_.view().get()), "MPI_Allgather");
}

/// The system writes zeros there: what would be a signal for the process is an error code for the system.
bool reserve(std::byte* first, std::size_t bytes) noexcept {
  const int zeros = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  if (zeros < 0) return false;
  while (bytes > 0) {
    const ssize_t taken = ::read(zeros, first, bytes);
    if (taken < 0 && errno == EINTR) continue;
    if (taken <= 0) break;
    first += taken;
    bytes -= static_cast<std::size_t>(taken);
  }
  ::close(zeros);
  return bytes == 0;
}

bool has_shared_room(CommView machine, std::size_t bytes) {
  constexpr double share_beside = 0.1, bytes_beside = 1 << 20;
  struct statvfs system {};
  const std::int64_t wanted = sum(machine, static_cast<std::int64_t>(bytes));
  const bool known = ::statvfs("/dev/shm", &system) == 0;
  const auto room = static_cast<double>(system.f_bavail) * static_cast<double>(system.f_frsize);
  const double needed = (1 + share_beside) * static_cast<double>(wanted) + bytes_beside;
  return min(machine, std::int64_t{!known || needed <= room ? 1 : 0}) == 1;
}

std::optional<SharedMemory> SharedMemory::allocate(const Node& node, std::size_t bytes) {
  const CommView comm = node.comm();
  // MPI may keep something of its own in front: room for the part to begin on the next page.
  const std::size_t pages = (bytes + page_bytes() - 1) / page_bytes() + 1;
  if (!has_shared_room(comm, pages * page_bytes())) return {};
  MPI_Win window = MPI_WIN_NULL;
  void* base = nullptr;
  const int code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(pages * page_bytes()), 1, MPI_INFO_NULL,
                                           comm.get(), &base, &window);
  const bool everywhere = min(comm, std::int64_t{code == MPI_SUCCESS ? 1 : 0}) == 1;
  if (!everywhere) return {};  // a window that some ranks have stays: freeing it would be collective
  SharedMemory memory(comm, handle_of<WindowHandle>(window));
  memory.locate_parts();
  // What was free when all looked may have been taken by others since.
  const bool reserved = reserve(memory.part(comm.rank()), bytes);
  if (min(comm, std::int64_t{reserved ? 1 : 0}) == 0) return {};
  return memory;
}

void SharedMemory::locate_parts() {
  check(MPI_Win_lock_all(MPI_MODE_NOCHECK, native(window_)), "MPI_Win_lock_all");
  for (int rank = 0; rank < comm_.size(); ++rank) {
    MPI_Aint size = 0;
    int unit = 0;
    void* part = nullptr;
    check(MPI_Win_shared_query(native(window_), rank, &size, &unit, &part), "MPI_Win_shared_query");
    // Memory is mapped by pages, so every rank finds the same place.
    const auto place = reinterpret_cast<std::uintptr_t>(part);
    const std::size_t skipped = (page_bytes() - place % page_bytes()) % page_bytes();
    parts_.push_back(static_cast<std::byte*>(part) + skipped);
  }
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : comm_(other.comm_),
      window_(std::exchange(other.window_, WindowHandle::none)),
      parts_(std::move(other.parts_)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(comm_, other.comm_);
  std::swap(window_, other.window_);
  std::swap(parts_, other.parts_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (window_ == WindowHandle::none || std::uncaught_exceptions() > 0) return;
  MPI_Win_unlock_all(native(window_));
  MPI_Win_free(Lent(window_));
}

void SharedMemory::fence() const {
  check(MPI_Win_sync(native(window_)), "MPI_Win_sync");
}

}  // namespace tailrace::mpi
