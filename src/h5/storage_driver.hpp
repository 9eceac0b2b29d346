// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "h5/file.hpp"
#include "h5/storage.hpp"

namespace tailrace::h5 {

/// File access properties by which HDF5 uses `storage` for every byte. The lock of the library is held.
Handle access_through(Storage& storage);

}  // namespace tailrace::h5
