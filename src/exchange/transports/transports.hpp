// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "exchange/line.hpp"

/// How each transport opens a line. @collective{config.comm}
namespace tailrace::exchange {

std::unique_ptr<Line> open_isend(LineConfig config);
std::unique_ptr<Line> open_persistent(LineConfig config);
std::unique_ptr<Line> open_neighbour(LineConfig config);
std::unique_ptr<Line> open_rma_lock(LineConfig config);
std::unique_ptr<Line> open_rma_pscw(LineConfig config);
std::unique_ptr<Line> open_rma_fence(LineConfig config);
std::unique_ptr<Line> open_get(LineConfig config);
std::unique_ptr<Line> open_shmem(LineConfig config);
/// With `config.sums`.
std::unique_ptr<Line> open_accumulate(LineConfig config);
std::unique_ptr<Line> open_router(LineConfig config);
/// For peers of the node only. Null, on all ranks, if the system refuses shared memory to one of them.
std::unique_ptr<Line> open_shared(LineConfig config);
/// Shared memory to peers of the node, `far` to the others, and to all where there is no shared memory.
std::unique_ptr<Line> open_divided(LineConfig config, std::unique_ptr<Line> (*far)(LineConfig));

}  // namespace tailrace::exchange
