// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>
#include <string>

#include "h5/file.hpp"

/// Describes what the files of this module share.
namespace tailrace::h5 {

/// The right to call HDF5, which most builds make for one thread only. Held by every function of this module
/// that calls it; may be taken again by the thread that has it.
class LibraryLock {
 public:
  LibraryLock();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

/// The innermost descriptions of HDF5's error stack, the part that names the reason.
std::string reason();
/// Throws `Error` (io) with it.
[[noreturn]] void fail(const Operation& operation);
void check(herr_t code, const Operation& operation);

hid_t native_type(ElementType type);

/// Reads the hyperslab of an open dataset that `start` and `count` name, or all of it if they are empty, into
/// `out`, which holds as many elements of `type`. The caller has the lock.
void read_selection(const Handle& set, const Operation& operation, ElementType type, const Shape& start,
                    const Shape& count, std::span<std::byte> out);

/// File access without HDF5's locks: a reader that holds one (h5py does while it looks at a running job's
/// file) must not keep the job from closing its own file.
Handle access_without_locks();

}  // namespace tailrace::h5
