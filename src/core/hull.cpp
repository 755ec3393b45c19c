// Passes on convex hulls.
#include "ascent.hpp"
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
        for (size_t j = 0; j < nearest.active.ids.size(); j++)
            weights.data()[i * n + nearest.active.ids[j]] = nearest.active.weights[j];
    });
    return std::tuple(weights, distance, lower);
}

static auto hull_levels(Matrix<double> first, Matrix<double> second, Matrix<int64_t> stops,
                        Vector<double> attained, double slack, double limit) {
    const size_t levels = stops.shape(1);
    auto found = without_gil([&] {
        GrowingHull hulls[2] = {{{rows_of(first)}, stops.data()}, {{rows_of(second)}, stops.data() + levels}};
        return bound_levels(hulls, {attained.data(), attained.data() + levels}, slack, limit);
    });
    return std::tuple(as_array(std::move(found.lower), {levels}), as_array(std::move(found.upper), {levels}),
                      as_array(std::move(found.directions), {levels, first.shape(1)}),
                      as_array(std::move(found.sides), {levels}));
}

static Result<double> ascent(Matrix<double> first, Matrix<double> second, Matrix<int64_t> stops,
                             Matrix<double> starts, int64_t n_climbers, int64_t steps, double slack,
                             int64_t n_threads) {
    const size_t levels = stops.shape(1), d = first.shape(1);
    std::vector<double> tops;
    {
        nb::gil_scoped_release released;
        const GrowingHull hulls[2] = {{{rows_of(first)}, stops.data()},
                                      {{rows_of(second)}, stops.data() + levels}};
        const auto found = find_starts(hulls, levels, rows_of(starts), n_climbers, n_threads);
        const int64_t count = found.size(), rows = first.shape(0) + second.shape(0);
        for (const Start& at : found) {
            const double* direction = starts.data() + at.direction * d;
            tops.insert(tops.end(), direction, direction + d);
        }
        parallel_for(worker_count(n_threads, count, 4 * rows * count), count,
                     [&](int64_t, int64_t i) { climb(hulls, found[i], steps, slack, tops.data() + i * d); });
    }
    const size_t count = tops.size() / d;
    return as_array(std::move(tops), {count, d});
}

void bind_hull(nb::module_& m) {
    m.def("nearest_in_hull", nearest_in_hull, "points"_in, "queries"_in, "n_threads"_a = 1,
          "Weights (m, n) of the nearest points, distances (m,) of the queries, and their lower bounds.");
    m.def("hull_levels", hull_levels, "first"_in, "second"_in, "stops"_in, "attained"_in, "slack"_a,
          "limit"_a,
          "Bounds of the Hausdorff distances of first[:stops[0, l]] and second[:stops[1, l]] for each l: "
          "lower (L,), at least what is attained already, upper (L,), directions (L, d) and sides (L,).");
    m.def("ascent", ascent, "first"_in, "second"_in, "stops"_in, "starts"_in, "n_climbers"_a, "steps"_a,
          "slack"_a, "n_threads"_a,
          "Directions (J, d), J <= n_climbers, of larger gaps at these levels than along the starts (C, d).");
}

}  // namespace isodepth
