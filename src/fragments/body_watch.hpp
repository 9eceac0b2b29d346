// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "fragments/code.hpp"
#include "fragments/fragment.hpp"

/// Says which fragment a process was at work on when a body crashed it or called `exit`.
namespace tailrace::fragments {

/// A body at work on this thread, while it exists.
class BodyAtWork {
 public:
  /// `output` is the first data fragment that it writes, or null. @local
  BodyAtWork(const Image& image, const Fragment& fragment, const Name* output) noexcept;
  BodyAtWork(const BodyAtWork&) = delete;
  BodyAtWork& operator=(const BodyAtWork&) = delete;
  ~BodyAtWork();

  const Image* image;
  const Fragment* fragment;
  const Name* output;

 private:
  BodyAtWork* outer_;
};

/// Has crashes and calls of `exit` within a body name it on standard error, with its place, before the
/// process ends as it would otherwise; after `exit`, with status 3. For programs, not for libraries. Once.
/// @local
void watch_bodies();

}  // namespace tailrace::fragments
