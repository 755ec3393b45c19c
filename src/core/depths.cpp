// Projections, orders, quantiles and the passes of the depths, as Python sees them.

#include "halfspace.hpp"
#include "module.hpp"
#include "rows.hpp"
#include "spread.hpp"

namespace isodepth {

template <class Value> using Located = std::pair<Result<Value>, std::optional<Result<int64_t>>>;

// A pass that finds a value for each target and, where asked for, the direction that gave it.
template <class T, class Value, void (*pass)(const DirectionTask<T>&, Value*, int64_t*)>
static Located<Value> located(Matrix<T> points, Matrix<T> directions, Weights weights,
                              std::optional<Matrix<T>> queries, bool locate, int64_t n_threads,
                              double memory_mb) {
    const auto task = task_of(points, directions, weights, queries, {n_threads, memory_mb});
    auto out = new_array<Value>({size_t(task.m)});
    std::optional<Result<int64_t>> where;
    if (locate) where = new_array<int64_t>({size_t(task.m)});
    nb::gil_scoped_release released;
    if (task.m) pass(task, out.data(), where ? where->data() : nullptr);
    return {std::move(out), std::move(where)};
}

template <class T> static Result<double> mean_rank_weight(Matrix<T> points, Matrix<T> directions,
                                                          Weights weights, std::optional<Matrix<T>> queries,
                                                          int64_t n_threads, double memory_mb) {
    return located<T, double, mean_rank_weights<T>>(points, directions, weights, queries, false, n_threads,
                                                    memory_mb)
        .first;
}

template <class T>
static std::pair<Result<int64_t>, Result<int64_t>> centered_rank_sums(Matrix<T> points, Matrix<T> directions,
                                                                      Vector<int64_t> weights) {
    const auto task = task_of<T>(points, directions, weights, {}, {1, 0});
    if (task.total >= 1 << 26) throw nb::value_error("the weights must add up to less than 2**26");
    auto sizes = new_array<int64_t>({size_t(task.n)}), squares = new_array<int64_t>({size_t(task.n)});
    nb::gil_scoped_release released;
    centered_ranks(task, sizes.data(), squares.data());
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

template <class T> static Result<T> project(Matrix<T> points, Matrix<T> directions, int64_t n_threads) {
    const int64_t n = points.shape(0), d = points.shape(1), count = directions.shape(0);
    auto out = new_array<T>({size_t(count), size_t(n)});
    nb::gil_scoped_release released;
    const Tiles<T> tiles(rows_of(points), n_threads);
    auto fill = [&](int64_t first, int64_t stop) {
        tiles.project(directions.data() + first * d, stop - first, out.data() + first * n);
    };
    over_rows(count, n, n_threads, fill, 16);
    return out;
}

template <class T> static Result<int64_t> order(Vector<T> values, int64_t n_threads) {
    auto out = new_array<int64_t>({values.shape(0)});
    nb::gil_scoped_release released;
    if (values.shape(0)) stable_order(values.data(), int64_t(values.shape(0)), n_threads, out.data());
    return out;
}

template <class T> static Result<T> take_rows(Matrix<T> rows, Vector<int64_t> indices, int64_t n_threads) {
    const int64_t count = indices.shape(0), n = rows.shape(0), d = rows.shape(1), *at = indices.data();
    auto out = new_array<T>({size_t(count), size_t(d)});
    nb::gil_scoped_release released;
    for (int64_t i = 0; i < count; i++)
        if (at[i] < 0 || at[i] >= n) throw nb::index_error("an index lies outside of the rows");
    over_rows(count, 8 * d, n_threads, [&](int64_t start, int64_t stop) {
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
    std::vector<T> out;
    std::vector<int64_t> inverse(n), sums;  // no sums where all are equal
    {
        nb::gil_scoped_release released;
        const DistinctRows<T> distinct(rows.data(), n, d, n_threads);
        out.resize(distinct.count() * d);
        distinct.write(out.data(), inverse.data());
        if (own || distinct.count() < n) sums.resize(distinct.count());
        for (int64_t i = 0; !sums.empty() && i < n; i++) sums[inverse[i]] += own ? own[i] : 1;
        if (std::all_of(sums.begin(), sums.end(), [&](int64_t sum) { return sum == sums[0]; })) sums.clear();
    }
    const size_t count = out.size() / d;
    const nb::object none = nb::none();
    return nb::make_tuple(as_array(std::move(out), {count, size_t(d)}),
                          as_array(std::move(inverse), {size_t(n)}),
                          sums.empty() ? none : nb::cast(as_array(std::move(sums), {count})));
}

template <class T> static Result<T> quantiles(Matrix<T> rows, double q, Weights weights, int64_t n_threads) {
    const int64_t count = rows.shape(0), n = rows.shape(1), *own = weights_or_null(weights, n);
    if (n == 0) throw nb::value_error("there is no quantile of no numbers");
    if (!(q >= 0 && q <= 1)) throw nb::value_error("q must be in [0, 1]");
    auto out = new_array<T>({size_t(count)});
    nb::gil_scoped_release released;
    const int64_t total = total_of(own, n), workers = worker_count(n_threads, count, 4 * n * count);
    const double rank = q * double(total - 1);
    // Half of a total is exact also where a double cannot count it.
    const int64_t first = q == 0.5 ? (total - 1) / 2 : int64_t(rank), last = std::min(first + 1, total - 1);
    const T share = q == 0.5 ? T(0.5) * T((total - 1) % 2) : T(rank - double(first));
    PerWorker<SelectWorkspace<T>> workspaces(workers);
    parallel_for(workers, count, [&](int64_t worker, int64_t row) {
        const auto& workspace =
            workspaces.of(worker, [&] { return std::make_unique<SelectWorkspace<T>>(n, own); });
        const Numbers<T> numbers(rows.data() + row * n, n, own, total);
        const auto [lower, upper] = at_ranks(numbers, first, last, workspace);
        // Symmetric under a change of sign, and nothing can overflow.
        out.data()[row] = lower == upper ? lower : (1 - share) * lower + share * upper;
    });
    return out;
}

template <class T> static void bind(nb::module_& m) {
    const auto points = "points"_a.noconvert(), directions = "directions"_a.noconvert();
    const auto rows = "rows"_a.noconvert();
    const auto weights = "weights"_a.noconvert() = nb::none(), queries = "queries"_a.noconvert() = nb::none();
    const auto locate = "locate"_a = false, threads = "n_threads"_a = 1, memory = "memory_mb"_a = 256.0;
    m.def("largest_outlyingness", located<T, T, largest_outlyingness<T>>, points, directions, weights,
          queries, locate, threads, memory,
          "Largest |<u, x> - median| / MAD of points or queries over directions, and which gave it.");
    m.def("smallest_halfspace", located<T, int64_t, smallest_halfspaces<T>>, points, directions, weights,
          queries, locate, threads, memory,
          "Smallest weight of a closed halfspace at points or queries, and which direction gave it.");
    m.def("mean_rank_weight", mean_rank_weight<T>, points, directions, weights, queries, threads, memory,
          "The mean over directions of min(F, 1 - F), F being the mid-rank.");
    m.def("centered_rank_sums", centered_rank_sums<T>, points, directions, "weights"_a.noconvert(),
          "Sums over directions of |2 F - 1| times the total weight, and of its square.");
    m.def("project", project<T>, points, directions, threads,
          "Projections (K, n) of points (n, d) on directions (K, d).");
    m.def("order", order<T>, "values"_a.noconvert(), threads, "Stable order of finite values.");
    m.def("take_rows", take_rows<T>, rows, "indices"_a.noconvert(), threads, "The rows with given indices.");
    m.def("center_and_exponent", center_and_exponent<T>, points,
          "A middle (d,) of the points, and the power of two next to the typical distance from it.");
    m.def("distinct_rows", distinct_rows<T>, rows, weights, threads,
          "Distinct rows, rising, where each given row is among them, and weights; None for equal ones.");
    m.def("quantile", quantiles<T>, rows, "q"_a, weights, threads,
          "The q-quantile of each row of (K, n), with weights (n,), by linear interpolation.");
}

void bind_depths(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
    m.def("mean_squared_rank", mean_squared_rank, "distances"_a.noconvert(), "shares"_a.noconvert(),
          "n_threads"_a = 1, "The mean of (2 F - 1)**2 over all directions, from squared distances (n, n).");
}

}  // namespace isodepth
