// Distances between region tables: means of order p over levels of means of order q over directions.
#pragma once

#include <functional>

#include "gaps.hpp"

namespace isodepth {

// Power below which a direct sum of powers has a relative error above 1e-13.
constexpr double small_power = 1e-3;

// (length * sum of shares * gaps^p)^(1/p), the maximum for p = inf. Without shares all have equal weight.
//
// Gaps are divided by their maximum, so that no power overflows or underflows. For small p the powers are
// close to 1, and the root magnifies the rounding of their sum, so only the differences from 1 are summed.
inline double power_mean(const double* gaps, const double* shares, int64_t n, double p, double length) {
    const double largest = *std::max_element(gaps, gaps + n), even = 1.0 / double(n);
    if (largest == 0 || std::isinf(p)) return largest;
    double sum = 0.0;
    if (p >= small_power) {
        for (int64_t i = 0; i < n; i++) sum += (shares ? shares[i] : even) * power(gaps[i] / largest, p);
        return largest * power(length * sum, 1.0 / p);
    }
    // Equal to the limit up to rounding: the relative difference is p / 2 times a variance of logarithms <
    // 1e6.
    p = std::max(p, 1e-100);
    double below = 0.0;
    for (int64_t i = 0; i < n; i++) {
        // A quotient may underflow although the gap is positive.
        const double share = shares ? shares[i] : even, log = std::log(gaps[i]) - std::log(largest);
        below += share * std::expm1(p * log);
        sum += share * std::exp(p * log);
    }
    // If half of the mass has no gap, the sum is not close to 1, and nothing cancels.
    const double log_sum = below > -0.5 ? std::log1p(below) : std::log(sum);
    return largest * std::exp((log_sum + std::log(length)) / p);
}

// Settings of the distance between tables.
struct TableMeans {
    double p, q;    // over levels and over directions
    double length;  // the integral over levels in units of its mean
};

// Mean of order q of the differences of two rows (n,).
template <class T> double mean_difference(const T* a, const T* b, int64_t n, double q) {
    if (q == 2.0) {
        const double sum = std::transform_reduce(a, a + n, b, 0.0, std::plus<>(),
                                                 [](double x, double y) { return (x - y) * (x - y); });
        // Otherwise squares may have overflown or underflown.
        if (1e-280 < sum && sum < 1e300) return std::sqrt(sum / double(n));
    }
    const double largest = largest_distance(a, b, n);
    if (largest == 0 || std::isinf(q)) return largest;
    double sum = 0.0;
    for (int64_t k = 0; k < n; k++) sum += power(std::abs(double(a[k]) - double(b[k])) / largest, q);
    return largest * std::pow(sum / double(n), 1.0 / q);
}

// Write the distances between tables (rows, levels, n) and (columns, levels, n) to `out` (rows, columns). If
// `columns` is null, the distances between all pairs of rows, each computed once.
template <class T> void table_distances(const T* rows, int64_t n_rows, const T* columns, int64_t n_columns,
                                        int64_t levels, int64_t n, TableMeans means, int64_t n_threads,
                                        double* out) {
    const bool same = columns == nullptr;
    if (same) columns = rows, n_columns = n_rows;
    // The values of one level stay in the second-level cache.
    constexpr int64_t size = 16;
    const int64_t across = (n_columns + size - 1) / size, down = (n_rows + size - 1) / size;
    const int64_t table = levels * n,
                  workers = worker_count(n_threads, across * down, n_rows * n_columns * table);
    PerWorker<Workspace<double>> gaps(workers);  // (size, size, levels)
    parallel_for(workers, across * down, [&](int64_t worker, int64_t part) {
        const int64_t top = part / across * size, bottom = std::min(top + size, n_rows);
        const int64_t left = part % across * size, right = std::min(left + size, n_columns);
        if (same && left < top) return;
        double* own =
            gaps.of(worker, [&] { return std::make_unique<Workspace<double>>(size * size * levels); }).data();
        auto gap = [&](int64_t i, int64_t j) { return own + ((i - top) * size + j - left) * levels; };
        for (int64_t level = 0; level < levels; level++)
            for (int64_t j = left; j < right; j++) {
                const T *some = rows + level * n, *other = columns + j * table + level * n;
                int64_t i = top;
                // Several rows share the loads of the other table.
                for (T found[4]; std::isinf(means.q) && i + 4 <= bottom; i += 4) {
                    largest_distances(some + i * table, table, other, n, found);
                    for (int h = 0; h < 4; h++) gap(i + h, j)[level] = found[h];
                }
                for (; i < bottom; i++)
                    gap(i, j)[level] = mean_difference(some + i * table, other, n, means.q);
            }
        for (int64_t i = top; i < bottom; i++)
            for (int64_t j = left; j < right; j++) {
                const double distance = power_mean(gap(i, j), nullptr, levels, means.p, means.length);
                out[i * n_columns + j] = distance;
                if (same) out[j * n_columns + i] = distance;
            }
    });
}

}  // namespace isodepth
