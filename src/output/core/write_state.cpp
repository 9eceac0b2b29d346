// SPDX-License-Identifier: BSD-3-Clause
#include "output/core/write_state.hpp"

namespace tailrace::output {

const char* to_string(WriteState state) noexcept {
  switch (state) {
    case WriteState::submitted:
      return "submitted";
    case WriteState::written:
      return "written";
    case WriteState::durable:
      return "durable";
    case WriteState::committed:
      break;
  }
  return "committed";
}

}  // namespace tailrace::output
