// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fragments/statement_times.hpp"
#include "fragments/store.hpp"
#include "fragments/task.hpp"
#include "fragments/thread_times.hpp"

namespace tailrace::fragments {

/// The records of a rank that runs a program, if the process has a `trace::Recorder`, and its times by
/// statement, if they are wanted; otherwise each call is a branch. All calls are of the rank's own thread,
/// but for `begins` and `ends` of a worker.
class Recording {
 public:
  /// `own_process`: the rank is a process. With several ranks in one there is no recording. `counts`: times
  /// by statement, recorded or not.
  Recording(const Image& image, int rank, int workers, bool own_process, bool counts);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  /// The program is over on this rank, and workers have nothing to do.
  ~Recording() {
    if (on()) finish();
  }

  [[nodiscard]] bool on() const noexcept { return process_ != nullptr; }

  /// What was counted, by the number of the statement; empty if nothing is.
  [[nodiscard]] std::vector<StatementUse> statements() const {
    return statements_ ? statements_->uses() : std::vector<StatementUse>();
  }

  /// The rank's own thread turns to something else.
  void turn_to(Activity activity) {
    if (on()) turn(activity);
  }
  void created(Fragment& fragment) {
    if (on()) create(fragment);
  }
  /// It leaves for another rank; -1: for the one that asked.
  void forwarded(Fragment& fragment, int rank) {
    if (on()) forward(fragment, rank);
  }
  void arrived(const Fragment& fragment, int rank) {
    if (on()) arrive(fragment, rank);
  }
  void waits(Task& task) {
    if (on()) wait(task);
  }
  void requested(const Task& task, const Id& data, int home) {
    if (on()) request(task, data, home);
  }
  void data_arrived(Task& task, const Id& data, std::size_t bytes) {
    if (on()) take(task, data, bytes);
  }
  /// All for which it waited is there.
  void resumes(Task& task) {
    if (on()) resume(task);
  }
  void ready(Task& task) {
    if (on()) make_ready(task);
  }
  /// Its body begins on a thread: 0 is the rank's own, others are workers.
  void begins(const Task& task, int thread) {
    if (on()) begin(task, thread);
    if (statements_) statements_->begins(thread);
  }
  void ends(const Task& task, int thread) {
    if (statements_) statements_->ends(task.fragment, thread);
    if (on()) end(task, thread);
  }
  void unfolds(const Task& task) {
    if (on()) unfold(task);
    if (statements_) statements_->begins(0);
  }
  /// What is posted and created from now on is of a fragment, which has run, or continues.
  void concludes(const Fragment& fragment, bool goes_on) {
    if (statements_ && !fragment.runs_body()) statements_->ends(fragment, 0);
    if (statements_ && !goes_on) statements_->executed(fragment);
    if (on()) conclude(fragment, goes_on);
  }
  void posted(const Id& data, std::size_t bytes) {
    if (on()) post(data, bytes);
  }
  /// A value has come to its home, or goes from there to another rank.
  void stored(const Id& data, std::size_t bytes) {
    if (on()) at_home(Step::store, data, bytes);
  }
  void delivered(const Id& data, int rank) {
    if (on()) at_home(Step::deliver, data, static_cast<std::size_t>(rank));
  }
  /// Values that leave the store are recorded.
  void watch(Store& store);
  /// The program is over: what is in the store has been left there.
  void leaves(const Store& store) {
    if (on()) leave(store);
  }

 private:
  struct Process;
  static Process* process_at_work(int workers);

  void turn(Activity activity);
  void create(Fragment& fragment);
  void forward(Fragment& fragment, int rank);
  void arrive(const Fragment& fragment, int rank);
  void wait(Task& task);
  void request(const Task& task, const Id& data, int home);
  void take(Task& task, const Id& data, std::size_t bytes);
  void resume(Task& task);
  void make_ready(Task& task);
  void begin(const Task& task, int thread);
  void end(const Task& task, int thread);
  void unfold(const Task& task);
  void conclude(const Fragment& fragment, bool goes_on);
  void post(const Id& data, std::size_t bytes);
  void at_home(Step step, const Id& data, std::size_t amount);
  void leave(const Store& store);
  void finish();
  void put(Step step, const Fragment& fragment, double time_s, std::uint64_t object, std::size_t amount);
  [[nodiscard]] std::uint16_t type_of(const Fragment& fragment) const noexcept;
  [[nodiscard]] std::uint64_t key(const Id& data) const noexcept { return data.hash() ^ salt_; }
  ThreadTimes& times(int thread) const;

  Process* process_ = nullptr;
  std::uint64_t salt_ = 0;            ///< of this program among those of the process
  std::uint64_t rank_bits_ = 0;       ///< of fragments that this rank creates
  std::vector<std::uint16_t> types_;  ///< by number of the statement, the call of main behind them
  std::uint64_t current_ = 0;         ///< the fragment whose effects take place
  std::uint16_t current_type_ = 0;
  std::optional<StatementTimes> statements_;
};

}  // namespace tailrace::fragments
