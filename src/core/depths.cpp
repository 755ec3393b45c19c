// Python bindings of projections, sorting, ranks, quantiles and depths.
#include "exact_halfspace.hpp"
#include "halfspace.hpp"
#include "rows.hpp"
#include "spread.hpp"

namespace isodepth {

// Check the arguments and call `pass`, a computation over all directions with one value per query. Without
// queries, it has one value per point.
template <class T, class Value, void (*pass)(const DirectionTask<T>&, Value*)>
static Result<Value> over_directions(Matrix<T> points, Matrix<T> directions, Weights weights,
                                     std::optional<Matrix<T>> queries, int64_t n_threads, double memory_mb) {
    auto task = task_of(points, directions, weights, queries, check_resources(n_threads, memory_mb), 0);
    scale_directions(task);
    auto out = new_array<Value>({size_t(task.m)});
    ReleasedGil released;
    if (task.m) pass(task, out.data());
    return out;
}

template <class T>
static auto centered_rank_sums(Matrix<T> points, Matrix<T> directions, Vector<int64_t> weights) {
    auto task = task_of<T>(points, directions, weights, {}, {1, 0}, 0);
    require(task.total < 1 << 26, "the sum of the weights must be less than 2**26");
    scale_directions(task);
    auto sizes = new_array({size_t(task.n)}, int64_t(0)), squares = new_array({size_t(task.n)}, int64_t(0));
    ReleasedGil released;
    centered_ranks(task, sizes.data(), squares.data());
    return std::pair(sizes, squares);
}

static Result<double> mean_squared_rank(Matrix<double> distances, Vector<double> shares, int64_t n_threads) {
    const int64_t n = check_rows(distances, int64_t(shares.shape(0))).n;
    check_vector(shares, n);
    auto out = new_array<double>({size_t(n)});
    ReleasedGil released;
    mean_squared_ranks(distances.data(), shares.data(), n, n_threads, out.data());
    return out;
}

template <class T> static Result<T> project(Matrix<T> points, Matrix<T> directions, int64_t n_threads) {
    const Rows<T> rows = check_rows(points), along = check_rows(directions, rows.d);
    auto out = new_array<T>({size_t(along.n), size_t(rows.n)});
    ReleasedGil released;
    const Tiles<T> tiles(rows, n_threads);
    auto fill = [&](int64_t first, int64_t stop) {
        tiles.project(along[first], stop - first, out.data() + first * rows.n);
    };
    over_rows(along.n, rows.n, n_threads, fill, 16);
    return out;
}

template <class T> static Result<int64_t> order(Vector<T> values, int64_t n_threads) {
    const auto checked = check_vector(values);
    auto out = new_array<int64_t>({checked.size()});
    ReleasedGil released;
    stable_order(checked.data(), int64_t(checked.size()), n_threads, out.data());
    return out;
}

template <class T> static Result<T> take_rows(Matrix<T> table, Vector<int64_t> order, int64_t n_threads) {
    check_shape(table);
    const int64_t n = table.shape(0), d = table.shape(1);
    const auto indices = check_vector(order);
    for (const int64_t i : indices) require(0 <= i && i < n, "a row index is out of range");
    auto out = new_array<T>({indices.size(), size_t(d)});
    ReleasedGil released;
    over_rows(int64_t(indices.size()), 8 * d, n_threads, [&](int64_t start, int64_t stop) {
        for (int64_t i = start; i < stop; i++)
            std::copy_n(table.data() + indices[size_t(i)] * d, d, out.data() + i * d);
    });
    return out;
}

template <class T> static nb::tuple center_and_exponent(Matrix<T> points) {
    const Frame<T> frame(check_rows(points));
    return nb::make_tuple(as_array(frame.center, {points.shape(1)}), frame.exponent);
}

template <class T> static nb::tuple distinct_rows(Matrix<T> table, Weights weights, int64_t n_threads) {
    const Rows<T> rows = check_rows(table, -1, n_threads);
    const int64_t n = rows.n, *own = check_weights(weights, n, 0).first;
    const auto distinct = without_gil([&] { return DistinctRows<T>(rows, n_threads); });
    const size_t count = size_t(distinct.count());
    auto out = new_array<T>({count, size_t(rows.d)});
    auto inverse = new_array<int64_t>({size_t(n)});
    std::vector<int64_t> sums;  // sum of the weights of each distinct row; empty if all sums are equal
    {
        ReleasedGil released;
        distinct.write(out.data(), inverse.data());
        if (own || int64_t(count) < n) sums.resize(count);
        for (int64_t i = 0; !sums.empty() && i < n; i++) sums[inverse.data()[i]] += own ? own[i] : 1;
        if (std::all_of(sums.begin(), sums.end(), [&](int64_t sum) { return sum == sums[0]; })) sums.clear();
    }
    const nb::object none = nb::none();
    return nb::make_tuple(out, inverse, sums.empty() ? none : nb::cast(as_array(std::move(sums), {count})));
}

template <class T> static Result<T> quantiles(Matrix<T> table, double q, Weights weights, int64_t n_threads) {
    const Rows<T> rows = check_rows(table);
    const auto checked = check_weights(weights, rows.d, 0);
    const int64_t count = rows.n, n = rows.d, *own = checked.first, total = checked.second;
    require(q >= 0 && q <= 1, "q must be in [0, 1]");
    auto out = new_array<T>({size_t(count)});
    ReleasedGil released;
    const int64_t workers = worker_count(n_threads, count, 4 * n * count);
    const double rank = q * double(total - 1);
    // The ranks of the median are computed in integers: they are exact even if a double cannot represent the
    // total weight.
    const int64_t first = q == 0.5 ? (total - 1) / 2 : int64_t(rank), last = std::min(first + 1, total - 1);
    const T share = q == 0.5 ? T(0.5) * T((total - 1) % 2) : T(rank - double(first));
    PerWorker<SelectWorkspace<T>> workspaces(workers);
    parallel_for(workers, count, [&](int64_t worker, int64_t row) {
        auto& workspace = workspaces.of(worker, [&] { return SelectWorkspace<T>(n, own); });
        const Numbers<T> numbers(rows[row], n, own, total);
        const auto [lower, upper] = at_ranks(numbers, first, last, workspace);
        // This form of linear interpolation is symmetric under a change of sign and cannot overflow.
        out.data()[row] = lower == upper ? lower : (1 - share) * lower + share * upper;
    });
    return out;
}

static auto halfspace_masses(Matrix<double> points, Vector<int64_t> masses, Matrix<double> queries,
                             int64_t n_threads) {
    const Rows<double> rows = check_rows(points), asked = check_rows(queries, rows.d);
    require(2 <= rows.d && rows.d <= 16, "the exact halfspace depth needs 2 to 16 columns");
    const int64_t* weights = check_weights(masses, rows.n, 1).first;
    // Limit the coordinates, so that a product of d differences of coordinates does not overflow, where d is
    // the number of columns.
    const double limit = std::ldexp(1.0, int(1000 / rows.d));
    require(are_finite(rows.values(), limit) && are_finite(asked.values(), limit),
            "points and queries are too large: scale them to a size of about 1");
    auto smallest = without_gil([&] { return smallest_masses(rows, weights, asked, n_threads); });
    return as_array(std::move(smallest), {queries.shape(0)});
}

template <class T> static void bind(nb::module_& m) {
    const auto points = "points"_in, directions = "directions"_in, rows = "rows"_in;
    const auto weights = "weights"_in = nb::none(), queries = "queries"_in = nb::none();
    const auto threads = "n_threads"_a = 1, memory = "memory_mb"_a = 256.0;
    m.def("largest_outlyingness", over_directions<T, T, largest_outlyingness<T>>, points, directions, weights,
          queries, threads, memory, "Maximum over directions u of |<u, x> - median| / MAD, per query (m,).");
    m.def("smallest_halfspace", over_directions<T, int64_t, smallest_halfspaces<T>>, points, directions,
          weights, queries, threads, memory,
          "Minimum weight (m,) of closed halfspaces with the query on the boundary, over directions.");
    m.def("mean_rank_weight", over_directions<T, double, mean_rank_weights<T>>, points, directions, weights,
          queries, threads, memory, "Mean over directions of min(F, 1 - F), per query (m,); F: mid-rank.");
    m.def("centered_rank_sums", centered_rank_sums<T>, points, directions, "weights"_in,
          "Sums over directions of W |2 F - 1| and of its square, (n,) each, for the total weight W.");
    m.def("project", project<T>, points, directions, threads,
          "Projections (K, n) of points (n, d) on directions (K, d).");
    m.def("order", order<T>, "values"_in, threads, "Indices (n,) that sort finite values stably.");
    m.def("take_rows", take_rows<T>, rows, "order"_in, threads, "Rows of a table (n, d) in another order.");
    m.def("center_and_exponent", center_and_exponent<T>, points,
          "Center (d,) of the points, and the integer e for which 2**e is near their spread.");
    m.def("distinct_rows", distinct_rows<T>, rows, weights, threads,
          "Distinct rows (u, d) in lexicographic order, the index (n,) of each row among them, and the total "
          "weight (u,) of each distinct row, or None if all are equal.");
    m.def("quantile", quantiles<T>, rows, "q"_a, weights, threads,
          "The q-quantile (K,) of each of `rows` (K, n), with weights (n,), by linear interpolation.");
}

void bind_depths(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
    m.def("mean_squared_rank", mean_squared_rank, "distances"_in, "shares"_in, "n_threads"_a = 1,
          "Mean of (2 F - 1)**2 over all directions, (n,), from squared distances (n, n).");
    m.def("halfspace_masses", halfspace_masses, "points"_in, "masses"_in, "queries"_in, "n_threads"_a = 1,
          "Minimum mass of a closed halfspace that contains the query, for each of the queries (m, d).");
}

}  // namespace isodepth
