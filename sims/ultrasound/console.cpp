// SPDX-License-Identifier: BSD-3-Clause
#include "console.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdio>
#include <ctime>

#include "base/system.hpp"

namespace tailrace::ultrasound {

namespace {
constexpr std::size_t inner_width = 63;  // of 65 columns, between the frame lines
}

Console::Console(bool silent, int verbosity, int progress_percent)
    : silent_(silent),
      verbosity_(verbosity),
      progress_percent_(progress_percent),
      next_percent_(progress_percent) {}

void Console::rule(const char* left, const char* right) const {
  if (silent_) return;
  std::string text = left;
  for (std::size_t i = 0; i < inner_width; ++i) text += "─";
  say(stdout, fmt::format("{}{}\n", text, right));
}

void Console::line(const std::string& text) const {
  if (!silent_) say(stdout, fmt::format("│ {:<{}} │\n", text, inner_width - 2));
}

void Console::pair(const std::string& label, const std::string& value) const {
  const std::size_t width = inner_width - 2;
  const std::size_t room = width > label.size() ? width - label.size() : 1;
  if (!silent_) say(stdout, fmt::format("│ {}{:>{}} │\n", label, value, room));
}

void Console::title() {
  rule("┌", "┐");
  line("tailrace-ultrasound " TAILRACE_VERSION);
  rule("├", "┤");
}

void Console::options(const Options& options, int ranks, const device::DeviceInfo* device) {
  pair("Ranks:", fmt::format("{}", ranks));
  pair("Threads per rank:", fmt::format("{}", options.threads));
  pair("Output:", ::tailrace::output::strategy_text(options.write) + ", " +
                      ::tailrace::output::sink_text(options.write));
  pair("Precision:", to_string(options.precision));
  if (device != nullptr) {
    pair("Selected GPU device id:", fmt::format("{}", device->index));
    pair("GPU device name:", device->name);
  }
  if (verbosity_ < 1) return;
  pair("Input file:", options.input);
  pair("Output file:", options.output);
}

template <class Real>
void Console::input(const Input<Real>& input, StepIndex steps) {
  const auto& header = input.header;
  line("Simulation details");
  pair("  Grid:",
       fmt::format("{} x {} x {}", header.grid.points.x, header.grid.points.y, header.grid.points.z));
  pair("  Time steps:", fmt::format("{}", steps));
  pair("  Medium:", fmt::format("{}, {}, {}", input.medium.c0.is_constant() ? "homogeneous" : "heterogeneous",
                                header.physics.nonlinear ? "non-linear" : "linear",
                                header.physics.absorption != Absorption::none ? "absorbing" : "lossless"));
  if (verbosity_ >= 1) {
    if (header.pressure.steps > 0)
      pair("  Pressure source:",
           fmt::format("{} signal, {} time points", header.pressure.one_signal ? "one" : "many",
                       header.pressure.steps));
    if (header.has_initial_pressure) pair("  Initial pressure:", "yes");
    pair("  Sensors:", header.cuboid_mask ? fmt::format("{} cuboids", input.mask.cuboids.size())
                                          : fmt::format("{} points", input.mask.indices.size()));
  }
  rule("├", "┤");
}

template void Console::input(const Input<float>&, StepIndex);
template void Console::input(const Input<double>&, StepIndex);

void Console::memory(std::int64_t predicted_bytes) {
  pair("Memory per rank, predicted:", human_bytes(static_cast<double>(predicted_bytes)));
}

void Console::begin(const std::string& phase) {
  if (silent_) return;
  in_phase_ = true;
  say(stdout, fmt::format("│ {:<40}", phase));
}

void Console::done(double seconds) {
  if (silent_) return;
  in_phase_ = false;
  say(stdout, fmt::format("{:>21} │\n", fmt::format("{:.2f} s, Done", seconds)));
}

Console::~Console() {
  if (!in_phase_) return;
  say(stdout, fmt::format("{:>21} │\n", "Failed"));
  rule("└", "┘");
}

void Console::start_progress(StepIndex done) {
  first_ = done;
  rule("├", "┤");
  line("Progress   Elapsed [s]   Remaining [s]    Estimated finish");
}

void Console::progress(StepIndex step, StepIndex steps, double elapsed_s) {
  if (silent_ || step * 100 < next_percent_ * steps) return;
  const double remaining = elapsed_s / static_cast<double>(step - first_) * static_cast<double>(steps - step);
  const auto finish = std::time(nullptr) + static_cast<std::time_t>(remaining);
  line(fmt::format("{:>5} %{:>15.2f}{:>16.2f}    {:%d/%m/%y %H:%M:%S}", step * 100 / steps, elapsed_s,
                   remaining, fmt::localtime(finish)));
  while (next_percent_ * steps <= step * 100) next_percent_ += progress_percent_;
}

void Console::summary(StepIndex steps, double seconds_per_step, double total_s, double wait_s,
                      std::optional<double> hidden_fraction) {
  rule("├", "┤");
  line("Summary");
  pair("  Steps:", fmt::format("{}", steps));
  pair("  Time per step:", fmt::format("{:.2f} ms", seconds_per_step * 1e3));
  pair("  Waited for output:", fmt::format("{:.2f} s", wait_s));
  if (hidden_fraction)
    pair("  Output hidden asynchronously:", fmt::format("{:.0f} %", *hidden_fraction * 100));
  pair("  Total time:", fmt::format("{:.2f} s", total_s));
}

void Console::end(const std::string& outcome) {
  rule("├", "┤");
  line(outcome);
  rule("└", "┘");
}

}  // namespace tailrace::ultrasound
