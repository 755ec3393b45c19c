// Ranks of a few points along many directions, and the mean of their squares along all directions.
//
// Comparing all with all is quicker than sorting up to a few hundred points: nothing branches, and the
// directions of a tile are done together.
#pragma once

#include <numeric>

#include "direction_pass.hpp"

namespace isodepth {

// For each number of `column` (n, stride), in all lanes of a vector, to `out` (n,): the mass of the numbers
// that are no larger, or else no smaller; one unit each unless weighted.
template <class T, bool no_larger, bool weighted>
void count_in_lanes(const T* column, int64_t n, int64_t stride, const int64_t* weights, Mask<T>* out) {
    auto count = [&]<int H>(int64_t i) {
        Vec<T> own[H];
        Mask<T> counted[H] = {};
        for (int h = 0; h < H; h++) own[h] = load(column + (i + h) * stride);
        for (int64_t other = 0; other < n; other++) {
            const Vec<T> x = load(column + other * stride);
            for (int h = 0; h < H; h++) {
                const Mask<T> inside = no_larger ? (Mask<T>)(x <= own[h]) : (Mask<T>)(x >= own[h]);
                if constexpr (weighted) counted[h] += weights[other] & inside;
                else counted[h] -= inside;
            }
        }
        for (int h = 0; h < H; h++) out[i + h] = counted[h];
    };
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) count.template operator()<8>(i);
    for (; i + 2 <= n; i += 2) count.template operator()<2>(i);
    for (; i < n; i++) count.template operator()<1>(i);
}

// Calls `found(state, i, upto, from, valid)` for each point and several directions, one in each lane, with
// the masses of the points that are no larger and no smaller; lanes that are not valid repeat a direction.
// Returns the states of the workers, which `make` makes.
template <class T, bool weighted, class Make, class Found>
auto ranks_of_few(const DirectionTask<T>& task, int64_t n_threads, Make make, Found found) {
    using Lane = std::conditional_t<weighted, double, T>;  // masses are as wide as the numbers
    const int64_t n = task.n, d = task.d;
    const Frame<T> frame(task.points, n, d);
    const Tiles<T> tiles(task.directions, task.count, d, 1);
    const Workspace<T> rows(n * d);
    for (int64_t i = 0; i < n * d; i++) rows[i] = frame.moved(task.points[i], i % d);
    struct Counts {
        Workspace<T> along;
        Workspace<Lane> columns;
        Workspace<Mask<Lane>> upto, from;
        explicit Counts(int64_t n) : along(n * lanes<T>), columns(n * lanes<T>), upto(n), from(n) {}
    };
    const int64_t workers = worker_count(n_threads, tiles.count, n * n * task.count / 2);
    PerWorker<Counts> counts(workers);
    PerWorker<typename decltype(make())::element_type> states(workers);
    parallel_for(workers, tiles.count, [&](int64_t worker, int64_t tile) {
        auto& state = states.of(worker, make);
        const auto& [along, columns, upto, from] =
            counts.of(worker, [&] { return std::make_unique<Counts>(n); });
        project_rows(tiles.tile(tile), rows.data(), n, d, along.data());
        std::copy_n(along.data(), n * lanes<T>, columns.data());
        for (int j = 0; j < lanes<T>; j += width<Lane>) {
            const Lane* column = columns.data() + j;
            count_in_lanes<Lane, true, weighted>(column, n, lanes<T>, task.weights, upto.data());
            Mask<Lane> all = {}, valid;
            for (int64_t i = 0; i < n; i++) all += upto[i];
            // Where no two units are equal, which the sum of all counts says, one count gives the other.
            const bool tied = weighted || any<Lane>((Mask<Lane>)(all != int(n * (n + 1) / 2)));
            if (tied) count_in_lanes<Lane, false, weighted>(column, n, lanes<T>, task.weights, from.data());
            for (int k = 0; k < width<Lane>; k++)
                valid[k] = -(j + k >= tile * lanes<T> - tiles.start(tile) && j + k < tiles.n);
            for (int64_t i = 0; i < n; i++)
                found(state, i, upto[i], tied ? from[i] : int(n + 1) - upto[i], valid);
        }
    });
    return states;
}

