// Ranks along directions: smallest halfspace masses, and mean rank weights.
#pragma once

#include "blocks.hpp"
#include "halfspace.hpp"

namespace isodepth {

// What a pass over ranks reads.
template <class T> struct RankTask {
    const T* points;         // (n, d)
    const int64_t* weights;  // (n,) positive, or null
    const T* directions;     // (count, d)
    const T* queries;        // (m, d), or null to judge the points themselves
    int64_t n, d, count, m;
    int64_t total;  // of the weights
};

// The mass below each judged point, and up to it, along one direction.
template <class T> class MassesAround {
  public:
    Sorter<T> sorter;

    MassesAround(const RankTask<T>& task) : sorter(task.n), task_(task) {
        if (task.queries && task.weights) reached_ = Workspace<int64_t>(task.n + 1);
    }
    static double bytes(int64_t n) { return Sorter<T>::bytes(n) + 8.0 * double(n); }

    // Calls `found(i, below, upto)` for all points, or all queries.
    template <class Found> void find(const T* along, const T* asked, Found found) {
        const int64_t n = task_.n, *weights = task_.weights;
        sorter.sort(along, n);
        const T* keys = sorter.keys.data();
        const uint32_t* index = sorter.index.data();
        if (asked) return search(keys, index, asked, found);
        int64_t below = 0;
        for (int64_t start = 0, stop; start < n; start = stop) {
            int64_t upto = below;
            for (stop = start; stop < n && keys[stop] == keys[start]; stop++)
                upto += weights ? weights[index[stop]] : 1;
            for (int64_t i = start; i < stop; i++) found(int64_t(index[i]), below, upto);
            below = upto;
        }
    }

  private:
    RankTask<T> task_;
    Workspace<int64_t> reached_;  // the mass of the first 0, 1, ... sorted points

    template <class Found> void search(const T* keys, const uint32_t* index, const T* asked, Found found) {
        const int64_t n = task_.n;
        if (task_.weights) {
            reached_[0] = 0;
            for (int64_t i = 0; i < n; i++) reached_[i + 1] = reached_[i] + task_.weights[index[i]];
        }
        auto mass = [&](int64_t place) { return task_.weights ? reached_[place] : place; };
        for (int64_t i = 0; i < task_.m; i++) {
            const T* low = std::lower_bound(keys, keys + n, asked[i]);
            const T* high = low;
            if (low < keys + n && *low == asked[i]) high = std::upper_bound(low, keys + n, asked[i]);
            found(i, mass(low - keys), mass(high - keys));
        }
    }
};

// Counts of a few points along as many directions at a time as a tile has lanes: how many are no larger
// than each, and how many no smaller. Calls `found(tile, upto, from)` with vectors of counts (n, lanes).
template <class T, class Found> void count_few(const RankTask<T>& task, Found found) {
    const int64_t n = task.n, d = task.d;
    const Frame<T> frame(task.points, n, d);
    const Tiles<T> tiles(task.directions, task.count, d, 1);
    Workspace<T> moved(n * d), rows(n * lanes<T>);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < d; k++) moved[i * d + k] = frame.moved(task.points[i * d + k], k);
    Workspace<Mask<T>> upto(n * vectors), from(n * vectors);
    for (int64_t tile = 0; tile < tiles.count; tile++) {
        project_rows(tiles.tile(tile), moved.data(), n, d, rows.data());
        for (int j = 0; j < vectors; j++) {
            const T* column = rows.data() + j * width<T>;
            Mask<T> all = {};
            auto count = [&]<int H>(int64_t i) {
                Vec<T> own[H];
                Mask<T> counted[H] = {};
                for (int h = 0; h < H; h++) own[h] = load(column + (i + h) * lanes<T>);
                for (int64_t other = 0; other < n; other++) {
                    const Vec<T> x = load(column + other * lanes<T>);
                    for (int h = 0; h < H; h++) counted[h] -= (Mask<T>)(x <= own[h]);
                }
                for (int h = 0; h < H; h++) {
                    upto[(i + h) * vectors + j] = counted[h];
                    // As long as no two are equal, which the sum of all counts says.
                    from[(i + h) * vectors + j] = int(n + 1) - counted[h];
                    all += counted[h];
                }
            };
            int64_t i = 0;
            for (; i + 8 <= n; i += 8) count.template operator()<8>(i);
            for (; i + 2 <= n; i += 2) count.template operator()<2>(i);
            for (; i < n; i++) count.template operator()<1>(i);
            if (!any<T>((Mask<T>)(all != int(n * (n + 1) / 2)))) continue;
            for (int64_t i = 0; i < n; i++) {
                const Vec<T> own = load(column + i * lanes<T>);
                Mask<T> counted = {};
                for (int64_t other = 0; other < n; other++)
                    counted -= (Mask<T>)(load(column + other * lanes<T>) >= own);
                from[i * vectors + j] = counted;
            }
        }
        found(tiles, tile, upto.data(), from.data());
    }
}

