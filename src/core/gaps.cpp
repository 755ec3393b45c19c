// Bindings of what lies between depth order and distance.
#include "gaps.hpp"

#include "arrays.hpp"
#include "ascent.hpp"
#include "module.hpp"
#include "quantiles.hpp"
#include "tables.hpp"

namespace isodepth {

using Sizes = Vector<int64_t>;
using OptionalWeights = std::optional<Vector<int64_t>>;
using GapsAndCodes = std::pair<Result<double>, Result<int64_t>>;

template <class T> static Prefixes<T> prefixes(const Matrix<T>& rows, const Sizes& sizes) {
    return {rows.data(), sizes.data(), int64_t(sizes.shape(0)), int64_t(rows.shape(1))};
}
template <class T> static Tiles<T> tiles(const Matrix<T>& rows, int64_t n_threads) {
    return Tiles<T>(rows.data(), rows.shape(0), rows.shape(1), n_threads);
}
template <class T> static WeightedPoints<T> weighted(const Matrix<T>& points, const OptionalWeights& weights,
                                                     const Sizes& tails, int64_t n_threads) {
    return {tiles(points, n_threads), weights ? weights->data() : nullptr, tails.data()};
}

template <class T> static GapsAndCodes gaps(Matrix<T> x, Matrix<T> y, Sizes sizes_x, Sizes sizes_y,
                                            Matrix<T> directions, double q, int64_t n_threads,
                                            double memory_mb, int64_t chunk_rows) {
    const size_t levels = sizes_x.shape(0);
    auto gaps = new_array<double>({levels});
    auto codes = new_array<int64_t>({levels});
    nb::gil_scoped_release released;
    const Tiles<T> laid = tiles(directions, n_threads);
    const Prefixes<T> samples[2] = {prefixes(x, sizes_x), prefixes(y, sizes_y)};
    const Resources resources = {n_threads, memory_mb};
    if (std::isinf(q)) search_gaps(samples, laid, chunk_rows, resources, gaps.data(), codes.data());
    else mean_gaps(samples, laid, q, chunk_rows, resources, gaps.data(), codes.data());
    return {gaps, codes};
}

template <class T> static Result<double> ascent(Matrix<T> x, Matrix<T> y, Sizes sizes_x, Sizes sizes_y,
                                                Matrix<double> starts, int64_t n_climbers, int64_t steps,
                                                double slack, int64_t n_threads) {
    std::vector<Climber<T>> climbers;
    {
        nb::gil_scoped_release released;
        const Prefixes<T> samples[2] = {prefixes(x, sizes_x), prefixes(y, sizes_y)};
        climbers = ascend(samples, starts.data(), starts.shape(0), n_climbers, steps, slack, n_threads);
    }
    const size_t d = x.shape(1);
    auto out = new_array<double>({climbers.size(), d});
    for (size_t i = 0; i < climbers.size(); i++) std::copy_n(climbers[i].best.begin(), d, out.data() + i * d);
    return out;
}

template <class T, class Out> static void supports(Matrix<T> ordered, Sizes sizes, Matrix<T> directions,
                                                   OutMatrix<Out> out, int64_t n_threads, double memory_mb) {
    nb::gil_scoped_release released;
    const Prefixes<T> sample[1] = {prefixes(ordered, sizes)};
    write_supports(sample, tiles(directions, n_threads), {n_threads, memory_mb}, out.data());
}

template <class T>
static auto support_rows(Matrix<T> ordered, Sizes sizes, Matrix<T> directions, int64_t n_threads) {
    const size_t levels = sizes.shape(0), count = directions.shape(0);
    auto tops = new_array<T>({levels, count}), lows = new_array<T>({levels, count});
    auto top_rows = new_array<int64_t>({levels, count}), low_rows = new_array<int64_t>({levels, count});
    nb::gil_scoped_release released;
    const Prefixes<T> sample[1] = {prefixes(ordered, sizes)};
    locate_supports(sample, tiles(directions, n_threads), {n_threads, 256.0}, tops.data(), lows.data(),
                    top_rows.data(), low_rows.data());
    return std::tuple(tops, lows, top_rows, low_rows);
}

template <class T, class Out> static void quantiles(Matrix<T> points, OptionalWeights weights, Sizes tails,
                                                    Matrix<T> directions, OutMatrix<Out> out,
                                                    int64_t n_threads, double memory_mb) {
    nb::gil_scoped_release released;
    write_quantiles(weighted(points, weights, tails, n_threads), tails.shape(0), directions.data(),
                    directions.shape(0), {n_threads, memory_mb}, out.data());
}

template <class T>
static GapsAndCodes gaps_of_quantiles(Matrix<T> x, OptionalWeights weights_x, Sizes tails_x, Matrix<T> y,
                                      OptionalWeights weights_y, Sizes tails_y, Matrix<T> directions,
                                      double q, int64_t n_threads, double memory_mb) {
    const size_t levels = tails_x.shape(0);
    auto gaps = new_array<double>({levels});
    auto codes = new_array<int64_t>({levels});
    nb::gil_scoped_release released;
    quantile_gaps(weighted(x, weights_x, tails_x, n_threads), weighted(y, weights_y, tails_y, n_threads),
                  levels, directions.data(), directions.shape(0), q, {n_threads, memory_mb}, gaps.data(),
                  codes.data());
    return {gaps, codes};
}

template <class T> static Result<double> distances(Cube<T> rows, std::optional<Cube<T>> columns, double p,
                                                   double q, double unit, double length, int64_t n_threads) {
    const size_t across = columns ? columns->shape(0) : rows.shape(0);
    auto out = new_array<double>({rows.shape(0), across});
    nb::gil_scoped_release released;
    table_distances(rows.data(), rows.shape(0), columns ? columns->data() : nullptr, across, rows.shape(1),
                    rows.shape(2), {p, q, unit, length}, n_threads, out.data());
    return out;
}

static auto levels_of_both(Vector<double> masses_x, Sizes counts_x, Vector<double> masses_y, Sizes counts_y,
                           double end, double last) {
    const MergedLevels found =
        merge_levels(masses_x.data(), counts_x.data(), masses_y.data(), counts_y.data(), end, last);
    const size_t levels = found.sizes_x.size();
    auto edges = new_array<double>({levels + 1});
    auto sizes_x = new_array<int64_t>({levels}), sizes_y = new_array<int64_t>({levels});
    std::copy_n(found.edges.data(), levels + 1, edges.data());
    std::copy_n(found.sizes_x.data(), levels, sizes_x.data());
    std::copy_n(found.sizes_y.data(), levels, sizes_y.data());
    return std::tuple(edges, sizes_x, sizes_y);
}

static double mean_of_gaps(Vector<double> gaps, Vector<double> shares, double p, double length) {
    return power_mean(gaps.data(), shares.data(), gaps.shape(0), p, length);
}

template <class T> static void bind_for(nb::module_& m) {
    m.def("gaps", gaps<T>, "x"_a.noconvert(), "y"_a.noconvert(), "prefix_sizes_x"_a.noconvert(),
          "prefix_sizes_y"_a.noconvert(), "directions"_a.noconvert(), "q"_a, "n_threads"_a, "memory_mb"_a,
          "chunk_rows"_a = 0, "The gap of each level, and the direction of the largest.");
    m.def("ascent", ascent<T>, "x"_a.noconvert(), "y"_a.noconvert(), "prefix_sizes_x"_a.noconvert(),
          "prefix_sizes_y"_a.noconvert(), "starts"_a.noconvert(), "n_climbers"_a, "steps"_a, "slack"_a,
          "n_threads"_a, "Directions of larger gaps than along the starts.");
    m.def("support_rows", support_rows<T>, "ordered"_a.noconvert(), "prefix_sizes"_a.noconvert(),
          "directions"_a.noconvert(), "n_threads"_a,
          "Largest and smallest projection at each level, and the rows that give them.");
    m.def("quantile_gaps", gaps_of_quantiles<T>, "x"_a.noconvert(), "weights_x"_a.noconvert().none(),
          "tails_x"_a.noconvert(), "y"_a.noconvert(), "weights_y"_a.noconvert().none(),
          "tails_y"_a.noconvert(), "directions"_a.noconvert(), "q"_a, "n_threads"_a, "memory_mb"_a,
          "The gap of each level between quantiles, and the direction of the largest.");
    m.def("table_distances", distances<T>, "rows"_a.noconvert(), "columns"_a.noconvert().none(), "p"_a, "q"_a,
          "unit"_a, "length"_a, "n_threads"_a, "Distances between tables; without columns, of all pairs.");
}

template <class T, class Out> static void bind_writers(nb::module_& m) {
    m.def("write_supports", supports<T, Out>, "ordered"_a.noconvert(), "prefix_sizes"_a.noconvert(),
          "directions"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a, "memory_mb"_a,
          "Supports of each level along all directions, and along their opposites.");
    m.def("write_quantiles", quantiles<T, Out>, "points"_a.noconvert(), "weights"_a.noconvert().none(),
          "tails"_a.noconvert(), "directions"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a,
          "memory_mb"_a, "Quantiles of each level along all directions, and along their opposites.");
}

void bind_gaps(nb::module_& m) {
    bind_for<float>(m);
    bind_for<double>(m);
    bind_writers<float, float>(m);
    bind_writers<float, double>(m);
    bind_writers<double, float>(m);
    bind_writers<double, double>(m);
    m.def("merge_levels", levels_of_both, "masses_x"_a.noconvert(), "counts_x"_a.noconvert(),
          "masses_y"_a.noconvert(), "counts_y"_a.noconvert(), "end"_a, "last"_a,
          "Edges of the pieces on which both samples stay the same, and their prefix sizes.");
    m.def("power_mean", mean_of_gaps, "gaps"_a.noconvert(), "shares"_a.noconvert(), "p"_a, "length"_a,
          "(length * sum of shares * gaps^p)^(1/p).");
}

}  // namespace isodepth
