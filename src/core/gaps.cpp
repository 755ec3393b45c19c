// Python bindings of the support functions of depth regions, the gaps between two samples, and the distances
// between tables of support functions.
#include "gaps.hpp"

#include "refine.hpp"
#include "tables.hpp"

namespace isodepth {

using Sizes = Vector<int64_t>;

template <class T> static Prefixes<T> check_prefixes(Rows<T> rows, const Sizes& sizes, int64_t least = 1) {
    check_aligned(sizes);
    check_prefix_sizes(values_of(sizes), rows.n, least);
    return {rows.data, sizes.data(), int64_t(sizes.size()), rows.d};
}

// Copies of the rows of one or two samples minus a common center, for single precision only. Without
// centering, the rounding error of a projection would grow with the distance of the data from zero. A column
// is centered only if the subtraction is exact in all rows. The constructor redirects the samples to the
// copies, which this object owns. If no column can be centered, nothing is copied.
template <class T> class CenteredRows {
  public:
    std::vector<double> center;  // (d,) subtracted center; empty if nothing was copied

    CenteredRows(std::initializer_list<Prefixes<T>*> samples, int64_t n_threads) {
        if (sizeof(T) > 4 || (*samples.begin())->last() == 0) return;
        const int64_t d = (*samples.begin())->d;
        auto used = [&](const Prefixes<T>* sample) { return Rows<T>{sample->rows, sample->last(), d}; };
        Rows<T> first = used(*samples.begin()), second = used(*(samples.end() - 1));
        // The center must not depend on the order of the samples.
        if (std::ranges::lexicographical_compare(second.values(), first.values())) std::swap(first, second);
        const std::vector<T> middle = Frame<T>::exact_center({first, second}, n_threads);
        if (Frame<T>::is_zero(middle)) return;
        center.assign(middle.begin(), middle.end());
        for (Prefixes<T>* sample : samples) {
            const Rows<T> rows = used(sample);
            T* moved = moved_.emplace_back(rows.n * d).data();
            over_rows(rows.n, d, n_threads, [&](int64_t start, int64_t stop) {
                for (int64_t i = start; i < stop; i++)
                    for (int64_t k = 0; k < d; k++) moved[i * d + k] = rows[i][k] - middle[size_t(k)];
            });
            sample->rows = moved;
        }
    }

  private:
    std::vector<Workspace<T>> moved_;
};

template <class T> static auto gaps(Matrix<T> x, Matrix<T> y, Sizes sizes_x, Sizes sizes_y,
                                    Matrix<T> directions, double q, int64_t n_threads, double memory_mb) {
    const Resources resources = check_resources(n_threads, memory_mb);
    const Rows<T> along = check_rows(directions);
    Prefixes<T> samples[2] = {check_prefixes(check_rows(x, along.d, n_threads), sizes_x),
                              check_prefixes(check_rows(y, along.d, n_threads), sizes_y)};
    require(sizes_x.size() == sizes_y.size(), "both samples need one prefix size per level");
    require(q >= 1, "q must be at least 1");
    auto gaps = new_array<double>({sizes_x.shape(0)});
    auto codes = new_array<int64_t>({sizes_x.shape(0)});
    ReleasedGil released;
    const CenteredRows<T> centered({&samples[0], &samples[1]}, n_threads);
    level_gaps<T>(samples, Tiles<T>(along, n_threads), q, resources, gaps.data(), codes.data());
    return std::pair(gaps, codes);
}

template <class T>
static auto refined_gaps(Matrix<T> x, Matrix<T> y, Sizes sizes_x, Sizes sizes_y, Vector<double> shares,
                         Matrix<T> directions, int64_t n_ascents, int64_t steps, double slack,
                         std::optional<Matrix<double>> points_x, std::optional<Matrix<double>> points_y,
                         int exponent, double limit, int64_t n_threads, double memory_mb) {
    const Resources resources = check_resources(n_threads, memory_mb);
    const Rows<T> along = check_rows(directions);
    const Prefixes<T> samples[2] = {check_prefixes(check_rows(x, along.d, n_threads), sizes_x),
                                    check_prefixes(check_rows(y, along.d, n_threads), sizes_y)};
    const auto weights = check_vector(shares, int64_t(sizes_x.size()));
    require(sizes_x.size() == sizes_y.size(), "both samples need one prefix size per level");
    require(0 <= n_ascents && 0 <= steps && steps < most_rows && slack >= 0 && limit >= 0,
            "n_ascents, steps, slack and limit must not be negative");
    SearchedPoints points;
    if (points_x && points_y) {
        points = {check_size(check_rows(*points_x)),
                  check_size(check_rows(*points_y, int64_t(points_x->shape(1)))), exponent};
        require(points.x.n >= samples[0].last() && points.y.n >= samples[1].last(),
                "the points of the search must have the rows of all levels");
    }
    auto found = without_gil([&] {
        Prefixes<T> moved[2] = {samples[0], samples[1]};
        const CenteredRows<T> centered({&moved[0], &moved[1]}, n_threads);
        if (limit > 0 && !points.x.data) points = scaled_points(samples);
        return refine_gaps<T>(samples, moved, weights, along, points, {n_ascents, steps, slack, limit},
                              resources);
    });
    const size_t levels = found.gaps.size(), d = size_t(along.d), ascended = found.ascended.size() / d,
                 r = points.x.data ? size_t(points.x.d) : d, searched = found.searched.size() / r;
    return std::tuple(as_array(std::move(found.gaps), {levels}), as_array(std::move(found.codes), {levels}),
                      as_array(std::move(found.ascended), {ascended, d}),
                      as_array(std::move(found.searched), {searched, r}));
}

template <class T> static Result<T> supports(Matrix<T> ordered, Sizes sizes, Matrix<T> directions,
                                             int64_t n_threads, double memory_mb) {
    const Resources resources = check_resources(n_threads, memory_mb);
    const Rows<T> along = check_rows(directions);
    Prefixes<T> sample[1] = {check_prefixes(check_rows(ordered, along.d), sizes, 0)};
    auto out = new_array<T>({sizes.shape(0), 2 * directions.shape(0)});
    ReleasedGil released;
    const CenteredRows<T> centered({&sample[0]}, n_threads);
    write_supports<T>(sample, Tiles<T>(along, n_threads), resources, out.data());
    if (centered.center.empty()) return out;
    for (int64_t k = 0; k < along.n; k++) {
        const double offset = std::inner_product(along[k], along[k + 1], centered.center.begin(), 0.0);
        for (T* row = out.data() + k; row < out.data() + out.size(); row += 2 * along.n) {
            row[0] = T(row[0] + offset);
            row[along.n] = T(row[along.n] - offset);
        }
    }
    return out;
}

template <class T> static Result<double> distances(Cube<T> rows, std::optional<Cube<T>> columns, double p,
                                                   double q, double length, int64_t n_threads) {
    const Cube<T>& others = columns ? *columns : rows;
    check_values(rows);
    if (columns) check_values(others);
    require(others.shape(1) == rows.shape(1) && others.shape(2) == rows.shape(2),
            "tables need the same levels and directions");
    require(q >= 1 && p > 0 && length >= 0, "q must be at least 1, p positive and length not negative");
    auto out = new_array<double>({rows.shape(0), others.shape(0)});
    ReleasedGil released;
    table_distances(rows, others, p, q, length, n_threads, out.data());
    return out;
}

// Divide the depths `falling` (n,), in decreasing order, into groups of ties, and return the end index of
// each group. All depths of a group are within `tolerance` of its first depth.
static Result<int64_t> tie_ends(Vector<double> falling, double tolerance) {
    const auto depths = check_vector(falling);
    std::vector<int64_t> ends;
    size_t first = 0;
    for (size_t i = 0; i < depths.size(); i++)
        if (depths[first] - depths[i] > tolerance) ends.push_back(int64_t(first = i));
    ends.push_back(int64_t(depths.size()));
    const size_t groups = ends.size();
    return as_array(std::move(ends), {groups});
}

// Divide the trimming levels [0, end] into intervals on which the depth regions of both samples are constant.
// Masses are cumulative fractions of a sample, and must not decrease. At a level, the region of X has
// counts_x[i] points, where masses_x[i] is the first mass above the level. The same holds for Y. Breakpoints
// of at least `last` are replaced by `end`. Return the intervals (L, 2), their lengths as fractions of `end`,
// and the numbers of points in both regions.
static auto merge_levels(Vector<double> masses_x, Sizes counts_x, Vector<double> masses_y, Sizes counts_y,
                         double end, double last) {
    const auto mass_x = check_vector(masses_x), mass_y = check_vector(masses_y);
    const auto count_x = check_vector(counts_x, int64_t(mass_x.size())),
               count_y = check_vector(counts_y, int64_t(mass_y.size()));
    for (const auto& masses : {mass_x, mass_y})
        require(std::is_sorted(masses.begin(), masses.end()) && masses.back() > 0 && masses.back() >= last,
                "masses must increase, from above 0 to at least `last`");
    require(std::isfinite(end) && !std::isnan(last), "`end` and `last` must be finite");
    std::vector<double> pieces, shares;
    std::vector<int64_t> sizes_x, sizes_y;
    const size_t most = mass_x.size() + mass_y.size();
    pieces.reserve(2 * most), shares.reserve(most), sizes_x.reserve(most), sizes_y.reserve(most);
    size_t x = 0, y = 0;
    double start = 0.0, stop;
    do {
        while (mass_x[x] <= start) x++;
        while (mass_y[y] <= start) y++;
        stop = std::min(mass_x[x], mass_y[y]);
        const double edge = stop < last ? stop : end;
        pieces.insert(pieces.end(), {start, edge});
        shares.push_back(end > 0 ? (edge - start) / end : 1.0);
        sizes_x.push_back(count_x[x]);
        sizes_y.push_back(count_y[y]);
        start = stop;
    } while (stop < last);
    const size_t levels = shares.size();
    return std::tuple(as_array(std::move(pieces), {levels, 2}), as_array(std::move(shares), {levels}),
                      as_array(std::move(sizes_x), {levels}), as_array(std::move(sizes_y), {levels}));
}

static double mean_of_gaps(Vector<double> gaps, Vector<double> shares, double p, double length) {
    const auto values = check_vector(gaps);
    check_vector(shares, int64_t(values.size()));
    require(*std::min_element(values.begin(), values.end()) >= 0, "gaps must not be negative");
    require(p > 0 && length >= 0, "p must be positive and length not negative");
    return power_mean(values.data(), shares.data(), int64_t(values.size()), p, length);
}

template <class T> static void bind_for(nb::module_& m) {
    m.def("gaps", gaps<T>, "x"_in, "y"_in, "prefix_sizes_x"_in, "prefix_sizes_y"_in, "directions"_in, "q"_a,
          "n_threads"_a, "memory_mb"_a, "Gap (L,) of each level, and code (L,) of the maximizing direction.");
    m.def("refined_gaps", refined_gaps<T>, "x"_in, "y"_in, "prefix_sizes_x"_in, "prefix_sizes_y"_in,
          "shares"_in, "directions"_in, "n_ascents"_a, "steps"_a, "slack"_a, "points_x"_in.none(),
          "points_y"_in.none(), "exponent"_a, "limit"_a, "n_threads"_a, "memory_mb"_a,
          "Gap (L,) of each level, raised by local ascent and a search of vertices, code (L,) of the "
          "maximizing vector, and the vectors that were found: those of the ascent (J, d), and those of the "
          "search (R, r) in the coordinates of its points.");
    m.def("supports", supports<T>, "ordered"_in, "prefix_sizes"_in, "directions"_in, "n_threads"_a,
          "memory_mb"_a, "Support values (L, 2 K) of the regions along directions and their opposites.");
    m.def("table_distances", distances<T>, "rows"_in, "columns"_in.none(), "p"_a, "q"_a, "length"_a,
          "n_threads"_a, "Distances (N, M) of tables `rows` from `columns`; of all pairs of rows if None.");
}

void bind_gaps(nb::module_& m) {
    bind_for<float>(m);
    bind_for<double>(m);
    m.def("tie_ends", tie_ends, "falling"_in, "tolerance"_a, "End index of each group of equal depths.");
    m.def("merge_levels", merge_levels, "masses_x"_in, "counts_x"_in, "masses_y"_in, "counts_y"_in, "end"_a,
          "last"_a,
          "Intervals (L, 2) of levels on which both regions are constant, their lengths as fractions of "
          "`end`, and the numbers of points in both regions.");
    m.def("power_mean", mean_of_gaps, "gaps"_in, "shares"_in, "p"_a, "length"_a,
          "Return (length * sum(shares * gaps**p)) ** (1 / p).");
}

}  // namespace isodepth
