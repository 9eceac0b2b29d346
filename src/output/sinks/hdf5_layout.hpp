// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "output/core/sink.hpp"
#include "output/sinks/hdf5_file.hpp"

namespace tailrace::output {

/// An HDF5 file of contiguous datasets whose values others put at their known places: its birth, or how a run
/// continues in it, the commit mark, and its end. Nobody has it open as HDF5 in between.
class Hdf5Layout {
 public:
  /// Creates the file or finds the places in the one that is there. @collective{context.comm}, synchronises;
  /// every rank throws the same error or none.
  explicit Hdf5Layout(const SinkContext& context);
  /// Over a new file that the root, or who made it, has laid out otherwise: `places` are the root's.
  /// @collective{context.comm}, synchronises; every rank throws the same error or none.
  Hdf5Layout(const SinkContext& context, Hdf5Places places);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const Hdf5Places& places() const noexcept { return places_; }
  [[nodiscard]] Hdf5Places& places() noexcept { return places_; }
  /// On the root.
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }
  /// Adds to it, on the root.
  void warn(const std::string& text);

  /// Slots of the commit mark that belong to a source.
  struct Slots {
    std::int64_t first = 0, count = 0;
  };
  /// None if the file was made by fewer ranks than there are now: its commit mark stays unchanged until all
  /// meet.
  [[nodiscard]] Slots slots_of(int source) const noexcept;

  /// Brings the commit mark to `steps` where ranks cannot do it themselves. @collective{comm}, synchronises;
  /// every rank throws the same error or none.
  void publish(mpi::CommView comm, StepIndex steps) const;
  /// On the root, once all values are in the file: the commit mark, the tail, and what was not used is given
  /// back. Who has joined leaves that to others.
  /// @local. Errors (io).
  void finish(const FileTail& tail, const FileEnd& end) const;

 private:
  void create_or_open(const SinkContext& context);
  void join(const SinkContext& context);
  bool find_or_create(const SinkContext& context);
  [[noreturn]] void refuse_switch() const;
  void prepare(StepIndex after);
  [[nodiscard]] bool names_others(const WriteOptions& options) const;
  [[nodiscard]] std::vector<SpaceNeed> needs() const;
  [[nodiscard]] bool lacks_slots() const noexcept { return sources_ > places_.commit_mark_slots; }

  std::string path_, warning_;
  const Plan& plan_;
  int sources_;
  bool joins_;
  Hdf5Places places_;
};

}  // namespace tailrace::output
