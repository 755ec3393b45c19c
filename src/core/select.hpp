// Order statistics of many numbers, without sorting them.
//
// Counting the numbers below a value costs a few percent of a sort, because vector instructions compare
// several numbers at once. So two bounds enclose the wanted order statistics, and each round of counting
// narrows the bounds. When few numbers are left between the bounds, these numbers are copied and sorted. If
// there are weights, sums of weights replace the counts.
#pragma once

#include "sort.hpp"

namespace isodepth {

// Numbers x_i with integer weights. Functions with the template argument `folded` use |x_i - center| instead
// of x_i.
template <class T> struct Numbers {
    const T* values;
    int64_t n;
    const int64_t* weights;  // null if all weights are 1
    int64_t total;           // sum of the weights
    T center = 0;

    Numbers(const T* values, int64_t n, const int64_t* weights = nullptr, int64_t total = 0)
        : values(values), n(n), weights(weights), total(weights ? total : n) {}
};

// Return the total weight of the numbers below `low`, and of those below `high`.
template <class T, bool folded> std::pair<int64_t, int64_t> count_below(const Numbers<T>& of, T low, T high) {
    const T center = of.center;
    int64_t below_low = 0, below_high = 0;
    int64_t i = 0;
    if (!of.weights) {
        constexpr int unrolled = 4;
        Mask<T> lower[unrolled] = {}, upper[unrolled] = {};
        const Vec<T> middle = broadcast(center), a = broadcast(low), b = broadcast(high);
        for (; i + unrolled * width<T> <= of.n; i += unrolled * width<T>)
            for (int u = 0; u < unrolled; u++) {
                Vec<T> x = load(of.values + i + u * width<T>);
                if (folded) x = distance<T>(x, middle);
                lower[u] -= (Mask<T>)(x < a);
                upper[u] -= (Mask<T>)(x < b);
            }
        for (int u = 1; u < unrolled; u++) lower[0] += lower[u], upper[0] += upper[u];
        for (int k = 0; k < width<T>; k++) below_low += lower[0][k], below_high += upper[0][k];
    }
    for (; i < of.n; i++) {
        const T x = folded ? std::fabs(of.values[i] - center) : of.values[i];
        const int64_t weight = of.weights ? of.weights[i] : 1;
        below_low += x < low ? weight : 0;
        below_high += x < high ? weight : 0;
    }
    return {below_low, below_high};
}

template <class T> struct SelectWorkspace {
    Workspace<T> values;
    Workspace<int64_t> weights;

    explicit SelectWorkspace(int64_t n, bool weighted) : values(n + 1), weights(weighted ? n + 1 : 0) {}
};

// Copy the numbers in [low, high), with their weights, to the workspace, and return their number.
template <class T, bool folded>
int64_t copy_between(const Numbers<T>& of, T low, T high, SelectWorkspace<T>& workspace) {
    const T center = of.center;
    int64_t found = 0;
    auto copy = [&](int64_t start, int64_t stop) {
        for (int64_t i = start; i < stop; i++) {
            const T x = folded ? std::fabs(of.values[i] - center) : of.values[i];
            workspace.values[found] = x;
            if (of.weights) workspace.weights[found] = of.weights[i];
            found += (x >= low) & (x < high);
        }
    };
    // Nearly all numbers are outside of [low, high), so skip a block of numbers unless one of them is inside.
    const Vec<T> middle = broadcast(center), a = broadcast(low), b = broadcast(high);
    int64_t start = 0;
    for (; start + lanes<T> <= of.n; start += lanes<T>) {
        Mask<T> inside = {};
        for (int j = 0; j < lanes<T>; j += width<T>) {
            Vec<T> x = load(of.values + start + j);
            if (folded) x = distance<T>(x, middle);
            inside |= (Mask<T>)(x >= a) & (Mask<T>)(x < b);
        }
        if (any<T>(inside)) copy(start, start + lanes<T>);
    }
    copy(start, of.n);
    return found;
}

// Return the numbers at the ranks first <= last <= first + 1, counted from 0 in units of weight, among n
// numbers. Without weights, `values` is reordered.
template <class T>
std::pair<T, T> at_ranks_of_few(T* values, const int64_t* weights, int64_t n, int64_t first, int64_t last) {
    if (!weights) {
        std::nth_element(values, values + first, values + n);
        return {values[first], first == last ? values[first] : *std::min_element(values + last, values + n)};
    }
    std::vector<std::pair<T, int64_t>> pairs;
    for (int64_t i = 0; i < n; i++) pairs.emplace_back(values[i], weights[i]);
    std::sort(pairs.begin(), pairs.end());
    auto at = pairs.begin();
    int64_t upto = at->second;
    while (upto <= first) upto += (++at)->second;
    const T lower = at->first;
    while (upto <= last) upto += (++at)->second;
    return {lower, at->first};
}

// Initial guess of an order statistic: its value, the interquartile range `spread` of all numbers, and
// `margin`, the error of the rank of the value as a fraction of n. The guess affects only the time, not the
// result. If `spread` is 0, the guess is computed from a few of the numbers.
template <class T> struct Guess {
    T value = 0, spread = 0;
    T margin = T(0.08);
};

// Return the numbers at the ranks first <= last <= first + 1, counted from 0 in units of weight.
template <class T, bool folded = false> std::pair<T, T> at_ranks(const Numbers<T>& of, int64_t first,
                                                                 int64_t last, SelectWorkspace<T>& workspace,
                                                                 Guess<T> start = {}) {
    constexpr int rounds = 12;
    constexpr int64_t few = 64;  // samples up to this size are sorted directly
    // Density of a normal distribution at its center times its interquartile range.
    constexpr T density = T(0.54);
    if (!(start.spread > 0)) {
        const Probes<T> probes(of.values, of.n);
        const T any = folded ? std::fabs(of.values[0] - of.center) : of.values[0];
        if (!(probes.spread > 0)) return {any, any};
        // For a normal distribution the MAD is half of the interquartile range.
        start.value = folded ? T(0.5) * probes.spread : probes.center;
        start.spread = (folded ? T(0.625) : T(1)) * probes.spread;
    }
    // The numbers at both ranks are in [low, high). `below` and `upto` are the total weights of the numbers
    // below `low` and below `high`.
    T low = -infinity<T>, high = infinity<T>;
    int64_t below = 0, upto = of.total;
    const T aim = T(0.5) * T(first + last + 1), unit = T(of.total) / T(of.n);
    T step = start.spread / (density * T(of.total)), margin = start.margin * T(of.total) + unit;
    T guess = start.value;
    for (int round = 0; round < rounds && of.n > few; round++) {
        const T left = guess - margin * step, right = guess + margin * step;
        const auto [n_left, n_right] = count_below<T, folded>(of, left, right);
        bool moved = false;
        if (n_left <= first && left > low) low = left, below = n_left, moved = true;
        if (n_right <= first && right > low) low = right, below = n_right, moved = true;
        if (n_right > last && right < high) high = right, upto = n_right, moved = true;
        if (n_left > last && left < high) high = left, upto = n_left, moved = true;
        if (!moved) break;
        const T between = T(upto - below) / unit;
        if (low > -infinity<T> && high < infinity<T>) {
            step = (high - low) / T(upto - below);
            guess = low + (aim - T(below)) * step;
            // The rank of the guess has a standard deviation of about half the square root of the count
            // between the bounds. The margin is slightly larger.
            margin = unit * (T(0.6) * std::sqrt(between) + T(0.01) * between + 1);
        } else {
            if (n_right > n_left) step = (right - left) / T(n_right - n_left);
            if (high == infinity<T>) guess = low + (aim - T(below)) * step;
            else guess = high - (T(upto) - aim) * step;
        }
        // Stop if sorting the remaining numbers is faster than another round of counting.
        if (between <= 20 + T(of.n) / 64 || T(2.5) * margin > unit * between) break;
    }
    const int64_t n = copy_between<T, folded>(of, low, high, workspace);
    return at_ranks_of_few(workspace.values.data(), of.weights ? workspace.weights.data() : nullptr, n,
                           first - below, last - below);
}

// Return the mean of two numbers. The numbers are halved before they are added, so that the sum cannot
// overflow.
template <class T> T mean_of(std::pair<T, T> both) {
    return both.first == both.second ? both.first : T(0.5) * both.first + T(0.5) * both.second;
}

template <class T, bool folded = false>
T median(const Numbers<T>& of, SelectWorkspace<T>& workspace, Guess<T> start = {}) {
    return mean_of(at_ranks<T, folded>(of, (of.total - 1) / 2, of.total / 2, workspace, start));
}

template <class T> struct MedianAndMad {
    T median, mad;
};

template <class T> MedianAndMad<T> median_and_mad(Numbers<T> of, SelectWorkspace<T>& workspace,
                                                  Guess<T> center = {}, Guess<T> deviation = {}) {
    of.center = median(of, workspace, center);
    return {of.center, median<T, true>(of, workspace, deviation)};
}

}  // namespace isodepth
