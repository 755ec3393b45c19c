// Binding of the exact halfspace depth.
#include "exact_halfspace.hpp"
#include "module.hpp"

namespace isodepth {

static auto halfspace_masses(Matrix<double> points, Vector<int64_t> masses, Matrix<double> queries,
                             int64_t n_threads) {
    const Rows<double> rows = check_rows(points), asked = check_rows(queries, rows.d);
    require(2 <= rows.d && rows.d <= 16, "the exact halfspace depth needs 2 to 16 columns");
    const int64_t* weights = check_weights(masses, rows.n, 1);
    // Products of differences must not overflow.
    const double limit = std::ldexp(1.0, int(1000 / rows.d));
    require(are_finite(rows.values(), limit) && are_finite(asked.values(), limit),
            "points and queries are too large: scale them to a size of about 1");
    auto smallest = without_gil([&] { return smallest_masses(rows, weights, asked, n_threads); });
    return as_array(std::move(smallest), {queries.shape(0)});
}

void bind_exact(nb::module_& m) {
    m.def("halfspace_masses", halfspace_masses, "points"_in, "masses"_in, "queries"_in, "n_threads"_a = 1,
          "Smallest masses (m,) of closed halfspaces that contain each of the queries (m, d).");
}

}  // namespace isodepth
