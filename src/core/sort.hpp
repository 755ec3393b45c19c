// Sorting numbers together with the places they came from.
//
// Ranks need the order of the points, not only the sorted values, and a comparison sort of pairs costs
// several times a sort of bare values. A bucket sort places nearly every value at once; a last insertion
// pass makes the result exact whatever the buckets were, and crowded buckets are sorted by comparison
// first, so that no data can make it quadratic. Many values are first divided into stretches that fit
// into the cache. Equal values keep their order.
#pragma once

#include <cmath>

#include "parallel.hpp"
#include "simd.hpp"

namespace isodepth {

constexpr int most_probes = 16;  // so many values are looked at to know roughly where all are
constexpr int64_t most_crowd_parts = 1 << 11;
constexpr int64_t crowded = 24;            // larger buckets are sorted by comparison
constexpr int64_t stretch_size = 1 << 15;  // a scatter of more values misses the cache
constexpr int64_t stretch_buckets = 1 << 13;
constexpr int64_t most_stretches = 256;

inline int64_t probe_count(int64_t n) { return std::min(n, std::clamp<int64_t>(n / 16, 8, most_probes)); }

template <class T> struct CenterAndSpread {
    T center, spread;
};

// A middle value and roughly the distance of the quartiles, zero only where all values are equal.
// `probes` is left with `probe_count(n)` rising values.
template <class T> CenterAndSpread<T> center_and_spread(const T* values, int64_t n, T* probes) {
    const int64_t m = probe_count(n);
    for (int64_t i = 0; i < m; i++) {
        const T x = values[i * n / m];
        int64_t j = i;
        for (; j > 0 && probes[j - 1] > x; j--) probes[j] = probes[j - 1];
        probes[j] = x;
    }
    T spread = probes[3 * m / 4] - probes[m / 4];
    if (!(spread > 0)) spread = probes[m - 1] - probes[0];
    if (!(spread > 0)) {
        T low = values[0], high = values[0];
        for (int64_t i = 0; i < n; i++) {
            low = values[i] < low ? values[i] : low;
            high = values[i] > high ? values[i] : high;
        }
        spread = high - low;
    }
    return {probes[m / 2], spread};
}

// Which of `count` buckets a value belongs to: for bell-shaped and heavy-tailed values about as many in
// each. Three straight lines: without a division, and rising with the value also after rounding. Only
// distances from the center are taken in full precision.
template <class T> class BucketOf {
  public:
    BucketOf(CenterAndSpread<T> at, int64_t count) : center_(at.center), half_(0.5f * float(count - 1)) {
        // A scale that overflows, or vanishes, is as good as any that does not.
        constexpr T largest = std::numeric_limits<T>::max();
        scale_ = std::min(T(1.35) / std::min(at.spread, largest), largest);
    }
    void fill(const T* values, int64_t n, uint32_t* bucket) const {
        constexpr int64_t chunk = 256;
        float away[chunk];
        for (int64_t first = 0; first < n; first += chunk) {
            const int64_t some = std::min(chunk, n - first);
            const T center = center_, scale = scale_;
            for (int64_t i = 0; i < some; i++) away[i] = float((values[first + i] - center) * scale);
            const int64_t rest = some % width<float>;
            std::fill_n(away + some, rest ? width<float> - rest : 0, 0.0f);
            bend(away, some, bucket + first);
        }
    }
    // The same for one value, not rounded down.
    float place(T x) const { return half_ + half_ * bent(float((x - center_) * scale_)); }

  private:
    T center_, scale_;
    float half_;

    static float bent(float away) {
        const float size = std::fabs(away);
        return std::copysign(std::min({0.5f * size, 0.63f + 0.08f * size, 0.898f + 0.0034f * size, 1.0f}),
                             away);
    }
    // The buckets of `n` distances; up to a whole vector of these may be read.
    void bend(const float* away, int64_t n, uint32_t* bucket) const {
        typedef int32_t Whole __attribute__((vector_size(vector_bytes), aligned(4), may_alias));
        using V = Vec<float>;
        const V half = broadcast(half_), one = broadcast(1.0f), first = broadcast(0.5f);
        const V second = broadcast(0.08f), third = broadcast(0.0034f), sign = broadcast(-0.0f);
        auto place = [&](const float* at) {
            const V x = load(at), size = absolute<float>(x);
            const V lines = minimum<float>(multiply_add<float>(second, size, broadcast(0.63f)),
                                           multiply_add<float>(third, size, broadcast(0.898f)));
            const V bent = minimum<float>(minimum<float>(first * size, lines), one);
            const V with_sign = (V)((Mask<float>)bent | ((Mask<float>)x & (Mask<float>)sign));
            return __builtin_convertvector(multiply_add<float>(half, with_sign, half), Mask<float>);
        };
        int64_t i = 0;
        for (; i + width<float> <= n; i += width<float>)
            *reinterpret_cast<Whole*>(bucket + i) = place(away + i);
        if (i == n) return;
        const Mask<float> last = place(away + i);
        for (int64_t k = 0; i + k < n; k++) bucket[i + k] = uint32_t(last[k]);
    }
};

// Whether an eighth of the rising probes shares a five hundredth of the buckets; equal ones do no harm.
template <class T> bool has_crowds(const T* probes, int64_t m, CenterAndSpread<T> at) {
    const int64_t step = m / 8;
    if (step < 2) return false;
    const BucketOf<T> unit(at, 3);
    bool found = false;
    for (int64_t j = 0; j + step < m; j++)
        found |=
            probes[j] < probes[j + step] && unit.place(probes[j + step]) - unit.place(probes[j]) < 0.004f;
    return found;
}

// Buckets for values in crowds far from each other: divided coarsely first, and each part then has as many
// of the buckets as it has values, evenly from its smallest to its largest. `scratch` has room for a
// quarter, and `starts` for an eighth of the values and one.
template <class T> void fill_by_crowds(const T* values, int64_t n, CenterAndSpread<T> at, T* scratch,
                                       uint32_t* starts, int64_t count, uint32_t* bucket) {
    const int64_t parts = std::max<int64_t>(1, std::min(n / 8, most_crowd_parts));
    BucketOf<T>(at, parts).fill(values, n, bucket);
    T *lows = scratch, *slopes = scratch + parts;
    std::fill_n(starts, parts, 0u);
    std::fill_n(lows, parts, std::numeric_limits<T>::infinity());
    std::fill_n(slopes, parts, -std::numeric_limits<T>::infinity());
    for (int64_t i = 0; i < n; i++) {
        const uint32_t c = bucket[i];
        starts[c]++;
        lows[c] = std::min(lows[c], values[i]);
        slopes[c] = std::max(slopes[c], values[i]);
    }
    const double each = double(count) / double(n);
    int64_t before = 0;
    for (int64_t c = 0; c < parts; c++) {
        const int64_t size = starts[c];
        const double span = double(slopes[c]) - double(lows[c]);
        slopes[c] = size && span > 0 && each * size > 1 ? T((each * size - 1) / span) : T(0);
        if (!(slopes[c] < std::numeric_limits<T>::max())) slopes[c] = 0;
        if (!size) lows[c] = 0;
        starts[c] = uint32_t(each * before);
        before += size;
    }
    for (int64_t i = 0; i < n; i++) {
        const uint32_t c = bucket[i];
        // Not beyond the buckets of its part, whatever rounding does.
        const double most = double(c + 1 < parts ? std::max(starts[c + 1], starts[c] + 1) : count) - 1;
        const double place = double(starts[c]) + double((values[i] - lows[c]) * slopes[c]);
        bucket[i] = uint32_t(int32_t(std::min(place, most)));
    }
}

// Room to sort up to n values; the result is in `keys` and `index`.
template <class T> class Sorter {
  public:
    Workspace<T> keys;          // the values, rising
    Workspace<uint32_t> index;  // the places they came from
    // Of many values: where stretches start and end, and by which bucket each value goes to one.
    Workspace<uint32_t> starts, bucket, spare_index;
    Workspace<uint32_t> count;  // scratch of 2 n + 1

    explicit Sorter(int64_t n) : keys(n + most_probes), index(n), bucket(n), count(2 * n + most_stretches) {
        if (n <= stretch_size) return;
        spare_keys_ = Workspace<T>(n);
        spare_index = Workspace<uint32_t>(n);
        spare_bucket_ = Workspace<uint32_t>(n);
        starts = Workspace<uint32_t>(most_stretches + 2);
        cursors_ = Workspace<uint32_t>(most_stretches + 2);
    }
    static double bytes(int64_t n) {
        return double(n) * (sizeof(T) + 16 + (n > stretch_size ? sizeof(T) + 8 : 0));
    }

    void sort(const T* values, int64_t n) {
        if (n > stretch_size) return sort_many(values, n);
        const auto at = center_and_spread(values, n, keys.data());
        if (!(at.spread > 0)) {
            std::copy_n(values, n, keys.data());
            for (int64_t i = 0; i < n; i++) index[i] = uint32_t(i);
            return;
        }
        fill(values, n, at);
        by_buckets(values, bucket.data(), n, 0, 2 * n, keys.data(), index.data());
    }

    // Divide many values into stretches: all of one are below all of the next. Returns how many there are.
    int64_t divide(const T* values, int64_t n) {
        auto at = center_and_spread(values, n, keys.data());
        if (!(at.spread > 0)) at.spread = 1;
        fill(values, n, at);
        const int bits = stretch_bits(n);
        const int64_t stretches = (2 * n >> bits) + 1;
        std::fill_n(starts.data(), stretches + 1, 0u);
        for (int64_t i = 0; i < n; i++) starts[(bucket[i] >> bits) + 1]++;
        for (int64_t s = 0; s < stretches; s++) starts[s + 1] += starts[s];
        rewind(stretches);
        for (int64_t i = 0; i < n; i++) {
            const uint32_t place = cursors_[bucket[i] >> bits]++;
            spare_keys_[place] = values[i];
            spare_bucket_[place] = bucket[i];
        }
        rewind(stretches);
        return stretches;
    }
    // The next free place in the stretch of value i, one after the other.
    uint32_t next_place(int64_t i, int bits) { return cursors_[bucket[i] >> bits]++; }
    // Sort one stretch of what was divided; places are counted from its start.
    void sort_stretch(int64_t n, int64_t number, T* into, uint32_t* places) {
        const int bits = stretch_bits(n);
        const int64_t first = starts[number], size = starts[number + 1] - first;
        by_buckets(spare_keys_.data() + first, spare_bucket_.data() + first, size, uint32_t(number << bits),
                   int64_t(1) << bits, into, places);
    }
    // How many buckets make a stretch, as a power of two.
    static int stretch_bits(int64_t n) {
        int bits = 0;
        while ((2 * n >> bits) > most_stretches || (int64_t(1) << bits) < stretch_buckets) bits++;
        return bits;
    }

  private:
    Workspace<T> spare_keys_;
    Workspace<uint32_t> spare_bucket_, cursors_;

    void rewind(int64_t stretches) { std::copy_n(starts.data(), stretches, cursors_.data()); }

    void fill(const T* values, int64_t n, CenterAndSpread<T> at) {
        if (has_crowds(keys.data(), probe_count(n), at))
            fill_by_crowds(values, n, at, keys.data(), count.data(), 2 * n, bucket.data());
        else BucketOf<T>(at, 2 * n).fill(values, n, bucket.data());
    }

    void sort_many(const T* values, int64_t n) {
        const int64_t stretches = divide(values, n);
        const int bits = stretch_bits(n);
        for (int64_t i = 0; i < n; i++) spare_index[next_place(i, bits)] = uint32_t(i);
        for (int64_t s = 0; s < stretches; s++) {
            const int64_t first = starts[s], last = starts[s + 1];
            sort_stretch(n, s, keys.data() + first, index.data() + first);
            for (int64_t i = first; i < last; i++) index[i] = spare_index[first + index[i]];
        }
    }

    // Sort values whose buckets are first..first + buckets.
    void by_buckets(const T* values, const uint32_t* bucket, int64_t n, uint32_t first, int64_t buckets,
                    T* keys, uint32_t* index) {
        uint32_t* ends = count.data();
        std::fill_n(ends, buckets, 0u);
        for (int64_t i = 0; i < n; i++) ends[bucket[i] - first]++;
        uint32_t running = 0, largest = 0;
        for (int64_t b = 0; b < buckets; b++) {
            const uint32_t size = ends[b];
            ends[b] = running;
            running += size;
            largest = size > largest ? size : largest;
        }
        for (int64_t i = 0; i < n; i++) {
            const uint32_t place = ends[bucket[i] - first]++;
            keys[place] = values[i];
            index[place] = uint32_t(i);
        }
        if (largest > crowded) sort_crowded(ends, buckets, keys, index);
        for (int64_t i = 1; i < n; i++) {
            const T x = keys[i];
            if (!(x < keys[i - 1])) continue;
            const uint32_t item = index[i];
            int64_t j = i;
            for (; j > 0 && keys[j - 1] > x; j--) keys[j] = keys[j - 1], index[j] = index[j - 1];
            keys[j] = x, index[j] = item;
        }
    }

    static void sort_crowded(const uint32_t* ends, int64_t buckets, T* keys, uint32_t* index) {
        std::vector<std::pair<T, uint32_t>> pairs;
        int64_t start = 0;
        for (int64_t b = 0; b < buckets; b++) {
            const int64_t stop = ends[b];
            if (stop - start > crowded && !std::is_sorted(keys + start, keys + stop)) {
                pairs.resize(size_t(stop - start));
                for (int64_t i = start; i < stop; i++) pairs[size_t(i - start)] = {keys[i], index[i]};
                std::sort(pairs.begin(), pairs.end());
                for (int64_t i = start; i < stop; i++) std::tie(keys[i], index[i]) = pairs[size_t(i - start)];
            }
            start = stop;
        }
    }
};

// Indices that sort `values` (n,), equal ones in the order in which they stand, whatever the threads.
template <class T> void stable_order(const T* values, int64_t n, int64_t n_threads, int64_t* order) {
    // Sorting a number takes about as long as projecting so many.
    constexpr int64_t cost = 16, probes_each = 32, most_parts = 255, rows_each = 1 << 13;
    const int64_t parts = std::min(most_parts, n / rows_each);
    const int64_t workers = worker_count(n_threads, parts, cost * n);
    if (workers < 2) {
        Sorter<T> sorter(n);
        sorter.sort(values, n);
        for (int64_t i = 0; i < n; i++) order[i] = sorter.index[i];
        return;
    }
    // Divide by values, and sort the parts: equal values are in one part.
    std::vector<T> cuts(size_t(parts * probes_each));
    for (int64_t i = 0; i < parts * probes_each; i++) cuts[size_t(i)] = values[i * n / (parts * probes_each)];
    std::sort(cuts.begin(), cuts.end());
    for (int64_t i = 1; i < parts; i++) cuts[size_t(i - 1)] = cuts[size_t(i * probes_each)];
    cuts.resize(size_t(parts - 1));
    const int64_t blocks = (n + rows_each - 1) / rows_each;
    Workspace<uint8_t> part_of(n);
    Workspace<int64_t> begins(blocks * (parts + 1), 0);
    parallel_for(workers, blocks, [&](int64_t, int64_t block) {
        int64_t* counts = begins.data() + block * (parts + 1);
        for (int64_t i = block * rows_each; i < std::min(n, (block + 1) * rows_each); i++) {
            part_of[i] = uint8_t(std::upper_bound(cuts.begin(), cuts.end(), values[i]) - cuts.begin());
            counts[part_of[i]]++;
        }
    });
    std::vector<int64_t> first(size_t(parts + 1), 0);
    int64_t running = 0, largest = 0;
    for (int64_t part = 0; part < parts; part++) {
        first[size_t(part)] = running;
        for (int64_t block = 0; block < blocks; block++)
            running += std::exchange(begins[block * (parts + 1) + part], running);
        largest = std::max(largest, running - first[size_t(part)]);
    }
    first[size_t(parts)] = n;
    Workspace<T> keys(n);
    Workspace<uint32_t> places(n);
    parallel_for(workers, blocks, [&](int64_t, int64_t block) {
        int64_t* at = begins.data() + block * (parts + 1);
        for (int64_t i = block * rows_each; i < std::min(n, (block + 1) * rows_each); i++) {
            const int64_t to = at[part_of[i]]++;
            keys[to] = values[i];
            places[to] = uint32_t(i);
        }
    });
    PerWorker<Sorter<T>> sorters(workers);
    parallel_for(workers, parts, [&](int64_t worker, int64_t part) {
        Sorter<T>& sorter = sorters.of(worker, [&] { return std::make_unique<Sorter<T>>(largest); });
        const int64_t start = first[size_t(part)], size = first[size_t(part) + 1] - start;
        if (!size) return;
        sorter.sort(keys.data() + start, size);
        for (int64_t i = 0; i < size; i++) order[start + i] = places[start + sorter.index[i]];
    });
}

}  // namespace isodepth
