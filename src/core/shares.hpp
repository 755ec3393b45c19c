// Differences between the two samples of many labelings, of shares of rows and of mean ranks.
#pragma once

#include "labels.hpp"

namespace isodepth {

// Return cut points of increasing values (n,). A cut point is given by the number of values below it, and
// does not separate equal values. If there are more than `most` cut points, about equally spaced ones are
// kept.
inline std::vector<int64_t> find_cuts(const double* keys, int64_t n, int64_t most) {
    std::vector<int64_t> all, kept;
    for (int64_t i = 1; i < n; i++)
        if (keys[i] > keys[i - 1]) all.push_back(i);
    if (int64_t(all.size()) <= most) return all;
    for (int64_t cut = 1, at = 0; cut <= most; cut++) {
        while (at + 1 < int64_t(all.size()) && all[at] * (most + 1) < cut * n) at++;
        if (kept.empty() || kept.back() < all[at]) kept.push_back(all[at]);
    }
    return kept;
}

// Cells of increasing values, and a score in [-1/2, 1/2] of each cell. The cells are separated by cut points.
struct Cells {
    std::vector<int64_t> ends;   // cut points
    std::vector<double> scores;  // one more than cut points

    // `clip` are two ranks between 0 and 1, and `limits` are two values. The score of a cell is its mean
    // rank, clipped and then scaled. Values outside the limits are far. They have cells of their own, with
    // score 0.
    Cells(const double* keys, int64_t n, int64_t most, const double* clip, const double* limits)
        : ends(find_cuts(keys, n, most)) {
        const int64_t low = std::lower_bound(keys, keys + n, limits[0]) - keys;
        const int64_t high = std::upper_bound(keys, keys + n, limits[1]) - keys;
        for (const int64_t cut : {low, high}) {
            const auto at = std::lower_bound(ends.begin(), ends.end(), cut);
            if (0 < cut && cut < n && (at == ends.end() || *at != cut)) ends.insert(at, cut);
        }
        auto rank = [&](int64_t start, int64_t end) {
            return std::clamp(double(start + end) / double(2 * n), clip[0], clip[1]);
        };
        const double first = rank(0, ends.empty() ? n : ends[0]);
        const double range = rank(ends.empty() ? 0 : ends.back(), n) - first;
        for (size_t cell = 0; cell <= ends.size(); cell++) {
            const int64_t start = cell ? ends[cell - 1] : 0, end = cell < ends.size() ? ends[cell] : n;
            const bool is_far = end <= low || start >= high;
            scores.push_back(is_far || !(range > 0) ? 0.0 : (rank(start, end) - first) / range - 0.5);
        }
    }
};

// Differences between two samples of one function, for many labelings.
struct ShareDifferences {
    double *half_lines, *intervals, *ranks;  // (functions, count)
};

// Compare the two samples of each labeling by functions of a row. `values` (functions, n) has one value per
// function and row. Write the maximum difference of the fractions of rows in a half-line, the maximum over
// intervals, and the absolute difference of the mean scores of cells. At most `cuts` end points are used per
// function, and two for far values. `limits` (functions, 2) has the limits of far values, see `Cells`.
inline void share_differences(Rows<double> values, Labels labels, int64_t cuts, const double* clip,
                              Rows<double> limits, int64_t n_threads, ShareDifferences out) {
    const int64_t n = labels.n, workers = worker_count(n_threads, values.n, n * values.n * labels.count);
    parallel_checked(workers, values.n, [&](int64_t, int64_t function, Check& check) {
        Sorter<double> sorter(n);
        sorter.sort(values[function], n);
        const Cells cells(sorter.keys.data(), n, cuts, clip, limits[function]);
        labels.in_order(sorter.index, [&](int64_t first, int64_t last, auto words) {
            check();
            int32_t size[word_bits] = {}, in_x[word_bits] = {};
            double top[word_bits] = {}, low[word_bits] = {}, mean[word_bits] = {};
            count_bits(words, n, size);
            for (size_t cell = 0, start = 0; cell < cells.ends.size(); cell++) {
                const int64_t end = cells.ends[cell];
                const double step = cells.scores[cell + 1] - cells.scores[cell];
                count_bits(words + start, end - int64_t(start), in_x);
                start = size_t(end);
                for (int64_t b = 0; b < last - first; b++) {
                    const double gap =
                        double(in_x[b]) / double(size[b]) - double(end - in_x[b]) / double(n - size[b]);
                    top[b] = std::max(top[b], gap);
                    low[b] = std::min(low[b], gap);
                    mean[b] += step * gap;
                }
            }
            for (int64_t b = 0; b < last - first; b++) {
                const int64_t at = function * labels.count + first + b;
                out.half_lines[at] = std::max(top[b], -low[b]);
                out.intervals[at] = top[b] - low[b];
                out.ranks[at] = std::fabs(mean[b]);
            }
        });
    });
}

}  // namespace isodepth
