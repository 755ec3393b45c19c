// Statistics of the two parts of a pooled sample, for many ways to label its rows.
//
// Values along a direction are sorted once; what a labeling makes of them is found in one pass over them in
// that order.
#pragma once

#include <array>

#include "spread.hpp"
#include "tables.hpp"

namespace isodepth {

constexpr int64_t word_bits = 64;

// Labels of 64 labelings in a word: bit b of words[i, r] says whether row r is in X in labeling 64 i + b.
struct Labels {
    const uint64_t* words;  // (w, n)
    int64_t n, count;       // rows, labelings

    // Calls `use(first, last, words)` for the labelings first..last of each word, with the words (n,) of the
    // rows in another order.
    template <class Use> void in_order(const Workspace<uint32_t>& order, uint64_t* room, Use use) const {
        for (int64_t first = 0; first < count; first += word_bits) {
            const uint64_t* from = words + first / word_bits * n;
            for (int64_t i = 0; i < n; i++) room[i] = from[order[i]];
            use(first, std::min(count, first + word_bits), room);
        }
    }
};

// DR between the two parts of each labeling, with the projection depth along the directions given and plain
// means over directions and levels.
class LabelDistances {
  public:
    // points (n, d), directions (k, d)
    LabelDistances(const double* points, int64_t d, const double* directions, int64_t k, Labels labels,
                   int64_t n_threads)
        : labels_(labels),
          k_(k),
          stride_((k + lanes<double> - 1) / lanes<double> * lanes<double>),
          n_threads_(n_threads),
          projections_(labels.n * stride_, 0.0),
          centers_(labels.count * 2 * stride_, 0.0),
          scales_(labels.count * 2 * stride_, 0.0) {
        constexpr int64_t each = 4;
        const int64_t n = labels.n, parts = (k + each - 1) / each;
        const Tiles<double> tiles(points, n, d, n_threads);
        const Rounding<double> rounding(d, typical_size(tiles));
        const int64_t workers = worker_count(n_threads, parts, n * k * labels.count);
        PerWorker<Sorted> states(workers);
        parallel_for(workers, parts, [&](int64_t worker, int64_t part) {
            Sorted& state = states.of(worker, [&] { return std::make_unique<Sorted>(n, each); });
            const int64_t first = part * each, some = std::min(each, k - first);
            tiles.project(directions + first * d, some, state.along.data());
            for (int64_t j = 0; j < some; j++)
                find_centers(state, state.along.data() + j * n, first + j, rounding);
        });
    }

    // Write the distances to `out` (count,), for regions of the levels `betas` (levels,).
    void write(const double* betas, int64_t levels, double q, double p, double* out) const {
        const int64_t workers = worker_count(n_threads_, labels_.count, 2 * labels_.n * k_ * labels_.count);
        PerWorker<Regions> states(workers);
        parallel_for(workers, labels_.count, [&](int64_t worker, int64_t labeling) {
            Regions& state = states.of(worker, [&] {
                return std::make_unique<Regions>(labels_.n, 2 * levels * stride_, 2 * k_, levels);
            });
            for (int part = 0; part < 2; part++) fit(state, labeling, part, betas, levels);
            for (int64_t level = 0; level < levels; level++) {
                const double *x = state.supports[0].data() + 2 * level * stride_,
                             *y = state.supports[1].data() + 2 * level * stride_;
                for (int64_t j = 0; j < k_; j++) {
                    state.gaps[j] = std::fabs(x[j] - y[j]);
                    state.gaps[k_ + j] = std::fabs(x[stride_ + j] - y[stride_ + j]);
                }
                state.by_level[level] = power_mean(state.gaps.data(), nullptr, 2 * k_, q, 1.0);
            }
            out[labeling] = power_mean(state.by_level.data(), nullptr, levels, p, 1.0);
        });
    }

  private:
    // Depths closer than this are one depth, as everywhere for the projection depth.
    static constexpr double tie = 1e-12;

    struct Sorted {
        Workspace<double> along, part[2];
        Workspace<uint64_t> words;
        Sorter<double> sorter;
        Sorted(int64_t n, int64_t directions)
            : along(directions * n),
              part{Workspace<double>(n + 1), Workspace<double>(n + 1)},
              words(n),
              sorter(n) {}
    };
    struct Regions {
        Workspace<double> supports[2], outlying, gaps, by_level;
        Workspace<uint32_t> members;
        Sorter<double> sorter;
        Regions(int64_t n, int64_t supports, int64_t gaps, int64_t levels)
            : supports{Workspace<double>(supports), Workspace<double>(supports)},
              outlying(n),
              gaps(gaps),
              by_level(levels),
              members(n + 1),
              sorter(n) {}
    };