template <class T> void halfspaces_of_few(const DirectionTask<T>& task, int64_t* out) {
    using Masses = Workspace<Mask<T>>;
    auto make = [&] { return std::make_unique<Masses>(task.n, int(task.n) - Mask<T>{}); };
    const auto states = ranks_of_few<T, false>(
        task, 1, make, [](Masses& best, int64_t i, Mask<T> upto, Mask<T> from, Mask<T>) {
            const Mask<T> smaller = upto < from ? upto : from;
            best[i] = smaller < best[i] ? smaller : best[i];
        });
    for (int64_t i = 0; i < task.n; i++) {
        const Mask<T> best = (*states.made()[0])[i];
        out[i] = best[0];
        for (int k = 1; k < width<T>; k++) out[i] = std::min<int64_t>(out[i], best[k]);
    }
}

// Sums over directions of |2 F - 1| times the total weight, which is the mass up to a point less the mass
// from it on; and, if weighted, of its square: (n,) each.
template <class T, bool weighted>
void centered_ranks(const DirectionTask<T>& task, int64_t* sizes, int64_t* squares) {
    using Masses = Mask<std::conditional_t<weighted, double, T>>;
    struct Sums {
        Workspace<Masses> sizes, squares;
    };
    auto make = [&] {
        return std::make_unique<Sums>(
            Sums{Workspace<Masses>(task.n, Masses{}), Workspace<Masses>(task.n, Masses{})});
    };
    const auto states = ranks_of_few<T, weighted>(
        task, task.resources.n_threads, make,
        [](Sums& sums, int64_t i, Masses upto, Masses from, Masses valid) {
            const Masses balance = upto - from, size = (balance < 0 ? -balance : balance) & valid;
            sums.sizes[i] += size;
            if constexpr (weighted) sums.squares[i] += size * size;
        });
    std::fill_n(sizes, task.n, 0);
    if (weighted) std::fill_n(squares, task.n, 0);
    for (const Sums* sums : states.made())
        for (int64_t i = 0; i < task.n; i++)
            for (size_t k = 0; k < sizeof(Masses) / sizeof(sums->sizes[i][0]); k++) {
                sizes[i] += sums->sizes[i][k];
                if (weighted) squares[i] += sums->squares[i][k];
            }
}

// The mean over directions of min(F, 1 - F).
template <class T> void rank_weights_of_few(const DirectionTask<T>& task, double* out) {
    std::vector<int64_t> sizes(size_t(task.n));
    centered_ranks<T, false>(task, sizes.data(), nullptr);
    const int64_t all = task.n * task.count;
    for (int64_t i = 0; i < task.n; i++) out[i] = double(all - sizes[size_t(i)]) / (2.0 * double(all));
}

// asin on [0, 1] to 2e-8 (Abramowitz and Stegun 4.4.46), without calls.
inline double arcsine(double x) {
    constexpr double series[] = {1.5707963050, -0.2145988016, 0.0889789874, -0.0501743046,
                                 0.0308918810, -0.0170881256, 0.0066700901, -0.0012624911};
    double sum = series[7];
    for (int i = 6; i >= 0; i--) sum = sum * x + series[i];
    return 1.5707963267948966 - std::sqrt(1.0 - x) * sum;
}

// The mean of (2 F - 1)**2 over all directions of space, to about 1e-8. Along a random direction point j
// lies below point i with probability 1/2, and points j and k lie on one side of i with probability 1/2 +
// asin(cosine of the angle j-i-k) / pi. Ranks are sums of such events: no projection is needed.
// `distances` (n, n): squared, zero on the diagonal only; `shares` (n,) with sum one.
inline void mean_squared_ranks(const double* distances, const double* shares, int64_t n, int64_t n_threads,
                               double* out) {
    constexpr double pi = 3.141592653589793;
    parallel_for(worker_count(n_threads, n, 8 * n * n * n), n, [&](int64_t, int64_t i) {
        const double* row = distances + i * n;
        const Workspace<double> terms(n);
        double total = 0;
        for (int64_t j = 0; j < n; j++) {
            if (j == i) continue;
            const double near = row[j], *other = distances + j * n;
            for (int64_t k = 0; k < j; k++) {
                const double cosine = (near + row[k] - other[k]) / (2.0 * std::sqrt(near * row[k]));
                terms[k] = shares[k] * std::copysign(arcsine(std::min(1.0, std::fabs(cosine))), cosine);
            }
            if (i < j) terms[i] = 0;
            const double sum = std::reduce(terms.data(), terms.data() + j, 0.0);
            total += shares[j] * (shares[j] + 4.0 / pi * sum);
        }
        out[i] = total;
    });
}

}  // namespace isodepth
