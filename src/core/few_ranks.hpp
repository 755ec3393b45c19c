// Ranks of a few points along many directions, and the mean of their squares along all directions.
#pragma once

#include "blocks.hpp"

namespace isodepth {

// Sums over directions of |2 F - 1| times the total weight, and of its square: int64 (n,) each. Comparing
// all with all is quicker than sorting up to a few hundred points: nothing branches, and the directions of
// a tile are done together. The weight below less the weight above is 2 F - 1 of all.
template <class T> void centered_ranks(const T* points, int64_t n, int64_t d, const int64_t* weights,
                                       const T* directions, int64_t count, int64_t n_threads, int64_t* sizes,
                                       int64_t* squares) {
    const Tiles<T> tiles(directions, count, d, 1);
    struct State {
        Workspace<T> along;
        Workspace<double> columns;
        Workspace<int64_t> sizes, squares;
    };
    const int64_t workers = worker_count(n_threads, tiles.count, 8 * n * n * count / 16);
    PerWorker<State> states(workers);
    auto make = [&] {
        return std::make_unique<State>(State{Workspace<T>(n * lanes<T>), Workspace<double>(n * lanes<T>),
                                             Workspace<int64_t>(n, 0), Workspace<int64_t>(n, 0)});
    };
    parallel_for(workers, tiles.count, [&](int64_t worker, int64_t tile) {
        State& state = states.of(worker, make);
        project_rows(tiles.tile(tile), points, n, d, state.along.data());
        std::copy_n(state.along.data(), n * lanes<T>, state.columns.data());
        // The last tile may repeat directions.
        const int64_t first = tile * lanes<T> - tiles.start(tile), stop = std::min<int64_t>(lanes<T>, count);
        for (int j = 0; j < lanes<T>; j += width<double>)
            for (int64_t i = 0; i < n; i++) {
                const Vec<double> own = load(state.columns.data() + i * lanes<T> + j);
                Mask<double> balance = {};
                for (int64_t other = 0; other < n; other++) {
                    const Vec<double> x = load(state.columns.data() + other * lanes<T> + j);
                    balance += weights[other] & (Mask<double>)(x < own);
                    balance -= weights[other] & (Mask<double>)(x > own);
                }
                for (int k = 0; k < width<double>; k++) {
                    if (j + k < first || j + k >= stop) continue;
                    state.sizes[i] += std::abs(int64_t(balance[k]));
                    state.squares[i] += int64_t(balance[k]) * int64_t(balance[k]);
                }
            }
    });
    std::fill_n(sizes, n, 0);
    std::fill_n(squares, n, 0);
    for (const State* state : states.made())
        for (int64_t i = 0; i < n; i++) sizes[i] += state->sizes[i], squares[i] += state->squares[i];
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
    constexpr int together = 8;  // sums side by side, so that vectors can be used
    parallel_for(worker_count(n_threads, n, 8 * n * n * n), n, [&](int64_t, int64_t i) {
        const double* row = distances + i * n;
        double total = 0;
        for (int64_t j = 0; j < n; j++) {
            if (j == i) continue;
            const double near = row[j], *other = distances + j * n;
            double sums[together] = {};
            auto pulled = [&](int64_t k) {
                const double cosine = (near + row[k] - other[k]) / (2.0 * std::sqrt(near * row[k]));
                return shares[k] * std::copysign(arcsine(std::min(1.0, std::fabs(cosine))), cosine);
            };
            auto add = [&](int64_t start, int64_t stop) {
                int64_t k = start;
                for (; k + together <= stop; k += together)
                    for (int l = 0; l < together; l++) sums[l] += pulled(k + l);
                for (; k < stop; k++) sums[0] += pulled(k);
            };
            add(0, std::min(i, j));
            add(i + 1, j);
            double sum = 0;
            for (double part : sums) sum += part;
            total += shares[j] * (shares[j] + 4.0 / pi * sum);
        }
        out[i] = total;
    });
}

}  // namespace isodepth
