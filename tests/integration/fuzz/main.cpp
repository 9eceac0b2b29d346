// SPDX-License-Identifier: BSD-3-Clause
/// Hands changed k-Wave inputs to the ultrasound program, many a second: each is refused with a clear message
/// or runs right. The program is called in worker processes, so that a crash or a hang costs one input, which
/// is named by its seed:
///
///   test-ultrasound-fuzz [--first SEED] [--count N] [--workers N] [--limit SECONDS]
///   test-ultrasound-fuzz --one SEED [--keep DIRECTORY]   says what is changed and what comes of it
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "temp_dir.hpp"

extern char** environ;  // NOLINT: as POSIX has it

namespace tailrace::fuzz {

namespace {

using Clock = std::chrono::steady_clock;

struct Settings {
  std::uint64_t first = 1, count = 2000, workers = 2;
  int limit_s = 150;  ///< for one input, whose reading `--check` and the run may each give up after 50 s
  std::optional<std::uint64_t> one;
  std::string keep;
};

// --- A worker ---------------------------------------------------------------------------------------------

/// One line to the parent, which reads standard output.
void report(char kind, std::uint64_t seed, std::string text) {
  for (auto& letter : text)
    if (letter == '\n') letter = '\t';
  const auto line = fmt::format("{} {} {}\n", kind, seed, text);
  [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, line.data(), line.size());
}

/// Memory that a run of such a small input could never want ends in an error of this process, not of others.
void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__)
  constexpr rlim_t most = rlim_t{4} << 30;
  const rlimit limit{most, most};
  ::setrlimit(RLIMIT_AS, &limit);
#endif
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
}

/// Checks the seeds `first`, `first + stride`, ... below `end`.
int work(mpi::CommView comm, std::uint64_t first, std::uint64_t end, std::uint64_t stride,
         const std::string& directory) {
  limit_memory();
  for (auto seed = first; seed < end; seed += stride) {
    report('s', seed, "");
    const auto verdict =
        judge(comm, seed, directory, [&](const std::string& story) { report('m', seed, story); });
    report("oarw"[static_cast<int>(verdict.answer)], seed, verdict.complaint);
  }
  return 0;
}

int run_one(mpi::CommView comm, const Settings& settings) {
  const test::TempDir scratch;
  const std::string directory = settings.keep.empty() ? scratch.path() + "/work" : settings.keep;
  const auto verdict =
      judge(comm, *settings.one, directory, [](const std::string& story) { fmt::print("{}\n", story); });
  std::fflush(stdout);
  const std::array names{"refused", "accepted", "run", "wrong"};
  fmt::print("{} {}\n", names.at(static_cast<std::size_t>(verdict.answer)), verdict.complaint);
  return verdict.answer == Answer::wrong ? 1 : 0;
}

// --- The parent -------------------------------------------------------------------------------------------

/// A process that checks its share of the seeds, one after the other.
struct Worker {
  std::uint64_t next = 0;  ///< seed at which it starts again, should it end
  pid_t process = -1;
  int pipe = -1;
  std::string partial;     ///< a line that has not ended
  std::uint64_t seed = 0;  ///< being checkd
  std::string story;
  bool busy = false;
  Clock::time_point since;
};

class Supervisor {
 public:
  Supervisor(Settings settings, std::string program)
      : settings_(std::move(settings)), program_(std::move(program)) {}

  int run() {
    std::vector<Worker> workers(settings_.workers);
    for (std::size_t i = 0; i < workers.size(); ++i) {
      workers[i].next = settings_.first + i;
      start(workers[i], i);
    }
    while (listen(workers)) {
    }
    fmt::print("{} inputs: {} run, {} only accepted, {} refused, {} wrong\n", settings_.count, counts_['r'],
               counts_['a'], counts_['o'], wrong_.size());
    for (const auto& [seed, text] : wrong_) fmt::print("seed {}: {}\n", seed, text);
    const bool varied = counts_['r'] > settings_.count / 20 && counts_['o'] > settings_.count / 20;
    if (!varied) fmt::print("too few inputs ran or were refused to say anything\n");
    return wrong_.empty() && varied ? 0 : 1;
  }

 private:
  [[nodiscard]] std::uint64_t end() const { return settings_.first + settings_.count; }

  [[nodiscard]] std::string directory(std::size_t number) const {
    return fmt::format("{}/{}", scratch_.path(), number);
  }

  void start(Worker& worker, std::size_t number) {
    worker.process = -1;
    if (worker.next >= end()) return;
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
    const std::vector<std::string> words{program_,
                                         "--worker",
                                         std::to_string(worker.next),
                                         std::to_string(end()),
                                         std::to_string(settings_.workers),
                                         directory(number)};
    std::vector<char*> argv;
    for (const auto& word : words)
      argv.push_back(const_cast<char*>(word.c_str()));  // NOLINT: as POSIX has it
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (::posix_spawn(&worker.process, program_.c_str(), &actions, nullptr, argv.data(), environ) != 0)
      std::abort();
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    worker.pipe = ends[0];
    worker.partial.clear();
    worker.busy = false;
    worker.since = Clock::now();
  }

