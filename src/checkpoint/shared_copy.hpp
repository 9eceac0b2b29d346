// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "background_task.hpp"
#include "base/files.hpp"
#include "local_saving.hpp"
#include "output/core/raw_file.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/write_options.hpp"

namespace tailrace::checkpoint {

/// A checkpoint that goes from parts on the nodes into the file that all ranks share: each part has its
/// places there from the beginning.
class SharedCopy {
 public:
  /// `parts` are those that this rank is to copy, of all ranks together each once; their files may be removed
  /// meanwhile. `options` give pace and faults. The file is laid out before it returns, the rest is done
  /// asynchronously. @collective{comm}, synchronises. Every rank throws the same error or none.
  /// Memory: 4 MiB, and the descriptions.
  SharedCopy(mpi::CommView comm, const std::string& directory, std::vector<StoredPart> parts,
             const output::WriteOptions& options);

  /// True once `finish` will not wait for this rank. @local
  [[nodiscard]] bool ready() const noexcept { return task_->is_done(); }
  /// Waits until all parts are in the file, then gives the checkpoint its name. @collective{comm},
  /// synchronises. Every rank throws the same error or none; on an error the partial directory is removed.
  void finish();

  [[nodiscard]] StepIndex step() const noexcept { return any_.origin.step; }

 private:
  /// First bytes of the datasets of a set in the file.
  struct Places {
    std::int64_t data = 0, cells = 0, rows = 0;
  };
  void share_description();
  [[nodiscard]] std::string file() const;
  [[nodiscard]] std::vector<Places> lay_out() const;
  void copy();
  void copy_extent(const InputFile& from, std::int64_t at, std::int64_t bytes, std::int64_t to);

  mpi::CommView comm_;
  std::string directory_;
  std::vector<StoredPart> parts_;
  Part any_;  ///< one of the parts, the same on all ranks: it describes the whole
  std::vector<Places> places_;
  std::vector<std::unique_ptr<InputFile>> data_;  ///< refers to the parts
  std::unique_ptr<output::RawFile> out_;
  std::vector<std::byte> batch_;
  std::optional<BackgroundTask> task_;
};

}  // namespace tailrace::checkpoint
