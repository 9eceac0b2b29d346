// SPDX-License-Identifier: BSD-3-Clause
#include "zstd.hpp"

#define ZSTD_STATIC_LINKING_ONLY  // for ZSTD_estimateCCtxSize_usingCParams
#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <new>

#include "tailrace/error.hpp"

namespace tailrace::checkpoint {

bool has_zstd() noexcept {
  return true;
}

struct Zstd::Contexts {
  Contexts() : compressing(ZSTD_createCCtx()), decompressing(ZSTD_createDCtx()) {
    if (compressing == nullptr || decompressing == nullptr) {
      release();
      throw std::bad_alloc();
    }
  }
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;
  ~Contexts() { release(); }
  void release() const noexcept {
    ZSTD_freeCCtx(compressing);
    ZSTD_freeDCtx(decompressing);
  }

  ZSTD_CCtx* compressing;
  ZSTD_DCtx* decompressing;
};

Zstd::Zstd() : contexts_(std::make_unique<Contexts>()) {}
Zstd::~Zstd() = default;

std::size_t Zstd::compress(std::span<const std::byte> bytes, int level, std::span<std::byte> frame) {
  const auto made = ZSTD_compressCCtx(contexts_->compressing, frame.data(), frame.size(), bytes.data(),
                                      bytes.size(), level);
  if (ZSTD_isError(made) == 0) return made;
  if (ZSTD_getErrorCode(made) == ZSTD_error_dstSize_tooSmall) return 0;
  throw Error(ErrorInfo{.kind = ErrorKind::internal,
                        .message = fmt::format("zstd cannot compress: {}", ZSTD_getErrorName(made)),
                        .path = {},
                        .hint = "continue without checkpoint.compress"});
}

bool Zstd::decompress(std::span<const std::byte> frame, std::span<std::byte> bytes) {
  const auto length = ZSTD_findFrameCompressedSize(frame.data(), frame.size());
  if (ZSTD_isError(length) != 0) return false;
  return ZSTD_decompressDCtx(contexts_->decompressing, bytes.data(), bytes.size(), frame.data(), length) ==
         bytes.size();
}

std::size_t Zstd::working_bytes(int level, std::size_t bytes) noexcept {
  return ZSTD_estimateCCtxSize_usingCParams(ZSTD_getCParams(level, bytes, 0));
}

}  // namespace tailrace::checkpoint
