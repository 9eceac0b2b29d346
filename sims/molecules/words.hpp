// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace tailrace::molecules {

/// A word of a text between blanks.
struct Word {
  std::string_view text;
  int line = 0;  ///< counted from 1
};

constexpr bool is_blank(char letter) noexcept {
  return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

/// Splits a text at blanks, without comments, from # to the end of the line. @local
std::vector<Word> words_of(std::string_view text);

/// What a word such as "yes" or "False" says, with the spellings of ls1 mardyn, and 1 and 0; nothing if it
/// says neither. @local
std::optional<bool> truth_in(std::string_view word);

/// The number that the whole word is; nothing if it is none. @local
template <class T>
std::optional<T> number_in(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  return parse_number<T>(word);
}

}  // namespace tailrace::molecules
