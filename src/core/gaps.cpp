// Bindings of what lies between depth order and distance.
#include "gaps.hpp"

#include "module.hpp"
#include "tables.hpp"

namespace isodepth {

using Sizes = Vector<int64_t>;

template <class T> static Prefixes<T> prefixes(const Matrix<T>& rows, const Sizes& sizes) {
    return {rows.data(), sizes.data(), int64_t(sizes.shape(0)), int64_t(rows.shape(1))};
}
template <class T> static auto gaps(Matrix<T> x, Matrix<T> y, Sizes sizes_x, Sizes sizes_y,
                                    Matrix<T> directions, double q, int64_t n_threads, double memory_mb) {
    auto gaps = new_array<double>({sizes_x.shape(0)});
    auto codes = new_array<int64_t>({sizes_x.shape(0)});
    nb::gil_scoped_release released;
    const Prefixes<T> samples[2] = {prefixes(x, sizes_x), prefixes(y, sizes_y)};
    level_gaps(samples, Tiles<T>(rows_of(directions), n_threads), q, {n_threads, memory_mb}, gaps.data(),
               codes.data());
    return std::pair(gaps, codes);
}

template <class T> static Result<T> supports(Matrix<T> ordered, Sizes sizes, Matrix<T> directions,
                                             int64_t n_threads, double memory_mb) {
    auto out = new_array<T>({sizes.shape(0), 2 * directions.shape(0)});
    nb::gil_scoped_release released;
    const Prefixes<T> sample[1] = {prefixes(ordered, sizes)};
    write_supports(sample, Tiles<T>(rows_of(directions), n_threads), {n_threads, memory_mb}, out.data());
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

// Where groups of equal depth end in `falling` (n,). A group holds all within the tolerance of its first.
static Result<int64_t> tie_ends(Vector<double> falling, double tolerance) {
    const int64_t n = falling.shape(0);
    std::vector<int64_t> ends;
    for (int64_t i = 0, first = 0; i < n; i++)
        if (falling.data()[first] - falling.data()[i] > tolerance) ends.push_back(first = i);
    ends.push_back(n);
    const size_t groups = ends.size();
    return as_array(std::move(ends), {groups});
}

// The pieces of [0, end] on which the regions of two samples stay the same. `masses` rise to 1, and `counts`
// say how many points lie inside up to there. Breakpoints from `last` on, which is below 1 and not above
// `end`, are the end.
static auto merge_levels(Vector<double> masses_x, Sizes counts_x, Vector<double> masses_y, Sizes counts_y,
                         double end, double last) {
    std::vector<double> pieces, shares;
    std::vector<int64_t> sizes_x, sizes_y;
    int64_t x = 0, y = 0;
    double start = 0.0, stop;
    do {
        while (masses_x.data()[x] <= start) x++;
        while (masses_y.data()[y] <= start) y++;
        stop = std::min(masses_x.data()[x], masses_y.data()[y]);
        const double edge = stop < last ? stop : end;
        pieces.insert(pieces.end(), {start, edge});
        shares.push_back(end > 0 ? (edge - start) / end : 1.0);
        sizes_x.push_back(counts_x.data()[x]);
        sizes_y.push_back(counts_y.data()[y]);
        start = stop;
    } while (stop < last);
    const size_t levels = shares.size();
    return std::tuple(as_array(std::move(pieces), {levels, 2}), as_array(std::move(shares), {levels}),
                      as_array(std::move(sizes_x), {levels}), as_array(std::move(sizes_y), {levels}));
}

static double mean_of_gaps(Vector<double> gaps, Vector<double> shares, double p, double length) {
    return power_mean(gaps.data(), shares.data(), gaps.shape(0), p, length);
}

template <class T> static void bind_for(nb::module_& m) {
    m.def("gaps", gaps<T>, "x"_in, "y"_in, "prefix_sizes_x"_in, "prefix_sizes_y"_in, "directions"_in, "q"_a,
          "n_threads"_a, "memory_mb"_a, "The gap of each level, and the direction of the largest.");
    m.def("supports", supports<T>, "ordered"_in, "prefix_sizes"_in, "directions"_in, "n_threads"_a,
          "memory_mb"_a,
          "Supports (L, 2 K) of each level along directions (K, d), and along their opposites.");
    m.def("table_distances", distances<T>, "rows"_in, "columns"_in.none(), "p"_a, "q"_a, "length"_a,
          "n_threads"_a, "Distances between tables; without columns, of all pairs.");
}

void bind_gaps(nb::module_& m) {
    bind_for<float>(m);
    bind_for<double>(m);
    m.def("tie_ends", tie_ends, "falling"_in, "tolerance"_a, "Where groups of equal depth end.");
    m.def("merge_levels", merge_levels, "masses_x"_in, "counts_x"_in, "masses_y"_in, "counts_y"_in, "end"_a,
          "last"_a, "The pieces on which both samples stay the same, their shares, and their prefix sizes.");
    m.def("power_mean", mean_of_gaps, "gaps"_in, "shares"_in, "p"_a, "length"_a,
          "(length * sum of shares * gaps^p)^(1/p).");
}

}  // namespace isodepth
