// SPDX-License-Identifier: BSD-3-Clause
#include "shared_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files.hpp"
#include "mpi/verdict.hpp"
#include "output/core/sink.hpp"
#include "phase_space_formats.hpp"

namespace tailrace::molecules {

Packer packer_of(const RowLayout& layout) {
  return {layout.bytes,
          [layout](const Molecule& molecule, std::span<std::byte> out) { pack(layout, molecule, out); }};
}

SharedFile::SharedFile(mpi::CommView comm, const std::string& path, std::int64_t bytes,
                       const FileAccess& access)
    : path_(path), step_(access.step) {
  renames_ = comm.is_root();
  try {
    mpi::collectively_on_root(comm, [&] { make(bytes); });
    mpi::collectively(comm, [&] { file_.emplace(partial(), access.call); });
  } catch (...) {
    if (renames_) unlink(partial().c_str());
    throw;
  }
}

SharedFile::~SharedFile() {
  if (renames_) unlink(partial().c_str());
}

void SharedFile::make(std::int64_t bytes) {
  const int file = open(partial().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) throw output::file_failure(path_, "creating", -1, errno);
  // Blocks are set aside where that is possible, so that a full device is noticed before anything is written.
  int error = bytes == 0 || fallocate(file, 0, 0, bytes) == 0 ? 0 : errno;
  if (error == EOPNOTSUPP || error == ENOSYS || error == EINTR)
    error = ftruncate(file, bytes) == 0 ? 0 : errno;
  close(file);
  if (error != 0) throw output::file_failure(path_, fmt::format("making {} bytes of room", bytes), -1, error);
}

void SharedFile::write(std::int64_t offset, std::span<const std::byte> bytes) {
  file_->write(bytes, offset, step_);
}

void SharedFile::write(std::int64_t offset, const std::string& text) {
  write(offset, std::as_bytes(std::span(text)));
}

void SharedFile::write_rows(std::int64_t offset, const Packer& packer, const MoleculeList& list) {
  bytes_.resize(static_cast<std::size_t>(std::min(list.count, batch_molecules) * packer.bytes));
  for (std::int64_t done = 0; done < list.count; done += batch_molecules) {
    const std::int64_t now = std::min(list.count - done, batch_molecules);
    for (std::int64_t i = 0; i < now; ++i)
      packer.pack(list.molecule(done + i),
                  std::span(bytes_).subspan(static_cast<std::size_t>(i * packer.bytes)));
    write(offset + done * packer.bytes,
          std::span(bytes_).first(static_cast<std::size_t>(now * packer.bytes)));
    if (now == batch_molecules) file_->start_flush();
  }
}

void SharedFile::flush() {
  file_->flush();
  file_->close();
}

void SharedFile::rename() {
  renames_ = false;  // what cannot get its name stays: another file may have got its own already
  replace_file(partial(), path_);
}

void write_together(mpi::CommView comm, std::span<SharedFile* const> files,
                    const std::function<void()>& write) {
  mpi::collectively(
      comm,
      [&] {
        write();
        for (auto* const file : files) file->flush();
      },
      output::close_limit_s);
  mpi::collectively_on_root(comm, [&] {
    for (auto* const file : files) file->rename();
  });
}

}  // namespace tailrace::molecules
