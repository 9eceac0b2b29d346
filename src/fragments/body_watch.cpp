// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/body_watch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <memory>

namespace tailrace::fragments {

namespace {

constexpr int program_failed = 3;
thread_local BodyAtWork* at_work = nullptr;

/// A message in memory of its own, as there may be none to be had.
class Text {
 public:
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    const auto room = text_.size() - size_;
    const auto written =
        fmt::format_to_n(text_.data() + size_, room, format, std::forward<Arguments>(arguments)...);
    size_ += std::min(room, written.size);
  }
  void write() const { [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text_.data(), size_); }

 private:
  std::array<char, 1024> text_{};
  std::size_t size_ = 0;
};

void say(const BodyAtWork& body, const char* what) {
  const auto& [statement, image] = std::pair(body.fragment->statement, body.image);
  const auto& at = statement->at;
  Text text;
  if (at.file >= 0 && static_cast<std::size_t>(at.file) < image->files.size())
    text.add("{}:{}:{}: ", image->files[static_cast<std::size_t>(at.file)].name, at.line, at.column);
  text.add("error: {} {}", statement->callee->name, what);
  if (body.output != nullptr) {
    text.add(" when it was to write {}", image->declarations[body.output->declaration].name);
    for (const auto index : body.output->id.indices()) text.add("[{}]", index);
  }
  text.add("\n");
  text.write();
}

constexpr std::array crashes{std::pair(SIGSEGV, "crashed (SIGSEGV: an address that it may not use)"),
                             std::pair(SIGBUS, "crashed (SIGBUS: memory that is not there)"),
                             std::pair(SIGFPE, "crashed (SIGFPE: such as an int divided by 0)"),
                             std::pair(SIGILL, "crashed (SIGILL)"), std::pair(SIGABRT, "aborted (SIGABRT)")};
std::array<struct sigaction, crashes.size()> earlier{};

/// Says which body crashed, and leaves the rest to whoever looked after the signal before.
void on_crash(int signal) {
  for (std::size_t i = 0; i < crashes.size(); ++i) {
    if (crashes[i].first != signal) continue;
    if (at_work != nullptr) say(*at_work, crashes[i].second);
    sigaction(signal, &earlier[i], nullptr);
  }
  raise(signal);
}

void on_exit() {
  if (at_work == nullptr) return;
  say(*at_work, "called exit");
  _exit(program_failed);
}

/// A stack for the handlers of a thread whose own may be at its end.
class SpareStack {
 public:
  SpareStack() : memory_(std::make_unique<char[]>(size_bytes)) {
    stack_t stack{};
    stack.ss_sp = memory_.get(), stack.ss_size = size_bytes;
    sigaltstack(&stack, nullptr);
  }
  SpareStack(const SpareStack&) = delete;
  SpareStack& operator=(const SpareStack&) = delete;
  ~SpareStack() {
    stack_t stack{};
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, nullptr);
  }

 private:
  static constexpr std::size_t size_bytes = 64 << 10;
  std::unique_ptr<char[]> memory_;
};

bool watching = false;

}  // namespace

BodyAtWork::BodyAtWork(const Image& of, const Fragment& which, const Name* writes) noexcept
    : image(&of), fragment(&which), output(writes), outer_(std::exchange(at_work, this)) {
  if (watching) thread_local const SpareStack stack;
}

BodyAtWork::~BodyAtWork() {
  at_work = outer_;
}

void watch_bodies() {
  watching = true;
  struct sigaction action {};
  action.sa_handler = on_crash;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (std::size_t i = 0; i < crashes.size(); ++i) sigaction(crashes[i].first, &action, &earlier[i]);
  std::atexit(on_exit);
}

}  // namespace tailrace::fragments
