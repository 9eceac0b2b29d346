// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "tailrace/error.hpp"

namespace tailrace::test {

/// The error that `action` throws, or nothing.
template <class Action>
std::optional<ErrorInfo> error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.info();
  }
  return {};
}

/// The error that `action` throws; one without a message where it throws none.
template <class Action>
ErrorInfo error_info_of(const Action& action) {
  return error_of(action).value_or(ErrorInfo{});
}

}  // namespace tailrace::test