// Whether `count_few` does it.
template <class T> bool are_few(const RankTask<T>& task) {
    return task.n <= few_points && !task.weights && !task.queries;
}

template <class T> void few_halfspaces(const RankTask<T>& task, int64_t* out) {
    std::fill_n(out, task.n, task.n);
    count_few(task, [&](const Tiles<T>&, int64_t, const Mask<T>* upto, const Mask<T>* from) {
        for (int64_t i = 0; i < task.n; i++) {
            Mask<T> least = upto[i * vectors];
            for (int j = 0; j < vectors; j++) {
                const Mask<T> a = upto[i * vectors + j], b = from[i * vectors + j], c = a < b ? a : b;
                least = c < least ? c : least;
            }
            for (int k = 0; k < width<T>; k++) out[i] = std::min<int64_t>(out[i], least[k]);
        }
    });
}

template <class T> void few_rank_weights(const RankTask<T>& task, double* out) {
    std::vector<int64_t> sums(size_t(task.n), 0);
    count_few(task, [&](const Tiles<T>& tiles, int64_t tile, const Mask<T>* upto, const Mask<T>* from) {
        // The last tile may repeat directions.
        const int64_t first = tile * lanes<T> - tiles.start(tile),
                      stop = std::min<int64_t>(lanes<T>, tiles.n);
        for (int64_t i = 0; i < task.n; i++)
            for (int j = 0; j < vectors; j++) {
                // Twice the mid-rank, less than and up to; the other way round likewise.
                const Mask<T> away = upto[i * vectors + j] - from[i * vectors + j];
                const Mask<T> weight = int(task.n) - (away < 0 ? -away : away);
                for (int k = 0; k < width<T>; k++) {
                    const int64_t lane = j * width<T> + k;
                    sums[size_t(i)] += lane >= first && lane < stop ? int64_t(weight[k]) : 0;
                }
            }
    });
    for (int64_t i = 0; i < task.n; i++)
        out[i] = double(sums[size_t(i)]) / (2.0 * double(task.total) * double(task.count));
}

