// Regions of the two parts of a pooled sample, for many ways to label its rows.
//
// A word of 64 bits holds the label of one row under 64 labelings. Gathered in the order of the values along
// a direction, and transposed in squares of 64 by 64, such words say for each labeling where the rows of a
// part lie in that order. What stands at any rank is then found by counting bits: the values are sorted
// once, and a median costs a few words and not a walk over all rows.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "parallel.hpp"
#include "project.hpp"
#include "select.hpp"

namespace isodepth {

constexpr int64_t word_bits = 64;

// Bit j of word i becomes bit i of word j.
inline void transpose_bits(uint64_t* words) {
    uint64_t mask = 0x00000000FFFFFFFF;
    for (int width = 32; width; width >>= 1, mask ^= mask << width)
        for (int low = 0; low < 64; low = (low + width + 1) & ~width) {
            const uint64_t crossed = ((words[low] >> width) ^ words[low + width]) & mask;
            words[low] ^= crossed << width;
            words[low + width] ^= crossed;
        }
}

// The place of the set bit with that rank, counted from 0; there are more set bits than `rank`.
inline int place_of_bit(uint64_t word, int rank) {
    constexpr uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
    uint64_t counts = word - ((word >> 1) & 0x5555555555555555);
    counts = (counts & 0x3333333333333333) + ((counts >> 2) & 0x3333333333333333);
    const uint64_t upto = ((counts + (counts >> 4)) & 0x0F0F0F0F0F0F0F0F) * ones;  // bits up to each byte
    const int byte = 8 * std::popcount(((uint64_t(rank) * ones | tops) - upto) & tops);
    uint64_t rest = word >> byte;
    for (int i = rank - int((upto << 8) >> byte & 0xFF); i > 0; i--) rest &= rest - 1;
    return byte + std::countr_zero(rest);
}

// The values of one part, by rank: a bit for each of the sorted values, and how many are set before a word.
struct Subset {
    const double* keys;
    const uint64_t* bits;
    const int32_t* before;  // (words + 1,)
    int64_t words;

    int64_t size() const { return before[words]; }

    double at(int64_t rank) const {
        // Labels are drawn at random, so ranks lie where their share says, or a word or two away.
        int64_t k = std::min(words - 1, int64_t(double(rank) * double(words) / double(size())));
        while (before[k] > rank) k--;
        while (before[k + 1] <= rank) k++;
        return keys[word_bits * k + place_of_bit(bits[k], int(rank - before[k]))];
    }

    double median() const {
        const int64_t n = size();
        return mean_of<double>({at((n - 1) / 2), at(n / 2)});
    }

    // The median of the absolute deviations from the median. Values below it and values above it are two
    // lists of rising deviations; how many of the smallest come from below is found by bisection around
    // `guess`, which becomes that number: from one labeling to the next it changes little.
    double mad(double middle, int64_t& guess) const {
        const int64_t n = size(), inner = (n + 1) / 2, rank = (n - 1) / 2;
        auto below = [&](int64_t i) { return middle - at(inner - 1 - i); };
        auto above = [&](int64_t j) { return at(inner + j) - middle; };
        int64_t low = std::max<int64_t>(0, rank - (n - inner)), high = std::min(rank, inner);
        int64_t i = std::clamp(guess, low, std::max(low, high - 1));
        for (int64_t step = 1; low < high; step *= 2) {
            if (below(i) < above(rank - i - 1)) low = i + 1, i += step;
            else high = i, i -= step;
            if (i < low || i >= high) i = (low + high) / 2;
        }
        guess = i = low;
        int64_t j = rank - low;
        auto next = [&] {
            if (j >= n - inner) return below(i++);
            if (i >= inner) return above(j++);
            const double a = below(i), b = above(j);
            return a <= b ? (i++, a) : (j++, b);
        };
        const double first = next();
        return n % 2 ? first : mean_of<double>({first, next()});
    }

