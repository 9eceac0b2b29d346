// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "device/emulation.hpp"

namespace tailrace::device {

/// What a user says about the devices of a run: the ones that the ranks of each machine share out.
struct Wish {
  enum class Kind {
    none,      ///< the processor computes
    any,       ///< all that there are, or the processor
    listed,    ///< those with these indices
    emulated,  ///< so many emulated ones
  };
  Kind kind = Kind::none;
  std::string source;        ///< says where it comes from, for messages: `--device 0,1`
  std::vector<int> indices;  ///< of listed and emulated ones
  EmulationOptions emulation = {};
  bool or_processor = false;  ///< instead of listed ones, where there are none at all

  /// What messages and `--help` say that can be asked for.
  static constexpr const char* forms = "none, auto, a number, several as in 0,2, or emulated";
};

/// @param source  the option or variable that has the text. @local. Errors (usage): it is none of the forms.
Wish parse_wish(const std::string& source, const std::string& text);

/// Describes the device that a rank takes.
struct Chosen {
  std::unique_ptr<Device> device;  ///< null: the processor computes
  int devices = 0;                 ///< of this machine that its ranks share out
  std::string why_none = {};       ///< where any device would have been taken
};

/// Opens the device of the rank that is number `rank` of its machine. @local. Errors (usage): there is no
/// such device, or it cannot be used; with what is there.
Chosen choose(const Wish& wish, int rank);

}  // namespace tailrace::device
