// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "am/message.hpp"
#include "am/transport.hpp"

namespace tailrace::am {

/// Says what goes wrong between ranks, on purpose. Delays are counted in looks of the receiver, so that a
/// seed repeats them whatever the machine does.
struct Faults {
  std::uint64_t seed = 1;
  double delayed = 0;  ///< share of the messages and bodies that are delayed, 0 to 1
  int max_looks = 20;  ///< a delay has 1 to so many looks
  int slow_rank = -1;  ///< which looks for arrivals only every `slow_looks`th time; -1: none
  int slow_looks = 10;

  friend bool operator==(const Faults&, const Faults&) = default;
};

/// Reads "delayed=0.3,max_looks=50,slow_rank=1,slow_looks=20,seed=7", any of these. @local. Errors (usage):
/// an unknown key or a senseless value, all of them with what is known.
Faults parse_faults(const std::string& text);

/// A transport that delays what another one carries: messages of different modules, bodies, and frames from
/// different ranks overtake each other; those of one module from one rank keep their order. @local
std::unique_ptr<Transport> with_faults(std::unique_ptr<Transport> inner, const Faults& faults);

/// Options under which each message travels alone, so that faults meet each by itself.
Options one_by_one(Options options = {});

}  // namespace tailrace::am
