// Refinement of the gaps between nested regions: the largest differences of support functions along given
// directions are raised by local ascent and by a search of vertices.
#pragma once

#include "gaps.hpp"
#include "hull.hpp"

namespace isodepth {

// Options of the refinement. `n_ascents` is the maximum number of ascents; 0 for a search of vertices only.
// Ascents and searches end at the relative tolerance `slack`. The search reads at most about `limit`
// coordinates of points; 0 for no search.
struct RefineOptions {
    int64_t n_ascents, steps;
    double slack, limit;
};

// Rows of both samples for the search of vertices, with a common origin and scale: original lengths are
// lengths of these rows times 2**exponent.
struct SearchedPoints {
    Rows<double> x{}, y{};
    int exponent = 0;
    std::vector<double> values[2]{};  // memory of x and y, unless the caller owns it
};

// Return the rows of both samples with the first row of the first sample as origin. The unit of length is a
// power of two, so that squares of lengths neither overflow nor underflow.
template <class T> SearchedPoints scaled_points(const Prefixes<T> (&samples)[2]) {
    SearchedPoints points;
    const int64_t d = samples[0].d;
    double largest = 0.0;
    for (const auto& sample : samples)
        for (int64_t i = 0; i < sample.last() * d; i++)
            largest = std::max(largest, std::fabs(double(sample.rows[i])));
    std::frexp(largest, &points.exponent);
    // The limit keeps the scale finite. Subnormal numbers are then scaled to at least 2**-52.
    points.exponent = std::max(points.exponent, -1022);
    const double scale = std::ldexp(1.0, -points.exponent);
    for (int side = 0; side < 2; side++) {
        auto& values = points.values[side];
        values.assign(samples[side].rows, samples[side].rows + samples[side].last() * d);
        // Zero minus a number is not -0.0, and neither are the sums. So equal rows have equal bits.
        for (int64_t i = 0; i < int64_t(values.size()); i++)
            values[size_t(i)] = values[size_t(i)] * scale + (0.0 - samples[0].rows[i % d] * scale);
    }
    points.x = {points.values[0].data(), samples[0].last(), d};
    points.y = {points.values[1].data(), samples[1].last(), d};
    return points;
}

struct RefinedGaps {
    std::vector<double> gaps;  // (L,)
    // (L,) maximizing vectors: k for vector k, -1 - k for its opposite. Vectors are numbered in this order:
    // the given directions, `ascended`, `searched`.
    std::vector<int64_t> codes;
    std::vector<double> ascended;  // (J, d) unit vectors found by ascent
    std::vector<double> searched;  // (R, r) unit vectors found by the search, in coordinates of its points
};

// Return the indices of at most eight levels at which the ascent starts. These are all levels if there are at
// most eight. Otherwise they are up to seven levels that are evenly spaced by cumulative weight, and the
// level with the maximum of the `gaps` (L,). `shares` (L,) are the weights of the levels.
inline std::vector<int64_t> chosen_levels(std::span<const double> shares, const double* gaps) {
    constexpr int64_t most = 8;
    const int64_t levels = int64_t(shares.size());
    std::vector<int64_t> chosen(size_t(std::min(levels, most)));
    std::iota(chosen.begin(), chosen.end(), 0);
    if (levels <= most) return chosen;
    chosen.back() = std::max_element(gaps, gaps + levels) - gaps;
    // A level occupies an interval of cumulative weight. The chosen level is the first level whose midpoint
    // is at least `wanted`.
    double end = shares[0];
    for (int64_t i = 0, level = 0; i < most - 1; i++) {
        const double wanted = (double(i) + 0.5) / double(most - 1);
        while (level < levels - 1 && end - 0.5 * shares[size_t(level)] < wanted)
            end += shares[size_t(++level)];
        chosen[size_t(i)] = level;
    }
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    return chosen;
}

// Return starting directions (C, d) of the ascent: those that attain the gaps of the chosen levels, and at
// most 32 of all directions that attain the gap of a level. `codes` (L,) are the codes of the latter.
template <class T> std::vector<double> starting_directions(Rows<T> directions, std::span<const int64_t> codes,
                                                           const std::vector<int64_t>& chosen) {
    constexpr size_t most = 32;
    std::vector<char> attained(size_t(2 * directions.n));
    for (const int64_t code : codes) attained[size_t(code + directions.n)] = 1;
    std::vector<int64_t> best, maximizers;
    for (const int64_t level : chosen) best.push_back(codes[size_t(level)]);
    for (int64_t code = -directions.n; code < directions.n; code++)
        if (attained[size_t(code + directions.n)]) maximizers.push_back(code);
    for (size_t i = 0, step = (maximizers.size() + most - 1) / most; i < maximizers.size(); i += step)
        best.push_back(maximizers[i]);
    std::vector<double> starts;
    for (const int64_t code : best) {
        const T* vector = directions[code >= 0 ? code : -1 - code];
        for (int64_t k = 0; k < directions.d; k++) starts.push_back(code >= 0 ? vector[k] : -vector[k]);
    }
    return starts;
}

// Return directions (J, d) found by local ascent from the best directions at a few levels.
template <class T> std::vector<double> ascended_directions(const Prefixes<T> (&samples)[2],
                                                           std::span<const double> shares, Rows<T> directions,
                                                           const RefinedGaps& found,
                                                           const RefineOptions& options, int64_t n_threads) {
    const std::vector<int64_t> chosen = chosen_levels(shares, found.gaps.data());
    const auto starts = starting_directions(directions, found.codes, chosen);
    // Only the rows of the regions of the chosen levels are needed, which saves memory.
    std::vector<int64_t> stops[2];
    std::vector<double> copies[2];
    Rows<double> rows[2];
    for (int side = 0; side < 2; side++) {
        for (const int64_t level : chosen) stops[side].push_back(samples[side].sizes[level]);
        const int64_t n = stops[side].back(), d = directions.d;
        if constexpr (sizeof(T) == sizeof(double))
            rows[side] = check_size({samples[side].rows, n, d}, n_threads);
        else {
            copies[side].assign(samples[side].rows, samples[side].rows + n * d);
            rows[side] = {copies[side].data(), n, d};
        }
    }
    const GrowingHull hulls[2] = {{{rows[0], n_threads}, stops[0].data()},
                                  {{rows[1], n_threads}, stops[1].data()}};
    return ascend(hulls, chosen.size(), starts, options.n_ascents, options.steps, options.slack, n_threads);
}

// Compute the gap of each level: the maximum along `directions`, raised by ascents and, if `options.limit`
// is positive, by a search of vertices in the coordinates of `points`. `centered` are the samples minus a
// common center.
template <class T> RefinedGaps refine_gaps(const Prefixes<T> (&samples)[2], const Prefixes<T> (&centered)[2],
                                           std::span<const double> shares, Rows<T> directions,
                                           const SearchedPoints& points, const RefineOptions& options,
                                           Resources resources) {
    const size_t levels = shares.size();
    const int64_t d = directions.d, n_threads = resources.n_threads;
    RefinedGaps found{std::vector<double>(levels), std::vector<int64_t>(levels), {}, {}};
    auto along = [&](Rows<T> vectors, std::vector<double>& gaps, std::vector<int64_t>& codes, int64_t worth) {
        level_gaps<T>(centered, Tiles<T>(vectors, n_threads), infinity<double>, resources, gaps.data(),
                      codes.data(), worth);
    };
    along(directions, found.gaps, found.codes, worth_a_helper);
    int64_t count = directions.n;
    if (options.n_ascents > 0) {
        found.ascended = ascended_directions(samples, shares, directions, found, options, n_threads);
        const std::vector<T> vectors(found.ascended.begin(), found.ascended.end());
        std::vector<double> gaps(levels);
        std::vector<int64_t> codes(levels);
        along({vectors.data(), int64_t(vectors.size()) / d, d}, gaps, codes, worth_an_awake_helper);
        for (size_t level = 0; level < levels; level++)
            if (gaps[level] > found.gaps[level]) {
                found.gaps[level] = gaps[level];
                found.codes[level] = codes[level] >= 0 ? codes[level] + count : codes[level] - count;
            }
        count += int64_t(vectors.size()) / d;
    }
    if (options.limit == 0) return found;
    GrowingHull hulls[2] = {{{points.x, n_threads}, samples[0].sizes},
                            {{points.y, n_threads}, samples[1].sizes}};
    std::vector<double> attained;
    for (const double gap : found.gaps) attained.push_back(std::ldexp(gap, -points.exponent));
    const LevelBounds bounds = bound_levels(hulls, attained, options.slack, options.limit, n_threads);
    for (size_t level = 0; level < levels; level++)
        if (bounds.sides[level] >= 0) {
            const double raised = std::ldexp(bounds.lower[level], points.exponent);
            found.gaps[level] = std::max(found.gaps[level], raised);
            found.codes[level] = count++;
            const double* vector = bounds.directions.data() + level * size_t(points.x.d);
            // Adding zero turns -0.0 into 0.0.
            for (int64_t k = 0; k < points.x.d; k++) found.searched.push_back(vector[k] + 0.0);
        }
    return found;
}

}  // namespace isodepth
