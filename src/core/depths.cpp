// Medians, orders and the passes of the depths, as Python sees them.
#include <numeric>

#include "few_ranks.hpp"
#include "module.hpp"
#include "ranks.hpp"
#include "rows.hpp"
#include "spread.hpp"

namespace isodepth {

template <class T> using Optional = std::optional<T>;
using Weights = Optional<Vector<int64_t>>;

static const int64_t* weights_or_null(const Weights& weights, int64_t n) {
    if (!weights) return nullptr;
    if (int64_t(weights->shape(0)) != n) throw nb::value_error("weights must have one entry for each row");
    return weights->data();
}

// Checks shapes; the points and what is asked of them have the same columns.
template <class T> static RankTask<T> rank_task(Matrix<T>& points, Matrix<T>& directions,
                                                const Weights& weights, Optional<Matrix<T>>& queries) {
    const int64_t n = points.shape(0), d = points.shape(1);
    if (n == 0 || directions.shape(0) == 0) throw nb::value_error("points and directions must not be empty");
    if (int64_t(directions.shape(1)) != d || (queries && int64_t(queries->shape(1)) != d))
        throw nb::value_error("points, directions and queries need the same number of columns");
    RankTask<T> task = {points.data(),
                        weights_or_null(weights, n),
                        directions.data(),
                        queries ? queries->data() : nullptr,
                        n,
                        d,
                        int64_t(directions.shape(0)),
                        queries ? int64_t(queries->shape(0)) : n,
                        n};
    if (task.weights) task.total = std::accumulate(task.weights, task.weights + n, int64_t(0));
    return task;
}

template <class T> static std::pair<Result<T>, Optional<Result<int64_t>>> largest_outlyingness(
    Matrix<T> points, Matrix<T> directions, Weights weights, Optional<Matrix<T>> queries, bool locate,
    int64_t n_threads, double memory_mb) {
    const RankTask<T> task = rank_task(points, directions, weights, queries);
    auto out = new_array<T>({size_t(task.m)});
    Optional<Result<int64_t>> where;
    if (locate) where = new_array<int64_t>({size_t(task.m)});
    {
        nb::gil_scoped_release released;
        const SpreadTask<T> spread = {
            task.points, task.weights, task.directions, task.queries, task.n,
            task.d,      task.count,   task.m,          out.data(),   where ? where->data() : nullptr};
        if (task.m) SpreadPass<T>(spread, {n_threads, memory_mb}).run();
    }
    return {std::move(out), std::move(where)};
}

template <class T> static std::pair<Result<int64_t>, Optional<Result<int64_t>>> smallest_halfspace(
    Matrix<T> points, Matrix<T> directions, Weights weights, Optional<Matrix<T>> queries, bool locate,
    int64_t n_threads, double memory_mb) {
    const RankTask<T> task = rank_task(points, directions, weights, queries);
    auto out = new_array<int64_t>({size_t(task.m)});
    Optional<Result<int64_t>> where;
    if (locate) where = new_array<int64_t>({size_t(task.m)});
    {
        nb::gil_scoped_release released;
        int64_t* at = where ? where->data() : nullptr;
        const Resources resources = {n_threads, memory_mb};
        if (are_few(task) && !locate) few_halfspaces(task, out.data());
        else if (task.weights) smallest_halfspaces<T, int64_t>(task, resources, out.data(), at);
        else smallest_halfspaces<T, int32_t>(task, resources, out.data(), at);
    }
    return {std::move(out), std::move(where)};
}

template <class T> static Result<double> mean_rank_weight(Matrix<T> points, Matrix<T> directions,
                                                          Weights weights, Optional<Matrix<T>> queries,
                                                          int64_t n_threads, double memory_mb) {
    const RankTask<T> task = rank_task(points, directions, weights, queries);
    auto out = new_array<double>({size_t(task.m)});
    nb::gil_scoped_release released;
    const Resources resources = {n_threads, memory_mb};
    // No weight is above half of 2 total. What a shift drops, at most 2**shift / total a direction, is below
    // the rounding of a double.
    const double largest = double(task.total) * double(task.count);
    const int shift = std::max(0, std::ilogb(largest) + 3 - 63);
    if (are_few(task)) few_rank_weights(task, out.data());
    else if (largest < 4e9) mean_rank_weights<T, uint32_t>(task, 0, resources, out.data());
    else mean_rank_weights<T, int64_t>(task, shift, resources, out.data());
    return out;
}

template <class T>
static std::pair<Result<int64_t>, Result<int64_t>> centered_rank_sums(Matrix<T> points, Matrix<T> directions,
                                                                      Vector<int64_t> weights,
                                                                      int64_t n_threads) {
    Optional<Matrix<T>> queries;
    const RankTask<T> task = rank_task(points, directions, Weights(weights), queries);
    auto sizes = new_array<int64_t>({size_t(task.n)}), squares = new_array<int64_t>({size_t(task.n)});
    {
        nb::gil_scoped_release released;
        centered_ranks(task.points, task.n, task.d, task.weights, task.directions, task.count, n_threads,
                       sizes.data(), squares.data());
    }
    return {std::move(sizes), std::move(squares)};
}

static Result<double> mean_squared_rank(Matrix<double> distances, Vector<double> shares, int64_t n_threads) {
    const int64_t n = distances.shape(0);
    if (int64_t(distances.shape(1)) != n || int64_t(shares.shape(0)) != n)
        throw nb::value_error("distances (n, n) and shares (n,) must be of one size");
    auto out = new_array<double>({size_t(n)});
    nb::gil_scoped_release released;
    mean_squared_ranks(distances.data(), shares.data(), n, n_threads, out.data());
    return out;
}

template <class T> static Result<int64_t> order(Vector<T> values, int64_t n_threads) {
    auto out = new_array<int64_t>({values.shape(0)});
    nb::gil_scoped_release released;
    if (values.shape(0)) stable_order(values.data(), int64_t(values.shape(0)), n_threads, out.data());
    return out;
}

template <class T> static Result<T> take_rows(Matrix<T> rows, Vector<int64_t> places, int64_t n_threads) {
    const int64_t count = places.shape(0), n = rows.shape(0), d = rows.shape(1);
    auto out = new_array<T>({size_t(count), size_t(d)});
    nb::gil_scoped_release released;
    const int64_t* at = places.data();
    for (int64_t i = 0; i < count; i++)
        if (at[i] < 0 || at[i] >= n) throw nb::index_error("a place lies outside of the rows");
    over_rows(count, 2 * d, n_threads, [&](int64_t start, int64_t stop) {
        for (int64_t i = start; i < stop; i++) std::copy_n(rows.data() + at[i] * d, d, out.data() + i * d);
    });
    return out;
}

template <class T> static nb::tuple center_and_exponent(Matrix<T> points) {
    const int64_t n = points.shape(0), d = points.shape(1);
    if (n == 0) throw nb::value_error("points must not be empty");
    const Frame<T> frame(points.data(), n, d);
    auto center = new_array<T>({size_t(d)});
    std::copy(frame.center.begin(), frame.center.end(), center.data());
    return nb::make_tuple(std::move(center), frame.exponent);
}

template <class T> static nb::tuple distinct_rows(Matrix<T> rows, Weights weights, int64_t n_threads) {
    const int64_t n = rows.shape(0), d = rows.shape(1), *own = weights_or_null(weights, n);
    if (n == 0 || d == 0) throw nb::value_error("rows must not be empty");
    auto inverse = new_array<int64_t>({size_t(n)});
    Optional<OrderedRows<T>> ordered;
    Workspace<int64_t> places;
    int64_t count = n;
    {
        nb::gil_scoped_release released;
        ordered.emplace(rows.data(), n, d, n_threads);
        if (!ordered->distinct()) {
            places = Workspace<int64_t>(n);
            count = 0;
            for (int64_t i = 0; i < n; i++) {
                count += i == 0 || !ordered->same(i - 1, i);
                places[i] = count - 1;
            }
        }
    }
    auto out = new_array<T>({size_t(count), size_t(d)});
    Optional<Result<int64_t>> merged;
    if (own || places) merged = new_array<int64_t>({size_t(count)});
    bool equal = true;
    {
        nb::gil_scoped_release released;
        ordered->write(places ? places.data() : nullptr, out.data(), inverse.data());
        if (merged) {
            std::fill_n(merged->data(), count, 0);
            for (int64_t i = 0; i < n; i++) merged->data()[inverse.data()[i]] += own ? own[i] : 1;
            for (int64_t i = 1; i < count; i++) equal &= merged->data()[i] == merged->data()[0];
        }
    }
    if (equal) merged.reset();
    return nb::make_tuple(std::move(out), std::move(inverse), std::move(merged));
}

// Calls `work(room, row)` for the rows (K, n) of a matrix, with room of each thread's own.
template <class T, class Work>
static void over_matrix(const Matrix<T>& rows, const Weights& weights, int64_t n_threads, Work work) {
    const int64_t count = rows.shape(0), n = rows.shape(1), *own = weights_or_null(weights, n);
    if (n == 0) throw nb::value_error("there is no median of no numbers");
    nb::gil_scoped_release released;
    const int64_t total = own ? std::accumulate(own, own + n, int64_t(0)) : n;
    const int64_t workers = worker_count(n_threads, count, 4 * n * count);
    PerWorker<SelectRoom<T>> rooms(workers);
    parallel_for(workers, count, [&](int64_t worker, int64_t row) {
        const auto& room = rooms.of(worker, [&] { return std::make_unique<SelectRoom<T>>(n, own); });
        work(Numbers<T>(rows.data() + row * n, n, own, total), room, row);
    });
}

template <class T> static Result<T> medians(Matrix<T> rows, Weights weights, int64_t n_threads) {
    auto out = new_array<T>({rows.shape(0)});
    over_matrix<T>(rows, weights, n_threads,
                   [&](const Numbers<T>& of, const SelectRoom<T>& room, int64_t row) {
                       out.data()[row] = median(of, room);
                   });
    return out;
}

template <class T>
static std::pair<Result<T>, Result<T>> medians_and_mads(Matrix<T> rows, Weights weights, int64_t n_threads) {
    auto middle = new_array<T>({rows.shape(0)}), mad = new_array<T>({rows.shape(0)});
    over_matrix<T>(rows, weights, n_threads,
                   [&](const Numbers<T>& of, const SelectRoom<T>& room, int64_t row) {
                       const auto found = median_and_mad(of, room);
                       middle.data()[row] = found.median, mad.data()[row] = found.mad;
                   });
    return {std::move(middle), std::move(mad)};
}

template <class T> static Result<T> quantiles(Matrix<T> rows, double q, Weights weights, int64_t n_threads) {
    if (!(q >= 0 && q <= 1)) throw nb::value_error("q must be in [0, 1]");
    auto out = new_array<T>({rows.shape(0)});
    over_matrix<T>(rows, weights, n_threads,
                   [&](const Numbers<T>& of, const SelectRoom<T>& room, int64_t row) {
                       const auto [guess, spread] = center_and_spread(of.values, of.n, room.values.data());
                       const double rank = q * double(of.total - 1);
                       const int64_t first = int64_t(rank), last = std::min(first + 1, of.total - 1);
                       Guess<T> start = {guess, spread};
                       const auto [lower, upper] = at_ranks<T, false>(of, first, last, start, room);
                       const T share = T(rank - double(first));
                       out.data()[row] = lower + share * (upper - lower);
                   });
    return out;
}

template <class T> static void bind(nb::module_& m) {
    const auto none = nb::none();
    m.def(
        "largest_outlyingness", largest_outlyingness<T>, "points"_a.noconvert(), "directions"_a.noconvert(),
        "weights"_a.noconvert() = none, "queries"_a.noconvert() = none, "locate"_a = false, "n_threads"_a = 1,
        "memory_mb"_a = 256.0,
        "Largest |<u, x> - median| / MAD over directions (K, d) of the points (n, d), or of queries (m, d); "
        "and which direction gave it.");
    m.def("smallest_halfspace", smallest_halfspace<T>, "points"_a.noconvert(), "directions"_a.noconvert(),
          "weights"_a.noconvert() = none, "queries"_a.noconvert() = none, "locate"_a = false,
          "n_threads"_a = 1, "memory_mb"_a = 256.0,
          "Smallest weight of a closed halfspace with the point on its boundary, over directions and their "
          "opposites; and which direction gave it.");
    m.def("mean_rank_weight", mean_rank_weight<T>, "points"_a.noconvert(), "directions"_a.noconvert(),
          "weights"_a.noconvert() = none, "queries"_a.noconvert() = none, "n_threads"_a = 1,
          "memory_mb"_a = 256.0, "The mean over directions of min(F, 1 - F), F being the mid-rank.");
    m.def("centered_rank_sums", centered_rank_sums<T>, "points"_a.noconvert(), "directions"_a.noconvert(),
          "weights"_a.noconvert(), "n_threads"_a = 1,
          "Sums over directions of |2 F - 1| times the total weight, and of its square.");
    m.def("order", order<T>, "values"_a.noconvert(), "n_threads"_a = 1, "Stable order of finite values.");
    m.def("take_rows", take_rows<T>, "rows"_a.noconvert(), "places"_a.noconvert(), "n_threads"_a = 1,
          "The rows at the given places.");
    m.def("center_and_exponent", center_and_exponent<T>, "points"_a.noconvert(),
          "A middle (d,) of the points, and the power of two next to the typical distance from it.");
    m.def("distinct_rows", distinct_rows<T>, "rows"_a.noconvert(), "weights"_a.noconvert() = none,
          "n_threads"_a = 1,
          "Distinct rows in lexicographic order, where each given row is among them, and their weights, None "
          "where all are equal.");
    m.def("median", medians<T>, "rows"_a.noconvert(), "weights"_a.noconvert() = none, "n_threads"_a = 1,
          "The median of each row of (K, n), with weights (n,).");
    m.def("median_and_mad", medians_and_mads<T>, "rows"_a.noconvert(), "weights"_a.noconvert() = none,
          "n_threads"_a = 1, "The median, and the median absolute deviation from it, of each row of (K, n).");
    m.def("quantile", quantiles<T>, "rows"_a.noconvert(), "q"_a, "weights"_a.noconvert() = none,
          "n_threads"_a = 1, "The q-quantile of each row of (K, n), by linear interpolation.");
}

void bind_depths(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
    m.def("mean_squared_rank", mean_squared_rank, "distances"_a.noconvert(), "shares"_a.noconvert(),
          "n_threads"_a = 1, "The mean of (2 F - 1)**2 over all directions, from squared distances (n, n).");
}

}  // namespace isodepth