    Labels labels_;
    int64_t k_, stride_;  // directions, and so many that they fill whole tiles
    int64_t n_threads_;
    Workspace<double> projections_;       // (n, stride), 0 beyond the last direction
    Workspace<double> centers_, scales_;  // (count, 2, stride) median and one over the MAD, 0 for no spread

    // Median and scale of both parts along a direction, for all labelings.
    void find_centers(Sorted& state, const double* values, int64_t direction, Rounding<double> rounding) {
        const int64_t n = labels_.n;
        for (int64_t i = 0; i < n; i++) projections_[i * stride_ + direction] = values[i];
        state.sorter.sort(values, n);
        const double* keys = state.sorter.keys.data();
        double *x = state.part[0].data(), *y = state.part[1].data();
        auto rule = [&](int64_t, double away) { return rounding.covers(away, rounding.typical); };
        labels_.in_order(
            state.sorter.index, state.words.data(), [&](int64_t first, int64_t last, auto words) {
                for (int64_t labeling = first; labeling < last; labeling++) {
                    int64_t in_x = 0;
                    for (int64_t i = 0; i < n; i++) {
                        x[in_x] = y[i - in_x] = keys[i];
                        in_x += int64_t(words[i] >> (labeling - first) & 1);
                    }
                    for (int part = 0; part < 2; part++) {
                        const Numbers<double> own(part ? y : x, part ? n - in_x : in_x);
                        const int64_t at = (2 * labeling + part) * stride_ + direction;
                        const double middle =
                            mean_of<double>({own.values[(own.n - 1) / 2], own.values[own.n / 2]});
                        double scale = mad_of_sorted(own.values, own.n, middle);
                        if (!(scale > rounding.of_mad())) scale = scale_without_mad(own, middle, rule);
                        centers_[at] = middle;
                        if (scale > 0) scales_[at] = 1 / scale;
                    }
                }
            });
    }

    // The median absolute deviation from `middle` of rising values. The h values nearest to it lie side by
    // side, and the furthest of them is the first or the last; of all stretches of h values theirs reaches
    // least far.
    static double mad_of_sorted(const double* x, int64_t n, double middle) {
        auto of_rank = [&](int64_t h) {
            int64_t low = 0, high = n - h;
            while (low < high) {
                const int64_t i = (low + high) / 2;
                if (x[i + h - 1] - middle < middle - x[i]) low = i + 1;
                else high = i;
            }
            const double reach = std::max(middle - x[low], x[low + h - 1] - middle);
            return low > 0 ? std::min(reach, middle - x[low - 1]) : reach;
        };
        const double upper = of_rank(n / 2 + 1);
        return n % 2 ? upper : mean_of<double>({of_rank(n / 2), upper});
    }

    // Find the largest and smallest projections (levels, 2, stride) of the regions of a part.
    void fit(Regions& state, int64_t labeling, int part, const double* betas, int64_t levels) const {
        const uint64_t* words = labels_.words + labeling / word_bits * labels_.n;
        const int64_t at = (2 * labeling + part) * stride_;
        int64_t n = 0;
        for (int64_t i = 0; i < labels_.n; i++) {
            state.members[n] = uint32_t(i);
            n += int64_t(words[i] >> labeling % word_bits & 1) != part;
        }
        for (int64_t i = 0; i < n; i++)
            state.outlying[i] = outlyingness(projections_.data() + state.members[i] * stride_,
                                             centers_.data() + at, scales_.data() + at);
        state.sorter.sort(state.outlying.data(), n);
        double* supports = state.supports[part].data();
        std::fill_n(supports, stride_, -std::numeric_limits<double>::infinity());
        std::fill_n(supports + stride_, stride_, std::numeric_limits<double>::infinity());
        for (int64_t level = 0, stop = 0, done = 0; level < levels;) {
            // Rows of equal depth enter together; depths are equal up to rounding from the first on.
            const double head = 1 / (1 + state.sorter.keys[stop++]);
            while (stop < n && head - 1 / (1 + state.sorter.keys[stop]) <= tie) stop++;
            if (!(double(stop) / double(n) > betas[level])) continue;
            auto row = [&](int64_t i) {
                return projections_.data() +
                       state.members[state.sorter.index[std::min(i, stop - 1)]] * stride_;
            };
            for (; done < stop; done += 4)
                widen(supports, {row(done), row(done + 1), row(done + 2), row(done + 3)});
            done = stop;
            for (; level<levels&& double(stop) / double(n)> betas[level]; level++, supports += 2 * stride_)
                if (level + 1 < levels) std::copy_n(supports, 2 * stride_, supports + 2 * stride_);
        }
    }

