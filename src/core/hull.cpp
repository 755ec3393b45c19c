// Passes on convex hulls.
#include "hull.hpp"

#include "module.hpp"

namespace isodepth {

static auto nearest_in_hull(Matrix<double> points, Matrix<double> queries, int64_t n_threads) {
    const int64_t n = points.shape(0), d = points.shape(1), m = queries.shape(0);
    auto weights = new_array<double>({size_t(m), size_t(n)});
    auto distance = new_array<double>({size_t(m)}), lower = new_array<double>({size_t(m)});
    nb::gil_scoped_release released;
    const HullRows rows{rows_of(points)};
    parallel_for(worker_count(n_threads, m, 8 * m * n * d), m, [&](int64_t, int64_t i) {
        NearestPoint nearest(n, d);
        nearest.find(rows, 0, n, queries.data() + i * d, 0.0, exact_gap);
        distance.data()[i] = nearest.active.distance;
        lower.data()[i] = nearest.lower;
        double* row = weights.data() + i * n;
        std::fill(row, row + n, 0.0);
        for (size_t j = 0; j < nearest.active.ids.size(); j++)
            row[nearest.active.ids[j]] = nearest.active.weights[j];
    });
    return std::tuple(weights, distance, lower);
}

static auto hull_levels(Matrix<double> first, Matrix<double> second, Matrix<int64_t> stops,
                        Vector<double> attained, double slack, double limit) {
    const size_t levels = stops.shape(1), d = first.shape(1);
    auto lower = new_array<double>({levels}), upper = new_array<double>({levels});
    auto directions = new_array<double>({levels, d});
    auto sides = new_array<int64_t>({levels});
    nb::gil_scoped_release released;
    std::copy_n(attained.data(), levels, lower.data());
    std::fill_n(upper.data(), levels, 0.0);
    std::fill_n(sides.data(), levels, -1);
    std::fill_n(directions.data(), levels * d, 0.0);
    for (size_t level = 0; level < levels; level++) directions.data()[level * d] = 1.0;
    GrowingHull hulls[2] = {{{rows_of(first)}, stops.data()}, {{rows_of(second)}, stops.data() + levels}};
    bound_levels(hulls, levels, slack, limit, {lower.data(), upper.data(), directions.data(), sides.data()});
    return std::tuple(lower, upper, directions, sides);
}

void bind_hull(nb::module_& m) {
    m.def(
        "nearest_in_hull", nearest_in_hull, "points"_a.noconvert(), "queries"_a.noconvert(),
        "n_threads"_a = 1,
        "Weights (m, n) of the point of the hull of points (n, d) nearest to each query (m, d), the distance "
        "(m,) and a lower bound of it.");
    m.def("hull_levels", hull_levels, "first"_a.noconvert(), "second"_a.noconvert(), "stops"_a.noconvert(),
          "attained"_a.noconvert(), "slack"_a, "limit"_a,
          "Bounds of the Hausdorff distance of the hulls of first[:stops[0, l]] and second[:stops[1, l]] for "
          "each level l: lower (L,), at least as large as what is attained already, upper (L,), directions "
          "(L, d) and sides (L,).");
}

}  // namespace isodepth
