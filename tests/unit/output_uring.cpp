// SPDX-License-Identifier: BSD-3-Clause
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>

#include "base/system.hpp"
#include "output/registry/create.hpp"
#include "output_async_bench.hpp"

using namespace tailrace;
using namespace tailrace::output;
using namespace tailrace::output::async_bench;

namespace {

/// Runs `action` in a child and returns its exit status: 0 if it went well.
template <class Action>
int in_child(const Action& action) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(action() ? 0 : 1);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Has the kernel answer io_uring_setup with `error` from now on, as sandboxes do.
bool forbid_io_uring(int error) {
  std::array<sock_filter, 4> steps{
      {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog program{static_cast<unsigned short>(steps.size()), steps.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool writes_all(Bench& bench) {
  for (StepIndex step = 1; step <= last_step; ++step) bench.submit(step, step % 7 == 0);
  bench.writer->flush_all();
  const bool all = !bench.writer->failure() && bench.recorded() == last_step &&
                   bench.wrong_values(last_step) == 0 && bench.reached.durable() == 14;
  bench.writer.reset();
  return all;
}

/// A message of the kernel's queue if it cannot be had here.
std::string refusal_here(const Bench& bench) {
  const int fd = open(bench.directory.file("file").c_str(), O_WRONLY | O_CLOEXEC);
  try {
    open_kernel_queue({fd}, {}, {});
  } catch (const Error& error) {
    ::close(fd);
    return error.what();
  }
  ::close(fd);
  return {};
}

}  // namespace

TEST_CASE("uring: the kernel writes where it can, threads with a warning where it cannot") {
  Bench bench(2);
  const auto refusal = refusal_here(bench);
  bench.writer = create_writer(bench.context());
  CHECK(bench.warning.empty() == refusal.empty());
  if (!refusal.empty()) MESSAGE("skipped in part: ", refusal);
  CHECK(writes_all(bench));
}

TEST_CASE("uring: a sandbox without io_uring gets threads and a warning that says why") {
  for (const auto& [error, reason] : {std::pair{ENOSYS, "no io_uring"}, std::pair{EPERM, "forbidden"}}) {
    Bench bench(2);
    const bool built = refusal_here(bench).find("liburing") == std::string::npos;
    CHECK(in_child([&, error = error, reason = reason] {
            if (!forbid_io_uring(error)) return false;
            bench.writer = create_writer(bench.context());
            const auto& warning = bench.warning;
            return warning.find("--write uring: ") == 0 &&
                   warning.find("a thread of each rank writes") != std::string::npos &&
                   (!built || warning.find(reason) != std::string::npos) && writes_all(bench);
          }) == 0);
  }
}

TEST_CASE("uring: without memory to lock the buffers are not registered, and all is written") {
  Bench bench(2);
  if (!refusal_here(bench).empty() || geteuid() != 0) {
    MESSAGE("skipped: it needs io_uring, and root, who can become somebody without privileges");
    return;
  }
  CHECK(in_child([&] {
          const rlimit none{0, 0};
          if (setrlimit(RLIMIT_MEMLOCK, &none) != 0) return false;
          if (chmod(bench.directory.path().c_str(), 0755) != 0 || setuid(65534) != 0) return false;
          bench.writer = create_writer(bench.context());
          return writes_all(bench);
        }) == 0);
}

TEST_CASE("uring: pace, stalls and errors of the kernel's queue") {
  Bench bench(2, "stall:nth=2,s=30ms", "bandwidth=1MB/s,latency=2ms");
  if (!refusal_here(bench).empty()) return;
  bench.writer = create_writer(bench.context());
  const double start_s = monotonic_s();
  bench.submit(1);
  bench.submit(2);
  bench.submit(3);
  bench.writer->flush_all();
  CHECK(monotonic_s() - start_s >= 30e-3);
  CHECK(bench.recorded() == 3);
  CHECK(bench.wrong_values(3) == 0);
  bench.writer.reset();

  const int fd = open(bench.directory.file("file").c_str(), O_RDONLY | O_CLOEXEC);
  {
    const auto queue = open_kernel_queue({fd}, {}, {});
    std::array<char, 8> bytes{};
    const iovec buffer{bytes.data(), bytes.size()};
    queue->write(7, 0, std::span(&buffer, 1), 0, 0);
    std::optional<Completion> done;
    while (!(done = queue->next())) queue->wait();
    CHECK(done->tag == 7);
    CHECK(done->result == -EBADF);
  }
  ::close(fd);
}
