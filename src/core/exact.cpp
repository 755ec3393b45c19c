// Passes of exact depths.
#include "exact_halfspace.hpp"
#include "exact_projection.hpp"
#include "module.hpp"

namespace isodepth {

static auto halfspace_masses(Matrix<double> points, Vector<int64_t> masses, Matrix<double> queries,
                             int64_t n_threads) {
    auto smallest = without_gil(
        [&] { return smallest_masses(rows_of(points), masses.data(), rows_of(queries), n_threads); });
    return as_array(std::move(smallest), {queries.shape(0)});
}

static auto planar_outlyingness(Matrix<double> points, Matrix<double> rounding, Vector<int64_t> masses,
                                Vector<int64_t> spread_masses, int64_t heavy, int64_t n_threads) {
    const PlanarSample sample{rows_of(points), rounding.data(),      int64_t(masses.shape(0)),
                              masses.data(),   spread_masses.data(), heavy};
    auto worst = without_gil([&] { return LargestOutlyingness(sample, n_threads).worst; });
    return as_array(std::move(worst), {points.shape(0) - masses.shape(0)});
}

void bind_exact(nb::module_& m) {
    m.def("halfspace_masses", halfspace_masses, "points"_in, "masses"_in, "queries"_in, "n_threads"_a = 1,
          "Smallest masses (m,) of closed halfspaces that contain each of the queries (m, d).");
    m.def("planar_outlyingness", planar_outlyingness, "points"_in, "rounding"_in, "masses"_in,
          "spread_masses"_in, "heavy"_a, "n_threads"_a = 1,
          "Largest outlyingness (m,) of the last m of the points (n + m, 2) among the first n.");
}

}  // namespace isodepth
