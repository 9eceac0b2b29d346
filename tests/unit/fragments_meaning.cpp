// SPDX-License-Identifier: BSD-3-Clause
// The meaning of fragment programs, sentence by sentence: each row is a program and what it prints, or its
// error.
#include <doctest/doctest.h>

#include "fragments_meaning.hpp"

namespace tailrace::test {

TEST_CASE("meaning: each sentence on one thread") {
  CHECK(meanings.size() >= 60);
  for (const auto& row : meanings) {
    CAPTURE(row.what);
    Printed printed;
    const auto image = test_image(row.program);
    const auto ending = fragments::interpret(image, test_bodies(printed), row.words);
    CHECK(printed.sorted() == row.printed);
    check_errors(row, ending);
  }
}

}  // namespace tailrace::test
