// SPDX-License-Identifier: BSD-3-Clause
#include "device/devices.hpp"
#include "device/fft.hpp"
#include "tailrace/error.hpp"

namespace tailrace::device {

Devices find_devices() {
  return {.devices = {}, .why_none = "this build has no CUDA (-DTAILRACE_CUDA=on builds with it)"};
}

std::unique_ptr<Device> open_device(int) {
  throw Error(ErrorKind::resource, find_devices().why_none);
}

std::unique_ptr<FftPlan> plan_fft(const FftConfig&) {
  throw Error(ErrorKind::resource, find_devices().why_none);
}

}  // namespace tailrace::device
