// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>

#include "mpi/library.hpp"
#include "mpi/native.hpp"
#include "mpi/verdict.hpp"
#include "tailrace/error.hpp"

namespace tailrace::mpi {

namespace {

/// The bytes that one call takes: MPI 3.1 counts them in an int.
constexpr std::size_t max_bytes = std::size_t{1} << 30;

std::string reason_of(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

Error failure(const std::string& path, const char* operation, int code) {
  return Error(
      ErrorInfo{.kind = ErrorKind::io,
                .message = fmt::format("{}: {} through MPI-IO failed: {}", path, operation, reason_of(code)),
                .path = path,
                .hint = "check the permissions and the hints, or write with another sink"});
}

/// Returns what the system said when a call failed: by the class of MPI's error where that is exact, else by
/// errno.
int errno_of(int code, int left_errno) noexcept {
  int error_class = MPI_ERR_UNKNOWN;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  switch (error_class) {
    case MPI_ERR_NO_SPACE:
      return ENOSPC;
    case MPI_ERR_QUOTA:
      return EDQUOT;
    case MPI_ERR_READ_ONLY:
      return EROFS;
    case MPI_ERR_ACCESS:
      return EACCES;
    default:
      return left_errno != 0 ? left_errno : EIO;
  }
}

}  // namespace

Info::Info(const Hints& hints) {
  if (hints.empty()) return;
  check(MPI_Info_create(Lent(info_)), "MPI_Info_create");
  for (const auto& [key, value] : hints) {
    if (key.size() < MPI_MAX_INFO_KEY && value.size() < MPI_MAX_INFO_VAL &&
        MPI_Info_set(native(info_), key.c_str(), value.c_str()) == MPI_SUCCESS)
      continue;
    MPI_Info_free(Lent(info_));
    throw Error(ErrorKind::usage,
                fmt::format("MPI refuses the hint {}={}: keys have up to {} bytes, values up to {}", key,
                            value, MPI_MAX_INFO_KEY - 1, MPI_MAX_INFO_VAL - 1));
  }
}

Info::~Info() {
  if (info_ != InfoHandle::none) MPI_Info_free(Lent(info_));
}

Hints not_taken(const Hints& wanted, const Hints& in_effect) {
  Hints missing;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(missing), [&](const auto& hint) {
    return std::find(in_effect.begin(), in_effect.end(), hint) == in_effect.end();
  });
  return missing;
}

std::string to_string(const Hints& hints) {
  std::string text;
  for (const auto& [key, value] : hints) text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
  return text;
}

void prefer_romio() {
  if (is_open_mpi()) setenv("OMPI_MCA_io", "^ompio", 0);
}

bool uses_romio() {
  const char* const chosen = std::getenv("OMPI_MCA_io");
  return chosen != nullptr && std::string_view(chosen) == "^ompio";
}

File::File(CommView comm, std::string path, const Hints& hints) : path_(std::move(path)) {
  prefer_romio();
  std::optional<Info> info;
  collectively(comm, [&] { info.emplace(hints); });
  const int code =
      MPI_File_open(comm.get(), path_.c_str(), MPI_MODE_WRONLY, native(info->get()), Lent(file_));
  collectively(comm, [&] {
    if (code != MPI_SUCCESS) throw failure(path_, "opening for writing", code);
  });
}

void File::create(const std::string& path, const Hints& hints) {
  prefer_romio();
  const Info info(hints);
  MPI_File file = MPI_FILE_NULL;
  int code = MPI_File_open(MPI_COMM_SELF, path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, native(info.get()),
                           &file);
  if (code == MPI_SUCCESS) code = MPI_File_set_size(file, 0);
  if (file != MPI_FILE_NULL) MPI_File_close(&file);
  if (code != MPI_SUCCESS) throw failure(path, "creating", code);
}

ssize_t File::write_at(std::span<const iovec> buffers, off_t offset) noexcept {
  // No derived types for memory in buffers: ROMIO knows types by their handles, which MPI uses again.
  ssize_t done = 0;
  while (!buffers.empty()) {
    const auto* const first = static_cast<const std::byte*>(buffers.front().iov_base);
    std::size_t length = 0;
    for (; !buffers.empty() && buffers.front().iov_base == first + length; buffers = buffers.subspan(1))
      length += buffers.front().iov_len;
    const ssize_t taken = write_extent(first, std::min(length, max_bytes), offset + done);
    if (taken < 0) return done > 0 ? done : taken;  // whoever continues sees the failure again
    done += taken;
    if (static_cast<std::size_t>(taken) < length) break;
  }
  return done;
}

ssize_t File::write_extent(const std::byte* bytes, std::size_t length, off_t offset) noexcept {
  MPI_Status status;
  errno = 0;
  const int code =
      MPI_File_write_at(native(file_), offset, bytes, static_cast<int>(length), MPI_BYTE, &status);
  const int left_errno = errno;
  int taken = 0;
  if (code == MPI_SUCCESS) MPI_Get_elements(&status, MPI_BYTE, &taken);
  // Open MPI says success of a write that failed and took nothing.
  if (code == MPI_SUCCESS && taken != MPI_UNDEFINED && (taken > 0 || left_errno == 0)) return taken;
  errno = errno_of(code, left_errno);
  return -1;
}

Hints File::hints() const {
  MPI_Info info = MPI_INFO_NULL;
  check(MPI_File_get_info(native(file_), &info), "MPI_File_get_info");
  int count = 0;
  check(MPI_Info_get_nkeys(info, &count), "MPI_Info_get_nkeys");
  Hints hints;
  for (int i = 0; i < count; ++i) {
    std::array<char, MPI_MAX_INFO_KEY + 1> key{};
    std::array<char, MPI_MAX_INFO_VAL + 1> value{};
    int found = 0;
    check(MPI_Info_get_nthkey(info, i, key.data()), "MPI_Info_get_nthkey");
    check(MPI_Info_get(info, key.data(), MPI_MAX_INFO_VAL, value.data(), &found), "MPI_Info_get");
    hints.emplace_back(key.data(), value.data());
  }
  MPI_Info_free(&info);
  return hints;
}

void File::close() {
  if (const int code = MPI_File_close(Lent(file_)); code != MPI_SUCCESS)
    throw failure(path_, "closing", code);
}

}  // namespace tailrace::mpi
