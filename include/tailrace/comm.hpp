// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

struct ompi_communicator_t;  // what an MPI_Comm of Open MPI points to

namespace tailrace::mpi {

/// A communicator as MPI knows it: made of an MPI_Comm, and converts to one. That is a pointer with Open MPI
/// and a number with MPICH and its relatives; the library has the functions of the MPI that it was built
/// with, so that a program that was compiled against another one does not link. So no header of ours needs
/// MPI's.
class CommHandle {
 public:
  CommHandle() = default;
  CommHandle(ompi_communicator_t* comm) noexcept;  // NOLINT: an MPI_Comm is what it represents
  CommHandle(int comm) noexcept;                   // NOLINT
  operator ompi_communicator_t*() const noexcept;  // NOLINT
  operator int() const noexcept;                   // NOLINT

  [[nodiscard]] bool empty() const noexcept { return bits_ == 0; }

 private:
  std::uint64_t bits_ = 0;
};

/// Something that MPI is doing, as MPI knows it; or nothing.
enum class Request : std::uint64_t { none };

/// Turns the code of an MPI call into an `Error` that names the operation and MPI's reason.
void check(int code, const char* operation);

/// A communicator that somebody else owns. Copying it costs nothing.
class CommView {
 public:
  CommView() = default;
  /// Of MPI_COMM_NULL: an empty one. @local. Errors: MPI's own.
  explicit CommView(CommHandle comm);
  /// This process alone (MPI_COMM_SELF). @local
  static CommView self();

  [[nodiscard]] CommHandle get() const noexcept { return comm_; }
  [[nodiscard]] bool empty() const noexcept { return comm_.empty(); }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] bool is_root() const noexcept { return rank_ == 0; }
  /// The number by which Fortran, and code that does not know MPI's types, has it. @local
  [[nodiscard]] int fortran() const noexcept;

 private:
  CommHandle comm_;
  int rank_ = 0;
  int size_ = 0;
};

/// A communicator of our own: errors are returned to us and its messages never meet those of others.
class Comm {
 public:
  Comm() = default;
  /// A duplicate of `parent`. @collective{parent}
  static Comm duplicate(CommView parent);
  /// The ranks of `parent` that gave the same colour; a negative colour gives an empty communicator.
  /// @collective{parent}
  static Comm split(CommView parent, int colour);
  /// The ranks of `parent`, for collective operations among neighbours: this rank sends to `to` and receives
  /// from `from`, as they say of themselves. @collective{parent}
  static Comm neighbours(CommView parent, const std::vector<int>& to, const std::vector<int>& from);

  Comm(Comm&& other) noexcept : view_(std::exchange(other.view_, CommView{})) {}
  Comm& operator=(Comm&& other) noexcept {
    std::swap(view_, other.view_);
    return *this;
  }
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;
  ~Comm();

  /// Frees the communicator. @collective{this}
  void close();
  [[nodiscard]] bool empty() const noexcept { return view_.empty(); }
  [[nodiscard]] CommView view() const noexcept { return view_; }
  operator CommView() const noexcept {
    return view_;
  }  // NOLINT: a borrowed communicator is what functions take

 private:
  explicit Comm(CommHandle comm) : view_(comm) {}
  CommView view_;
};

/// MPI for the life of the program. At most one object, destroyed after every communicator.
class Environment {
 public:
  /// Starts MPI so that one thread per process may call it (`MPI_THREAD_FUNNELED`): writers make no MPI call.
  Environment(int& argc, char**& argv);
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment();

  [[nodiscard]] CommView world() const noexcept { return world_; }
  /// Ends all processes of the job at once, for an error that the other ranks do not know of.
  [[noreturn]] static void abort(int exit_code) noexcept;
  /// Processes that Open MPI says it has room for beside those of the job; 0 if it says nothing, and of other
  /// libraries. @local
  static int free_slots();
  /// Name and version of the MPI library, on one line.
  static std::string library_version();

 private:
  CommView world_;
};

/// Values of a type that may be sent as bytes.
template <class T>
concept Sendable = std::is_trivially_copyable_v<T>;

/// Sends the bytes of `data` from `root` to all. Sizes agree on all ranks. @collective{comm}
void broadcast_bytes(CommView comm, std::span<std::byte> data, int root);
/// Returns the root's text on all ranks. @collective{comm}
std::string broadcast(CommView comm, std::string text, int root);
/// Sends the root's values to all; the vector takes the root's length. @collective{comm}
template <Sendable T>
void broadcast(CommView comm, std::vector<T>& values, int root) {
  std::size_t count = values.size();
  broadcast_bytes(comm, std::as_writable_bytes(std::span(&count, 1)), root);
  values.resize(count);
  broadcast_bytes(comm, std::as_writable_bytes(std::span(values)), root);
}

/// Sum, maximum or minimum over all ranks, on all ranks. @collective{comm}, synchronises.
double sum(CommView comm, double value);
std::int64_t sum(CommView comm, std::int64_t value);
double max(CommView comm, double value);
std::int64_t max(CommView comm, std::int64_t value);
double min(CommView comm, double value);
std::int64_t min(CommView comm, std::int64_t value);
/// Gives every rank the bits that are set on any of them. As many words on all ranks. @collective{comm},
/// synchronises.
void unite_bits(CommView comm, std::span<std::uint64_t> words);
/// Sum over the ranks before this one (0 on rank 0). @collective{comm}
std::int64_t exclusive_scan(CommView comm, std::int64_t value);
/// The same of many numbers, as many on all ranks. @collective{comm}
std::vector<std::int64_t> exclusive_scan(CommView comm, const std::vector<std::int64_t>& values);
/// Sums over all ranks, as many on all ranks; unsigned numbers add up modulo 2^64. @collective{comm},
/// synchronises.
std::vector<std::int64_t> sum(CommView comm, const std::vector<std::int64_t>& values);
std::vector<double> sum(CommView comm, const std::vector<double>& values);
std::vector<std::uint64_t> sum(CommView comm, const std::vector<std::uint64_t>& values);
/// The texts of all ranks in rank order, on the root only; empty elsewhere. @collective{comm}
std::vector<std::string> gather(CommView comm, const std::string& text, int root);
/// Waits for all ranks, leaving the core to others meanwhile. @collective{comm}
void barrier(CommView comm);

/// Begins a barrier, which is complete when all ranks have begun it. @collective{comm}, does not wait
[[nodiscard]] Request start_barrier(CommView comm);

/// Waits for a set of requests, yielding and then sleeping, so that a waiting rank leaves its core to writers
/// and to other ranks on the same core. @local. Errors: MPI's own.
void wait_all(std::span<Request> requests);
/// As `wait_all`, but gives up after `limit_s` seconds and returns false; the requests stay pending then.
bool wait_all_for(std::span<Request> requests, double limit_s);

/// Lets MPI continue; returns whether all requests are complete (they are null then). @local, does not wait.
bool test_all(std::span<Request> requests);
/// Gives up while an error ends the program: after it, nothing is written into the memory of `receives` any
/// more, and `sends` complete on their own if at all. @local, waits at most a second.
void abandon(std::span<Request> receives, std::span<Request> sends) noexcept;

}  // namespace tailrace::mpi
