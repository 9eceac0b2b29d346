// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace tailrace::molecules {

/// Text files that get longer step by step, with other means than streams: these know no reason for a
/// failure.

/// Makes an empty file. @local. Errors (io).
void make_empty(const std::string& path);
/// Bytes of a file. @local. Errors (io): there is none.
std::int64_t size_of(const std::string& path);
/// Keeps the whole lines before the first one that `goes`; makes a file where there is none. @local. Errors
/// (io).
void cut_lines(const std::string& path, const std::function<bool(const std::string&)>& goes);

}  // namespace tailrace::molecules
