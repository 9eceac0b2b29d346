// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <liburing.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/system.hpp"
#include "output/strategies/async_queue.hpp"
#include "output/strategies/kernel_workers.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

constexpr unsigned ring_entries = 512;               // handed over at once
constexpr unsigned max_completions = 4096;           // two per operation: its time and itself
constexpr std::uint64_t nobody = ~std::uint64_t{0};  // tag of what no one waits for
static_assert(2 * AsyncQueue::max_under_way <= max_completions / 2);

[[noreturn]] void refuse(const std::string& what, const char* hint) {
  throw Error(ErrorInfo{.kind = ErrorKind::io, .message = what, .path = {}, .hint = hint});
}

[[noreturn]] void refuse_setup(int error) {
  switch (error) {
    case ENOSYS:
      refuse("this kernel, or the sandbox around it, has no io_uring",
             "it needs Linux 5.6, and containers must let io_uring through");
    case EPERM:
    case EACCES:
      refuse("io_uring is forbidden on this machine",
             "see /proc/sys/kernel/io_uring_disabled, or the system calls that the container allows");
    case ENOMEM:
      refuse("the kernel locks too little memory for io_uring", "raise the limit (ulimit -l)");
    default:
      refuse(fmt::format("io_uring cannot be set up: {}", std::strerror(error)), "");
  }
}

/// Sets a ring up with what the kernel has of its options; the older it is, the fewer they are.
void set_up(io_uring& ring) {
  constexpr std::array<unsigned, 3> choices{
      IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_SUBMIT_ALL,  // 5.19
      IORING_SETUP_SUBMIT_ALL,                                                          // 5.18
      0};
  int error = 0;
  for (const unsigned flags : choices) {
    io_uring_params parameters{};
    parameters.flags = flags | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP;
    parameters.cq_entries = max_completions;
    error = -io_uring_queue_init_params(ring_entries, &ring, &parameters);
    if (error == 0) return;
    if (error != EINVAL) break;
  }
  refuse_setup(error);
}

/// Looks whether the kernel knows all operations that are needed.
void check_operations(io_uring& ring) {
  const std::unique_ptr<io_uring_probe, void (*)(io_uring_probe*)> probe(io_uring_get_probe_ring(&ring),
                                                                         io_uring_free_probe);
  for (const int code : {IORING_OP_WRITEV, IORING_OP_WRITE_FIXED, IORING_OP_FSYNC, IORING_OP_SYNC_FILE_RANGE,
                         IORING_OP_TIMEOUT})
    if (!probe || io_uring_opcode_supported(probe.get(), code) == 0)
      refuse("io_uring of this kernel lacks operations that are needed", "it needs Linux 5.6");
}

class KernelQueue final : public AsyncQueue {
 public:
  KernelQueue(const std::vector<int>& files, std::span<std::byte> memory, const Cpus& cpus) : files_(files) {
    set_up(ring_);
    try {
      check_operations(ring_);
    } catch (...) {
      io_uring_queue_exit(&ring_);
      throw;
    }
    files_registered_ =
        io_uring_register_files(&ring_, files.data(), static_cast<unsigned>(files.size())) == 0;
    const iovec all{memory.data(), memory.size()};
    // Refused where too little memory may be locked, and above 1 GiB: then pages are looked up at each write.
    if (!memory.empty() && io_uring_register_buffers(&ring_, &all, 1) == 0) memory_ = memory;
    start_workers(cpus);
  }
  KernelQueue(const KernelQueue&) = delete;
  KernelQueue& operator=(const KernelQueue&) = delete;
  ~KernelQueue() override { io_uring_queue_exit(&ring_); }

  void write(std::uint64_t tag, std::size_t file, std::span<const iovec> buffers, std::int64_t offset,
             double not_before_s) override {
    make_room();
    if (not_before_s > 0) io_uring_sqe_set_flags(prepare_time(not_before_s, nobody), IOSQE_IO_HARDLINK);
    io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
    const auto& first = buffers.front();
    if (buffers.size() == 1 && in_memory(first))
      io_uring_prep_write_fixed(entry, 0, first.iov_base, static_cast<unsigned>(first.iov_len),
                                static_cast<__u64>(offset), 0);
    else
      io_uring_prep_writev(entry, 0, buffers.data(), static_cast<unsigned>(buffers.size()),
                           static_cast<__u64>(offset));
    finish(entry, file, tag);
  }

  void pause(std::uint64_t tag, double until_s) override {
    make_room();
    prepare_time(until_s, tag);
  }

  void flush(std::uint64_t tag, std::size_t file) override {
    make_room();
    io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
    io_uring_prep_fsync(entry, 0, IORING_FSYNC_DATASYNC);
    finish(entry, file, tag);
  }

