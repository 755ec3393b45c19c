// Python bindings of the computations with convex hulls.
#include "hull.hpp"

namespace isodepth {

static Rows<double> check_hull(const Matrix<double>& array, int64_t d) {
    return check_size(check_rows(array, d));
}

// Two samples, deepest rows first. `stops` (2, levels) has the number of rows of each sample in its depth
// region at each level.
struct HullPair {
    GrowingHull hulls[2];
    size_t levels;

    HullPair(const Matrix<double>& first, const Matrix<double>& second, const Matrix<int64_t>& stops,
             int64_t n_threads)
        : hulls{{{check_hull(first, int64_t(second.shape(1))), n_threads}, stops.data()},
                {{check_hull(second, int64_t(first.shape(1))), n_threads}, stops.data() + stops.shape(1)}},
          levels(stops.shape(1)) {
        check_aligned(stops);
        require(stops.shape(0) == 2, "stops must have shape (2, levels)");
        for (const GrowingHull& hull : hulls) check_prefix_sizes({hull.stops, levels}, hull.rows.rows.n);
    }
};

static auto nearest_in_hull(Matrix<double> points, Matrix<double> queries) {
    const Rows<double> among = check_hull(points, int64_t(queries.shape(1)));
    const Rows<double> asked = check_hull(queries, among.d);
    const int64_t n = among.n, d = among.d, m = asked.n;
    auto weights = new_array({size_t(m), size_t(n)}, 0.0);
    auto distance = new_array<double>({size_t(m)}), lower = new_array<double>({size_t(m)});
    ReleasedGil released;
    const HullRows rows{among};
    Check check;
    for (int64_t i = 0; i < m; i++) {
        NearestPoint nearest(n, d);
        nearest.find(rows, 0, n, asked[i], 0.0, exact_gap, check);
        distance.data()[i] = nearest.active.distance;
        lower.data()[i] = nearest.lower;
        for (size_t j = 0; j < nearest.active.ids.size(); j++)
            weights.data()[i * n + nearest.active.ids[j]] = nearest.active.weights[j];
    }
    return std::tuple(weights, distance, lower);
}

static auto hull_levels(Matrix<double> first, Matrix<double> second, Matrix<int64_t> stops,
                        Vector<double> attained, double slack, double limit, int64_t n_threads) {
    const auto known = check_vector(attained, int64_t(stops.shape(1)));
    require(slack >= 0 && limit >= 0, "slack and limit must not be negative");
    auto found = without_gil([&] {
        HullPair pair(first, second, stops, n_threads);
        return bound_levels(pair.hulls, {known.begin(), known.end()}, slack, limit, n_threads);
    });
    const size_t levels = known.size();
    return std::tuple(as_array(std::move(found.lower), {levels}), as_array(std::move(found.upper), {levels}),
                      as_array(std::move(found.directions), {levels, first.shape(1)}),
                      as_array(std::move(found.sides), {levels}));
}

static Result<double> ascent(Matrix<double> first, Matrix<double> second, Matrix<int64_t> stops,
                             Matrix<double> starts, int64_t n_ascents, int64_t steps, double slack,
                             int64_t n_threads) {
    const Rows<double> along = check_rows(starts, int64_t(first.shape(1)));
    require(n_ascents >= 1 && 0 <= steps && steps < most_rows && slack >= 0,
            "n_ascents must be positive, steps and slack must not be negative");
    std::vector<double> tops = without_gil([&] {
        const HullPair pair(first, second, stops, n_threads);
        return ascend(pair.hulls, pair.levels, {along.data, along.data + along.n * along.d}, n_ascents, steps,
                      slack, n_threads);
    });
    const size_t d = first.shape(1), count = tops.size() / d;
    return as_array(std::move(tops), {count, d});
}

void bind_hull(nb::module_& m) {
    m.def("nearest_in_hull", nearest_in_hull, "points"_in, "queries"_in,
          "Nearest points of the hull of points (n, d) to queries (m, d): their weights (m, n), the "
          "distances (m,), and lower bounds (m,) on the exact distances.");
    m.def("hull_levels", hull_levels, "first"_in, "second"_in, "stops"_in, "attained"_in, "slack"_a,
          "limit"_a, "n_threads"_a = 1,
          "Bounds of the Hausdorff distance of the hulls of first[:stops[0, l]] and second[:stops[1, l]] for "
          "each level l. Return lower bounds (L,), not below `attained`, upper bounds (L,), unit vectors "
          "(L, d) that attain the lower bounds, and the index (L,) of the hull that extends farther, or -1 "
          "if the lower bound is `attained`. Upper bounds are invalid if `limit` coordinates were read.");
    m.def(
        "ascent", ascent, "first"_in, "second"_in, "stops"_in, "starts"_in, "n_ascents"_a, "steps"_a,
        "slack"_a, "n_threads"_a,
        "Unit vectors (J, d), J <= n_ascents, found by local ascent. The candidates for its start are the "
        "starts (C, d), the unit vectors between the means of both samples at each level, and the opposites "
        "of these vectors.");
}

}  // namespace isodepth
