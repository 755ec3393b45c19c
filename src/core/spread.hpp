// Outlyingness of a point x: the maximum of |<u, x> - median| / MAD over directions u.
#pragma once

#include "direction_pass.hpp"
#include "select.hpp"

namespace isodepth {

// Rule that decides whether a deviation from the median along a direction counts as zero because of rounding.
// The limit is `share` times the sum of the sizes of the row and of a typical row. The size of a row is the
// sum over columns k of |row[k] * direction[k]|. So a large column has no influence on directions that do not
// use it.
template <class T> struct Rounding {
    T share, typical;
    const T* direction;  // (d,), owned by the caller

    T of_mad() const { return share * typical; }
    bool covers(T deviation, T size) const { return deviation <= share * (size + typical); }
    bool covers(T deviation, const Tiles<T>& rows, int64_t i) const {
        return covers(deviation, rows.size_along(i, direction));
    }
};

// Typical absolute value (d,) of each column: the median over a few evenly spaced rows.
template <class T> struct TypicalSizes {
    std::vector<T> of;
    T share;

    explicit TypicalSizes(std::vector<T> sizes)
        : of(std::move(sizes)), share(T(8) * std::numeric_limits<T>::epsilon() * std::sqrt(T(of.size()))) {}
    explicit TypicalSizes(const Tiles<T>& points) : TypicalSizes(medians(points)) {}

    Rounding<T> along(const T* direction) const {
        T typical = 0;
        for (size_t k = 0; k < of.size(); k++) typical += std::fabs(direction[k]) * of[k];
        return {share, typical, direction};
    }

  private:
    static std::vector<T> medians(const Tiles<T>& points) {
        constexpr int64_t most = 255;
        const int64_t step = (points.n + most - 1) / most;
        std::vector<T> sizes, column;
        for (int64_t k = 0; k < points.d; k++, column.clear()) {
            for (int64_t i = 0; i < points.n; i += step) column.push_back(std::fabs(points.at(i, k)));
            const auto middle = column.begin() + column.size() / 2;
            std::nth_element(column.begin(), middle, column.end());
            sizes.push_back(*middle);
        }
        return sizes;
    }
};

// Return the scale of a sample whose MAD along a direction is 0, because at least half of the projections are
// equal. The scale is the median of the deviations that are not rounding errors, or 0 if there are none.
// `covers(i, deviation)` returns whether the deviation of row i is a rounding error.
template <class T> T scale_without_mad(const Numbers<T>& of, T center, auto covers) {
    std::vector<T> deviations;
    std::vector<int64_t> weights;
    for (int64_t i = 0; i < of.n; i++) {
        const T deviation = std::fabs(of.values[i] - center);
        if (covers(i, deviation)) continue;
        deviations.push_back(deviation);
        if (of.weights) weights.push_back(of.weights[i]);
    }
    if (deviations.empty()) return 0;
    const int64_t n = int64_t(deviations.size());
    const int64_t total = std::accumulate(weights.begin(), weights.end(), int64_t(0));
    SelectWorkspace<T> workspace(n, of.weights);
    return median(Numbers<T>(deviations.data(), n, of.weights ? weights.data() : nullptr, total), workspace);
}

// Median and scale of a sample along a direction. The scale is the MAD, unless at least half of the
// projections are equal up to rounding.
template <class T> struct Spread {
    Rounding<T> rounding;
    T median, scale;
    bool half_equal = !(scale > rounding.of_mad());

    Spread(MedianAndMad<T> found, const Rounding<T>& rounding)
        : rounding(rounding), median(found.median), scale(found.mad) {}

    Spread(MedianAndMad<T> found, const Rounding<T>& rounding, const Tiles<T>& rows, const Numbers<T>& along)
        : Spread(found, rounding) {
        auto covers = [&](int64_t i, T deviation) { return rounding.covers(deviation, rows, i); };
        if (half_equal) scale = scale_without_mad(along, median, covers);
    }

    // Set `out` (n,) to the maximum of `out` and the outlyingness of rows with projections `along` (n,). If
    // at least half of the sample equals the median up to rounding, rows that equal the median have
    // outlyingness 0. If the scale is also 0, all other rows have infinite outlyingness.
    void raise(const Tiles<T>& rows, const T* along, T* out) const {
        const T inverse = T(1) / scale;
        const bool usable = !half_equal && std::isfinite(inverse);
        const Vec<T> centers = broadcast(median), inverses = broadcast(inverse);
        int64_t i = 0;
        for (; usable && i + lanes<T> <= rows.n; i += lanes<T>)
            for (int64_t j = i; j < i + lanes<T>; j += width<T>)
                store(out + j, maximum<T>(load(out + j), distance<T>(load(along + j), centers) * inverses));
        for (; i < rows.n; i++) {
            const T deviation = std::fabs(along[i] - median);
            T found = usable ? deviation * inverse : deviation / scale;
            if (half_equal && rounding.covers(deviation, rows, i)) found = 0;
            out[i] = std::max(out[i], found);
        }
    }
};

// Return the inner product of a (n,) and b (n,). The order of the terms depends on the instruction set.
template <class T> T fast_product(const T* a, const T* b, int64_t n) {
    constexpr int64_t each = 4 * width<T>;
    Vec<T> sums[4] = {};
    int64_t i = 0;
    for (; i + each <= n; i += each)
        for (int j = 0; j < 4; j++)
            sums[j] = multiply_add<T>(load(a + i + j * width<T>), load(b + i + j * width<T>), sums[j]);
    for (; i + width<T> <= n; i += width<T>) sums[0] = multiply_add<T>(load(a + i), load(b + i), sums[0]);
    sums[0] += sums[1] + (sums[2] + sums[3]);
    T sum = std::inner_product(a + i, a + n, b + i, T(0));
    for (int k = 0; k < width<T>; k++) sum += sums[0][k];
    return sum;
}

// Model that guesses the median and the MAD along a direction. The median is the projection of the medians of
// the columns. The MAD is a multiple of the standard deviation, and the factor is learned from previous
// directions. Guesses halve the number of counting rounds in the selection of the median and the MAD. They do
// not affect the result. There are no guesses if they would take longer than these rounds.
template <class T> class SpreadModel {
  public:
    explicit SpreadModel(const Tiles<T>& points)
        : d_(points.d), center_(size_t(d_)), scatter_(size_t(points.n < d_ * d_ / 6 ? 0 : d_ * d_)) {
        if (scatter_.empty()) return;
        constexpr int64_t most = 1024;
        const int64_t n = points.n, step = (n + most - 1) / most, some = (n + step - 1) / step;
        Workspace<T> columns(d_ * some);
        SelectWorkspace<T> workspace(some, false);
        for (int64_t k = 0; k < d_; k++) {
            T* column = columns.data() + k * some;
            for (int64_t i = 0; i < some; i++) column[i] = points.at(i * step, k);
            const auto [median, mad] = median_and_mad(Numbers<T>(column, some), workspace);
            center_[size_t(k)] = median;
            for (int64_t i = 0; i < some; i++) column[i] = std::clamp(column[i] - median, -4 * mad, 4 * mad);
            for (int64_t l = 0; l <= k; l++) {
                const T sum = fast_product(column, columns.data() + l * some, some);
                scatter_[size_t(k * d_ + l)] = sum / T(some) * (k == l ? T(1) : T(2));
            }
        }
    }

    // Return guesses of the median and the MAD along a direction. The field `spread` of both is 0 if the
    // spread cannot be estimated.
    std::pair<Guess<T>, Guess<T>> guess(const T* direction) {
        constexpr T margin = T(0.02);
        if (scatter_.empty()) return {};
        const T middle = fast_product(center_.data(), direction, d_);
        T variance = 0;
        for (int64_t k = 0; k < d_; k++)
            variance += fast_product(scatter_.data() + k * d_, direction, k + 1) * direction[k];
        standard_ = std::sqrt(std::max(variance, T(0)));
        return {{middle, T(1.35) * standard_, margin}, {ratio_ * standard_, T(0.84) * standard_, margin}};
    }
    // Update the ratio of MAD to standard deviation by the MAD along the direction of the last guess.
    void learn(T mad) {
        if (standard_ > 0) ratio_ += T(0.1) * (std::min(mad / standard_, T(2)) - ratio_);
    }

  private:
    int64_t d_;
    std::vector<T> center_, scatter_;
    T standard_ = 0, ratio_ = T(0.67);
};

// Sort every column of `rows` (n, lanes) in place. Batcher's odd-even merging network is used, because its
// comparisons do not depend on the data, so that SIMD sorts all columns at once.
template <class T> void sort_columns(T* rows, int64_t n) {
    for (int64_t size = 1; size < n; size *= 2)
        for (int64_t gap = size; gap >= 1; gap /= 2)
            for (int64_t start = gap % size; start < n - gap; start += 2 * gap)
                for (int64_t i = start; i < std::min(start + gap, n - gap); i++) {
                    if (i / (2 * size) != (i + gap) / (2 * size)) continue;
                    T *upper = rows + i * lanes<T>, *lower = rows + (i + gap) * lanes<T>;
                    for (int j = 0; j < lanes<T>; j += width<T>) {
                        const Vec<T> a = load(upper + j), b = load(lower + j);
                        store(upper + j, minimum<T>(a, b));
                        store(lower + j, maximum<T>(a, b));
                    }
                }
}

// Write to `out` (n,) the maximum outlyingness over directions for the points of a small sample. SIMD
// processes several directions at once.
template <class T>
void outlyingness_of_few(const DirectionPass<T>& pass, const TypicalSizes<T>& typical, T* out) {
    const int64_t n = pass.task.n, d = pass.task.d, half = (n + 1) / 2;
    const Tiles<T> tiles({pass.task.directions, pass.task.count, d}, 1);
    Workspace<T> rows(n * d), along(n * lanes<T>), sorted(2 * half * lanes<T>, infinity<T>), column(n);
    Workspace<T> best(n * lanes<T>, T(0));
    for (int64_t i = 0; i < n * d; i++) rows[i] = pass.points.at(i / d, i % d);
    std::fill_n(out, n, T(0));
    auto mean = [](Vec<T> a, Vec<T> b) { return a == b ? a : T(0.5) * a + T(0.5) * b; };
    for (int64_t tile = 0; tile < tiles.count; tile++) {
        project_rows(tiles.tile(tile), rows.data(), n, d, along.data());
        std::copy_n(along.data(), n * lanes<T>, sorted.data());
        sort_columns(sorted.data(), n);
        for (int j = 0; j < lanes<T>; j += width<T>) {
            auto row = [&](int64_t i) { return load(sorted.data() + i * lanes<T> + j); };
            const Vec<T> middle = mean(row((n - 1) / 2), row(n / 2));
            // The deviations |x - median| of increasing values x decrease, then increase. In such a sequence,
            // the smaller values of all pairs (i, i + half) are the smaller half of the values. So the MAD
            // needs no second sort.
            Vec<T> low = {}, high = broadcast(infinity<T>);
            for (int64_t i = 0; i < half; i++) {
                const Vec<T> a = distance<T>(row(i), middle), b = distance<T>(row(i + half), middle);
                low = maximum<T>(low, minimum<T>(a, b));
                high = minimum<T>(high, maximum<T>(a, b));
            }
            const Vec<T> mad = n % 2 ? low : mean(low, high);
            Vec<T> inverse = T(1) / mad, size = {};
            for (int64_t k = 0; k < d; k++)
                size += absolute<T>(load(tiles.tile(tile) + k * lanes<T> + j)) * typical.of[size_t(k)];
            for (int k = 0; k < width<T>; k++) {
                if (mad[k] > typical.share * size[k] && std::isfinite(inverse[k])) continue;
                inverse[k] = 0;  // the SIMD update below skips this lane, whose MAD is about 0
                for (int64_t i = 0; i < n; i++) column[i] = along[i * lanes<T> + j + k];
                const int64_t direction = std::min(tiles.start(tile) + j + k, pass.task.count - 1);
                const auto rounding = typical.along(pass.task.directions + direction * d);
                const Spread<T> spread({middle[k], mad[k]}, rounding, pass.points, {column.data(), n});
                spread.raise(pass.points, column.data(), out);
            }
            for (int64_t i = 0; i < n; i++) {
                T* known = best.data() + i * lanes<T> + j;
                const Vec<T> found = distance<T>(load(along.data() + i * lanes<T> + j), middle) * inverse;
                store(known, maximum<T>(load(known), found));
            }
        }
    }
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < lanes<T>; k++) out[i] = std::max(out[i], best[i * lanes<T> + k]);
}

