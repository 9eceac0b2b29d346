// SPDX-License-Identifier: BSD-3-Clause
#include "library.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/check.hpp"
#include "tailrace/error.hpp"

namespace tailrace::h5 {

namespace {

/// Returns the system's words of a description such as "file write failed: time = ..., errno = 28, error
/// message = 'No space left on device', buf = ...", or all of one without them.
std::string reason_of_system(const std::string& text) {
  constexpr std::string_view before = "error message = '";
  const auto begin = text.find(before);
  if (begin == std::string::npos) return text;
  const auto first = begin + before.size();
  return text.substr(first, text.find('\'', first) - first);
}

}  // namespace

std::string reason() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned depth, const H5E_error2_t* error, void* data) -> herr_t {
        auto& out = *static_cast<std::string*>(data);
        if (depth < 2 && error->desc != nullptr) out += (out.empty() ? "" : "; ") + std::string(error->desc);
        return 0;
      },
      &text);
  return text.empty() ? "no reason given" : reason_of_system(text);
}

LibraryLock::LibraryLock() {
  static auto& mutex = *new std::recursive_mutex;  // for handles that live as long as the process
  lock_ = std::unique_lock(mutex);
  static std::once_flag once;
  // At exit HDF5 would close once more what it could not close before, such as a file on a full disk, and
  // crash (1.10.8). Our handles close everything.
  std::call_once(once, [] { H5dont_atexit(); });
  // HDF5 prints its error stack, one per thread where it knows threads, to stderr unless reported not to;
  // ours goes into the exception.
  thread_local const herr_t silenced = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  static_cast<void>(silenced);
}

void fail(const Operation& operation) {
  const auto why = reason();
  throw Error(ErrorInfo{.kind = ErrorKind::io,
                        .message = fmt::format("{}: {}", operation.text, why),
                        .path = operation.path,
                        .hint = why == std::strerror(ENOSPC) ? "free space on its file system" : ""});
}

void check(herr_t code, const Operation& operation) {
  if (code < 0) fail(operation);
}

Handle access_without_locks() {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "making file access properties");
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
  check(H5Pset_file_locking(access.get(), 0, 1), "switching file locks off");
#endif
  return access;
}

hid_t native_type(ElementType type) {
  switch (type) {
    case ElementType::float32:
      return H5T_NATIVE_FLOAT;
    case ElementType::float64:
      return H5T_NATIVE_DOUBLE;
    case ElementType::int64:
      return H5T_NATIVE_INT64;
    case ElementType::uint64:
      return H5T_NATIVE_UINT64;
    case ElementType::uint8:
      return H5T_NATIVE_UINT8;
    case ElementType::other:
      break;
  }
  TAILRACE_CHECK(false, "no HDF5 type for this element type");
  return H5I_INVALID_HID;
}

Handle::Handle(hid_t id, Closer closer, const Operation& operation) : id_(id), closer_(closer) {
  if (id < 0) fail(operation);
}

Handle::~Handle() {
  if (closer_ == nullptr || id_ < 0) return;
  const LibraryLock lock;
  closer_(id_);
}

void Handle::close(const Operation& operation) {
  const LibraryLock lock;
  const auto closer = std::exchange(closer_, nullptr);
  const auto id = std::exchange(id_, H5I_INVALID_HID);
  if (closer != nullptr && closer(id) < 0) fail(operation);
}

std::string library_version() {
  const LibraryLock lock;
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace tailrace::h5