    // Where half of the values coincide: the median of the deviations that are more than rounding.
    double scale_without_mad(double middle, double zero, std::vector<double>& off) const {
        off.clear();
        for (int64_t k = 0; k < words; k++)
            for (uint64_t rest = bits[k]; rest; rest &= rest - 1) {
                const double away = std::fabs(keys[word_bits * k + std::countr_zero(rest)] - middle);
                if (away > zero) off.push_back(away);
            }
        if (off.empty()) return 0;
        const auto upper = off.begin() + int64_t(off.size() / 2);
        std::nth_element(off.begin(), upper, off.end());
        return mean_of<double>({off.size() % 2 ? *upper : *std::max_element(off.begin(), upper), *upper});
    }
};

// What all labelings share.
struct LabelTask {
    const double* points;      // (n, d)
    const double* directions;  // (k, d)
    const uint64_t* words;     // (w, n): bit b of words[i, r] says whether row r is in X in labeling 64 i + b
    int64_t n, d, k, count;    // rows, columns, directions, labelings
    double zero;               // a MAD of at most this is rounding

    // Numbers along the directions fill whole tiles; those beyond the last direction are 0.
    int64_t stride() const { return (k + lanes<double> - 1) / lanes<double> * lanes<double>; }
};

// Values in rising order, and the labels of 64 labelings in that order.
class LabelsInOrder {
  public:
    const int64_t n, width;  // values, and words of bits

    explicit LabelsInOrder(int64_t n)
        : n(n), width((n + word_bits - 1) / word_bits), sorter_(n), bits_(word_bits * width) {}

    void sort(const double* values) { sorter_.sort(values, n); }
    const double* keys() const { return sorter_.keys.data(); }
    const uint64_t* bits(int64_t labeling) const { return bits_.data() + labeling * width; }

    // Take over the labels (n,), in the order of the rows, of the next 64 labelings.
    void take(const uint64_t* labels) {
        const uint32_t* index = sorter_.index.data();
        for (int64_t k = 0; k < width; k++) {
            uint64_t square[word_bits] = {};
            for (int64_t i = word_bits * k; i < std::min(n, word_bits * (k + 1)); i++)
                square[i - word_bits * k] = labels[index[i]];
            transpose_bits(square);
            for (int64_t b = 0; b < word_bits; b++) bits_[b * width + k] = square[b];
        }
    }

  private:
    Sorter<double> sorter_;
    Workspace<uint64_t> bits_;
};

// Median and one over the MAD of both parts along every direction, for all labelings.
class LabelCenters {
  public:
    // projections (n, stride), centers and scales (count, 2, stride), all 0: the scale stays so where all
    // values coincide.
    LabelCenters(const LabelTask& task, double* projections, double* centers, double* scales)
        : task_(task), projections_(projections), centers_(centers), scales_(scales) {}

    void run(int64_t n_threads) {
        constexpr int64_t each = 4;
        const int64_t parts = (task_.k + each - 1) / each;
        const Tiles<double> tiles(task_.points, task_.n, task_.d, n_threads);
        const int64_t workers = worker_count(n_threads, parts, task_.n * task_.k * word_bits);
        PerWorker<State> states(workers);
        parallel_for(workers, parts, [&](int64_t worker, int64_t part) {
            State& state = states.of(worker, [&] { return std::make_unique<State>(task_.n, each); });
            const int64_t first = part * each, some = std::min(each, task_.k - first);
            tiles.project(task_.directions + first * task_.d, some, state.along.data());
            for (int64_t k = 0; k < some; k++) along(state, state.along.data() + k * task_.n, first + k);
        });
    }

  private:
    struct State {
        Workspace<double> along;
        LabelsInOrder labels;
        Workspace<uint64_t> others;
        Workspace<int32_t> before, others_before;
        std::vector<double> off;

        State(int64_t n, int64_t directions)
            : along(directions * n),
              labels(n),
              others(labels.width),
              before(labels.width + 1),
              others_before(labels.width + 1) {}
    };

    LabelTask task_;
    double *projections_, *centers_, *scales_;

