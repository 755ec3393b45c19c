// The middle elements of many numbers, without sorting them.
//
// Counting how many numbers lie below a value costs a few percent of what sorting costs, since the
// processor does it for several numbers at once. So two values are moved in on the wanted ranks from both
// sides, each round aimed by the counts of the last, until only a handful of numbers lie between them;
// these are copied out and sorted. With weights it is their sums that are counted.
#pragma once

#include "sort.hpp"

namespace isodepth {

constexpr int64_t few_to_sort = 64;  // so few are sorted, and not looked through

// Numbers x_i, or if folded |x_i - center|, each with an integer weight, or one unit without weights.
template <class T> struct Numbers {
    const T* values;
    int64_t n;
    const int64_t* weights;  // or null
    int64_t total;           // of the weights
    T center;

    Numbers(const T* values, int64_t n, const int64_t* weights = nullptr, int64_t total = 0)
        : values(values), n(n), weights(weights), total(weights ? total : n), center(0) {}
};

struct Below {
    int64_t low, high;
};

// The weight of the numbers below each of two.
template <class T, bool folded> Below count_below(const Numbers<T>& of, T low, T high) {
    const T center = of.center;
    Below found = {0, 0};
    int64_t i = 0;
    if (of.weights) {
        for (; i < of.n; i++) {
            const T x = folded ? std::fabs(of.values[i] - center) : of.values[i];
            found.low += x < low ? of.weights[i] : 0;
            found.high += x < high ? of.weights[i] : 0;
        }
        return found;
    }
    constexpr int unrolled = 4;
    Mask<T> below_low[unrolled] = {}, below_high[unrolled] = {};
    const Vec<T> middle = broadcast(center), a = broadcast(low), b = broadcast(high);
    for (; i + unrolled * width<T> <= of.n; i += unrolled * width<T>)
        for (int u = 0; u < unrolled; u++) {
            Vec<T> x = load(of.values + i + u * width<T>);
            if (folded) x = distance<T>(x, middle);
            below_low[u] -= (Mask<T>)(x < a);
            below_high[u] -= (Mask<T>)(x < b);
        }
    for (int u = 0; u < unrolled; u++)
        for (int k = 0; k < width<T>; k++) found.low += below_low[u][k], found.high += below_high[u][k];
    for (; i < of.n; i++) {
        const T x = folded ? std::fabs(of.values[i] - center) : of.values[i];
        found.low += x < low;
        found.high += x < high;
    }
    return found;
}

// Copy the numbers in [low, high), with their weights, to the front of `work` (n + 1,); return how many.
template <class T, bool folded>
int64_t copy_between(const Numbers<T>& of, T low, T high, T* work, int64_t* work_weights) {
    const T center = of.center;
    int64_t kept = 0;
    auto copy = [&](int64_t start, int64_t stop) {
        for (int64_t i = start; i < stop; i++) {
            const T x = folded ? std::fabs(of.values[i] - center) : of.values[i];
            work[kept] = x;
            if (of.weights) work_weights[kept] = of.weights[i];
            kept += (x >= low) & (x < high);
        }
    };
    // Nearly all are outside: a tile is passed over unless one of it is inside.
    const Vec<T> middle = broadcast(center), a = broadcast(low), b = broadcast(high);
    int64_t start = 0;
    for (; start + lanes<T> <= of.n; start += lanes<T>) {
        Mask<T> inside = {};
        for (int j = 0; j < vectors; j++) {
            Vec<T> x = load(of.values + start + j * width<T>);
            if (folded) x = distance<T>(x, middle);
            inside |= (Mask<T>)(x >= a) & (Mask<T>)(x < b);
        }
        if (any<T>(inside)) copy(start, start + lanes<T>);
    }
    copy(start, of.n);
    return kept;
}

template <class T> void insertion_sort(T* values, int64_t* weights, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        const T x = values[i];
        const int64_t w = weights ? weights[i] : 0;
        int64_t j = i;
        for (; j > 0 && values[j - 1] > x; j--) {
            values[j] = values[j - 1];
            if (weights) weights[j] = weights[j - 1];
        }
        values[j] = x;
        if (weights) weights[j] = w;
    }
}

// Scratch space for numbers of which some are copied out.
template <class T> struct SelectRoom {
    Workspace<T> values;
    Workspace<int64_t> weights;

    explicit SelectRoom(int64_t n, bool weighted) : values(n + most_probes) {
        if (weighted) weights = Workspace<int64_t>(n + 1);
    }
    static double bytes(int64_t n, bool weighted) { return double(n) * (sizeof(T) + (weighted ? 8 : 0)); }
};

