// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "background_task.hpp"
#include "checkpoint/save.hpp"
#include "output/core/raw_file.hpp"
#include "partner_copy.hpp"

namespace tailrace::checkpoint {

/// A part of a rank with its file.
struct StoredPart {
  Part part;
  PartFile file;
};

/// A checkpoint on its way to the devices of the nodes.
class LocalSaving {
 public:
  /// Describes where it goes.
  struct Place {
    std::string run;  ///< refers to the note
    std::string node_directory;
    Partners partners;
    mpi::CommView partner_comm;
    bool copies = false;  ///< for partners
  };
  /// Writes the state of this rank into a file of its node before it returns; the device takes it
  /// asynchronously. @collective{comm}, synchronises. Every rank throws the same error or none. Memory: 4
  /// MiB, the directory of the cells, and with compression as `memory_for` without what is kept.
  LocalSaving(mpi::CommView comm, const Place& place, const Origin& origin, const StateFunction& state,
              const Compression& compression);

  /// True once `finish` will not wait for this rank. @local
  [[nodiscard]] bool ready();
  /// Waits until all ranks have their bytes and their partners' on the device, then makes them count.
  /// @collective{comm}, synchronises. Every rank throws the same error or none.
  void finish();

  [[nodiscard]] StepIndex step() const noexcept { return own_.part.origin.step; }
  /// Bytes of state on this rank. @local
  [[nodiscard]] std::int64_t bytes() const noexcept { return own_.part.bytes; }
  [[nodiscard]] const StoredPart& own() const noexcept { return own_; }

 private:
  void write_data(const std::vector<std::unique_ptr<OutgoingSet>>& sets);
  void write_entries(const std::vector<PlacedSet>& placed);

  mpi::CommView comm_;
  StoredPart own_;
  std::unique_ptr<output::RawFile> file_;
  std::optional<PartnerCopy> copy_;
  std::optional<BackgroundTask> flush_, flush_copies_;
};

}  // namespace tailrace::checkpoint
