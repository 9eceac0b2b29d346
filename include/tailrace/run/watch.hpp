// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "tailrace/box.hpp"
#include "tailrace/stream.hpp"

namespace tailrace::run {

/// Describes whether a computation still makes sense, seen from one of its fields: a value that is NaN or
/// infinite stays so, and spreads, in every scheme.
struct Watch {
  std::string quantity;  ///< the field to look at; empty: never
  StepIndex every =
      20;  ///< steps between two looks, so that they cost next to nothing; the last step is seen
  bool ends_run = true;  ///< such a value ends the run as failed; otherwise it is only reported
  std::string hint;      ///< says what the user can do then

  [[nodiscard]] bool is_due(StepIndex step, StepIndex last) const noexcept {
    return !quantity.empty() && (step % every == 0 || step == last);
  }
};

/// Returns whether this rank's part of a field is free of NaN and infinity. @local
bool is_finite(const output::FieldView& field) noexcept;

}  // namespace tailrace::run
