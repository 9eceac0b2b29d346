// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/checkpoint.hpp"

#include <fmt/format.h>

#include "tailrace/error.hpp"

namespace tailrace::checkpoint {

void StateArchive::component(const std::string& name, int version,
                             const std::function<void(int version)>& body) {
  const int found = enter(name, version);
  if (found > version)
    throw Error(ErrorInfo{.kind = ErrorKind::input,
                          .message = fmt::format("{} has version {}, this program knows {} and older ones",
                                                 name, found, version),
                          .path = {},
                          .hint = "resume with the program that wrote it, or a newer one"});
  body(found);
}

void StateArchive::refuse_count(const std::string& name, std::size_t count) {
  throw Error(ErrorInfo{.kind = ErrorKind::input,
                        .message = fmt::format("{} has {} numbers instead of one", name, count),
                        .path = {},
                        .hint = "resume with the program that wrote it"});
}

}  // namespace tailrace::checkpoint
