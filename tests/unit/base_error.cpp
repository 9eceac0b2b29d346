// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/error.hpp"

#include <doctest/doctest.h>

#include <new>
#include <string>

#include "base/check.hpp"

using namespace tailrace;

namespace {

/// Describes what `describe_current_exception` makes of a thrown value.
template <class Thrown>
ErrorInfo described(const Thrown& thrown) {
  try {
    throw thrown;
  } catch (...) {
    return describe_current_exception();
  }
}

}  // namespace

TEST_CASE("an error carries its data and puts the hint into its text") {
  const Error error(ErrorInfo{.kind = ErrorKind::io,
                              .message = "cannot write",
                              .path = "a.h5",
                              .offset = 12,
                              .rank = 3,
                              .hint = "make room"});
  CHECK(std::string(error.what()) == "cannot write. Fix: make room");
  CHECK(error.info().message == "cannot write");
  CHECK(error.info().offset == 12);
  CHECK(error.info().rank == 3);
  CHECK(std::string(Error(ErrorKind::usage, "no hint").what()) == "no hint");
}

TEST_CASE("any exception becomes data") {
  CHECK(described(Error(ErrorKind::input, "mine")).kind == ErrorKind::input);
  CHECK(described(std::bad_alloc()).kind == ErrorKind::resource);
  CHECK(described(std::runtime_error("other")).message == "other");
  CHECK(described(std::runtime_error("other")).kind == ErrorKind::internal);
  CHECK(described(42).message == "unknown exception");
}

TEST_CASE("kinds have the names of run.json") {
  CHECK(std::string(to_string(ErrorKind::usage)) == "usage");
  CHECK(std::string(to_string(ErrorKind::input)) == "input");
  CHECK(std::string(to_string(ErrorKind::io)) == "io");
  CHECK(std::string(to_string(ErrorKind::resource)) == "resource");
  CHECK(std::string(to_string(ErrorKind::internal)) == "internal");
}

TEST_CASE("problems are reported together") {
  Problems problems("input.h5");
  CHECK(problems.empty());
  CHECK_NOTHROW(problems.throw_if_any());
  problems.add("c0 is missing", "add it");
  CHECK(problems.message() == "input.h5: c0 is missing. Fix: add it");
  problems.add("rho0 has 3 NaN");
  CHECK(problems.size() == 2);
  CHECK(problems.message() == "input.h5: 2 problems\n  c0 is missing. Fix: add it\n  rho0 has 3 NaN");
  CHECK_THROWS_WITH_AS(problems.throw_if_any(), problems.message().c_str(), Error);
}

TEST_CASE("merged problems keep their subject") {
  Problems all("case.toml"), file("input.h5");
  file.add("c0 is missing");
  all.merge(file);
  all.merge(Problems("nothing wrong here"));
  CHECK(all.message() == "case.toml: input.h5: c0 is missing");
  try {
    all.throw_if_any(ErrorKind::usage);
    FAIL("no exception");
  } catch (const Error& error) {
    CHECK(error.info().kind == ErrorKind::usage);
  }
}

TEST_CASE("a broken invariant is an internal error that names place and condition") {
  try {
    TAILRACE_CHECK(1 + 1 == 3, "sums are right");
    FAIL("no exception");
  } catch (const Error& error) {
    const std::string text = error.what();
    CHECK(error.info().kind == ErrorKind::internal);
    CHECK(text.find("sums are right (1 + 1 == 3)") != std::string::npos);
    CHECK(text.find("base_error.cpp") != std::string::npos);
  }
}
