// SPDX-License-Identifier: BSD-3-Clause
#include "words.hpp"

#include <algorithm>
#include <cctype>
#include <string>

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

std::optional<bool> truth_in(std::string_view word) {
  std::string small(word);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if (small == "true" || small == "yes" || small == "on" || small == "1") return true;
  if (small == "false" || small == "no" || small == "off" || small == "0") return false;
  return {};
}

}  // namespace tailrace::molecules
