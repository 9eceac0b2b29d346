// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <deque>
#include <thread>

#include "base/system.hpp"
#include "output/core/background_thread.hpp"
#include "output/strategies/writers.hpp"

namespace tailrace::output {

namespace {

/// One persistent thread that writes the jobs in the order of their submission. It makes no MPI call.
class ThreadsWriter final : public Writer {
 public:
  explicit ThreadsWriter(const WriterContext& context)
      : sink_(context.sink),
        shares_(context.shares),
        reached_(context.reached),
        log_(context.writer_log),
        pool_(context.options.buffers, context.staging_bytes, context.comm.rank(), context.services.memory) {
    thread_ = start_background_thread(context.writer_cpus, [this] { work(); });
  }

  ~ThreadsWriter() override {
    {
      const std::scoped_lock lock(mutex_);
      closing_ = true;
    }
    submitted_.notify_one();
  }

  std::optional<Lease> try_acquire() override { return pool_.try_acquire(); }
  Lease acquire() override { return pool_.acquire(); }

  void submit(Lease job) override {
    {
      const std::scoped_lock lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    submitted_.notify_one();
  }

  [[nodiscard]] bool idle() const override {
    const std::scoped_lock lock(mutex_);
    return jobs_.empty() && !busy_;
  }

  void flush_all() override {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return jobs_.empty() && !busy_; });
  }

  [[nodiscard]] std::optional<ErrorInfo> failure() const override {
    if (!failed_) return {};
    const std::scoped_lock lock(mutex_);
    return failure_;
  }
  [[nodiscard]] const Account& account() const noexcept override { return account_; }

 private:
  void work() {
    while (auto job = next_job()) {
      if (!failed_) write(*job);
      job.reset();  // frees the buffer before the writer counts as idle
      done();
    }
  }

  std::optional<Lease> next_job() {
    const double start_s = monotonic_s();
    std::unique_lock lock(mutex_);
    const bool waits = jobs_.empty();
    submitted_.wait(lock, [this] { return closing_ || !jobs_.empty(); });
    if (jobs_.empty()) return {};
    std::optional<Lease> job(std::move(jobs_.front()));
    jobs_.pop_front();
    busy_ = true;
    lock.unlock();
    if (waits) log_.add({trace::Kind::idle, (*job)->step, start_s, monotonic_s(), 0});
    return job;
  }

  void write(const Lease& job) {
    try {
      run_job(*job, shares_, sink_, account_, log_);
      reached_.mark(*job);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      failure_ = describe_current_exception();
      failed_ = true;
    }
  }

  void done() {
    {
      const std::scoped_lock lock(mutex_);
      busy_ = false;
    }
    idle_.notify_all();
  }

  Sink& sink_;
  std::span<const Share* const> shares_;
  Reached& reached_;
  trace::Log& log_;
  Account account_;
  StagingPool pool_;
  mutable std::mutex mutex_;
  std::condition_variable submitted_, idle_;
  std::deque<Lease> jobs_;
  bool busy_ = false, closing_ = false;
  std::atomic<bool> failed_ = false;
  std::optional<ErrorInfo> failure_;
  std::jthread thread_;  // last: it ends before what it uses
};

}  // namespace

std::unique_ptr<Writer> make_threads_writer(const WriterContext& context) {
  return std::make_unique<ThreadsWriter>(context);
}

}  // namespace tailrace::output
