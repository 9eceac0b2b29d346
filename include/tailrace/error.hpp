// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace tailrace {

/// Describes what went wrong, in the classes that decide how a program ends (see `exit_status`).
enum class ErrorKind {
  usage,     ///< a bad command line
  input,     ///< a bad case or input file
  io,        ///< a read or write that the system refused
  resource,  ///< memory or another resource is short
  unstable,  ///< a computation that left the range of its numbers
  internal,  ///< a broken invariant: a bug of ours
};

/// Name of a kind unchanged in `run.json`.
const char* to_string(ErrorKind kind) noexcept;

/// The data of an error: plain values, so that it can be sent to other ranks and written to `run.json`.
struct ErrorInfo {
  ErrorKind kind = ErrorKind::internal;
  std::string message;       ///< one sentence: operation, object, reason
  std::string path;          ///< file concerned, if any
  std::int64_t offset = -1;  ///< byte in that file, if known
  int rank = -1;             ///< rank that saw it first, if known
  std::string hint;          ///< says what the user can do, if known
};

/// The exception of the library. Everything that can fail throws it, with data, not only text.
class Error : public std::runtime_error {
 public:
  explicit Error(ErrorInfo info);
  Error(ErrorKind kind, std::string message, std::string hint = {});

  [[nodiscard]] const ErrorInfo& info() const noexcept { return info_; }

 private:
  ErrorInfo info_;
};

/// The error that is being handled, as data. Only to be called inside a catch block.
ErrorInfo describe_current_exception();

/// Collects all problems of a case, a command line or an input file, so that they are reported together.
class Problems {
 public:
  explicit Problems(std::string subject) : subject_(std::move(subject)) {}

  /// Adds one problem; `fix` says what to write instead and may be empty.
  void add(const std::string& what, const std::string& fix = {});
  /// Takes over the problems of another list, each prefixed by its subject.
  void merge(const Problems& other);

  [[nodiscard]] bool empty() const noexcept { return lines_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return lines_.size(); }
  /// All problems in one message: the subject, the count, one line each.
  [[nodiscard]] std::string message() const;
  /// Throws an `Error` with all problems if there are any.
  void throw_if_any(ErrorKind kind = ErrorKind::input) const;

 private:
  std::string subject_;
  std::vector<std::string> lines_;
};

}  // namespace tailrace