// Smallest closed-halfspace mass at each judged point, over directions and their opposites, to `out` (m,);
// to `where` (m,), unless null, the first direction that gave it. Mass is int32_t without weights.
template <class T, class Mass>
void smallest_halfspaces(const RankTask<T>& task, Resources resources, int64_t* out, int64_t* where) {
    const int64_t n = task.n, m = task.m, d = task.d;
    const Frame<T> frame(task.points, n, d);
    const Tiles<T> points(task.points, n, d, resources.n_threads, &frame);
    std::optional<Tiles<T>> queries;
    if (task.queries) queries.emplace(task.queries, m, d, resources.n_threads, &frame);
    struct State {
        Workspace<Mass> best;
        Workspace<int64_t> where;
        Workspace<T> along, asked;
        MassesAround<T> around;
        std::optional<HalfspaceBounds<T, Mass>> bounds;
    };
    const bool bounded = !queries && n >= worth_bounds;
    const double held = double(m) * (sizeof(Mass) + (where ? 8 : 0)) + MassesAround<T>::bytes(n) +
                        (bounded ? HalfspaceBounds<T, Mass>::bytes(n) : 0);
    const double each = double(sizeof(T)) * double(n + (queries ? m : 0));
    const Blocks blocks(task.count, n, held, each, resources);
    // The smaller the masses found so far, the fewer points a direction can matter to: so workers tell each
    // other. Not where a direction is named: it must not be somebody else's finding.
    const bool shared = bounded && !where && blocks.workers > 1;
    Workspace<Mass> known;
    if (shared) known = Workspace<Mass>(m, Mass(task.total));
    PerWorker<State> states(blocks.workers);
    auto make = [&] {
        auto state = std::make_unique<State>(State{Workspace<Mass>(m, Mass(task.total)),
                                                   {},
                                                   Workspace<T>(blocks.size * n),
                                                   {},
                                                   MassesAround<T>(task),
                                                   {}});
        if (where) state->where = Workspace<int64_t>(m, 0);
        if (queries) state->asked = Workspace<T>(blocks.size * m);
        if (bounded) state->bounds.emplace(n, task.weights, Mass(task.total));
        return state;
    };
    parallel_for(blocks.workers, blocks.parts, [&](int64_t worker, int64_t part) {
        State& state = states.of(worker, make);
        const int64_t first = blocks.first(part), some = blocks.in(part);
        Mass* best = state.best.data();
        if (shared) exchange(best, known.data(), m);
        points.project(task.directions + first * d, some, state.along.data());
        if (queries) queries->project(task.directions + first * d, some, state.asked.data());
        for (int64_t k = 0; k < some; k++) {
            const T* along = state.along.data() + k * n;
            auto lower = [&](int64_t i, Mass mass) {
                if (mass >= best[i]) return;
                best[i] = mass;
                if (where) state.where[i] = first + k;
            };
            if (bounded && state.bounds->lower(along, best, lower)) continue;
            const T* asked = queries ? state.asked.data() + k * m : nullptr;
            state.around.find(along, asked, [&](int64_t i, int64_t below, int64_t upto) {
                lower(i, Mass(std::min(upto, task.total - below)));
            });
        }
    });
    const auto made = states.made();
    over_rows(m, int64_t(made.size()), resources.n_threads, [&](int64_t start, int64_t stop) {
        for (int64_t i = start; i < stop; i++) {
            Mass least = made[0]->best[i];
            int64_t at = where ? made[0]->where[i] : 0;
            for (size_t s = 1; s < made.size(); s++) {
                const Mass other = made[s]->best[i];
                if (where && (other < least || (other == least && made[s]->where[i] < at)))
                    at = made[s]->where[i];
                least = std::min(least, other);
            }
            out[i] = least;
            if (where) where[i] = at;
        }
    });
}

