// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "fragments/body_call.hpp"

namespace tailrace::fragments {

/// The same bodies, each of which ends as an exception does if it has changed an input of type value, which
/// it may only read. Costs two passes over the inputs. @local
Bodies checked(Bodies bodies);

}  // namespace tailrace::fragments
