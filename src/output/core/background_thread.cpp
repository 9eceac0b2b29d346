// SPDX-License-Identifier: BSD-3-Clause
#include "output/core/background_thread.hpp"

#include <pthread.h>

namespace tailrace::output {

SignalsBlocked::SignalsBlocked() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsBlocked::~SignalsBlocked() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace tailrace::output
