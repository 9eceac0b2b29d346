// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/topology.hpp"
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

/// Describes the devices of a machine that its ranks share out.
struct Offer {
  std::vector<DeviceInfo> devices;  ///< none: the processor computes
  std::string why_none = {};        ///< where any device would have been taken
};

/// Finds what a wish names. @local. Errors (usage): there is no such device; with what is there.
Offer offered(const Wish& wish);
/// Opens one of those that are offered. @local. Errors (usage): it cannot be used.
std::unique_ptr<Device> open(const Wish& wish, const DeviceInfo& which);

/// A set of devices: bit k is that of number k of an offer, of the first 64.
using DeviceSet = std::uint64_t;
/// The devices that some of these processors are nearest to; all, where the system does not say so of one.
/// @local
DeviceSet near_to(const Offer& offer, const Cpus& cpus);
/// Gives each rank of a machine one of `devices` devices, which have the same number of ranks, or one more:
/// as far as that allows, one that is near to the rank; one after the other where all are the same to it.
/// @param near  for each rank, the devices that are near to it. @local
std::vector<int> share_out(std::span<const DeviceSet> near, int devices);

}  // namespace tailrace::device
