// Outlyingness: the largest |<u, x> - median| / MAD over directions u.
#pragma once

#include <numeric>

#include "blocks.hpp"
#include "select.hpp"

namespace isodepth {

// What counts as zero along a direction: a deviation of at most a share of the sizes of two rows, its own and
// a typical one, is rounding.
template <class T> struct Rounding {
    T share, typical;

    Rounding(int64_t d, T typical) : share(std::numeric_limits<T>::epsilon() * T(8 * d)), typical(typical) {}
    T of_mad() const { return share * typical; }
    bool covers(T away, T size) const { return away <= share * (size + typical); }
    // Where half of the sample coincides: points on the median are not outlying; where all of the sample is
    // on it, and the scale is 0, any other is infinitely so.
    T outlyingness(T away, T scale, T size) const { return covers(away, size) ? T(0) : away / scale; }
};

// Takes the place of a MAD that is zero, where half of a sample coincides along a direction: the median of
// the `deviations` that are not rounding, with `weights` unless these are empty; 0 where there are none.
template <class T>
T scale_without_mad(const std::vector<T>& deviations, const std::vector<int64_t>& weights = {}) {
    if (deviations.empty()) return 0;
    const int64_t n = int64_t(deviations.size()), *own = weights.empty() ? nullptr : weights.data();
    const int64_t total = std::accumulate(weights.begin(), weights.end(), int64_t(0));
    return median(Numbers<T>(deviations.data(), n, own, total), SelectRoom<T>(n, own));
}

// The median over some evenly spaced rows of their largest absolute values.
template <class T> T typical_size(const Tiles<T>& points) {
    constexpr int64_t most = 1023;
    const int64_t step = (points.n + most - 1) / most;
    std::vector<T> sizes;
    for (int64_t i = 0; i < points.n; i += step) sizes.push_back(points.size(i));
    std::nth_element(sizes.begin(), sizes.begin() + sizes.size() / 2, sizes.end());
    return sizes[sizes.size() / 2];
}

// What the pass reads, and where it writes its result.
template <class T> struct SpreadTask {
    const T* points;         // (n, d)
    const int64_t* weights;  // (n,) positive, or null
    const T* directions;     // (count, d)
    const T* queries;        // (m, d), or null to judge the points themselves
    int64_t n, d, count, m;
    T* out;          // (m,)
    int64_t* where;  // (m,): the first direction that gave the largest; or null
};

// Where median and MAD along a direction are likely to be: the projection of the medians of the columns, and
// a multiple of the standard deviation, learned from the directions before. Half as many rounds of counting
// as from a few probes; wrong guesses cost time and change nothing.
template <class T> class SpreadModel {
  public:
    SpreadModel(const Tiles<T>& points) : d_(points.d), center_(size_t(points.d)), scatter_(size_t(d_ * d_)) {
        constexpr int64_t most = 2048;
        const int64_t n = points.n, step = (n + most - 1) / most, some = (n + step - 1) / step;
        Workspace<T> columns(d_ * some);
        const SelectRoom<T> room(some, false);
        for (int64_t i = 0; i < some; i++) points.read(i * step, columns.data() + i, some);
        for (int64_t k = 0; k < d_; k++) {
            T* column = columns.data() + k * some;
            const auto [median, mad] = median_and_mad(Numbers<T>(column, some), room);
            center_[size_t(k)] = median;
            // Far points say nothing about the middle.
            for (int64_t i = 0; i < some; i++) column[i] = std::clamp(column[i] - median, -4 * mad, 4 * mad);
        }
        for (int64_t k = 0; k < d_; k++)
            for (int64_t l = 0; l <= k; l++) {
                T sum = 0;
                for (int64_t i = 0; i < some; i++) sum += columns[k * some + i] * columns[l * some + i];
                scatter_[size_t(k * d_ + l)] = sum / T(some) * (k == l ? T(1) : T(2));
            }
    }

    // The guesses along a direction; no spread where nothing can be said.
    void guess(const T* direction, Guess<T>& center, Guess<T>& away) {
        T middle = 0, variance = 0;
        for (int64_t k = 0; k < d_; k++) {
            T sum = 0;
            for (int64_t l = 0; l <= k; l++) sum += scatter_[size_t(k * d_ + l)] * direction[l];
            middle += center_[size_t(k)] * direction[k];
            variance += sum * direction[k];
        }
        deviation_ = std::sqrt(std::max(variance, T(0)));
        center = {middle, T(1.35) * deviation_, margin(off_center_)};
        away = {ratio_ * deviation_, T(0.84) * deviation_, margin(off_away_)};
    }
    // Learn from what was found.
    void learn(T mad, const Guess<T>& center, const Guess<T>& away) {
        if (deviation_ > 0) ratio_ += T(0.1) * (std::min(mad / deviation_, T(2)) - ratio_);
        off_center_ += T(0.1) * (center.off - off_center_);
        off_away_ += T(0.1) * (away.off - off_away_);
    }

  private:
    int64_t d_;
    std::vector<T> center_, scatter_;
    T deviation_ = 0, ratio_ = T(0.67), off_center_ = T(0.02), off_away_ = T(0.02);

    static T margin(T off) { return std::clamp(T(2) * off, T(1e-4), T(0.15)); }
};

template <class T> class SpreadPass {
  public:
    SpreadPass(const SpreadTask<T>& task, Resources resources)
        : task_(task),
          resources_(resources),
          frame_(task.points, task.n, task.d),
          points_(task.points, task.n, task.d, resources.n_threads, &frame_),
          total_(task.n),
          rounding_(task.d, typical_size(points_)) {
        if (task.queries) queries_.emplace(task.queries, task.m, task.d, resources.n_threads, &frame_);
        if (task.weights) total_ = std::accumulate(task.weights, task.weights + task.n, int64_t(0));
    }

    void run() {
        const bool few = task_.n <= few_points && !task_.weights && !task_.queries && !task_.where;
        if (few) few_at_once();
        else by_blocks();
    }

  private:
    SpreadTask<T> task_;
    Resources resources_;
    Frame<T> frame_;
    Tiles<T> points_;
    std::optional<Tiles<T>> queries_;
    int64_t total_;
    Rounding<T> rounding_;

    struct State {
        Workspace<T> out, along, judged;
        Workspace<int64_t> where;
        SelectRoom<T> room;
        SpreadModel<T> model;
    };

    void by_blocks() {
        const auto [points, weights, directions, queries, n, d, count, m, out, where] = task_;
        const double own = sizeof(T) + (where ? 8.0 : 0.0);
        const double held = own * m + SelectRoom<T>::bytes(n, weights);
        const double each = double(sizeof(T)) * double(n + (queries ? m : 0));
        const Blocks blocks(count, n, held, each, resources_);
        const SpreadModel<T> model(points_);
        PerWorker<State> states(blocks.workers);
        auto make = [&, m = m, n = n, where = where, queries = queries, weights = weights] {
            auto state = std::make_unique<State>(State{Workspace<T>(m, T(0)),
                                                       Workspace<T>(blocks.size * n),
                                                       {},
                                                       {},
                                                       SelectRoom<T>(n, weights),
                                                       model});
            if (queries) state->judged = Workspace<T>(blocks.size * m);
            if (where) state->where = Workspace<int64_t>(m, 0);
            return state;
        };
        parallel_for(blocks.workers, blocks.parts, [&, d = d](int64_t worker, int64_t part) {
            State& state = states.of(worker, make);
            const int64_t first = blocks.first(part), some = blocks.in(part);
            points_.project(task_.directions + first * d, some, state.along.data());
            if (queries_) queries_->project(task_.directions + first * d, some, state.judged.data());
            for (int64_t k = 0; k < some; k++) judge(state, k, first + k);
        });
        const auto made = states.made();
        over_rows(m, int64_t(made.size()), resources_.n_threads,
                  [&](int64_t start, int64_t stop) { merge(made, start, stop); });
    }

    void judge(State& state, int64_t k, int64_t direction) {
        const int64_t n = task_.n, m = task_.m;
        const T* own = state.along.data() + k * n;
        const T* judged = queries_ ? state.judged.data() + k * m : own;
        Guess<T> center, away;
        state.model.guess(task_.directions + direction * task_.d, center, away);
        const Numbers<T> numbers(own, n, task_.weights, total_);
        const auto [middle, mad] = center.spread > 0 ? median_and_mad(numbers, center, away, state.room)
                                                     : median_and_mad(numbers, state.room);
        state.model.learn(mad, center, away);
        T* out = state.out.data();
        int64_t* where = task_.where ? state.where.data() : nullptr;
        if (!(mad > rounding_.of_mad())) {
            const T scale = scale_of_nonzero(own, middle);
            for (int64_t i = 0; i < m; i++) {
                const T found = flat(judged[i], middle, scale, i);
                if (where && found > out[i]) where[i] = direction;
                out[i] = std::max(out[i], found);
            }
            return;
        }
        const T scale = T(1) / mad;
        if (where) {
            for (int64_t i = 0; i < m; i++) {
                const T found = std::fabs(judged[i] - middle) * scale;
                where[i] = found > out[i] ? direction : where[i];
                out[i] = found > out[i] ? found : out[i];
            }
            return;
        }
        const Vec<T> center_of_all = broadcast(middle), scale_of_all = broadcast(scale);
        int64_t i = 0;
        for (; i + lanes<T> <= m; i += lanes<T>)
            for (int j = 0; j < lanes<T>; j += width<T>) {
                const Vec<T> found = distance<T>(load(judged + i + j), center_of_all) * scale_of_all;
                store(out + i + j, maximum<T>(load(out + i + j), found));
            }
        for (; i < m; i++) out[i] = std::max(out[i], std::fabs(judged[i] - middle) * scale);
    }

    T scale_of_nonzero(const T* along, T middle) const {
        std::vector<T> deviations;
        std::vector<int64_t> weights;
        for (int64_t i = 0; i < task_.n; i++) {
            const T deviation = std::fabs(along[i] - middle);
            if (rounding_.covers(deviation, points_.size(i))) continue;
            deviations.push_back(deviation);
            if (task_.weights) weights.push_back(task_.weights[i]);
        }
        return scale_without_mad(deviations, weights);
    }

    T flat(T along, T middle, T scale, int64_t i) const {
        const T size = queries_ ? queries_->size(i) : points_.size(i);
        return rounding_.outlyingness(std::fabs(along - middle), scale, size);
    }

    void merge(const std::vector<State*>& states, int64_t start, int64_t stop) {
        T* out = task_.out;
        std::copy(states[0]->out.data() + start, states[0]->out.data() + stop, out + start);
        if (task_.where)
            std::copy(states[0]->where.data() + start, states[0]->where.data() + stop, task_.where + start);
        for (size_t s = 1; s < states.size(); s++) {
            const T* other = states[s]->out.data();
            if (task_.where)
                for (int64_t i = start; i < stop; i++) {
                    const int64_t where = states[s]->where[i];
                    if (other[i] > out[i] || (other[i] == out[i] && other[i] > 0 && where < task_.where[i]))
                        task_.where[i] = where;
                }
            for (int64_t i = start; i < stop; i++) out[i] = other[i] > out[i] ? other[i] : out[i];
        }
    }

    // A few points: the same steps for as many directions at a time as a tile has lanes. A sorting network
    // makes the same comparisons whatever the data are.
    void few_at_once() {
        const int64_t n = task_.n, d = task_.d;
        const Tiles<T> tiles(task_.directions, task_.count, d, 1);
        Workspace<T> moved(n * d), rows(2 * n * lanes<T>);
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = 0; k < d; k++) moved[i * d + k] = frame_.moved(task_.points[i * d + k], k);
        Workspace<T> best(n * lanes<T>, T(0));
        T* sorted = rows.data() + n * lanes<T>;
        T middle[lanes<T>], mad[lanes<T>];
        for (int64_t tile = 0; tile < tiles.count; tile++) {
            project_rows(tiles.tile(tile), moved.data(), n, d, rows.data());
            std::copy_n(rows.data(), n * lanes<T>, sorted);
            sort_columns(sorted, n);
            const T *low = sorted + (n - 1) / 2 * lanes<T>, *high = sorted + n / 2 * lanes<T>;
            for (int k = 0; k < lanes<T>; k++) middle[k] = mean_of<T>({low[k], high[k]});
            deviation(sorted, n, middle, (n + 1) / 2, mad);
            if (n % 2 == 0) {
                T other[lanes<T>];
                deviation(sorted, n, middle, n / 2 + 1, other);
                for (int k = 0; k < lanes<T>; k++) mad[k] = mean_of<T>({mad[k], other[k]});
            }
            for (int k = 0; k < lanes<T>; k++) {
                if (mad[k] > rounding_.of_mad()) {
                    mad[k] = T(1) / mad[k];
                    continue;
                }
                mad[k] = 0;  // the lane is left to this:
                for (int64_t i = 0; i < n; i++) sorted[i] = rows[i * lanes<T> + k];
                const T scale = scale_of_nonzero(sorted, middle[k]);
                for (int64_t i = 0; i < n; i++) {
                    T& known = best[i * lanes<T> + k];
                    known = std::max(known, flat(rows[i * lanes<T> + k], middle[k], scale, i));
                }
            }
            for (int j = 0; j < vectors; j++) {
                const Vec<T> center = load(middle + j * width<T>), scale = load(mad + j * width<T>);
                for (int64_t i = 0; i < n; i++) {
                    T* at = best.data() + i * lanes<T> + j * width<T>;
                    const Vec<T> x = load(rows.data() + i * lanes<T> + j * width<T>);
                    store(at, maximum<T>(load(at), absolute<T>(x - center) * scale));
                }
            }
        }
        for (int64_t i = 0; i < n; i++)
            task_.out[i] = *std::max_element(best.data() + i * lanes<T>, best.data() + (i + 1) * lanes<T>);
    }

