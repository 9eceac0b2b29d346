// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>
#include <thread>
#include <utility>

#include "base/topology.hpp"

namespace tailrace::output {

/// Keeps signals away from threads that start during its life: they belong to the simulation's thread.
class SignalsBlocked {
 public:
  SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked();

 private:
  sigset_t before_{};
};

/// Starts a thread that works asynchronously: it receives no signals and runs on `cpus` (see
/// `ProcessPlacement`); where its starter does, if there are none. @local
template <class Work>
std::jthread start_background_thread(Cpus cpus, Work work) {
  const SignalsBlocked blocked;
  return std::jthread([cpus = std::move(cpus), work = std::move(work)] {
    bind_thread(cpus);
    work();
  });
}

}  // namespace tailrace::output
