// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/lustre.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "output/sinks/descriptor.hpp"
#include "tailrace/error.hpp"

extern char** environ;  // NOLINT: POSIX declares it so

namespace tailrace::output {

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorInfo{.kind = ErrorKind::usage,
                        .message = fmt::format("{}: its stripes cannot be set: {}", path, why),
                        .path = path,
                        .hint = "write to a directory on Lustre where lfs is installed, or leave "
                                "write.lustre_count and write.lustre_size out"});
}

/// Describes what a program that has ended says.
struct Answer {
  int status = 0;  ///< refers to waitpid(2)
  std::string words;
};

std::string read_all(int fd) {
  std::string text;
  std::array<char, 1024> some;
  for (;;) {
    const auto count = read(fd, some.data(), some.size());
    if (count > 0) text.append(some.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
  }
}

/// Runs a program to its end without a shell. Errors (usage): it cannot be started.
Answer run_program(std::vector<std::string> words, const std::string& path) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) refuse(path, std::strerror(errno));
  const Descriptor answers(ends[0]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int error = posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) refuse(path, fmt::format("{}: {}", words.front(), std::strerror(error)));
  Answer answer{.words = read_all(answers.get())};
  while (waitpid(process, &answer.status, 0) < 0)
    if (errno != EINTR) refuse(path, fmt::format("{}: {}", words.front(), std::strerror(errno)));
  return answer;
}

}  // namespace

void create_on_lustre(const std::string& path, const LustreStripes& stripes) {
  std::vector<std::string> words{"lfs", "setstripe"};
  if (stripes.count > 0) words.insert(words.end(), {"-c", std::to_string(stripes.count)});
  if (stripes.bytes > 0) words.insert(words.end(), {"-S", std::to_string(stripes.bytes)});
  words.push_back(path);
  auto [status, answer] = run_program(std::move(words), path);
  std::replace(answer.begin(), answer.end(), '\n', ' ');
  answer.erase(answer.find_last_not_of(' ') + 1);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    refuse(path, answer.empty() ? "lfs setstripe failed without a word" : answer);
}

}  // namespace tailrace::output