    void along(State& state, const double* values, int64_t direction) {
        const int64_t n = task_.n, width = state.labels.width;
        for (int64_t i = 0; i < n; i++) projections_[i * task_.stride() + direction] = values[i];
        state.labels.sort(values);
        int64_t guesses[2] = {n / 8, n / 8};
        for (int64_t first = 0; first < task_.count; first += word_bits) {
            state.labels.take(task_.words + first / word_bits * n);
            for (int64_t b = 0; b < std::min(word_bits, task_.count - first); b++) {
                count(state, state.labels.bits(b));
                const Subset x{state.labels.keys(), state.labels.bits(b), state.before.data(), width};
                const Subset y{x.keys, state.others.data(), state.others_before.data(), width};
                write(state, x, 2 * (first + b), direction, guesses[0]);
                write(state, y, 2 * (first + b) + 1, direction, guesses[1]);
            }
        }
    }

    void count(State& state, const uint64_t* bits) const {
        const int64_t n = task_.n, width = state.labels.width;
        int32_t in_x = 0;
        for (int64_t k = 0; k < width; k++) {
            state.before[k] = in_x;
            state.others_before[k] = int32_t(word_bits * k) - in_x;
            state.others[k] = ~bits[k];
            in_x += std::popcount(bits[k]);
        }
        if (n % word_bits) state.others[width - 1] &= (uint64_t(1) << n % word_bits) - 1;
        state.before[width] = in_x;
        state.others_before[width] = int32_t(n) - in_x;
    }

    void write(State& state, const Subset& part, int64_t row, int64_t direction, int64_t& guess) {
        const double middle = part.median();
        double scale = part.mad(middle, guess);
        if (!(scale > task_.zero)) scale = part.scale_without_mad(middle, task_.zero, state.off);
        centers_[row * task_.stride() + direction] = middle;
        if (scale > 0) scales_[row * task_.stride() + direction] = 1 / scale;
    }
};

// The mean of order p; the largest for p = inf. In units of the largest: no power overflows.
inline double mean_of_order(const double* values, int64_t n, double p) {
    const double largest = *std::max_element(values, values + n);
    if (!(largest > 0) || std::isinf(p)) return largest;
    double sum = 0;
    if (p == 2)
        for (int64_t i = 0; i < n; i++) sum += (values[i] / largest) * (values[i] / largest);
    else
        for (int64_t i = 0; i < n; i++) sum += std::pow(values[i] / largest, p);
    const double mean = sum / double(n);
    return largest * (p == 2 ? std::sqrt(mean) : std::pow(mean, 1 / p));
}

// DR between the two parts of each labeling: depth order, nested regions, mean over directions and levels.
class LabelDistances {
  public:
    LabelDistances(const LabelTask& task, const double* projections, const double* centers,
                   const double* scales, const double* betas, int64_t levels, double q, double p)
        : task_(task),
          projections_(projections),
          centers_(centers),
          scales_(scales),
          betas_(betas),
          levels_(levels),
          q_(q),
          p_(p) {}

    // Write to `out` those of the labelings first..last.
    void run(int64_t first, int64_t last, int64_t n_threads, double* out) const {
        const int64_t parts = last - first;
        const int64_t workers = worker_count(n_threads, parts, 2 * task_.n * task_.k * parts);
        PerWorker<State> states(workers);
        parallel_for(workers, parts, [&](int64_t worker, int64_t part) {
            State& state =
                states.of(worker, [&] { return std::make_unique<State>(task_.n, task_.stride(), levels_); });
            out[part] = distance(state, first + part);
        });
    }

  private:
    // Depths closer than this are one depth, as everywhere for the projection depth.
    static constexpr double tie = 1e-12;

    struct State {
        Workspace<double> supports, outlying, gaps, by_level;
        Workspace<uint32_t> members;
        Sorter<double> sorter;
        std::vector<int64_t> sizes;

        State(int64_t n, int64_t stride, int64_t levels)
            : supports(2 * levels * 2 * stride),
              outlying(n),
              gaps(2 * stride),
              by_level(levels),
              members(n),
              sorter(n),
              sizes(size_t(levels)) {}
    };

