// SPDX-License-Identifier: BSD-3-Clause
#include "output/strategies/leader_board.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>

namespace tailrace::output {

namespace {

template <std::size_t size>
void put(std::string_view text, std::array<char, size>& room) noexcept {
  const std::size_t end = text.copy(room.data(), size - 1);
  room[end] = '\0';
}

}  // namespace

void LeaderBoard::fail(const ErrorInfo& error) noexcept {
  kind_ = error.kind;
  rank_ = error.rank;
  offset_ = error.offset;
  put(error.message, message_);
  put(error.path, path_);
  put(error.hint, hint_);
  failed_ = true;
}

std::optional<ErrorInfo> LeaderBoard::failure() const {
  if (!failed_) return {};
  return ErrorInfo{.kind = kind_,
                   .message = message_.data(),
                   .path = path_.data(),
                   .offset = offset_,
                   .rank = rank_,
                   .hint = hint_.data()};
}

bool LeaderBoard::leader_lives() const noexcept {
  return kill(leader_, 0) == 0 || errno != ESRCH;
}

}  // namespace tailrace::output
