// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include "device/choice.hpp"
#include "device/emulation.hpp"

namespace tailrace::test {

/// Whether `tailrace test --gpu` has the tests run on devices that are there.
inline bool tests_real_devices() {
  return std::getenv("TAILRACE_TEST_DEVICE") != nullptr;
}

/// The device on which tests run what works on any: an emulated one, or one of this machine.
inline std::unique_ptr<device::Device> tested_device(int rank, const device::EmulationOptions& options = {}) {
  if (!tests_real_devices()) return device::emulate(options);
  const std::string text = std::getenv("TAILRACE_TEST_DEVICE");
  const auto wish = device::parse_wish("TAILRACE_TEST_DEVICE", text);
  const auto offer = device::offered(wish);
  if (offer.devices.empty()) return nullptr;
  return device::open(wish, offer.devices[static_cast<std::size_t>(rank) % offer.devices.size()]);
}

}  // namespace tailrace::test
