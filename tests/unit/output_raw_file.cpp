// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "base/system.hpp"
#include "h5/file.hpp"
#include "output/core/raw_file.hpp"
#include "output/registry/options.hpp"
#include "tailrace/error.hpp"

using namespace tailrace;
using namespace tailrace::output;

namespace {

/// A new directory that is removed at the end.
class Directory {
 public:
  Directory() {
    std::string name = std::filesystem::temp_directory_path() / "tailrace-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string operator/(const char* name) const { return path_ / name; }
  [[nodiscard]] std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A system call that answers as scripted, then truly.
class ScriptedCall final : public WriteCall {
 public:
  struct Answer {
    ssize_t taken;  ///< at most this many bytes; negative: error instead
    int error;
  };
  explicit ScriptedCall(std::vector<Answer> answers) : answers_(std::move(answers)) {}

  ssize_t write(int fd, std::span<const iovec> buffers, off_t offset, StepIndex) override {
    if (next_ == answers_.size())
      return pwritev(fd, buffers.data(), static_cast<int>(buffers.size()), offset);
    const Answer answer = answers_[next_++];
    if (answer.taken < 0) {
      errno = answer.error;
      return -1;
    }
    return pwrite(fd, buffers[0].iov_base,
                  std::min(buffers[0].iov_len, static_cast<std::size_t>(answer.taken)), offset);
  }

 private:
  std::vector<Answer> answers_;
  std::size_t next_ = 0;
};

std::vector<char> numbers(std::size_t n) {
  std::vector<char> bytes(n);
  std::iota(bytes.begin(), bytes.end(), '\1');
  return bytes;
}

void make_empty_file(const std::string& path) {
  std::ofstream(path).flush();
}

std::vector<char> content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_at(RawFile& file, std::vector<char>& bytes, std::int64_t offset, StepIndex step = 1) {
  iovec buffer{bytes.data(), bytes.size()};
  file.write(std::span(&buffer, 1), offset, step);
}

/// The error of writing 100 bytes at 7 through `call`.
ErrorInfo failure_of(const std::string& path, std::unique_ptr<WriteCall> call) {
  RawFile file(path, std::move(call));
  auto bytes = numbers(100);
  try {
    write_at(file, bytes, 7);
  } catch (const Error& error) {
    return error.info();
  }
  FAIL("no error");
  return {};
}

WriteOptions with_fault(const std::string& fault) {
  return parse_options({.write = {}, .sink = {}, .pace = {}, .fault = fault});
}

}  // namespace

TEST_CASE("short and interrupted writes continue until all is written") {
  const Directory directory;
  const auto path = directory / "file";
  make_empty_file(path);
  RawFile file(path, std::make_unique<ScriptedCall>(std::vector<ScriptedCall::Answer>{
                         {-1, EINTR}, {1, 0}, {-1, EINTR}, {40, 0}, {9, 0}}));
  auto bytes = numbers(100);
  std::array<iovec, 4> buffers{
      {{bytes.data(), 50}, {bytes.data() + 50, 0}, {bytes.data() + 50, 1}, {bytes.data() + 51, 49}}};
  file.write(buffers, 3, 1);
  file.flush();
  file.close();
  auto expected = std::vector<char>(3, '\0');
  expected.insert(expected.end(), bytes.begin(), bytes.end());
  CHECK(content(path) == expected);
}

TEST_CASE("a refused write says file, byte and reason") {
  const Directory directory;
  const auto path = directory / "file";
  make_empty_file(path);
  const auto info = failure_of(
      path, std::make_unique<ScriptedCall>(std::vector<ScriptedCall::Answer>{{30, 0}, {-1, ENOSPC}}));
  CHECK(info.kind == ErrorKind::io);
  CHECK(info.path == path);
  CHECK(info.offset == 37);
  CHECK(info.message == path + ": writing at byte 37 failed: No space left on device");
  CHECK(info.hint.find("free space") != std::string::npos);
  // A system that takes nothing and gives no reason must not be asked for ever.
  CHECK(failure_of(path, std::make_unique<ScriptedCall>(std::vector<ScriptedCall::Answer>{{0, 0}})).offset ==
        7);
  CHECK(failure_of("/dev/full", make_plain_call()).message.find("No space left") != std::string::npos);
  CHECK_THROWS_AS(RawFile(directory / "missing", make_plain_call()), Error);
}

TEST_CASE("more buffers than the system takes at once") {
  const Directory directory;
  const auto path = directory / "file";
  make_empty_file(path);
  auto bytes = numbers(5000);
  std::vector<iovec> buffers;
  for (auto& byte : bytes) buffers.push_back({&byte, 1});
  RawFile file(path, make_plain_call());
  file.write(buffers, 0, 1);
  CHECK(content(path) == bytes);
}

TEST_CASE("faults strike the writes they are meant for") {
  const Directory directory;
  const auto path = directory / "file";
  make_empty_file(path);
  const auto strikes = [&](const std::string& fault, int rank) {
    RawFile file(path, make_write_call(with_fault(fault), rank));
    auto bytes = numbers(10);
    std::string pattern;
    for (StepIndex step = 1; step <= 8; ++step) {
      try {
        write_at(file, bytes, 10 * step, step);
        pattern += '.';
      } catch (const Error& error) {
        pattern += 'x';
      }
    }
    return pattern;
  };
  CHECK(strikes("write", 0) == "xxxxxxxx");
  CHECK(strikes("write:rank=1", 0) == "........");
  CHECK(strikes("write:rank=1,nth=2", 1) == ".x......");
  CHECK(strikes("write:every=3", 0) == "..x..x..");
  CHECK(strikes("write:every=3,seed=1", 0) == ".x..x..x");
  CHECK(strikes("write:step=4", 0) == "...xxxxx");
  CHECK(strikes("write:step=4,nth=2", 0) == "....x...");
  CHECK(strikes("write:after=25", 0) == "...xxxxx");
  CHECK(strikes("write:nth=1;write:nth=2", 0) == "xx......");
  CHECK(strikes("write:probability=0", 0) == "........");
  CHECK(strikes("write:probability=0.5,seed=5", 2) == strikes("write:probability=0.5,seed=5", 2));
  CHECK(strikes("short", 0) == "........");
  CHECK(strikes("stall:nth=2,s=1ms", 0) == "........");
  CHECK(failure_of(path, make_write_call(with_fault("write:error=EROFS"), 0)).message.find("Read-only") !=
        std::string::npos);
}

TEST_CASE("short writes lose nothing") {
  const Directory directory;
  const auto path = directory / "file";
  make_empty_file(path);
  RawFile file(path, make_write_call(with_fault("short:every=2;short:probability=0.5"), 0));
  auto bytes = numbers(1000);
  write_at(file, bytes, 0);
  CHECK(content(path) == bytes);
}

TEST_CASE("a pace keeps its rate") {
  const Directory directory;
  const auto path = directory / "file";
  make_empty_file(path);
  RawFile file(path, make_paced_call(make_plain_call(), parse_pace("bandwidth=1MB/s,latency=1ms"), 0));
  auto bytes = numbers(1000);
  const double start = monotonic_s();
  for (int i = 0; i < 20; ++i) write_at(file, bytes, 0);
  CHECK(monotonic_s() - start >= 20 * 2e-3 - 1e-3);
}

TEST_CASE("a limit on the size of files is an error, not a signal") {
  const Directory directory;
  const auto path = directory / "file";
  make_empty_file(path);
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit low{50, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &low);
  const auto info = failure_of(path, make_plain_call());
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, before);
  CHECK(info.offset == 50);
  CHECK(info.message.find("File too large") != std::string::npos);
  CHECK(content(path).size() == 50);
}

TEST_CASE("a full file system is an error with the byte it happened at") {
  const Directory directory;
  if (mount("tailrace-test", directory.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
    MESSAGE("skipped: this process may not mount a small file system: ", std::strerror(errno));
    return;
  }
  const auto path = directory / "file";
  make_empty_file(path);
  std::string message;
  {
    RawFile file(path, make_plain_call());
    auto bytes = numbers(40 << 10);
    write_at(file, bytes, 0);
    try {
      write_at(file, bytes, 40 << 10);
    } catch (const Error& error) {
      message = error.what();
      CHECK(error.info().offset == 64 << 10);
    }
  }
  CHECK(umount2(directory.path().c_str(), MNT_DETACH) == 0);
  CHECK(message.find("No space left on device") != std::string::npos);
}

namespace {
constexpr std::uint64_t killed_samples = 10, killed_values = 1000;

/// Places in a file of samples and of the number of those that were recorded.
struct RecordedFile {
  std::int64_t data_at, commit_mark_at;
};

RecordedFile create_recorded(const std::string& path) {
  auto file = h5::File::create(path);
  h5::DatasetSpec data, commit_mark;
  data.path = "/p";
  data.shape = {killed_samples, killed_values};
  commit_mark.path = "/record";
  commit_mark.shape = {1};
  commit_mark.type = h5::ElementType::uint64;
  const auto data_at = static_cast<std::int64_t>(file.create_dataset(data).value());
  const auto commit_mark_at = static_cast<std::int64_t>(file.create_dataset(commit_mark).value());
  file.write<std::uint64_t>("/record", std::vector<std::uint64_t>{0});
  file.close();
  return {data_at, commit_mark_at};
}

/// Writes samples and records until it is killed.
[[noreturn]] void write_until_killed(const std::string& path, const RecordedFile& places) {
  RawFile raw(path, make_write_call(with_fault("kill:step=6"), 0));
  for (std::uint64_t step = 1; step <= killed_samples; ++step) {
    std::vector<float> sample(killed_values, static_cast<float>(step));
    iovec buffer{sample.data(), killed_values * sizeof(float)};
    raw.write(std::span(&buffer, 1),
              places.data_at + static_cast<std::int64_t>((step - 1) * killed_values * sizeof(float)),
              static_cast<StepIndex>(step));
    raw.write_directly(std::as_bytes(std::span(&step, 1)), places.commit_mark_at);
  }
  _exit(0);
}
}  // namespace

TEST_CASE("a process killed in mid-write leaves a file that opens with everything recorded") {
  const Directory directory;
  const auto path = directory / "file.h5";
  const auto places = create_recorded(path);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) write_until_killed(path, places);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);

  const auto left = h5::File::open(path);
  std::vector<std::uint64_t> recorded(1);
  left.read("/record", std::span(recorded));
  CHECK(recorded[0] == 5);
  std::vector<float> all(killed_samples * killed_values);
  left.read("/p", std::span(all));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t step = i / killed_values + 1;
    const bool there = step <= 5 || (step == 6 && i % killed_values < killed_values / 2);
    REQUIRE(all[i] == (there ? static_cast<float>(step) : 0.0F));
  }
}
