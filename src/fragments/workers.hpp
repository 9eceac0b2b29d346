// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>

#include "am/hand_over.hpp"
#include "fragments/recording.hpp"
#include "fragments/task.hpp"
#include "tasks/pool.hpp"

namespace tailrace::fragments {

/// The worker threads of a rank. They run bodies, and nothing else: the rank's own thread has all messages,
/// data fragments and queues, and runs no body, so that messages never wait for one.
class Workers {
 public:
  /// `wake` is called by a worker after each body. With `placed`, each worker has a core of its own where the
  /// process has exactly as many. @local
  Workers(const Machine& machine, Recording& recording, int workers, bool placed, std::function<void()> wake);

  /// Has a worker run the body of a fragment that is ready. @local, does not wait
  void start(Task& task);
  /// Calls visit(task, effects) for each body that has run since the last call. @local. Returns whether
  /// there were any
  template <class Visit>
  bool take(Visit visit) {
    if (ended_.empty()) return false;
    ended_.take_all([&](BodyJob& job) {
      --at_work_;
      visit(*job.task, std::move(job.effects));
    });
    return true;
  }

  /// Fragments that were started and have not been taken. @local
  [[nodiscard]] int at_work() const noexcept { return at_work_; }
  /// Whether further fragments would not keep a worker from waiting. @local
  [[nodiscard]] bool full() const noexcept { return at_work_ >= started_per_worker * count_; }

 private:
  static constexpr int started_per_worker = 4;
  struct BodyJob : tasks::Job {
    BodyJob(Workers& maker, Task& started) : owner(&maker), task(&started) {}
    void run() override;
    void abandon() noexcept override { delete this; }  // NOLINT: nobody else owns it
    Workers* owner;
    Task* task;
    Effects effects;
    BodyJob* next = nullptr;
  };

  const Machine* machine_;
  Recording* recording_;
  int count_, at_work_ = 0;
  std::function<void()> wake_;
  am::HandOver<BodyJob> ended_;
  tasks::Pool pool_;  ///< ends first
};

}  // namespace tailrace::fragments