// The elements at two ranks of `n` numbers with weights in any order, which are rearranged: `value` covers
// the rank, counted in units of weight, in sorted order.
template <class T>
std::pair<T, T> among(T* values, int64_t* weights, int64_t n, int64_t first, int64_t last) {
    if (!weights && n > few_to_sort) {
        std::nth_element(values, values + first, values + n);
        return {values[first], first == last ? values[first] : *std::min_element(values + last, values + n)};
    }
    if (n > few_to_sort) {
        std::vector<std::pair<T, int64_t>> pairs;
        pairs.reserve(size_t(n));
        for (int64_t i = 0; i < n; i++) pairs.emplace_back(values[i], weights[i]);
        std::sort(pairs.begin(), pairs.end());
        for (int64_t i = 0; i < n; i++) std::tie(values[i], weights[i]) = pairs[size_t(i)];
    } else insertion_sort(values, weights, n);
    if (!weights) return {values[first], values[last]};
    int64_t i = 0, upto = weights[0];
    while (upto <= first) upto += weights[++i];
    const T lower = values[i];
    while (upto <= last) upto += weights[++i];
    return {lower, values[i]};
}

// About where numbers are: a first value to look at, the distance of the quartiles, and by which share of
// all numbers that value may be off. However wrong it is, the answer is exact.
template <class T> struct Guess {
    T value, spread;
    T margin = T(0.08);
    T off = 0;  // found: by which share of all numbers the value was off
};

// The numbers at the ranks first <= last <= first + 1, counted from 0 in units of weight.
template <class T, bool folded> std::pair<T, T> at_ranks(const Numbers<T>& of, int64_t first, int64_t last,
                                                         Guess<T>& start, const SelectRoom<T>& room) {
    constexpr T inf = std::numeric_limits<T>::infinity();
    constexpr int rounds = 12;
    constexpr T density = T(0.54);  // mass per distance of the quartiles at the middle of a bell
    // Both are in [low, high); `below` and `upto` count what is below these.
    T low = -inf, high = inf;
    int64_t below = 0, upto = of.total;
    const T aim = T(0.5) * T(first + last + 1), unit = T(of.total) / T(of.n);
    T step = start.spread / (density * T(of.total)), margin = start.margin * T(of.total) + unit;
    T guess = start.value;
    for (int round = 0; round < rounds && of.n > few_to_sort; round++) {
        const T left = guess - margin * step, right = guess + margin * step;
        const auto [n_left, n_right] = count_below<T, folded>(of, left, right);
        if (round == 0) start.off = std::fabs(T(0.5) * T(n_left + n_right) - aim) / T(of.total);
        bool moved = false;
        if (n_left <= first && left > low) low = left, below = n_left, moved = true;
        if (n_right <= first && right > low) low = right, below = n_right, moved = true;
        if (n_right > last && right < high) high = right, upto = n_right, moved = true;
        if (n_left > last && left < high) high = left, upto = n_left, moved = true;
        if (!moved) break;
        const T between = T(upto - below) / unit;
        if (low > -inf && high < inf) {
            step = (high - low) / T(upto - below);
            guess = low + (aim - T(below)) * step;
            // Counts of random numbers between two known ones are off by about half a root.
            margin = unit * (T(0.6) * std::sqrt(between) + T(0.01) * between + 1);
        } else {
            if (n_right > n_left) step = (right - left) / T(n_right - n_left);
            if (high == inf) guess = low + (aim - T(below)) * step;
            else guess = high - (T(upto) - aim) * step;
        }
        // So few are sorted sooner than all are counted once more.
        if (between <= 20 + T(of.n) / 64 || T(2.5) * margin > unit * between) break;
    }
    T* work = room.values.data();
    int64_t* weights = of.weights ? room.weights.data() : nullptr;
    const int64_t kept = copy_between<T, folded>(of, low, high, work, weights);
    return among(work, weights, kept, first - below, last - below);
}

// Halving first: symmetric under a change of sign, and the sum cannot overflow.
template <class T> T mean_of(std::pair<T, T> both) {
    return both.first == both.second ? both.first : T(0.5) * both.first + T(0.5) * both.second;
}

template <class T> struct MedianAndMad {
    T median, mad;
};

// Median and median absolute deviation; the median is the mean of the lower and the upper one.
template <class T>
MedianAndMad<T> median_and_mad(Numbers<T> of, Guess<T>& center, Guess<T>& away, const SelectRoom<T>& room) {
    const int64_t first = (of.total - 1) / 2, last = of.total / 2;
    of.center = mean_of(at_ranks<T, false>(of, first, last, center, room));
    return {of.center, mean_of(at_ranks<T, true>(of, first, last, away, room))};
}

template <class T> MedianAndMad<T> median_and_mad(const Numbers<T>& of, const SelectRoom<T>& room) {
    const auto [guess, spread] = center_and_spread(of.values, of.n, room.values.data());
    if (!(spread > 0)) return {of.values[0], T(0)};
    // Half of the distance of the quartiles, where the density is that of a normal law.
    Guess<T> center = {guess, spread}, away = {T(0.5) * spread, T(0.625) * spread};
    return median_and_mad(of, center, away, room);
}

template <class T> T median(const Numbers<T>& of, const SelectRoom<T>& room) {
    const auto [guess, spread] = center_and_spread(of.values, of.n, room.values.data());
    if (!(spread > 0)) return of.values[0];
    Guess<T> start = {guess, spread};
    return mean_of(at_ranks<T, false>(of, (of.total - 1) / 2, of.total / 2, start, room));
}

}  // namespace isodepth
