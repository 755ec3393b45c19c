// Two-sample statistics of a pooled sample for many labelings. A labeling assigns each row to one of two
// samples, X and Y.
//
// Values are sorted once. Each labeling then needs only one pass over the sorted values.
#pragma once

#include "spread.hpp"
#include "tables.hpp"

namespace isodepth {

constexpr int64_t word_bits = 64;

// `count` labelings of n rows. Bit b of words[i, r] is 1 if row r is in sample X in labeling 64 i + b, and 0
// if it is in sample Y. `words` has shape (count / 64 rounded up, n).
struct Labels {
    const uint64_t* words;
    int64_t n, count;

    // Call `use(first, last, words)` for each group of up to 64 labelings first..last. `words` (n,) are the
    // words of the group, with the rows in the order `order`.
    void in_order(Workspace<uint32_t>& order, auto use) const {
        Workspace<uint64_t> room(n);
        for (int64_t first = 0; first < count; first += word_bits) {
            const uint64_t* from = words + first / word_bits * n;
            for (int64_t i = 0; i < n; i++) room[i] = from[order[i]];
            use(first, std::min(count, first + word_bits), room.data());
        }
    }
};

// Add to `counts` (64,) the number of words in which each bit is set. One addition counts eight bits at once,
// one in each byte of the sum. A byte cannot count more than 255 words.
inline void count_bits(const uint64_t* words, int64_t n, int32_t* counts) {
    constexpr int64_t most = 255;
    for (int64_t first = 0; first < n; first += most)
        for (int shift = 0; shift < 8; shift++) {
            uint64_t sum = 0;
            for (int64_t i = first; i < std::min(n, first + most); i++)
                sum += words[i] >> shift & 0x0101010101010101;
            for (int byte = 0; byte < 8; byte++) counts[8 * byte + shift] += sum >> 8 * byte & 0xFF;
        }
}

// Return the median and the median absolute deviation (MAD) of increasing values (n,). The half of the values
// that is nearest to the median is contiguous, and is found by bisection. Its first or last value is farthest
// from the median.
inline MedianAndMad<double> median_and_mad_of_rising(const double* values, int64_t n) {
    const double middle = mean_of<double>({values[(n - 1) / 2], values[n / 2]});
    const int64_t half = (n + 1) / 2;
    int64_t low = 0, high = n - half;
    while (low < high) {
        const int64_t i = (low + high) / 2;
        if (values[i + half] - middle < middle - values[i]) low = i + 1;
        else high = i;
    }
    auto away = [&](int64_t i) { return 0 <= i && i < n ? std::fabs(values[i] - middle) : infinity<double>; };
    const double reach = std::max(away(low), away(low + half - 1));
    return {middle, n % 2 ? reach : mean_of<double>({reach, std::min(away(low - 1), away(low + half))})};
}

// Distance between the depth-trimmed regions (DR) of the two samples of each labeling. The depth is the
// projection depth.
struct LabelDistances {
    const Rows<double> points, directions;
    const Labels labels;
    const std::span<const double> betas;  // (levels,) trimming levels in [0, 1)
    const double q, p;                    // orders of the means over directions and over levels
    const int64_t n_threads;
    // Number of directions, rounded up to a multiple of the number of doubles per cache line. Projections,
    // medians and scales of the added directions are 0.
    const int64_t stride = (directions.n + lanes<double> - 1) / lanes<double> * lanes<double>;
    Workspace<double> projections{labels.n * stride, 0.0};      // (n, stride), one row per point
    Workspace<double> centers{labels.count * 2 * stride, 0.0};  // (count, 2, stride) medians of both samples
    // Inverse scales (count, 2, stride) of both samples; 0 if the scale is 0.
    Workspace<double> scales{labels.count * 2 * stride, 0.0};

    std::vector<double> find() {
        const int64_t count = labels.count, work = labels.n * directions.n * count;
        const Tiles<double> tiles(points, n_threads);
        const TypicalSizes<double> typical(tiles);
        parallel_for(worker_count(n_threads, directions.n, work), directions.n,
                     [&](int64_t, int64_t direction) { find_centers(tiles, typical, direction); });
        std::vector<double> found(count);
        parallel_for(worker_count(n_threads, count, 2 * work), count,
                     [&](int64_t, int64_t labeling) { found[labeling] = distance_of(labeling); });
        return found;
    }

