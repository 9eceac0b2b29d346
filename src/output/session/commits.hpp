// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <memory>

#include "output/core/sink.hpp"
#include "output/core/writer.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::output {

/// How the samples of a session get onto the device, and who knows when they are there. Chosen once, by what
/// the sink is: each rank sees to its own, all ranks make the same calls, or samples move between ranks.
///
///     commits->acquire(writer); writer.submit(...); commits->progress();   // again and again
///     commits->flush(writer); commits->finalize(); commits->commit(comm, step);   // when all are to be safe
///     commits->flush(writer); commits->complete();   // at the end; or `abandon`, without the other ranks
class Commits {
 public:
  virtual ~Commits() = default;

  /// Returns whether samples get onto the device only when all ranks see to it.
  [[nodiscard]] virtual bool together() const noexcept = 0;
  /// Returns whether samples move between ranks.
  [[nodiscard]] virtual bool exchanges() const noexcept { return false; }

  /// Returns where the writer says how far this rank's samples have come.
  [[nodiscard]] Reached& own() noexcept { return own_; }
  /// Returns the step up to which samples are in the state `written`, `durable` or `committed`, as far as
  /// this rank knows. @local
  [[nodiscard]] virtual StepIndex reached(WriteState state) const noexcept;
  /// Steps from the newest sample that is written to `last`, the newest one; `before` is the step before the
  /// first. 0 where a rank does not know. @local
  [[nodiscard]] virtual StepIndex queued(StepIndex before, StepIndex last) const noexcept;
  /// All ranks know that their samples up to this step are on the device. @local
  void mark(StepIndex step) noexcept { committed_ = std::max(committed_, step); }

  /// A free buffer; waits until there is one. @local
  virtual Lease acquire(Writer& writer) { return writer.acquire(); }
  /// Waits until all that was submitted is written or dropped. @local
  virtual void flush(Writer& writer) { writer.flush_all(); }
  /// Advances what is on its way between ranks. @local
  virtual void progress() {}
  /// Returns whether no other rank depends on this one to take in its samples up to `step`. @local
  virtual bool keeps_up(StepIndex /*step*/) { return true; }
  /// After a flush, and before any wait for ranks that depend on this one: as `Exchange::finalize`.
  virtual void finalize() {}
  /// After all ranks have finalized: commits their samples up to `step`, and returns the step up to which
  /// they are readable. @collective{comm}, synchronises. Every rank throws the same error or none.
  StepIndex commit(mpi::CommView comm, StepIndex step) {
    mark(commit_until(comm, step));
    return committed_;
  }
  /// At the end: as `Exchange::complete`.
  virtual void complete() {}
  virtual void abandon() noexcept {}
  /// As `Exchange::fail`.
  virtual void fail() noexcept {}
  /// After `complete`: adds what moving samples has cost. @local
  virtual void add_costs(Account& /*account*/) const noexcept {}

 protected:
  virtual StepIndex commit_until(mpi::CommView comm, StepIndex step) = 0;

 private:
  Reached own_;
  StepIndex committed_ = 0;
};

/// Returns those of the sink, which outlives them.
std::unique_ptr<Commits> create_commits(Sink& sink);

}  // namespace tailrace::output