    LabelTask task_;
    const double *projections_, *centers_, *scales_, *betas_;
    int64_t levels_;
    double q_, p_;

    double distance(State& state, int64_t labeling) const {
        const int64_t k = task_.k, stride = task_.stride(), size = 2 * levels_ * stride;
        for (int part = 0; part < 2; part++) fit(state, labeling, part, state.supports.data() + part * size);
        for (int64_t level = 0; level < levels_; level++) {
            const double *tops = state.supports.data() + 2 * level * stride, *lows = tops + stride;
            for (int64_t j = 0; j < k; j++) {
                state.gaps[j] = std::fabs(tops[j] - tops[size + j]);
                state.gaps[k + j] = std::fabs(lows[j] - lows[size + j]);
            }
            state.by_level[level] = mean_of_order(state.gaps.data(), 2 * k, q_);
        }
        return mean_of_order(state.by_level.data(), levels_, p_);
    }

    // Write to `supports` (levels, 2, stride) the largest and smallest projections of the regions of a part.
    void fit(State& state, int64_t labeling, int part, double* supports) const {
        const int64_t stride = task_.stride();
        const uint64_t* words = task_.words + labeling / word_bits * task_.n;
        const double* center = centers_ + (2 * labeling + part) * stride;
        const double* scale = scales_ + (2 * labeling + part) * stride;
        int64_t n = 0;
        for (int64_t i = 0; i < task_.n; i++) {
            state.members[n] = uint32_t(i);
            n += int64_t(words[i] >> labeling % word_bits & 1) != part;
        }
        for (int64_t i = 0; i < n; i++)
            state.outlying[i] = outlyingness(projections_ + state.members[i] * stride, center, scale);
        state.sorter.sort(state.outlying.data(), n);
        find_sizes(state, n);
        std::fill_n(supports, stride, -std::numeric_limits<double>::infinity());
        std::fill_n(supports + stride, stride, std::numeric_limits<double>::infinity());
        auto row = [&](int64_t i) { return projections_ + state.members[state.sorter.index[i]] * stride; };
        for (int64_t level = 0, i = 0; level < levels_; level++, supports += 2 * stride) {
            const int64_t stop = state.sizes[size_t(level)];
            for (; i + 4 <= stop; i += 4) widen(supports, {row(i), row(i + 1), row(i + 2), row(i + 3)});
            for (; i < stop; i++) widen(supports, {row(i), row(i), row(i), row(i)});
            if (level + 1 < levels_) std::copy_n(supports, 2 * stride, supports + 2 * stride);
        }
    }

    // Four rows at a time: what is loaded and stored between them counts once.
    void widen(double* supports, std::array<const double*, 4> rows) const {
        using V = Vec<double>;
        const int64_t stride = task_.stride();
        for (int64_t j = 0; j < stride; j += width<double>) {
            const V a = load(rows[0] + j), b = load(rows[1] + j), c = load(rows[2] + j),
                    d = load(rows[3] + j);
            const V top = maximum<double>(maximum<double>(a, b), maximum<double>(c, d));
            const V low = minimum<double>(minimum<double>(a, b), minimum<double>(c, d));
            store(supports + j, maximum<double>(load(supports + j), top));
            store(supports + stride + j, minimum<double>(load(supports + stride + j), low));
        }
    }

    double outlyingness(const double* row, const double* center, const double* scale) const {
        Vec<double> largest[vectors] = {};
        for (int64_t j = 0; j < task_.stride(); j += lanes<double>)
            for (int v = 0; v < vectors; v++) {
                const int64_t at = j + v * width<double>;
                const auto away = absolute<double>(load(row + at) - load(center + at)) * load(scale + at);
                largest[v] = maximum<double>(largest[v], away);
            }
        double found = 0;
        for (int v = 0; v < vectors; v++)
            for (int lane = 0; lane < width<double>; lane++) found = std::max(found, largest[v][lane]);
        return found;
    }

