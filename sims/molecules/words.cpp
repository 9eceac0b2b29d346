// SPDX-License-Identifier: BSD-3-Clause
#include "words.hpp"

namespace tailrace::molecules {

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  int line = 1;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '#') {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (is_blank(text[i])) {
      line += text[i++] == '\n' ? 1 : 0;
    } else {
      const std::size_t begin = i;
      while (i < text.size() && !is_blank(text[i])) ++i;
      words.push_back({text.substr(begin, i - begin), line});
    }
  }
  return words;
}

}  // namespace tailrace::molecules
