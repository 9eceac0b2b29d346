// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "tailrace/comm.hpp"

/// Describes what is done to checkpoints to see whether it is noticed.
namespace tailrace::checkpoint::fixture {

/// Calls `action` on the first `count` ranks with a communicator of theirs.
template <class Action>
void on_first(mpi::CommView comm, int count, const Action& action) {
  {
    const auto part = mpi::Comm::split(comm, comm.rank() < count ? 0 : -1);
    if (!part.empty()) action(part.view());
  }
  mpi::barrier(comm);
}

/// Turns over a bit of a byte.
inline void damage(const std::string& path, std::int64_t offset) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(fd >= 0);
  char byte = 0;
  REQUIRE(pread(fd, &byte, 1, offset) == 1);
  byte = static_cast<char>(byte ^ 0x40);
  REQUIRE(pwrite(fd, &byte, 1, offset) == 1);
  close(fd);
}

/// Damages each of a thousand bytes of the checkpoint in a directory, one after the other, half of them in
/// its description; `check` is called while one is damaged.
inline void damage_a_thousand_bytes(const std::string& checkpoint, const std::function<void()>& check) {
  std::uint64_t random = 42;
  for (const char* name : {"/state.h5", "/manifest.json"}) {
    const auto file = checkpoint + name;
    const auto bytes = std::filesystem::file_size(file);
    for (int i = 0; i < 500; ++i) {
      random = random * 6364136223846793005 + 1442695040888963407;
      const auto offset = static_cast<std::int64_t>((random >> 33) % bytes);
      CAPTURE(file);
      CAPTURE(offset);
      damage(file, offset);
      check();
      damage(file, offset);
    }
  }
}

}  // namespace tailrace::checkpoint::fixture