    // Four rows at a time: what is loaded and stored between them counts once.
    void widen(double* supports, std::array<const double*, 4> rows) const {
        for (int64_t j = 0; j < stride_; j += width<double>) {
            Vec<double> top = load(supports + j), low = load(supports + stride_ + j);
            for (const double* row : rows) {
                top = maximum<double>(top, load(row + j));
                low = minimum<double>(low, load(row + j));
            }
            store(supports + j, top);
            store(supports + stride_ + j, low);
        }
    }

    double outlyingness(const double* row, const double* center, const double* scale) const {
        Vec<double> largest[vectors] = {};
        for (int64_t j = 0; j < stride_; j += lanes<double>)
            for (int v = 0; v < vectors; v++) {
                const int64_t at = j + v * width<double>;
                const auto away = distance<double>(load(row + at), load(center + at)) * load(scale + at);
                largest[v] = maximum<double>(largest[v], away);
            }
        for (int v = 1; v < vectors; v++) largest[0] = maximum<double>(largest[0], largest[v]);
        return largest_of<double>(largest[0]);
    }
};

// Add to `counts` (64,) how many of n words have each bit set: eight of these in the bytes of a sum.
inline void count_bits(const uint64_t* words, int64_t n, int64_t* counts) {
    constexpr int64_t most = 255;
    for (int64_t first = 0; first < n; first += most)
        for (int shift = 0; shift < 8; shift++) {
            uint64_t sum = 0;
            for (int64_t i = first; i < std::min(n, first + most); i++)
                sum += words[i] >> shift & 0x0101010101010101;
            for (int byte = 0; byte < 8; byte++) counts[8 * byte + shift] += sum >> 8 * byte & 0xFF;
        }
}

// How many of the rising values lie up to each cut. Equal values are not parted; of many values the cuts are
// about equally far apart.
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

// The largest difference between the shares of the two parts in a half-line, and in an interval, of values
// (functions, n), for each labeling: half_lines and intervals (functions, count). Half-lines end at most at
// `cuts` values.
inline void share_differences(const double* values, int64_t functions, Labels labels, int64_t cuts,
                              int64_t n_threads, double* half_lines, double* intervals) {
    struct State {
        Sorter<double> sorter;
        Workspace<uint64_t> words;
    };
    const int64_t n = labels.n, workers = worker_count(n_threads, functions, n * functions * labels.count);
    PerWorker<State> states(workers);
    parallel_for(workers, functions, [&](int64_t worker, int64_t function) {
        State& state = states.of(worker, [&] {
            return std::make_unique<State>(State{Sorter<double>(n), Workspace<uint64_t>(n)});
        });
        state.sorter.sort(values + function * n, n);
        const std::vector<int64_t> ends = find_cuts(state.sorter.keys.data(), n, cuts);
        labels.in_order(state.sorter.index, state.words.data(), [&](int64_t first, int64_t last, auto words) {
            int64_t size[word_bits] = {}, in_x[word_bits] = {}, start = 0;
            double top[word_bits] = {}, low[word_bits] = {};
            count_bits(words, n, size);
            for (const int64_t end : ends) {
                count_bits(words + start, end - start, in_x);
                start = end;
                for (int64_t b = 0; b < last - first; b++) {
                    const double gap =
                        double(in_x[b]) / double(size[b]) - double(end - in_x[b]) / double(n - size[b]);
                    top[b] = std::max(top[b], gap);
                    low[b] = std::min(low[b], gap);
                }
            }
            for (int64_t b = 0; b < last - first; b++) {
                half_lines[function * labels.count + first + b] = std::max(top[b], -low[b]);
                intervals[function * labels.count + first + b] = top[b] - low[b];
            }
        });
    });
}

}  // namespace isodepth
