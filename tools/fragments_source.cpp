// SPDX-License-Identifier: BSD-3-Clause
#include "fragments_source.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tailrace/error.hpp"

extern char** environ;  // NOLINT: POSIX has it so

namespace tailrace {

namespace {

/// What rank 0 has come to: the bytes of the object, or what is wrong.
struct Made {
  std::string object, wrong, hint;
};

/// A folder that ends with this.
class PassingFolder {
 public:
  PassingFolder() : path_((std::filesystem::temp_directory_path() / "tailrace-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr)
      throw Error({.kind = ErrorKind::io,
                   .message = fmt::format("{}: {}", path_, std::strerror(errno)),
                   .path = path_,
                   .hint = "set TMPDIR"});
  }
  PassingFolder(const PassingFolder&) = delete;
  PassingFolder& operator=(const PassingFolder&) = delete;
  ~PassingFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

Made make(const std::string& program) {
  const PassingFolder folder;
  std::array<std::string, 5> words{"tailrace", "compile", program, "-o", folder.path() + "/program.so"};
  std::array<char*, 6> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (error != 0)
    return {{},
            fmt::format("{} has to be compiled, and tailrace cannot be started: {}", program,
                        std::strerror(error)),
            fmt::format("put tailrace on PATH; or `tailrace compile {}` where it is, and tailrace-fragments "
                        "with the .so that this makes",
                        program)};
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  std::ifstream file(words.back(), std::ios::binary);
  if (status != 0 || !file) return {{}, fmt::format("{} does not compile", program), "see above"};
  return {{std::istreambuf_iterator<char>(file), {}}, {}, {}};
}

/// A file in memory: other machines do not see the folder of rank 0.
std::string in_memory(const std::string& bytes) {
  const int file = ::memfd_create("program.so", 0);
  std::size_t written = 0;
  while (file >= 0 && written < bytes.size()) {
    const auto now = ::write(file, bytes.data() + written, bytes.size() - written);
    if (now <= 0 && errno != EINTR) break;
    written += static_cast<std::size_t>(std::max<ssize_t>(now, 0));
  }
  if (file < 0 || written < bytes.size())
    throw Error(ErrorKind::io, fmt::format("no memory for the compiled program: {}", std::strerror(errno)));
  return fmt::format("/proc/self/fd/{}", file);
}

}  // namespace

std::string compiled(mpi::CommView world, const std::string& program) {
  Made made;
  if (world.is_root()) made = make(program);
  made.wrong = mpi::broadcast(world, std::move(made.wrong), 0);
  made.hint = mpi::broadcast(world, std::move(made.hint), 0);
  if (!made.wrong.empty())
    throw Error({.kind = ErrorKind::input, .message = made.wrong, .path = {}, .hint = made.hint});
  return in_memory(mpi::broadcast(world, std::move(made.object), 0));
}

}  // namespace tailrace
