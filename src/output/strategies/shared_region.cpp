// SPDX-License-Identifier: BSD-3-Clause
#include "output/strategies/shared_region.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

[[noreturn]] void fail(const std::string& operation, int error) {
  throw Error(ErrorKind::resource,
              fmt::format("{} of memory that processes share failed: {}", operation, std::strerror(error)));
}

struct stat status_of(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail("looking up", errno);
  return status;
}

}  // namespace

SharedRegion::SharedRegion(int descriptor, std::size_t bytes) : descriptor_(descriptor) {
  void* const start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (start == MAP_FAILED) {
    const int error = errno;
    close();
    fail("mapping", error);
  }
  bytes_ = {static_cast<std::byte*>(start), bytes};
}

SharedRegion SharedRegion::create(std::size_t bytes) {
  const int descriptor = memfd_create("tailrace", MFD_CLOEXEC);
  if (descriptor < 0) fail("creation", errno);
  SharedRegion holder;
  holder.descriptor_ = descriptor;  // closed if what follows fails
  // Not ftruncate alone: without blocks a page that is not to be had would kill the process that touches it.
  int error = 0;
  do error = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  while (error == EINTR);
  if (error != 0) fail("allocation", error);
  return {std::exchange(holder.descriptor_, -1), bytes};
}

SharedRegion SharedRegion::open(const Handle& handle) {
  const auto path = fmt::format("/proc/{}/fd/{}", handle.process, handle.descriptor);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) fail("opening", errno);
  SharedRegion holder;
  holder.descriptor_ = descriptor;
  // Where processes count differently, as in containers, another one may have this number.
  const auto status = status_of(descriptor);
  if (status.st_dev != handle.device || status.st_ino != handle.number ||
      status.st_size != static_cast<off_t>(handle.bytes))
    fail("opening", ENOENT);
  return {std::exchange(holder.descriptor_, -1), handle.bytes};
}

SharedRegion::~SharedRegion() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
  close();
}

SharedRegion::Handle SharedRegion::handle() const {
  const auto status = status_of(descriptor_);
  return {.process = getpid(),
          .descriptor = descriptor_,
          .device = status.st_dev,
          .number = status.st_ino,
          .bytes = bytes_.size()};
}

void SharedRegion::close() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace tailrace::output