    // Compute the projections of all rows on a direction, and for all labelings the median and the inverse
    // scale of both samples. The scale is the MAD or, if the MAD is 0 up to rounding, the median of the
    // nonzero deviations.
    void find_centers(const Tiles<double>& tiles, const TypicalSizes<double>& typical, int64_t direction) {
        const int64_t n = labels.n;
        const Rounding<double> rounding = typical.along(directions[direction]);
        Workspace<double> values(n), parts(2 * n + 1);
        Sorter<double> sorter(n);
        tiles.project(directions[direction], 1, values.data());
        for (int64_t i = 0; i < n; i++) projections[i * stride + direction] = values[i];
        sorter.sort(values.data(), n);
        auto rule = [&](int64_t, double away) { return rounding.covers(away, rounding.typical); };
        labels.in_order(sorter.index, [&](int64_t first, int64_t last, auto words) {
            for (int64_t labeling = first; labeling < last; labeling++) {
                // Avoid a branch: write each value to both samples. In the sample to which the value does not
                // belong, the next value overwrites it.
                double *x = parts.data(), *y = x + n;
                int64_t in_x = 0;
                for (int64_t i = 0; i < n; i++) {
                    x[in_x] = y[i - in_x] = sorter.keys[i];
                    in_x += words[i] >> (labeling - first) & 1;
                }
                for (int part = 0; part < 2; part++) {
                    const Numbers<double> own(part ? y : x, part ? n - in_x : in_x);
                    auto [middle, scale] = median_and_mad_of_rising(own.values, own.n);
                    if (!(scale > rounding.of_mad())) scale = scale_without_mad(own, middle, rule);
                    const int64_t at = (2 * labeling + part) * stride + direction;
                    centers[at] = middle;
                    if (scale > 0) scales[at] = std::min(1 / scale, std::numeric_limits<double>::max());
                }
            }
        });
    }

    double distance_of(int64_t labeling) const {
        const int64_t levels = int64_t(betas.size()), size = 2 * stride;
        Workspace<double> supports(2 * levels * size), gaps(levels);
        const double *x = supports.data(), *y = x + levels * size;
        for (int part = 0; part < 2; part++) fit(labeling, part, supports.data() + part * levels * size);
        // The mean over `stride` directions includes the added directions, whose gaps are 0. The factor
        // removes their effect.
        const double unpadded = std::pow(double(stride) / double(directions.n), 1 / q);
        for (int64_t level = 0; level < levels; level++)
            gaps[level] = unpadded * mean_difference(x + level * size, y + level * size, size, q);
        return power_mean(gaps.data(), nullptr, levels, p, 1.0);
    }

    // For each depth level and direction, write the maximum and the minimum projection of the region of a
    // sample to `supports` (levels, 2, stride).
    void fit(int64_t labeling, int part, double* supports) const {
        const uint64_t* words = labels.words + labeling / word_bits * labels.n;
        const int64_t at = (2 * labeling + part) * stride;
        Workspace<uint32_t> members(labels.n + 1);
        Workspace<double> outlying(labels.n);
        int64_t n = 0;
        for (int64_t i = 0; i < labels.n; i++) {
            members[n] = uint32_t(i);
            n += int64_t(words[i] >> labeling % word_bits & 1) != part;
        }
        for (int64_t i = 0; i < n; i++)
            outlying[i] = outlyingness(projections.data() + members[i] * stride, centers.data() + at,
                                       scales.data() + at);
        Sorter<double> sorter(n);
        sorter.sort(outlying.data(), n);
        std::fill_n(supports, stride, -infinity<double>);
        std::fill_n(supports + stride, stride, infinity<double>);
        // Depths that differ by at most this tolerance count as tied, as in other computations of the
        // projection depth.
        constexpr double tie = 1e-12;
        int64_t stop = 0, done = 0;  // numbers of rows in the region, and in `supports` so far
        auto row = [&](int64_t i) {
            return projections.data() + members[sorter.index[std::min(i, stop - 1)]] * stride;
        };
        for (int64_t level = 0; level < int64_t(betas.size()); level++, supports += 2 * stride) {
            // Rows of equal depth, up to rounding, enter the region together.
            while (!(double(stop) / double(n) > betas[level])) {
                const double head = 1 / (1 + sorter.keys[stop++]);
                while (stop < n && head - 1 / (1 + sorter.keys[stop]) <= tie) stop++;
            }
            for (; done < stop; done += 4)
                widen(supports, {row(done), row(done + 1), row(done + 2), row(done + 3)});
            done = stop;
            if (level + 1 < int64_t(betas.size())) std::copy_n(supports, 2 * stride, supports + 2 * stride);
        }
    }

    // Extend the maximum and minimum projections by four rows at once, so that `supports` is loaded and
    // stored only once.
    void widen(double* supports, std::array<const double*, 4> rows) const {
        for (int64_t j = 0; j < stride; j += width<double>) {
            Vec<double> top = load(supports + j), low = load(supports + stride + j);
            for (const double* row : rows) {
                top = maximum<double>(top, load(row + j));
                low = minimum<double>(low, load(row + j));
            }
            store(supports + j, top);
            store(supports + stride + j, low);
        }
    }

    double outlyingness(const double* row, const double* center, const double* scale) const {
        Vec<double> largest[vectors] = {};
        for (int64_t j = 0; j < stride; j += lanes<double>)
            for (int v = 0; v < vectors; v++) {
                const int64_t at = j + v * width<double>;
                const auto away = distance<double>(load(row + at), load(center + at)) * load(scale + at);
                largest[v] = maximum<double>(largest[v], away);
            }
        for (int v = 1; v < vectors; v++) largest[0] = maximum<double>(largest[0], largest[v]);
        return largest_of<double>(largest[0]);
    }
};

}  // namespace isodepth
