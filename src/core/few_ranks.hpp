// Ranks of the points of a small sample along many directions, and the mean squared rank over all directions.
//
// For up to a few hundred points, comparing all pairs is faster than sorting: it has no branches, and several
// directions are processed at once.
#pragma once

#include "direction_pass.hpp"

namespace isodepth {

// Number of directions that are processed at once.
constexpr int together = lanes<float>;

// Masses of two closed halfspaces with a given point on their boundary, for each of several directions.
// `upto` is the total weight of the points with at most the projection of the given point. `from` is the
// total weight of the points with at least this projection.
struct FewMasses {
    int32_t upto[together], from[together];
};

// For each point i and each direction, write to `out[i].upto` the total weight of the points whose projection
// is at most that of point i. `columns` (n, together) are the projections of the points on several
// directions.
template <bool weighted>
void count_no_larger(const float* columns, int64_t n, const int32_t* weights, FewMasses* out) {
    auto count = [&]<int H>(int64_t i, int j) {
        Vec<float> own[H];
        Mask<float> counted[H] = {};
        for (int h = 0; h < H; h++) own[h] = load(columns + (i + h) * together + j);
        for (int64_t other = 0; other < n; other++) {
            const Vec<float> x = load(columns + other * together + j);
            for (int h = 0; h < H; h++) {
                const Mask<float> inside = (Mask<float>)(x <= own[h]);
                if constexpr (weighted) counted[h] += weights[other] & inside;
                else counted[h] -= inside;
            }
        }
        for (int h = 0; h < H; h++) std::memcpy(out[i + h].upto + j, &counted[h], sizeof(counted[h]));
    };
    for (int j = 0; j < together; j += width<float>) {
        int64_t i = 0;
        for (; i + 8 <= n; i += 8) count.template operator()<8>(i, j);
        for (; i + 2 <= n; i += 2) count.template operator()<2>(i, j);
        for (; i < n; i++) count.template operator()<1>(i, j);
    }
}

// Call `use(masses)` for each group of `together` directions. `masses` (n,) are the halfspace masses at all
// points. In the last group, entries without a direction are set to the total weight. The sum of the weights
// must be below 2**26, so that sums over a group fit into 32 bits.
template <class T> void ranks_of_few(const DirectionTask<T>& task, auto use) {
    const int64_t n = task.n, d = task.d;
    const int32_t total = int32_t(task.total);
    const Frame<T> frame = task.rank_frame();
    const Tiles<T> tiles({task.directions, task.count, d}, 1);
    Workspace<T> rows(n * d), along(n * together);
    Workspace<float> columns(n * together);
    Workspace<int32_t> weights(n, 1);
    Workspace<FewMasses> masses(n);
    std::copy_n(task.points, n * d, rows.data());
    for (int64_t i = 0; i < n * d; i++) frame.move(&rows[i], 1, i % d);
    if (task.weights) std::copy_n(task.weights, n, weights.data());
    // Value of sum_i weights[i] * upto[i] if no two projections are tied. Ties of a point of weight zero do
    // not change the sum: NaN, which differs from every sum, has ties counted in full precision.
    double once = 0.0;
    for (int64_t i = 0; i < n; i++) once += weights[i] ? weights[i] * (double(total) + weights[i]) / 2 : NAN;
    for (int64_t first = 0; first < task.count; first += together) {
        for (int64_t k = 0; k < together; k += lanes<T>) {
            const int64_t tile = std::min((first + k) / lanes<T>, tiles.count - 1);
            project_rows(tiles.tile(tile), rows.data(), n, d, &along[k], together);
        }
        // Compare in single precision: rounding keeps the order of the values, except that different values
        // may become equal.
        std::copy_n(along.data(), n * together, columns.data());
        if (task.weights) count_no_larger<true>(columns.data(), n, weights.data(), masses.data());
        else count_no_larger<false>(columns.data(), n, weights.data(), masses.data());
        double pairs[together] = {};
        for (int64_t i = 0; i < n; i++)
            for (int k = 0; k < together; k++) {
                pairs[k] += double(weights[i]) * masses[i].upto[k];
                masses[i].from[k] = total + weights[i] - masses[i].upto[k];
            }
        // Without ties, the sum `pairs` of every direction equals `once`. If the sum of a direction differs,
        // count again in full precision.
        const bool tied = std::any_of(pairs, pairs + together, [=](double all) { return all != once; });
        for (int64_t i = 0; tied && i < n; i++) {
            masses[i] = {};
            for (int64_t j = 0; j < n; j++)
                for (int k = 0; k < together; k++) {
                    const T x = along[j * together + k], own = along[i * together + k];
                    masses[i].upto[k] += x <= own ? weights[j] : 0;
                    masses[i].from[k] += x >= own ? weights[j] : 0;
                }
        }
        for (int64_t k = task.count - first; k < together; k++)
            for (int64_t i = 0; i < n; i++) masses[i].upto[k] = masses[i].from[k] = total;
        use(masses.data());
    }
}

template <class T> void halfspaces_of_few(const DirectionTask<T>& task, int64_t* out) {
    Workspace<int32_t> best(task.n * together, int32_t(task.n));
    ranks_of_few(task, [&](const FewMasses* masses) {
        for (int64_t i = 0; i < task.n; i++)
            for (int k = 0; k < together; k++) {
                int32_t& known = best[i * together + k];
                known = std::min(known, std::min(masses[i].upto[k], masses[i].from[k]));
            }
    });
    for (int64_t i = 0; i < task.n; i++)
        out[i] = *std::min_element(&best[i * together], &best[(i + 1) * together]);
}

// Let F be the mid-rank of a point along a direction, in [0, 1], and W the total weight. For each point, add
// the sum over directions of |2 F - 1| W to `sizes` (n,). Unless `squares` (n,) is null, add the sum of ((2 F
// - 1) W)**2 to it. (2 F - 1) W is the mass of the points up to the given point minus the mass from this
// point on.
template <class T> void centered_ranks(const DirectionTask<T>& task, int64_t* sizes, int64_t* squares) {
    ranks_of_few(task, [&](const FewMasses* masses) {
        for (int64_t i = 0; i < task.n; i++) {
            int32_t balance[together], size = 0;
            for (int k = 0; k < together; k++) balance[k] = masses[i].upto[k] - masses[i].from[k];
            for (int k = 0; k < together; k++) size += std::abs(balance[k]);
            sizes[i] += size;
            for (int k = 0; squares && k < together; k++) squares[i] += int64_t(balance[k]) * balance[k];
        }
    });
}

template <class T> void rank_weights_of_few(const DirectionTask<T>& task, double* out) {
    std::vector<int64_t> sizes(size_t(task.n));
    centered_ranks(task, sizes.data(), nullptr);
    const int64_t all = task.n * task.count;
    for (int64_t i = 0; i < task.n; i++) out[i] = double(all - sizes[size_t(i)]) / (2.0 * double(all));
}

// Return asin(x) for x in [0, 1] with an error of about 2e-8 (Abramowitz and Stegun 4.4.46). The polynomial
// needs no library call, so that compilers can vectorize it.
inline double arcsine(double x) {
    constexpr double series[] = {1.5707963050, -0.2145988016, 0.0889789874, -0.0501743046,
                                 0.0308918810, -0.0170881256, 0.0066700901, -0.0012624911};
    double sum = series[7];
    for (int i = 6; i >= 0; i--) sum = sum * x + series[i];
    return 1.5707963267948966 - std::sqrt(1.0 - x) * sum;
}

// For each point, compute the mean of (2 F - 1)**2 over all directions of space, to about 1e-8. F is the
// mid-rank of the point, in [0, 1]. Along a random direction, point j lies below point i with probability
// 1/2. Points j and k lie on the same side of i with probability 1/2 + asin(c) / pi. Here c is the cosine of
// the angle at i between j and k. Ranks are sums of indicators of such events, so no projection is needed.
// `distances` (n, n) are squared, and zero on the diagonal only. `shares` (n,) are weights with sum one.
inline void mean_squared_ranks(const double* distances, const double* shares, int64_t n, int64_t n_threads,
                               double* out) {
    constexpr double pi = 3.141592653589793;
    parallel_for(worker_count(n_threads, n, 8 * n * n * n), n, [&](int64_t, int64_t i) {
        const double* row = distances + i * n;
        Workspace<double> terms(n);
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
