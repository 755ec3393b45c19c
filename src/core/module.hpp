// What each source file adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace isodepth {

void bind_gaps(nanobind::module_&);

}  // namespace isodepth