  /// Waits for a word of any worker; returns whether one is left.
  bool listen(std::vector<Worker>& workers) {
    std::vector<pollfd> polls;
    for (const auto& worker : workers)
      if (worker.process > 0) polls.push_back({worker.pipe, POLLIN, 0});
    if (polls.empty()) return false;
    constexpr int nap_ms = 500;
    ::poll(polls.data(), polls.size(), nap_ms);
    for (std::size_t i = 0; i < workers.size(); ++i) {
      auto& worker = workers[i];
      const auto is_its = [&](const pollfd& p) { return p.fd == worker.pipe; };
      const auto found = std::find_if(polls.begin(), polls.end(), is_its);
      if (worker.process <= 0 || found == polls.end()) continue;
      if (found->revents != 0) {
        hear(worker, i);
      } else if (Clock::now() - worker.since > std::chrono::seconds(settings_.limit_s)) {
        ::kill(worker.process, SIGKILL);
        bury(worker, i, fmt::format("did not end within {} s", settings_.limit_s));
      }
    }
    return true;
  }

  void hear(Worker& worker, std::size_t number) {
    std::array<char, 65536> buffer{};
    const auto got = ::read(worker.pipe, buffer.data(), buffer.size());
    if (got <= 0) return bury(worker, number, {});
    worker.partial.append(buffer.data(), static_cast<std::size_t>(got));
    for (auto line_end = worker.partial.find('\n'); line_end != std::string::npos;
         line_end = worker.partial.find('\n')) {
      take(worker, worker.partial.substr(0, line_end));
      worker.partial.erase(0, line_end + 1);
    }
  }

  void take(Worker& worker, const std::string& line) {
    const auto space = line.find(' ', 2);
    const char kind = line[0];
    const std::string text = space == std::string::npos ? "" : line.substr(space + 1);
    worker.since = Clock::now();
    if (kind == 'm') {
      worker.story = text;
      return;
    }
    worker.seed = std::stoull(line.substr(2));
    worker.busy = kind == 's';
    worker.next = worker.seed + settings_.workers;
    if (kind == 's') {
      worker.story.clear();
      return;
    }
    ++counts_[kind];
    if (kind == 'w') wrong_[worker.seed] = fmt::format("{}\n  {}", worker.story, text);
  }

  /// Notes how a worker ended and starts another one behind the input that it ended with.
  void bury(Worker& worker, std::size_t number, const std::string& reason) {
    int status = 0;
    ::waitpid(worker.process, &status, 0);
    ::close(worker.pipe);
    if (worker.busy || status != 0) {
      const auto how = !reason.empty()       ? reason
                       : WIFSIGNALED(status) ? fmt::format("ended by signal {}", WTERMSIG(status))
                                             : fmt::format("ended with status {}", WEXITSTATUS(status));
      std::ifstream errors(error_file(directory(number)));
      const std::string words{std::istreambuf_iterator<char>(errors), {}};
      wrong_[worker.seed] = fmt::format("{}\n  {}: {:.2000}", worker.story, how, words);
      if (!worker.busy) worker.next = end();  // it did not even start
    } else {
      worker.next = end();
    }
    start(worker, number);
  }

  Settings settings_;
  std::string program_;
  test::TempDir scratch_;
  std::map<char, std::uint64_t> counts_;
  std::map<std::uint64_t, std::string> wrong_;
};

Settings read_settings(const std::vector<std::string>& words) {
  Settings settings;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const auto& value = words[i + 1];
    if (words[i] == "--first") settings.first = std::stoull(value);
    if (words[i] == "--count") settings.count = std::stoull(value);
    if (words[i] == "--workers") settings.workers = std::stoull(value);
    if (words[i] == "--limit") settings.limit_s = std::stoi(value);
    if (words[i] == "--one") settings.one = std::stoull(value);
    if (words[i] == "--keep") settings.keep = value;
  }
  return settings;
}

}  // namespace

int run_main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 5 && words[0] == "--worker") {
    const mpi::Environment environment(argc, argv);
    return work(environment.world(), std::stoull(words[1]), std::stoull(words[2]), std::stoull(words[3]),
                words[4]);
  }
  const Settings settings = read_settings(words);
  if (settings.one) {
    const mpi::Environment environment(argc, argv);
    return run_one(environment.world(), settings);
  }
  return Supervisor(settings, std::filesystem::read_symlink("/proc/self/exe")).run();
}

}  // namespace tailrace::fuzz

int main(int argc, char** argv) {
  return tailrace::fuzz::run_main(argc, argv);
}
