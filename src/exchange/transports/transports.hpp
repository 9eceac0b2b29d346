// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "exchange/line.hpp"

/// How each transport opens a line. @collective{config.comm}
namespace tailrace::exchange {

std::unique_ptr<Line> open_isend(LineConfig config);
std::unique_ptr<Line> open_persistent(LineConfig config);

}  // namespace tailrace::exchange
