// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/workers.hpp"

#include <utility>
#include <vector>

namespace tailrace::fragments {

/// The places of a pool whose worker 0 is the rank's own thread, which is not moved and runs no body.
static std::vector<Cpus> places_behind_own_thread(int workers) {
  auto places = tasks::worker_places(this_topology(), thread_cpus(), workers);
  places.insert(places.begin(), Cpus());
  return places;
}

Workers::Workers(const Machine& machine, Recording& recording, int workers, bool placed,
                 std::function<void()> wake)
    : machine_(&machine),
      recording_(&recording),
      count_(workers),
      wake_(std::move(wake)),
      pool_(workers + 1, placed ? places_behind_own_thread(workers) : std::vector<Cpus>()) {}

void Workers::start(Task& task) {
  ++at_work_;
  pool_.submit(*std::make_unique<BodyJob>(*this, task).release());
}

void Workers::BodyJob::run() {
  std::unique_ptr<BodyJob> self(this);
  Workers& workers = *owner;  // who takes it may end its life
  const int thread = workers.pool_.this_worker();
  workers.recording_->begins(*task, thread);
  effects = workers.machine_->run_body(task->fragment, *task->resolution);
  workers.recording_->ends(*task, thread);
  workers.ended_.push(std::move(self));
  workers.wake_();
}

}  // namespace tailrace::fragments