    // Sort every column of `rows` (n, lanes) in place, by Batcher's odd-even merging network.
    static void sort_columns(T* rows, int64_t n) {
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

    // The deviation from `middle` of rank 1, 2, ... in each sorted column. Deviations rise outwards on both
    // sides. Of two rising lists A and B the element of rank h is the smallest over i of
    // max(A_i, B_(h - i)), with 0 for what comes before the first.
    static void deviation(const T* rows, int64_t n, const T* middle, int64_t rank, T* out) {
        const int64_t split = (n - 1) / 2 + 1;
        for (int j = 0; j < lanes<T>; j += width<T>) {
            const Vec<T> center = load(middle + j);
            Vec<T> least = broadcast(std::numeric_limits<T>::infinity());
            for (int64_t left = std::max<int64_t>(0, rank - (n - split)); left <= std::min(rank, split);
                 left++) {
                const int64_t right = rank - left;
                Vec<T> x = {}, y = {};
                if (left > 0) x = absolute<T>(load(rows + (split - left) * lanes<T> + j) - center);
                if (right > 0) y = absolute<T>(load(rows + (split + right - 1) * lanes<T> + j) - center);
                least = minimum<T>(least, maximum<T>(x, y));
            }
            store(out + j, least);
        }
    }
};

}  // namespace isodepth
