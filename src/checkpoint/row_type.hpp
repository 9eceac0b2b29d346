// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "tailrace/checkpoint.hpp"

namespace tailrace::checkpoint {

/// Bytes of a row in the file: whole 64-bit words.
std::int64_t padded_bytes(const RowType& type) noexcept;
/// Returns what values of a compressed set are, as numpy has it: "<f4", "<f8", else "<u8".
std::string numpy_name(h5::ElementType type);
/// As the file has it (docs/formats/checkpoint.md).
std::string to_json(const RowType& type);

}  // namespace tailrace::checkpoint