// Adds min(F, 1 - F) along one direction, in units of 2**shift / (2 total), to `sums`; F is the mid-rank
// distribution function (P(<) + P(<=)) / 2.
template <class T, class Sum> class RankWeights {
  public:
    RankWeights(const RankTask<T>& task, int shift) : task_(task), shift_(shift), around_(task) {}

    void add(const T* along, const T* asked, Sum* sums) {
        if (task_.weights || asked) {
            around_.find(along, asked,
                         [&](int64_t i, int64_t below, int64_t upto) { sums[i] += weight(below + upto); });
        } else if (task_.n > stretch_size) add_by_stretches(along, sums);
        else {
            around_.sorter.sort(along, task_.n);
            add_sorted(around_.sorter.keys.data(), around_.sorter.index.data(), task_.n, 0, sums);
        }
    }

  private:
    RankTask<T> task_;
    int shift_;
    MassesAround<T> around_;

    Sum weight(int64_t twice) const { return Sum(std::min(twice, 2 * task_.total - twice) >> shift_); }

    // Of sorted keys of one unit each, with `first` others below them.
    void add_sorted(const T* keys, const uint32_t* index, int64_t n, int64_t first, Sum* sums) const {
        bool tied = false;
        for (int64_t i = 0; i < n; i++) sums[index[i]] += weight(2 * (first + i) + 1);
        for (int64_t i = 1; i < n; i++) tied |= keys[i] == keys[i - 1];
        // Few numbers are equal, most often: these get what they share instead.
        for (int64_t i = 1; tied && i < n; i++) {
            if (!(keys[i] == keys[i - 1])) continue;
            const int64_t start = i - 1;
            while (i < n && keys[i] == keys[start]) i++;
            const Sum shared = weight(2 * first + start + i);
            for (int64_t j = start; j < i; j++) sums[index[j]] += shared - weight(2 * (first + j) + 1);
        }
    }

    // Weights are written next to each other within a stretch and read back in the order in which the values
    // were divided: nothing is looked up at a random place of a large array.
    void add_by_stretches(const T* along, Sum* sums) {
        Sorter<T>& sorter = around_.sorter;
        const int64_t n = task_.n, stretches = sorter.divide(along, n);
        if (!weights_) weights_ = Workspace<Sum>(n);
        for (int64_t s = 0; s < stretches; s++) {
            const int64_t start = sorter.starts[s], size = sorter.starts[s + 1] - start;
            // The same places of `keys` and `index` again and again stay in the cache.
            sorter.sort_stretch(n, s, sorter.keys.data(), sorter.index.data());
            Sum* found = weights_.data() + start;
            std::fill_n(found, size, Sum(0));
            add_sorted(sorter.keys.data(), sorter.index.data(), size, start, found);
        }
        const int bits = Sorter<T>::stretch_bits(n);
        for (int64_t i = 0; i < n; i++) sums[i] += weights_[sorter.next_place(i, bits)];
    }
    Workspace<Sum> weights_;
};

// The mean of min(F, 1 - F) over directions at each judged point, to `out` (m,). Integers keep the sums
// exact: Sum is uint32_t where it can hold them.
template <class T, class Sum>
void mean_rank_weights(const RankTask<T>& task, int shift, Resources resources, double* out) {
    const int64_t n = task.n, m = task.m, d = task.d;
    const Frame<T> frame(task.points, n, d);
    const Tiles<T> points(task.points, n, d, resources.n_threads, &frame);
    std::optional<Tiles<T>> queries;
    if (task.queries) queries.emplace(task.queries, m, d, resources.n_threads, &frame);
    struct State {
        Workspace<Sum> sums;
        Workspace<T> along, asked;
        RankWeights<T, Sum> weights;
    };
    const double held = double(sizeof(Sum)) * double(m + n) + MassesAround<T>::bytes(n);
    const double each = double(sizeof(T)) * double(n + (queries ? m : 0));
    const Blocks blocks(task.count, n, held, each, resources);
    PerWorker<State> states(blocks.workers);
    auto make = [&] {
        auto state = std::make_unique<State>(State{
            Workspace<Sum>(m, Sum(0)), Workspace<T>(blocks.size * n), {}, RankWeights<T, Sum>(task, shift)});
        if (queries) state->asked = Workspace<T>(blocks.size * m);
        return state;
    };
    parallel_for(blocks.workers, blocks.parts, [&](int64_t worker, int64_t part) {
        State& state = states.of(worker, make);
        const int64_t first = blocks.first(part), some = blocks.in(part);
        points.project(task.directions + first * d, some, state.along.data());
        if (queries) queries->project(task.directions + first * d, some, state.asked.data());
        for (int64_t k = 0; k < some; k++)
            state.weights.add(state.along.data() + k * n, queries ? state.asked.data() + k * m : nullptr,
                              state.sums.data());
    });
    const auto made = states.made();
    const double unit = std::ldexp(1.0, shift), all = 2.0 * double(task.total) * double(task.count);
    over_rows(m, int64_t(made.size()), resources.n_threads, [&](int64_t start, int64_t stop) {
        for (int64_t i = start; i < stop; i++) {
            Sum sum = 0;
            for (const State* state : made) sum += state->sums[i];
            out[i] = double(sum) * unit / all;
        }
    });
}

}  // namespace isodepth
