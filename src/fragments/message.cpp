// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "fragments/compiler.hpp"
#include "fragments/diagnosis.hpp"

namespace tailrace::fragments {

namespace {

/// A line of a source; nothing if the source is not known.
std::optional<std::string> line_of(const Image& image, const Place& at) {
  if (at.file < 0 || static_cast<std::size_t>(at.file) >= image.files.size()) return {};
  const auto& text = image.files[static_cast<std::size_t>(at.file)].text;
  std::size_t first = 0;
  for (int line = 1; line < at.line && first < text.size(); ++line) {
    const auto end = text.find('\n', first);
    first = end == std::string::npos ? text.size() : end + 1;
  }
  if (first >= text.size()) return {};
  auto line = text.substr(first, text.find('\n', first) - first);
  std::ranges::replace(line, '\t', ' ');
  std::erase(line, '\r');
  return line;
}

}  // namespace

std::string text_of(const Image& image, const Message& message, const char* severity) {
  auto text = fmt::format("{}: {}: {}", text_of(image, message.at), severity, message.text);
  if (!message.code.empty()) text += fmt::format(" [{}]", message.code);
  if (const auto line = line_of(image, message.at)) {
    text += fmt::format("\n{}\n{:{}}^", *line, "", std::max(0, message.at.column - 1));
    if (!message.note.empty()) text += " " + message.note;
  } else if (!message.note.empty()) {
    text += "\n  " + message.note;
  }
  for (const auto& line : message.lines) text += "\n  " + line;
  if (!message.fix.empty()) text += "\n  Fix: " + message.fix;
  return text;
}

std::vector<std::string> texts_of(const Image& image, std::vector<Message> messages,
                                  std::vector<Message> failures) {
  // Which failure was seen first depends on chance.
  std::ranges::sort(failures, {}, [](const Message& of) { return std::tie(of.text, of.lines); });
  std::ranges::move(failures, std::back_inserter(messages));
  std::ranges::stable_sort(messages, {}, &Message::at);
  std::vector<std::string> texts;
  for (const auto& message : messages) {
    if (texts.size() == messages_shown) {
      texts.push_back(fmt::format("and {} further errors", messages.size() - messages_shown));
      break;
    }
    texts.push_back(text_of(image, message));
  }
  return texts;
}

std::vector<std::string> calls_of(const Image& image, const Shared<const CallRecord>& call) {
  constexpr std::size_t shown = 8;
  std::vector<std::string> lines;
  for (const auto* current = call.get(); current != nullptr; current = current->caller.get()) {
    if (lines.size() == shown) {
      lines.push_back(fmt::format("and from {} further calls", current->depth + 1));
      break;
    }
    lines.push_back(fmt::format("called from {} as {}",
                                text_of(image, image.statements[current->statement].at),
                                text_of(image, *current)));
  }
  return lines;
}

Message message_of(const Image& image, const Fault& fault, const Shared<const CallRecord>& call) {
  Message message{fault.at, fault.text, fault.code, fault.note, calls_of(image, call), fault.fix};
  if (fault.about) message.about.push_back({fault.about->id, text_of(image, *fault.about)});
  return message;
}

void add_writers(const Image& image, const std::vector<Written>& writers, std::vector<Message>& failures) {
  for (auto& failure : failures)
    for (const auto& data : failure.about)
      for (const auto& writer : writers) {
        if (!(writer.id == data.id)) continue;
        failure.lines.push_back(fmt::format("{} is written at {}", data.text, text_of(image, writer.at)));
        for (const auto& call : writer.calls) failure.lines.push_back("  " + call);
      }
}

Message written_twice(const Image& image, const Stored& first, const Post& second) {
  const auto place = [&](const Origin& origin) { return origin.statement->at; };
  const auto key = [&](const Origin& origin) {
    return std::pair(place(origin), calls_of(image, origin.call));
  };
  const Origin* earlier = &first.writer;
  const Origin* later = &second.writer;
  if (key(*later) < key(*earlier)) std::swap(earlier, later);  // which came first depends on chance
  Message message{place(*later),
                  fmt::format("{} is written twice", text_of(image, second.name)),
                  "SEM2.1",
                  {},
                  {},
                  "write it once, or give each value an index of its own"};
  message.lines = calls_of(image, later->call);
  message.lines.push_back(fmt::format("also written at {}", text_of(image, place(*earlier))));
  for (auto& line : calls_of(image, earlier->call)) message.lines.push_back("  " + line);
  return message;
}

Message used_too_often(const Image& image, const Stored& value, const Name& name, const Origin& reader) {
  return {reader.statement->at,
          fmt::format("the use count of {} is exhausted, it is set at {}", text_of(image, name),
                      text_of(image, value.count_at())),
          "SEM3.5",
          {},
          calls_of(image, reader.call),
          use_count_fix};
}

}  // namespace tailrace::fragments
