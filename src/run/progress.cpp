// SPDX-License-Identifier: BSD-3-Clause
#include "run/progress.hpp"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/system.hpp"

namespace tailrace::run {

ProgressFile::ProgressFile(std::string directory, StepIndex steps)
    : directory_(std::move(directory)), steps_(steps), start_s_(monotonic_s()) {}

void ProgressFile::update(const char* phase, StepIndex step, StepIndex queued_steps) {
  constexpr double shortest_interval_s = 0.2;
  const double now = monotonic_s();
  if (directory_.empty() || (now - last_s_ < shortest_interval_s && last_phase_ == phase)) return;
  if (first_step_s_ == 0 && step > 0) {
    first_step_s_ = now;
    first_step_ = step;
  }
  last_s_ = now;
  last_phase_ = phase;
  const double running = now - first_step_s_;
  const double remaining = step > first_step_ ? running / static_cast<double>(step - first_step_) *
                                                    static_cast<double>(steps_ - step + queued_steps)
                                              : 0;
  const nlohmann::json json{{"phase", phase},
                            {"step", step},
                            {"steps", steps_},
                            {"elapsed_s", now - start_s_},
                            {"remaining_s", remaining}};
  // Progress is a courtesy: a disk that refuses it must not end the run.
  const std::string path = directory_ + "/progress.json", partial = path + ".partial";
  const bool good = static_cast<bool>(std::ofstream(partial) << json.dump() << '\n' << std::flush);
  good ? std::rename(partial.c_str(), path.c_str()) : std::remove(partial.c_str());
}

void ProgressFile::finish() {
  if (directory_.empty()) return;
  std::remove((directory_ + "/progress.json").c_str());
  std::remove((directory_ + "/progress.json.partial").c_str());
}

}  // namespace tailrace::run
