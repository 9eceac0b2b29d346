// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/closing.hpp"

#include <algorithm>
#include <iterator>

namespace tailrace::fragments {

Closing::Closing(Mail& mail, const Image& image, const Store& store,
                 std::function<void(const std::string&)> print)
    : mail_(&mail), image_(&image), store_(&store), print_(std::move(print)) {
  mail.handle(report_message, [this](MessageReader& in) { take_report(in); });
  mail.handle(question_message, [this](MessageReader& in) { send_knowledge(in); });
  mail.handle(knowledge_message, [this](MessageReader& in) { take_knowledge(in); });
  mail.handle(ending_message, [this](MessageReader& in) { take_ending(in); });
}

void Closing::send(const Report& report) {
  mail_->send(0, report_message, report.stuck, report.failures, report.unused, report.waiting,
              report.left_count, report.left_bytes, report.forwarded, report.printed);
}

void Closing::take_report(MessageReader& in) {
  auto stuck = Mail::read<std::vector<Stuck>>(in);
  auto failures = Mail::read<std::vector<Message>>(in);
  add(unused_, Mail::read<std::vector<UnusedCount>>(in));
  std::ranges::move(stuck, std::back_inserter(situation_.stuck));
  std::ranges::move(failures, std::back_inserter(failures_));
  for (auto* const total : {&total_.waiting, &total_.left_count, &total_.left_bytes, &total_.forwarded})
    *total += Mail::read<std::int64_t>(in);
  print_(Mail::read<std::string>(in));
  if (++reports_ < mail_->size()) return;
  const auto missing = missing_of(situation_.stuck);
  const auto typed = about(failures_);
  if (missing.empty() && typed.empty()) return finish({});
  for (int rank = 0; rank < mail_->size(); ++rank) mail_->send(rank, question_message, missing, typed);
}

void Closing::send_knowledge(MessageReader& in) {
  Situation known;
  std::vector<Written> writers;
  add_knowledge(*image_, *store_, Mail::read<std::vector<Id>>(in), known);
  add_writers(*image_, *store_, Mail::read<std::vector<Id>>(in), writers);
  mail_->send(0, knowledge_message, known.missing, known.written, writers);
}

void Closing::take_knowledge(MessageReader& in) {
  auto missing = Mail::read<std::vector<Missing>>(in);
  auto written = Mail::read<std::vector<Written>>(in);
  add_writers(*image_, Mail::read<std::vector<Written>>(in), failures_);
  std::ranges::move(missing, std::back_inserter(situation_.missing));
  std::ranges::move(written, std::back_inserter(situation_.written));
  if (++answers_ == mail_->size()) finish(verdict(*image_, situation_));
}

void Closing::finish(std::vector<Message> verdict) {
  total_.errors = texts_of(*image_, std::move(verdict), std::move(failures_));
  if (total_.errors.empty()) total_.notes = notes_of(*image_, unused_);
  for (int rank = 0; rank < mail_->size(); ++rank)
    mail_->send(rank, ending_message, total_.errors, total_.notes, total_.waiting, total_.left_count,
                total_.left_bytes, total_.forwarded);
}

void Closing::take_ending(MessageReader& in) {
  in >> ending_.errors >> ending_.notes >> ending_.waiting >> ending_.left_count >> ending_.left_bytes >>
      ending_.forwarded;
  complete_ = true;
}

}  // namespace tailrace::fragments
