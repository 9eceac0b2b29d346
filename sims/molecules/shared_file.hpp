// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "file_access.hpp"
#include "molecule_row.hpp"
#include "output/core/raw_file.hpp"
#include "phase_space.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::molecules {

/// Describes how molecules become rows of a file.
struct Packer {
  std::int64_t bytes = 0;  ///< refers to a row
  std::function<void(const Molecule&, std::span<std::byte>)> pack;
};
Packer packer_of(const RowLayout& layout);

/// A file that all ranks write together, each at places of its own. It grows beside the one that has the
/// name, as NAME.partial, and takes the name when it is complete.
class SharedFile {
 public:
  /// Makes a file of `bytes`. @collective{comm}, synchronises. Errors (io), on all ranks: it cannot be made,
  /// or there is no room for it.
  SharedFile(mpi::CommView comm, const std::string& path, std::int64_t bytes, const FileAccess& access);
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  /// One that was not renamed is removed.
  ~SharedFile();

  /// @local. Errors (io).
  void write(std::int64_t offset, std::span<const std::byte> bytes);
  void write(std::int64_t offset, const std::string& text);
  /// Writes the rows of molecules one behind the other, in batches. @local. Errors (io).
  void write_rows(std::int64_t offset, const Packer& packer, const MoleculeList& list);
  /// Waits until all bytes of this rank are on the device. @local. Errors (io).
  void flush();
  /// Gives the file its name, after all ranks have flushed; rank 0 does it. @local. Errors (io).
  void rename();

 private:
  [[nodiscard]] std::string partial() const { return path_ + ".partial"; }
  void make(std::int64_t bytes);

  std::string path_;
  StepIndex step_;
  bool renames_ = false;
  std::optional<output::RawFile> file_;
  std::vector<std::byte> bytes_;
};

/// Writes each file by its action, has all bytes on the device, and only then gives all files their names,
/// one after the other. @collective{comm}, synchronises. Errors (io), on all ranks.
void write_together(mpi::CommView comm, std::span<SharedFile* const> files,
                    const std::function<void()>& write);

}  // namespace tailrace::molecules
