// SPDX-License-Identifier: BSD-3-Clause
#include "output/strategies/kernel_workers.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/text.hpp"

namespace tailrace::output {

namespace {

/// CPU seconds of a thread of this process, 0 where the kernel does not say so.
double thread_s(const std::filesystem::path& task) {
  double nanoseconds = 0;
  std::ifstream(task / "schedstat") >> nanoseconds;
  return nanoseconds * 1e-9;
}

}  // namespace

KernelWorkers::KernelWorkers() : name_(fmt::format("iou-wrk-{}", syscall(SYS_gettid))) {
  look();
  used_s_ = 0;
}

double KernelWorkers::cpu_s() {
  look();
  return used_s_;
}

void KernelWorkers::look() {
  std::map<long, double> now;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    const auto number = parse_number<std::int64_t>(task.path().filename().string());
    if (name == name_ && number) now[*number] = thread_s(task.path());
  }
  for (const auto& [number, s] : now) {
    const auto before = seen_s_.find(number);
    used_s_ += before == seen_s_.end() ? s : std::max(0.0, s - before->second);
  }
  seen_s_ = std::move(now);
}

}  // namespace tailrace::output
