// Bindings of what lies between depth order and distance.
#include "gaps.hpp"

#include "arrays.hpp"
#include "ascent.hpp"
#include "module.hpp"
#include "tables.hpp"

namespace isodepth {

using Sizes = Vector<int64_t>;

template <class T> static Prefixes<T> prefixes(const Matrix<T>& rows, const Sizes& sizes) {
    return {rows.data(), sizes.data(), int64_t(sizes.shape(0)), int64_t(rows.shape(1))};
}
template <class T> static Tiles<T> tiles(const Matrix<T>& rows, int64_t n_threads) {
    return Tiles<T>(rows.data(), rows.shape(0), rows.shape(1), n_threads);
}
template <class T> static auto gaps(Matrix<T> x, Matrix<T> y, Sizes sizes_x, Sizes sizes_y,
                                    Matrix<T> directions, double q, int64_t n_threads, double memory_mb,
                                    int64_t chunk_rows) {
    auto gaps = new_array<double>({sizes_x.shape(0)});
    auto codes = new_array<int64_t>({sizes_x.shape(0)});
    nb::gil_scoped_release released;
    const Prefixes<T> samples[2] = {prefixes(x, sizes_x), prefixes(y, sizes_y)};
    level_gaps(samples, tiles(directions, n_threads), q, chunk_rows, {n_threads, memory_mb}, gaps.data(),
               codes.data());
    return std::pair(gaps, codes);
}

template <class T> static Result<double> ascent(Matrix<T> x, Matrix<T> y, Sizes sizes_x, Sizes sizes_y,
                                                Matrix<double> starts, int64_t n_climbers, int64_t steps,
                                                double slack, int64_t n_threads) {
    std::vector<double> tops;
    size_t count;
    {
        nb::gil_scoped_release released;
        const Prefixes<T> samples[2] = {prefixes(x, sizes_x), prefixes(y, sizes_y)};
        const auto climbers =
            ascend(samples, starts.data(), starts.shape(0), n_climbers, steps, slack, n_threads);
        for (const auto& climber : climbers)
            tops.insert(tops.end(), climber.best.begin(), climber.best.end());
        count = climbers.size();
    }
    return as_array(std::move(tops), {count, x.shape(1)});
}

template <class T> static Result<T> supports(Matrix<T> ordered, Sizes sizes, Matrix<T> directions,
                                             int64_t n_threads, double memory_mb) {
    auto out = new_array<T>({sizes.shape(0), 2 * directions.shape(0)});
    nb::gil_scoped_release released;
    const Prefixes<T> sample[1] = {prefixes(ordered, sizes)};
    write_supports(sample, tiles(directions, n_threads), {n_threads, memory_mb}, out.data());
    return out;
}

template <class T> static Result<double> distances(Cube<T> rows, std::optional<Cube<T>> columns, double p,
                                                   double q, double length, int64_t n_threads) {
    const size_t across = columns ? columns->shape(0) : rows.shape(0);
    auto out = new_array<double>({rows.shape(0), across});
    nb::gil_scoped_release released;
    table_distances(rows.data(), rows.shape(0), columns ? columns->data() : nullptr, across, rows.shape(1),
                    rows.shape(2), {p, q, length}, n_threads, out.data());
    return out;
}

static Result<int64_t> ends_of_ties(Vector<double> falling, double tolerance) {
    auto ends = tie_ends(falling.data(), int64_t(falling.shape(0)), tolerance);
    const size_t groups = ends.size();
    return as_array(std::move(ends), {groups});
}

static auto levels_of_both(Vector<double> masses_x, Sizes counts_x, Vector<double> masses_y, Sizes counts_y,
                           double end, double last) {
    MergedLevels found =
        merge_levels({masses_x.data(), counts_x.data(), int64_t(counts_x.shape(0))},
                     {masses_y.data(), counts_y.data(), int64_t(counts_y.shape(0))}, end, last);
    const size_t levels = found.shares.size();
    return std::tuple(
        as_array(std::move(found.edges), {levels, 2}), as_array(std::move(found.shares), {levels}),
        as_array(std::move(found.sizes_x), {levels}), as_array(std::move(found.sizes_y), {levels}));
}

static double mean_of_gaps(Vector<double> gaps, Vector<double> shares, double p, double length) {
    return power_mean(gaps.data(), shares.data(), gaps.shape(0), p, length);
}

template <class T> static void bind_for(nb::module_& m) {
    m.def("gaps", gaps<T>, "x"_in, "y"_in, "prefix_sizes_x"_in, "prefix_sizes_y"_in, "directions"_in, "q"_a,
          "n_threads"_a, "memory_mb"_a, "chunk_rows"_a = 0,
          "The gap of each level, and the direction of the largest.");
    m.def("ascent", ascent<T>, "x"_in, "y"_in, "prefix_sizes_x"_in, "prefix_sizes_y"_in, "starts"_in,
          "n_climbers"_a, "steps"_a, "slack"_a, "n_threads"_a,
          "Directions of larger gaps than along the starts.");
    m.def("supports", supports<T>, "ordered"_in, "prefix_sizes"_in, "directions"_in, "n_threads"_a,
          "memory_mb"_a,
          "Supports (L, 2 K) of each level along directions (K, d), and along their opposites.");
    m.def("table_distances", distances<T>, "rows"_in, "columns"_in.none(), "p"_a, "q"_a, "length"_a,
          "n_threads"_a, "Distances between tables; without columns, of all pairs.");
}

void bind_gaps(nb::module_& m) {
    bind_for<float>(m);
    bind_for<double>(m);
    m.def("tie_ends", ends_of_ties, "falling"_in, "tolerance"_a, "Where groups of equal depth end.");
    m.def("merge_levels", levels_of_both, "masses_x"_in, "counts_x"_in, "masses_y"_in, "counts_y"_in, "end"_a,
          "last"_a, "The pieces on which both samples stay the same, their shares, and their prefix sizes.");
    m.def("power_mean", mean_of_gaps, "gaps"_in, "shares"_in, "p"_a, "length"_a,
          "(length * sum of shares * gaps^p)^(1/p).");
}

}  // namespace isodepth
