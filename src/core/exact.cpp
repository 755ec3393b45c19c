// Passes of exact depths.
#include "exact_halfspace.hpp"
#include "module.hpp"

namespace isodepth {

static auto halfspace_masses(Matrix<double> points, Vector<int64_t> masses, Matrix<double> queries,
                             int64_t n_threads) {
    auto smallest = without_gil(
        [&] { return smallest_masses(rows_of(points), masses.data(), rows_of(queries), n_threads); });
    return as_array(std::move(smallest), {queries.shape(0)});
}

void bind_exact(nb::module_& m) {
    m.def("halfspace_masses", halfspace_masses, "points"_in, "masses"_in, "queries"_in, "n_threads"_a = 1,
          "Smallest masses (m,) of closed halfspaces that contain each of the queries (m, d).");
}

}  // namespace isodepth