  void start_flush(std::size_t file) override {
    make_room();
    io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
    io_uring_prep_sync_file_range(entry, 0, 0, 0, SYNC_FILE_RANGE_WRITE);
    finish(entry, file, nobody);
  }

  void submit() override { check_submitted(io_uring_submit(&ring_)); }

  std::optional<Completion> next() override {
    for (io_uring_cqe* done = nullptr; io_uring_peek_cqe(&ring_, &done) == 0;) {
      const Completion completion{.tag = done->user_data, .result = done->res};
      io_uring_cqe_seen(&ring_, done);
      if (completion.tag != nobody) return completion;
    }
    return {};
  }

  void wait() override {
    if (!check_submitted(io_uring_submit_and_wait(&ring_, 1))) backoff_.pause();
  }

  double cpu_s() override { return workers_.cpu_s(); }

 private:
  /// Kernel workers carry the operation out in any case: some file systems would copy the data at once, on
  /// the thread that submits.
  void finish(io_uring_sqe* entry, std::size_t file, std::uint64_t tag) noexcept {
    entry->fd = files_registered_ ? static_cast<int>(file) : files_[file];
    unsigned flags = IOSQE_ASYNC;
    if (files_registered_) flags |= IOSQE_FIXED_FILE;
    io_uring_sqe_set_flags(entry, flags);
    io_uring_sqe_set_data64(entry, tag);
  }

  /// An operation that ends at a time. That counts as an error, which a hard link to the next one does not
  /// mind.
  io_uring_sqe* prepare_time(double until_s, std::uint64_t tag) {
    io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
    auto& time = times_[static_cast<std::size_t>(entry - ring_.sq.sqes)];
    const double whole_s = std::floor(until_s);
    time.tv_sec = static_cast<long long>(whole_s);
    time.tv_nsec = static_cast<long long>((until_s - whole_s) * 1e9);
    io_uring_prep_timeout(entry, &time, 0, IORING_TIMEOUT_ABS);
    io_uring_sqe_set_data64(entry, tag);
    return entry;
  }

  /// Left to itself the kernel starts many workers, which take turns at the file's lock, and each may run
  /// only where the thread may that lets it start, which computes. So there are two at most (Linux 5.15), one
  /// for writes, as a thread of ours would be, and one for flushes, which are of another kind to some
  /// kernels. They start here, from the place of the writers, by operations that do nothing, and the kernel
  /// keeps the last one of each kind.
  void start_workers(const Cpus& cpus) {
    std::array<unsigned, 2> max_workers{1, 1};
    io_uring_register_iowq_max_workers(&ring_, max_workers.data());
    const auto own = thread_cpus();
    bind_thread(cpus);
    io_uring_sqe* entry = io_uring_get_sqe(&ring_);
    io_uring_prep_sync_file_range(entry, 0, 0, 0, 0);
    finish(entry, 0, nobody);
    entry = io_uring_get_sqe(&ring_);
    io_uring_prep_writev(entry, 0, nullptr, 0, 0);
    finish(entry, 0, nobody);
    io_uring_submit_and_wait(&ring_, 2);
    bind_thread(own);
  }

  /// A linked pair must be handed over together.
  void make_room() {
    for (Backoff backoff; io_uring_sq_space_left(&ring_) < 2; backoff.pause()) submit();
  }

  /// Returns whether the kernel took something; not having the memory for it, or a signal, is no error.
  static bool check_submitted(int result) {
    if (result >= 0) return true;
    if (result == -EAGAIN || result == -EBUSY || result == -EINTR) return false;
    refuse(fmt::format("io_uring does not take operations any more: {}", std::strerror(-result)), "");
  }

  [[nodiscard]] bool in_memory(const iovec& buffer) const noexcept {
    const auto* const first = static_cast<const std::byte*>(buffer.iov_base);
    return !memory_.empty() && first >= memory_.data() &&
           first + buffer.iov_len <= memory_.data() + memory_.size();
  }

  io_uring ring_{};
  std::vector<int> files_;
  std::span<std::byte> memory_;  ///< that the kernel knows
  bool files_registered_ = false;
  std::array<__kernel_timespec, ring_entries> times_{};
  KernelWorkers workers_;
  Backoff backoff_;
};

}  // namespace

std::string kernel_queue_obstacle() {
  io_uring ring{};
  try {
    set_up(ring);
  } catch (const Error& error) {
    return error.info().message;
  }
  std::string obstacle;
  try {
    check_operations(ring);
  } catch (const Error& error) {
    obstacle = error.info().message;
  }
  io_uring_queue_exit(&ring);
  return obstacle;
}

std::unique_ptr<AsyncQueue> open_kernel_queue(const std::vector<int>& files, std::span<std::byte> memory,
                                              const Cpus& cpus) {
  return std::make_unique<KernelQueue>(files, memory, cpus);
}

}  // namespace tailrace::output
