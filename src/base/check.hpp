// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace tailrace::detail {
[[noreturn]] void check_failed(const char* condition, std::string_view what, const char* file, int line);
}  // namespace tailrace::detail

/// A broken invariant is a bug: always checked, throws an `Error` of kind `internal`.
#define TAILRACE_CHECK(condition, what) \
  ((condition) ? static_cast<void>(0)   \
               : ::tailrace::detail::check_failed(#condition, what, __FILE__, __LINE__))

/// As `TAILRACE_CHECK`, for checks that cost too much in optimised builds (on in presets dev, audit, asan,
/// tsan).
#ifdef TAILRACE_DEBUG_CHECKS
#define TAILRACE_DCHECK(condition, what) TAILRACE_CHECK(condition, what)
#else
#define TAILRACE_DCHECK(condition, what) static_cast<void>(sizeof(condition))
#endif
