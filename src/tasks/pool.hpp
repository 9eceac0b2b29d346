// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/topology.hpp"
#include "tasks/job_deque.hpp"

/// Threads that do whatever jobs there are. The reasons are in docs/explain/fragments.md.
namespace tailrace::tasks {

/// Says where each of some workers runs, on what a process may use: a core of its own if the process has
/// exactly as many cores as workers, as a launcher binds it; else all of them anywhere, as other processes
/// may be on the same cores. @local
std::vector<Cpus> worker_places(const Topology& machine, const Cpus& computing, int workers);

/// Describes what a worker has done.
struct WorkerCounts {
  std::int64_t jobs = 0;    ///< that it ran
  std::int64_t stolen = 0;  ///< those among them that it took from another worker
  std::int64_t looks = 0;   ///< times that it looked for a job
  std::int64_t sleeps = 0;  ///< times that it slept because there was none
};

/// The workers of a process: worker 0 is the thread that makes the pool, which works when it calls `run_one`
/// or `wait_idle`; the others are threads of the pool. A worker takes the newest job of its own, so that data
/// stays in its cache, and steals the oldest of others; urgent jobs first. Who finds nothing sleeps. No MPI.
class Pool {
 public:
  /// `workers`: from 1 on, worker 0 included. `places`: where each may run, or empty for anywhere; worker 0
  /// is not moved. @local
  explicit Pool(int workers, std::vector<Cpus> places = {});
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  /// Waits for the jobs that run; those that have not begun are abandoned. @local
  ~Pool();

  /// The number of the worker that asks; -1 for another thread. Any thread. @local
  [[nodiscard]] int this_worker() const noexcept;

  [[nodiscard]] int workers() const noexcept { return static_cast<int>(workers_.size()); }

  /// Adds a job, which must live until it has run. Any thread; of a worker, into its own deque. @local
  void submit(Job& job, Priority priority = Priority::normal);
  /// The same of a function, which the pool keeps. @local
  void submit(std::function<void()> function, Priority priority = Priority::normal);

  /// Runs a job if there is one; returns whether. Worker 0. @local
  bool run_one();
  /// Works until no job is left, and throws the first exception of a job since the last call. Worker 0.
  /// @local, waits for the workers
  void wait_idle();

  /// Jobs that have been added and have not ended. Any thread. @local
  [[nodiscard]] std::int64_t pending() const noexcept { return pending_.load(); }
  /// Jobs that ended by an exception since the last `wait_idle`; the others ran all the same. Any thread.
  /// @local
  [[nodiscard]] std::int64_t failures() const;
  /// Throws the first exception since the last `wait_idle`, if there was one, and forgets it. Any thread.
  /// @local
  void rethrow();
  /// Any thread. @local
  [[nodiscard]] WorkerCounts counts(int worker) const noexcept;

 private:
  struct Worker {
    std::array<JobDeque, priority_count> jobs;
    std::atomic<std::int64_t> run{0}, stolen{0}, looks{0}, sleeps{0};
    Cpus place;
    std::thread thread;
  };
  struct Injected {
    std::mutex mutex;
    std::array<std::deque<Job*>, priority_count> jobs;
    std::array<std::atomic<std::int64_t>, priority_count> count{};
  };

  void work(int worker);
  Job* find(int worker);
  Job* find(int worker, std::size_t priority);
  Job* take_injected(std::size_t priority);
  Job* steal(int worker, std::size_t priority);
  void run(int worker, Job& job);
  template <class Over>
  void sleep_unless(int worker, Over over);
  void wake_one();
  void wake_all();

  std::vector<std::unique_ptr<Worker>> workers_;
  std::thread::id maker_ = std::this_thread::get_id();
  Injected injected_;
  alignas(alignment_bytes) std::atomic<std::int64_t> pending_{0};
  alignas(alignment_bytes) std::atomic<std::int64_t> urgent_{0};  ///< jobs that nobody has taken
  alignas(alignment_bytes) std::atomic<std::uint32_t> signal_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> ending_{false};
  mutable std::mutex errors_;
  std::exception_ptr first_error_;
  std::int64_t failures_ = 0;
};

}  // namespace tailrace::tasks
