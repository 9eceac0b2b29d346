// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/bytes.hpp"
#include "tailrace/error.hpp"

namespace tailrace {

/// What travels of an error to another process, for both directions.
template <class Archive>
void fields(Archive& archive, ArchivedBy<Archive, ErrorInfo>& error) {
  archive(error.kind, error.message, error.path, error.offset, error.rank, error.hint);
}

}  // namespace tailrace
