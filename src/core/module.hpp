// What each source file adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace isodepth {}  // namespace isodepth
