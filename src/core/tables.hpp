// Distances between tables of support functions, with one value per depth level and direction. A distance is
// the mean of order p over levels of the mean of order q over directions of the absolute differences.
#pragma once

#include "gaps.hpp"

namespace isodepth {

// For a mean of order p below this limit, a direct sum of powers would give a relative error above 1e-13.
constexpr double small_power = 1e-3;

// Return (length * sum_i shares[i] * gaps[i]**p)**(1/p), or the maximum gap for p = inf. Without shares, all
// gaps have weight 1/n.
//
// Gaps are divided by their maximum, so that no power overflows or underflows. For small p all powers are
// close to 1, and the root would magnify the rounding error of their sum. So only the differences of the
// powers from 1 are summed.
inline double power_mean(const double* gaps, const double* shares, int64_t n, double p, double length) {
    const double largest = *std::max_element(gaps, gaps + n), even = 1.0 / double(n);
    if (largest == 0 || std::isinf(p)) return largest;
    double sum = 0.0;
    if (p >= small_power) {
        for (int64_t i = 0; i < n; i++) sum += (shares ? shares[i] : even) * power(gaps[i] / largest, p);
        return largest * power(length * sum, 1.0 / p);
    }
    // Avoid a division by 0. For p below 1e-100, the result equals the limit for p = 0 up to rounding: the
    // relative difference is p / 2 times a variance of logarithms of gaps, which is below 1e6.
    p = std::max(p, 1e-100);
    double below = 0.0;
    for (int64_t i = 0; i < n; i++) {
        // Subtract logarithms: the quotient of the gaps may underflow although both are positive.
        const double share = shares ? shares[i] : even, log = std::log(gaps[i]) - std::log(largest);
        below += share * std::expm1(p * log);
        sum += share * std::exp(p * log);
    }
    // If at least half of the weight is on gaps of 0, the sum is not close to 1, and its logarithm is
    // accurate.
    const double log_sum = below > -0.5 ? std::log1p(below) : std::log(sum);
    return largest * std::exp((log_sum + std::log(length)) / p);
}

// Return the mean of order q of the absolute differences of two rows (n,).
template <class T> double mean_difference(const T* a, const T* b, int64_t n, double q) {
    if (q == 2.0) {
        const double sum = std::transform_reduce(a, a + n, b, 0.0, std::plus<>(),
                                                 [](double x, double y) { return (x - y) * (x - y); });
        // If the sum is outside of these limits, squares may have overflowed or underflowed.
        if (1e-280 < sum && sum < 1e300) return std::sqrt(sum / double(n));
    }
    const double largest = largest_distance(a, b, n);
    if (largest == 0 || std::isinf(q)) return largest;
    double sum = 0.0;
    for (int64_t k = 0; k < n; k++) sum += power(std::abs(double(a[k]) - double(b[k])) / largest, q);
    return largest * std::pow(sum / double(n), 1.0 / q);
}

// Write the distances between the tables `of` (rows, levels, n) and `to` (columns, levels, n), where n is the
// number of directions, to `out` (rows, columns). If both are the same array, the distance of each pair is
// computed once. p and q are the orders of the means over levels and over directions. `length` is the ratio
// of the integral over levels to the mean over levels.
template <class T> void table_distances(const Cube<T>& of, const Cube<T>& to, double p, double q,
                                        double length, int64_t n_threads, double* out) {
    const T *rows = of.data(), *columns = to.data();
    const bool same = &of == &to;
    const int64_t n_rows = of.shape(0), n_columns = to.shape(0), levels = of.shape(1), n = of.shape(2);
    // Number of tables per block: the values of one level of two blocks fit in the L2 cache.
    constexpr int64_t size = 16;
    const int64_t across = (n_columns + size - 1) / size, down = (n_rows + size - 1) / size;
    const int64_t table = levels * n,
                  workers = worker_count(n_threads, across * down, n_rows * n_columns * table);
    PerWorker<Workspace<double>> gaps(workers);  // (size, size, levels) gaps of one block of pairs of tables
    parallel_for(workers, across * down, [&](int64_t worker, int64_t part) {
        const int64_t top = part / across * size, bottom = std::min(top + size, n_rows);
        const int64_t left = part % across * size, right = std::min(left + size, n_columns);
        if (same && left < top) return;
        double* own = gaps.of(worker, [&] { return Workspace<double>(size * size * levels); }).data();
        auto gap = [&](int64_t i, int64_t j) { return own + ((i - top) * size + j - left) * levels; };
        for (int64_t level = 0; level < levels; level++)
            for (int64_t j = left; j < right; j++) {
                const T *some = rows + level * n, *other = columns + j * table + level * n;
                int64_t i = top;
                // Process four tables of `of` at once, so that the values of the table of `to` are loaded
                // once for all four.
                for (T found[4]; std::isinf(q) && i + 4 <= bottom; i += 4) {
                    largest_distances(some + i * table, table, other, n, found);
                    for (int h = 0; h < 4; h++) gap(i + h, j)[level] = found[h];
                }
                for (; i < bottom; i++) gap(i, j)[level] = mean_difference(some + i * table, other, n, q);
            }
        for (int64_t i = top; i < bottom; i++)
            for (int64_t j = left; j < right; j++) {
                const double distance = power_mean(gap(i, j), nullptr, levels, p, length);
                out[i * n_columns + j] = distance;
                if (same) out[j * n_columns + i] = distance;
            }
    });
}

}  // namespace isodepth
