#include "input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tailrace::seismic {

Error file_error(const std::string& path, const std::string& what, const std::string& fix) {
  return Error(ErrorInfo{
      .kind = ErrorKind::input, .message = fmt::format("{}: {}", path, what), .path = path, .hint = fix});
}

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  file_ = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // it may be a pipe
  if (file_ < 0)
    throw file_error(path_, fmt::format("cannot be opened: {}", std::strerror(errno)),
                     "name a file that is there and may be read");
  struct stat status {};
  if (fstat(file_, &status) == 0 && S_ISREG(status.st_mode)) {
    size_bytes_ = status.st_size;
    return;
  }
  close(file_);
  throw file_error(path_, "is no regular file", "name a file");
}

InputFile::~InputFile() {
  close(file_);
}

void InputFile::read(std::int64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const auto taken = pread(file_, out.data(), out.size(), offset);
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0)
      throw file_error(path_, fmt::format("reading at byte {}: {}", offset, std::strerror(errno)),
                       "check the device");
    if (taken == 0)
      throw file_error(path_, fmt::format("ends at byte {}, where more is expected", offset),
                       "write the file again");
    offset += taken;
    out = out.subspan(static_cast<std::size_t>(taken));
  }
}

}  // namespace tailrace::seismic
