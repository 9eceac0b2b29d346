// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/pool.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace tailrace::tasks {

namespace {

constexpr std::size_t urgent = 0;

/// Which worker of which pool the thread is.
struct Place {
  const Pool* pool = nullptr;
  int worker = -1;
};
thread_local Place this_place;

/// A function that lives until it has run.
class FunctionJob : public Job {
 public:
  explicit FunctionJob(std::function<void()> function) : function_(std::move(function)) {}
  void run() override {
    const std::unique_ptr<FunctionJob> self(this);
    function_();
  }
  void abandon() noexcept override { delete this; }  // NOLINT: the pool has no owner of it

 private:
  std::function<void()> function_;
};

/// Adds to a count that one thread changes and others read.
void count(std::atomic<std::int64_t>& counter) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

std::vector<Cpus> worker_places(const Topology& machine, const Cpus& computing, int workers) {
  std::vector<Cpus> cores;
  for (const Core& core : machine.cores)
    if (Cpus cpus = common(core.cpus, computing); !cpus.empty()) cores.push_back(std::move(cpus));
  if (static_cast<int>(cores.size()) == workers) return cores;
  return std::vector<Cpus>(static_cast<std::size_t>(workers), computing);
}

Pool::Pool(int workers, std::vector<Cpus> places) {
  TAILRACE_CHECK(workers >= 1, "a pool has workers");
  TAILRACE_CHECK(places.empty() || static_cast<int>(places.size()) == workers, "each worker has a place");
  for (int worker = 0; worker < workers; ++worker) {
    workers_.push_back(std::make_unique<Worker>());
    if (!places.empty()) workers_.back()->place = std::move(places[static_cast<std::size_t>(worker)]);
  }
  for (int worker = 1; worker < workers; ++worker)
    workers_[static_cast<std::size_t>(worker)]->thread = std::thread([this, worker] { work(worker); });
}

Pool::~Pool() {
  ending_.store(true);
  wake_all();
  for (auto& worker : workers_)
    if (worker->thread.joinable()) worker->thread.join();
  while (Job* job = find(0)) job->abandon();
}

int Pool::this_worker() const noexcept {
  if (this_place.pool == this) return this_place.worker;
  return std::this_thread::get_id() == maker_ ? 0 : -1;
}

void Pool::submit(Job& job, Priority priority) {
  const auto level = static_cast<std::size_t>(priority);
  pending_.fetch_add(1);
  if (level == urgent) urgent_.fetch_add(1);
  if (const int worker = this_worker(); worker >= 0) {
    workers_[static_cast<std::size_t>(worker)]->jobs[level].push(&job);
  } else {
    const std::lock_guard lock(injected_.mutex);
    injected_.jobs[level].push_back(&job);
    injected_.count[level].fetch_add(1);
  }
  wake_one();
}

void Pool::submit(std::function<void()> function, Priority priority) {
  submit(*std::make_unique<FunctionJob>(std::move(function)).release(), priority);
}

Job* Pool::take_injected(std::size_t priority) {
  if (injected_.count[priority].load() == 0) return nullptr;
  const std::lock_guard lock(injected_.mutex);
  auto& jobs = injected_.jobs[priority];
  if (jobs.empty()) return nullptr;
  injected_.count[priority].fetch_sub(1);
  Job* const job = jobs.front();
  jobs.pop_front();
  return job;
}

Job* Pool::steal(int worker, std::size_t priority) {
  for (int step = 1; step < workers(); ++step) {
    Worker& other = *workers_[static_cast<std::size_t>((worker + step) % workers())];
    if (Job* job = other.jobs[priority].steal()) {
      count(workers_[static_cast<std::size_t>(worker)]->stolen);
      return job;
    }
  }
  return nullptr;
}

Job* Pool::find(int worker, std::size_t priority) {
  if (Job* job = workers_[static_cast<std::size_t>(worker)]->jobs[priority].pop()) return job;
  if (Job* job = take_injected(priority)) return job;
  return steal(worker, priority);
}

Job* Pool::find(int worker) {
  count(workers_[static_cast<std::size_t>(worker)]->looks);
  if (urgent_.load() > 0)
    if (Job* job = find(worker, urgent)) {
      urgent_.fetch_sub(1);
      return job;
    }
  return find(worker, static_cast<std::size_t>(Priority::normal));
}

void Pool::run(int worker, Job& job) {
  try {
    job.run();
  } catch (...) {
    const std::lock_guard lock(errors_);
    ++failures_;
    if (!first_error_) first_error_ = std::current_exception();
  }
  count(workers_[static_cast<std::size_t>(worker)]->run);
  if (pending_.fetch_sub(1) == 1) wake_all();
}

void Pool::wake_one() {
  if (sleepers_.load() == 0) return;
  signal_.fetch_add(1);
  signal_.notify_one();
}

void Pool::wake_all() {
  signal_.fetch_add(1);
  if (sleepers_.load() > 0) signal_.notify_all();
}

/// Sleeps until a job may be there, unless one is or `over` returns true. Whoever adds a job after the count
/// of sleepers was raised sees it, and a job added before is found here.
template <class Over>
void Pool::sleep_unless(int worker, Over over) {
  const std::uint32_t seen = signal_.load();
  sleepers_.fetch_add(1);
  Job* const job = find(worker);
  if (job == nullptr && !over()) {
    count(workers_[static_cast<std::size_t>(worker)]->sleeps);
    signal_.wait(seen);
  }
  sleepers_.fetch_sub(1);
  if (job != nullptr) run(worker, *job);
}

void Pool::work(int worker) {
  constexpr int looks_before_sleep = 20;
  this_place = {this, worker};
  if (const Cpus& place = workers_[static_cast<std::size_t>(worker)]->place; !place.empty())
    bind_thread(place);
  for (int looks = 0; !ending_.load();) {
    if (Job* job = find(worker)) {
      run(worker, *job);
      looks = 0;
    } else if (++looks >= looks_before_sleep) {
      sleep_unless(worker, [this] { return ending_.load(); });
      looks = 0;
    }
  }
}

bool Pool::run_one() {
  TAILRACE_DCHECK(this_worker() == 0, "worker 0 calls run_one");
  Job* const job = find(0);
  if (job != nullptr) run(0, *job);
  return job != nullptr;
}

void Pool::wait_idle() {
  while (pending() > 0)
    if (!run_one()) sleep_unless(0, [this] { return pending() == 0; });
  rethrow();
}

std::int64_t Pool::failures() const {
  const std::lock_guard lock(errors_);
  return failures_;
}

void Pool::rethrow() {
  std::exception_ptr error;
  {
    const std::lock_guard lock(errors_);
    failures_ = 0;
    error = std::exchange(first_error_, nullptr);
  }
  if (error) std::rethrow_exception(error);
}

WorkerCounts Pool::counts(int worker) const noexcept {
  const Worker& of = *workers_[static_cast<std::size_t>(worker)];
  return {.jobs = of.run.load(),
          .stolen = of.stolen.load(),
          .looks = of.looks.load(),
          .sleeps = of.sleeps.load()};
}

}  // namespace tailrace::tasks