    // How many of n rows, from the deepest on, lie in the region of each level. Rows of equal depth enter
    // together; depths are equal up to rounding from the first of a group on.
    void find_sizes(State& state, int64_t n) const {
        const double* outlying = state.sorter.keys.data();
        for (int64_t level = 0, end = 0; level < levels_;) {
            const double head = 1 / (1 + outlying[end++]);
            while (end < n && head - 1 / (1 + outlying[end]) <= tie) end++;
            for (; level<levels_&& double(end) / double(n)> betas_[level]; level++)
                state.sizes[size_t(level)] = end;
        }
    }
};

// The largest difference between the shares of the two parts in a half-line, and in an interval.
class ShareDifferences {
  public:
    // values (functions, n); half_lines and intervals (functions, count); ends at most `cuts` values.
    ShareDifferences(const LabelTask& task, const double* values, int64_t functions, int64_t cuts,
                     double* half_lines, double* intervals)
        : task_(task),
          values_(values),
          functions_(functions),
          cuts_(cuts),
          half_lines_(half_lines),
          intervals_(intervals) {}

    void run(int64_t n_threads) const {
        const int64_t workers = worker_count(n_threads, functions_, task_.n * functions_ * word_bits);
        PerWorker<State> states(workers);
        parallel_for(workers, functions_, [&](int64_t worker, int64_t function) {
            State& state = states.of(worker, [&] { return std::make_unique<State>(task_.n); });
            along(state, function);
        });
    }

  private:
    struct State {
        LabelsInOrder labels;
        Workspace<int32_t> before;
        std::vector<int64_t> ends;
        explicit State(int64_t n) : labels(n), before(labels.width + 1) {}
    };

    LabelTask task_;
    const double* values_;
    int64_t functions_, cuts_;
    double *half_lines_, *intervals_;

    void along(State& state, int64_t function) const {
        LabelsInOrder& labels = state.labels;
        labels.sort(values_ + function * task_.n);
        find_ends(labels.keys(), state.ends);
        for (int64_t first = 0; first < task_.count; first += word_bits) {
            labels.take(task_.words + first / word_bits * task_.n);
            for (int64_t b = 0; b < std::min(word_bits, task_.count - first); b++) {
                const int64_t place = function * task_.count + first + b;
                measure(state, labels.bits(b), half_lines_[place], intervals_[place]);
            }
        }
    }

    void measure(State& state, const uint64_t* bits, double& half_line, double& interval) const {
        int32_t in_x = 0;
        for (int64_t k = 0; k < state.labels.width; k++) {
            state.before[k] = in_x;
            in_x += std::popcount(bits[k]);
        }
        const double per_x = 1 / double(in_x), per_y = 1 / double(task_.n - in_x);
        double top = 0, low = 0;
        for (const int64_t end : state.ends) {
            const uint64_t inside = bits[end / word_bits] & ((uint64_t(1) << end % word_bits) - 1);
            const int64_t x = state.before[end / word_bits] + std::popcount(inside);
            const double gap = double(x) * per_x - double(end - x) * per_y;
            top = std::max(top, gap);
            low = std::min(low, gap);
        }
        half_line = std::max(top, -low);
        interval = top - low;
    }

    // How many of the rising values lie up to each cut. Equal values are not parted; of many values the
    // cuts are about equally far apart.
    void find_ends(const double* keys, std::vector<int64_t>& ends) const {
        ends.clear();
        for (int64_t i = 1; i < task_.n; i++)
            if (keys[i] > keys[i - 1]) ends.push_back(i);
        if (int64_t(ends.size()) <= cuts_) return;
        size_t kept = 0, at = 0;
        for (int64_t cut = 1; cut <= cuts_; cut++) {
            while (at + 1 < ends.size() && ends[at] * (cuts_ + 1) < cut * task_.n) at++;
            if (!kept || ends[kept - 1] < ends[at]) ends[kept++] = ends[at];
        }
        ends.resize(kept);
    }
};

}  // namespace isodepth
