// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/system.hpp"
#include "tailrace/comm.hpp"

/// Three ways in which all ranks come to know what is at the beginning of a file.
namespace tailrace::bench {

class HeaderWays {
 public:
  HeaderWays(mpi::CommView comm, std::string path, std::int64_t bytes)
      : comm_(comm), path_(std::move(path)), header_(static_cast<std::size_t>(bytes)) {
    if (comm.is_root()) std::ofstream(path_, std::ios::binary).write(header_.data(), bytes);
    mpi::barrier(comm);
  }
  HeaderWays(const HeaderWays&) = delete;
  HeaderWays& operator=(const HeaderWays&) = delete;
  ~HeaderWays() {
    if (comm_.is_root()) unlink(path_.c_str());
  }

  /// Seconds of each, on the slowest rank. @collective
  [[nodiscard]] std::array<std::pair<const char*, double>, 3> measure() {
    return {{{"broadcast", time_of([this] {
                if (comm_.is_root()) read_here();
                mpi::broadcast(comm_, header_, 0);
              })},
             {"each", time_of([this] { read_here(); })},
             {"collective", time_of([this] { read_together(); })}}};
  }

 private:
  double time_of(const std::function<void()>& way) {
    mpi::barrier(comm_);
    const double start_s = monotonic_s();
    way();
    return mpi::max(comm_, monotonic_s() - start_s);
  }
  void read_here() {
    const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    std::size_t at = 0;
    for (ssize_t got = 1; got > 0; at += static_cast<std::size_t>(got))
      got = std::max<ssize_t>(0, pread(fd, header_.data() + at, header_.size() - at, static_cast<off_t>(at)));
    close(fd);
  }
  void read_together() {
    MPI_File file = MPI_FILE_NULL;
    mpi::check(MPI_File_open(comm_.get(), path_.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
               "MPI_File_open");
    mpi::check(MPI_File_read_at_all(file, 0, header_.data(), static_cast<int>(header_.size()), MPI_BYTE,
                                    MPI_STATUS_IGNORE),
               "MPI_File_read_at_all");
    mpi::check(MPI_File_close(&file), "MPI_File_close");
  }

  mpi::CommView comm_;
  std::string path_;
  std::vector<char> header_;
};

}  // namespace tailrace::bench