// For each target (a query, or a point without queries), write the maximum outlyingness over
// directions to `out` (m,).
template <class T> void largest_outlyingness(const DirectionTask<T>& given, T* out) {
    DirectionTask<T> task = given;
    const int64_t n = task.n, m = task.m;
    const Rows<T> rows{task.points, n, task.d};
    Frame<T> frame(rows, task.resources.n_threads);
    const std::vector<int> exponents = frame.scale_columns(rows);
    if (!exponents.empty()) scale_directions(task, exponents);
    const DirectionPass<T> pass(task, frame);
    const TypicalSizes<T> typical(pass.points);
    if (task.few()) return outlyingness_of_few(pass, typical, out);
    struct State {
        Workspace<T> values;  // maximum outlyingness of each target so far
        SelectWorkspace<T> workspace;
        SpreadModel<T> model;
    };
    const SpreadModel<T> model(pass.points);
    auto make = [&] { return State{Workspace<T>(m, 0), SelectWorkspace<T>(n, task.weights), model}; };
    const auto states = pass.run(32, make, [&](State& state, int64_t direction, T* along, T* asked) {
        const T* axis = task.directions + direction * task.d;
        const auto [center, deviation] = state.model.guess(axis);
        const Numbers<T> numbers(along, n, task.weights, task.total);
        const auto found = median_and_mad(numbers, state.workspace, center, deviation);
        state.model.learn(found.mad);
        const Spread<T> spread(found, typical.along(axis), pass.points, numbers);
        spread.raise(pass.targets(), asked, state.values.data());
    });
    merge(states, m, task.resources.n_threads, out, std::ranges::max, std::identity());
}

}  // namespace isodepth
