// SPDX-License-Identifier: BSD-3-Clause
#include "run/stop.hpp"

#include <fmt/format.h>

#include <array>
#include <csignal>

#include "base/system.hpp"

namespace tailrace::run {

namespace {
volatile std::sig_atomic_t caught_signal = 0, checkpoint_wish = 0;
constexpr std::array stop_signals{SIGTERM, SIGINT, SIGUSR2};
}  // namespace

StopRequest::StopRequest(std::optional<double> wall_limit_s, std::optional<double> pause_after_s)
    : wall_limit_s_(wall_limit_s), pause_after_s_(pause_after_s), start_s_(monotonic_s()) {
  caught_signal = 0;
  struct sigaction action {};
  action.sa_handler = [](int number) { caught_signal = number; };
  action.sa_flags = SA_RESTART;
  for (const int number : stop_signals) sigaction(number, &action, nullptr);
  checkpoint_wish = 0;
  action.sa_handler = [](int) { checkpoint_wish = 1; };
  sigaction(SIGUSR1, &action, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);
}

StopRequest::~StopRequest() {
  for (const int number : stop_signals) std::signal(number, SIG_DFL);
  std::signal(SIGUSR1, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
}

bool StopRequest::take_checkpoint_wish() noexcept {
  const bool wish = checkpoint_wish != 0;
  checkpoint_wish = 0;
  return wish;
}

bool StopRequest::requested() const noexcept {
  return ends_run() || (pause_after_s_ && monotonic_s() - start_s_ > *pause_after_s_);
}

bool StopRequest::ends_run() const noexcept {
  return caught_signal != 0 || (wall_limit_s_ && monotonic_s() - start_s_ > *wall_limit_s_);
}

std::string StopRequest::reason() const {
  switch (caught_signal) {
    case SIGTERM:
      return "SIGTERM";
    case SIGINT:
      return "SIGINT";
    case SIGUSR2:
      return "asked to stop by the launcher (SIGUSR2)";
    default:
      break;
  }
  if (ends_run()) return fmt::format("wall-clock limit of {} s", *wall_limit_s_);
  if (requested()) return fmt::format("time to pause after {} s", *pause_after_s_);
  return "another rank was asked to stop";
}

}  // namespace tailrace::run
