// SPDX-License-Identifier: BSD-3-Clause
#include "base/rehearsal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace tailrace {

namespace {

/// Signals that speak of the code that was running, not of somebody who sent them.
constexpr std::array own_signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGALRM};

/// The life of the copy: it says nothing, leaves no core file and does not outlive its time or its original.
[[noreturn]] void perform(const std::function<void()>& action, unsigned limit_s) noexcept {
  for (const int number : own_signals) std::signal(number, SIG_DFL);
  for (const int number : {SIGTERM, SIGINT, SIGUSR2}) std::signal(number, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (const int nowhere = ::open("/dev/null", O_WRONLY); nowhere >= 0) {
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
  }
  ::alarm(limit_s);
  try {
    action();
  } catch (...) {  // NOLINT: what it throws, it throws again when it is done in earnest
  }
  ::_exit(0);
}

}  // namespace

std::optional<std::string> rehearse(const std::function<void()>& action, unsigned limit_s) {
  const pid_t copy = ::fork();
  if (copy < 0) return {};
  if (copy == 0) perform(action, limit_s);
  int status = 0;
  while (::waitpid(copy, &status, 0) < 0)
    if (errno != EINTR) return {};
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0)  // as sanitizers do it
    return fmt::format("ended with status {}", WEXITSTATUS(status));
  if (!WIFSIGNALED(status)) return {};
  const int number = WTERMSIG(status);
  if (number == SIGALRM) return fmt::format("did not end within {} s", limit_s);
  for (const int own : own_signals)
    if (number == own) return fmt::format("was ended by signal {}", number);
  return {};
}

}  // namespace tailrace
