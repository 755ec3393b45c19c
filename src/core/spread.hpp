// Outlyingness: the largest |<u, x> - median| / MAD over directions u.
#pragma once

#include "direction_pass.hpp"
#include "select.hpp"

namespace isodepth {

// What counts as zero along a direction: a deviation of at most a share of the sizes of two rows, its own and
// a typical one, is rounding.
template <class T> struct Rounding {
    T share, typical;

    Rounding(int64_t d, T typical) : share(std::numeric_limits<T>::epsilon() * T(8 * d)), typical(typical) {}
    T of_mad() const { return share * typical; }
    bool covers(T deviation, T size) const { return deviation <= share * (size + typical); }
};

// Where half of the sample coincides along a direction: the median of the deviations that are not rounding, 0
// where there are none; `covers(i, deviation)` says which are.
template <class T, class Covers> T scale_without_mad(const Numbers<T>& of, T center, Covers covers) {
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
    return median(Numbers<T>(deviations.data(), n, of.weights ? weights.data() : nullptr, total),
                  SelectWorkspace<T>(n, of.weights));
}

// Median and scale of a sample along a direction; the scale is the MAD unless half of the sample coincides.
template <class T> struct Spread {
    const Rounding<T>& rounding;
    T median, scale;
    bool half_equal;

    Spread(MedianAndMad<T> found, const Rounding<T>& rounding)
        : rounding(rounding),
          median(found.median),
          scale(found.mad),
          half_equal(!(found.mad > rounding.of_mad())) {}

    // With the scale that half of the sample needs, from the projections of all rows.
    Spread(MedianAndMad<T> found, const Rounding<T>& rounding, const Tiles<T>& rows, const Numbers<T>& along)
        : Spread(found, rounding) {
        auto covers = [&](int64_t i, T deviation) { return rounding.covers(deviation, rows.largest(i)); };
        if (half_equal) scale = scale_without_mad(along, median, covers);
    }

    // Raise `out` (n,) to the outlyingness of rows with projections `along` (n,), and where it is raised set
    // `where`, unless null, to `direction`. Where half of the sample is on the median, rows on it are not
    // outlying; where all of it is, and the scale is 0, any other is infinitely so.
    void raise(const Tiles<T>& rows, const T* along, T* out, int64_t* where = nullptr,
               int64_t direction = 0) const {
        const T inverse = T(1) / scale;
        const Vec<T> centers = broadcast(median), inverses = broadcast(inverse);
        int64_t i = 0;
        for (; !half_equal && !where && i + lanes<T> <= rows.n; i += lanes<T>)
            for (int64_t j = i; j < i + lanes<T>; j += width<T>)
                store(out + j, maximum<T>(load(out + j), distance<T>(load(along + j), centers) * inverses));
        for (; i < rows.n; i++) {
            const T deviation = std::fabs(along[i] - median);
            T found = deviation * inverse;
            if (half_equal) found = rounding.covers(deviation, rows.largest(i)) ? T(0) : deviation / scale;
            if (where && found > out[i]) where[i] = direction;
            out[i] = std::max(out[i], found);
        }
    }
};

// The median over some evenly spaced rows of their largest absolute values.
template <class T> T typical_size(const Tiles<T>& points) {
    constexpr int64_t most = 1023;
    const int64_t step = (points.n + most - 1) / most;
    std::vector<T> sizes;
    for (int64_t i = 0; i < points.n; i += step) sizes.push_back(points.largest(i));
    std::nth_element(sizes.begin(), sizes.begin() + sizes.size() / 2, sizes.end());
    return sizes[sizes.size() / 2];
}

// Where median and MAD along a direction are likely to be: the projection of the medians of the columns, and
// a multiple of the standard deviation, learned from the directions before. Half as many rounds of counting
// as from a few probes; wrong guesses cost time and change nothing.
template <class T> class SpreadModel {
  public:
    explicit SpreadModel(const Tiles<T>& points)
        : d_(points.d), center_(size_t(d_)), scatter_(size_t(d_ * d_)) {
        constexpr int64_t most = 1024;
        const int64_t n = points.n, step = (n + most - 1) / most, some = (n + step - 1) / step;
        const Workspace<T> columns(d_ * some);
        const SelectWorkspace<T> workspace(some, false);
        for (int64_t i = 0; i < some; i++) points.read(i * step, columns.data() + i, some);
        for (int64_t k = 0; k < d_; k++) {
            T* column = columns.data() + k * some;
            const auto [median, mad] = median_and_mad(Numbers<T>(column, some), workspace);
            center_[size_t(k)] = median;
            // Far points say nothing about the middle.
            for (int64_t i = 0; i < some; i++) column[i] = std::clamp(column[i] - median, -4 * mad, 4 * mad);
            for (int64_t l = 0; l <= k; l++) {
                const T sum = std::inner_product(column, column + some, columns.data() + l * some, T(0));
                scatter_[size_t(k * d_ + l)] = sum / T(some) * (k == l ? T(1) : T(2));
            }
        }
    }

    // The guesses of median and MAD along a direction; no spread where nothing can be said.
    std::pair<Guess<T>, Guess<T>> guess(const T* direction) {
        constexpr T margin = T(0.02);
        T middle = 0, variance = 0;
        for (int64_t k = 0; k < d_; k++) {
            const T* row = scatter_.data() + k * d_;
            middle += center_[size_t(k)] * direction[k];
            variance += std::inner_product(row, row + k + 1, direction, T(0)) * direction[k];
        }
        standard_ = std::sqrt(std::max(variance, T(0)));
        return {{middle, T(1.35) * standard_, margin}, {ratio_ * standard_, T(0.84) * standard_, margin}};
    }
    // Learn from what was found.
    void learn(T mad) {
        if (standard_ > 0) ratio_ += T(0.1) * (std::min(mad / standard_, T(2)) - ratio_);
    }

  private:
    int64_t d_;
    std::vector<T> center_, scatter_;
    T standard_ = 0, ratio_ = T(0.67);
};

// Sort every column of `rows` (n, lanes) in place, by Batcher's odd-even merging network: it makes the same
// comparisons whatever the data are.
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

// A few points: the same steps for as many directions at a time as a tile has lanes.
template <class T>
void outlyingness_of_few(const DirectionPass<T>& pass, const Rounding<T>& rounding, T* out) {
    const int64_t n = pass.task.n, d = pass.task.d, half = (n + 1) / 2;
    constexpr T inf = std::numeric_limits<T>::infinity();
    const Tiles<T> tiles({pass.task.directions, pass.task.count, d}, 1);
    const Workspace<T> rows(n * d), along(n * lanes<T>), sorted(2 * half * lanes<T>, inf), column(n);
    const Workspace<T> best(n * lanes<T>, T(0));
    for (int64_t i = 0; i < n; i++) pass.points.read(i, rows.data() + i * d, 1);
    std::fill_n(out, n, T(0));
    auto mean = [](Vec<T> a, Vec<T> b) { return a == b ? a : T(0.5) * a + T(0.5) * b; };
    for (int64_t tile = 0; tile < tiles.count; tile++) {
        project_rows(tiles.tile(tile), rows.data(), n, d, along.data());
        std::copy_n(along.data(), n * lanes<T>, sorted.data());
        sort_columns(sorted.data(), n);
        for (int j = 0; j < lanes<T>; j += width<T>) {
            auto row = [&](int64_t i) { return load(sorted.data() + i * lanes<T> + j); };
            const Vec<T> middle = mean(row((n - 1) / 2), row(n / 2));
            // Deviations of rising numbers fall and rise again. Of such a list, the smaller ones of all pairs
            // half of it apart are its smaller half.
            Vec<T> low = {}, high = broadcast(inf);
            for (int64_t i = 0; i < half; i++) {
                const Vec<T> a = distance<T>(row(i), middle), b = distance<T>(row(i + half), middle);
                low = maximum<T>(low, minimum<T>(a, b));
                high = minimum<T>(high, maximum<T>(a, b));
            }
            const Vec<T> mad = n % 2 ? low : mean(low, high);
            Vec<T> inverse = T(1) / mad;
            for (int k = 0; k < width<T>; k++) {
                if (mad[k] > rounding.of_mad()) continue;
                inverse[k] = 0;  // the lane is left to this:
                for (int64_t i = 0; i < n; i++) column[i] = along[i * lanes<T> + j + k];
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

// The largest outlyingness of each target to `out` (m,), and the first direction that gave it to `where`
// unless null.
template <class T> void largest_outlyingness(const DirectionTask<T>& task, T* out, int64_t* where) {
    const int64_t n = task.n, m = task.m;
    const DirectionPass<T> pass(task);
    const Rounding<T> rounding(task.d, typical_size(pass.points));
    if (task.few() && !where) return outlyingness_of_few(pass, rounding, out);
    struct State {
        Best<T> best;
        SelectWorkspace<T> workspace;
        SpreadModel<T> model;
    };
    const SpreadModel<T> model(pass.points);
    auto make = [&] {
        return std::make_unique<State>(
            State{Best<T>(m, T(0), where), SelectWorkspace<T>(n, task.weights), model});
    };
    const double held =
        double(m) * (sizeof(T) + (where ? 8 : 0)) + SelectWorkspace<T>::bytes(n, task.weights);
    const auto states = pass.run(held, make, [&](State& state, int64_t direction, T* along, T* asked) {
        const auto [center, deviation] = state.model.guess(task.directions + direction * task.d);
        const Numbers<T> numbers(along, n, task.weights, task.total);
        const auto found = median_and_mad(numbers, state.workspace, center, deviation);
        state.model.learn(found.mad);
        const Spread<T> spread(found, rounding, pass.points, numbers);
        spread.raise(pass.targets(), asked, state.best.values.data(),
                     where ? state.best.where.data() : nullptr, direction);
    });
    merge_best(states, m, task.resources.n_threads, std::greater<T>(), out, where);
}

}  // namespace isodepth
