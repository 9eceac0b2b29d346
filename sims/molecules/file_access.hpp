#pragma once

#include <memory>

#include "tailrace/base/box.hpp"
#include "tailrace/output/write_call.hpp"

namespace tailrace::molecules {

/// How bytes reach a file: in a run in its pace and with its faults, as those of the step.
struct FileAccess {
  std::shared_ptr<output::WriteCall> call = output::make_plain_call();
  StepIndex step = 0;
};

}  // namespace tailrace::molecules
