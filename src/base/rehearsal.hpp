// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace tailrace {

/// Does `action` in a copy of this process before it is done here, for the sake of foreign code that damaged
/// data may make crash or hang. Returns how the copy came to grief ("was ended by signal 11"), or nothing:
/// that it went well, threw an exception, was killed from outside or could not be made. Nothing that the
/// copy does is seen here but what it does to files. @local; `action` must not communicate.
std::optional<std::string> rehearse(const std::function<void()>& action, unsigned limit_s);

}  // namespace tailrace
