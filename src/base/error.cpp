// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/error.hpp"

#include <fmt/format.h>

#include <new>

#include "base/check.hpp"
#include "base/memory_reserve.hpp"

namespace tailrace {

const char* to_string(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::input:
      return "input";
    case ErrorKind::io:
      return "io";
    case ErrorKind::resource:
      return "resource";
    case ErrorKind::unstable:
      return "unstable";
    case ErrorKind::internal:
      return "internal";
  }
  return "internal";
}

static std::string text_of(const ErrorInfo& info) {
  return info.hint.empty() ? info.message : fmt::format("{}. Fix: {}", info.message, info.hint);
}

Error::Error(ErrorInfo info) : std::runtime_error(text_of(info)), info_(std::move(info)) {}

Error::Error(ErrorKind kind, std::string message, std::string hint)
    : Error(ErrorInfo{.kind = kind, .message = std::move(message), .path = {}, .hint = std::move(hint)}) {}

ErrorInfo describe_current_exception() {
  try {
    throw;
  } catch (const Error& error) {
    return error.info();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& error) {
    return {.kind = ErrorKind::internal, .message = error.what(), .path = {}, .hint = {}};
  } catch (...) {
    return {.kind = ErrorKind::internal, .message = "unknown exception", .path = {}, .hint = {}};
  }
}

void Problems::add(const std::string& what, const std::string& fix) {
  lines_.push_back(fix.empty() ? what : fmt::format("{}. Fix: {}", what, fix));
}

void Problems::merge(const Problems& other) {
  for (const auto& line : other.lines_) lines_.push_back(fmt::format("{}: {}", other.subject_, line));
}

std::string Problems::message() const {
  if (lines_.size() == 1) return fmt::format("{}: {}", subject_, lines_.front());
  std::string text = fmt::format("{}: {} problems", subject_, lines_.size());
  for (const auto& line : lines_) text += "\n  " + line;
  return text;
}

void Problems::throw_if_any(ErrorKind kind) const {
  if (!lines_.empty()) throw Error(kind, message());
}

namespace detail {
void check_failed(const char* condition, std::string_view what, const char* file, int line) {
  throw Error(ErrorKind::internal, fmt::format("{}:{}: {} ({})", file, line, what, condition));
}
}  // namespace detail

}  // namespace tailrace
