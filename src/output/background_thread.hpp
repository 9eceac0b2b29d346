#pragma once

#include <csignal>
#include <thread>
#include <utility>

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

/// Lets this thread run on all cores that OpenMP may use. With OMP_PROC_BIND the simulation's thread is bound
/// to one of them, and threads that it starts would share that one with it. @local
void leave_place_of_starter() noexcept;

/// Starts a thread that works behind the computation: it receives no signals and is bound to no core of the
/// simulation's threads. @local
template <class Work>
std::jthread start_background_thread(Work work) {
  const SignalsBlocked blocked;
  return std::jthread([work = std::move(work)] {
    leave_place_of_starter();
    work();
  });
}

}  // namespace tailrace::output
