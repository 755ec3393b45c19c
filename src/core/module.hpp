// Functions that add the bindings of a source file to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace isodepth {

void bind_labels(nanobind::module_& m);
void bind_depths(nanobind::module_& m);
void bind_hull(nanobind::module_& m);
void bind_exact(nanobind::module_& m);
void bind_gaps(nanobind::module_& m);
void bind_chunks(nanobind::module_& m);

}  // namespace isodepth
