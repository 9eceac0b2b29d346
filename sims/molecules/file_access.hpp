// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "output/core/write_call.hpp"
#include "tailrace/box.hpp"

namespace tailrace::molecules {

/// Describes how bytes reach a file: in a run in its pace and with its faults, as those of the step.
struct FileAccess {
  std::shared_ptr<output::WriteCall> call = output::make_plain_call();
  StepIndex step = 0;
};

}  // namespace tailrace::molecules
