// Stable sort of values together with their indices.
//
// Ranks need the order of the points, not only the sorted values. A comparison sort of (value, index) pairs
// is several times as slow as a comparison sort of values. A bucket sort puts nearly every value into its
// final position. An insertion sort corrects the rest, so the result is exact for any buckets. Crowded
// buckets are sorted by comparison first, so that the time is never quadratic. A large number of values is
// first divided into ranges that fit in the cache.
#pragma once

#include "parallel.hpp"

namespace isodepth {

// A few of the values, at evenly spaced positions, sorted to estimate location and spread.
template <class T> struct Probes {
    static constexpr int64_t most = 16;
    int64_t count;
    T values[most];
    // Approximate median and interquartile range; the range is 0 only if all values are equal.
    T center, spread;

    Probes(const T* all, int64_t n) : count(std::min(n, std::clamp<int64_t>(n / 16, 8, most))) {
        for (int64_t i = 0; i < count; i++) values[i] = all[i * n / count];
        std::sort(values, values + count);
        center = values[count / 2];
        spread = values[3 * count / 4] - values[count / 4];
        if (!(spread > 0)) spread = values[count - 1] - values[0];
        if (spread > 0) return;
        const auto [low, high] = std::minmax_element(all, all + n);
        spread = *high - *low;
    }
};

// Bucket numbers are written in whole SIMD vectors, so an array of bucket numbers needs `bucket_padding`
// additional entries.
typedef int32_t BucketVector __attribute__((vector_size(vector_bytes), aligned(4), may_alias));
constexpr int64_t bucket_padding = 16;

// Write the bucket number of each value, from 0 to `count` - 1, to `bucket` (n + bucket_padding,). Buckets
// have about equal sizes for bell-shaped and heavy-tailed distributions. On each side of the center, the
// bucket number is a concave, piecewise linear function of the distance from the center. This function needs
// no division per value, and is monotone even after rounding. Only the distance from the center is computed
// in full precision.
template <class T>
void buckets_of_bell(const T* values, int64_t n, const Probes<T>& at, int64_t count, uint32_t* bucket) {
    using V = Vec<float>;
    // The scale is limited if it overflows. Any positive scale gives a correct sort.
    constexpr T largest = std::numeric_limits<T>::max();
    const T center = at.center, scale = std::min(T(1.35) / std::min(at.spread, largest), largest);
    // Round down: twice this number must not exceed the last bucket number, count - 1.
    float middle = 0.5f * float(count - 1);
    if (2 * int64_t(middle) > count - 1) middle = std::nextafter(middle, 0.0f);
    const V half = broadcast(middle), sign = broadcast(-0.0f);
    const V slope = broadcast(0.08f), last_slope = broadcast(0.0034f);
    constexpr int64_t chunk = 256;
    float away[chunk] = {};
    for (int64_t first = 0; first < n; first += chunk) {
        const int64_t some = std::min(chunk, n - first);
        for (int64_t i = 0; i < some; i++) away[i] = float((values[first + i] - center) * scale);
        for (int64_t i = 0; i < some; i += width<float>) {
            const V x = load(away + i), size = absolute<float>(x);
            const V outer = minimum<float>(multiply_add<float>(slope, size, broadcast(0.63f)),
                                           multiply_add<float>(last_slope, size, broadcast(0.898f)));
            const V bent = minimum<float>(minimum<float>(0.5f * size, outer), broadcast(1.0f));
            const V place = (V)((Mask<float>)bent | ((Mask<float>)x & (Mask<float>)sign));
            *reinterpret_cast<BucketVector*>(bucket + first + i) =
                __builtin_convertvector(multiply_add<float>(half, place, half), Mask<float>);
        }
    }
}

// Write the bucket number of each value to `bucket`, for values in clusters that are far from each other. The
// values are first divided into coarse parts. Each part gets a number of buckets in proportion to its number
// of values. The buckets of a part are equally wide, from the minimum to the maximum of the part.
template <class T>
void buckets_of_clusters(const T* values, int64_t n, const Probes<T>& at, int64_t count, uint32_t* bucket) {
    const int64_t parts = std::clamp<int64_t>(n / 8, 1, 1 << 11);
    buckets_of_bell(values, n, at, parts, bucket);
    struct Part {
        T low = std::numeric_limits<T>::max(), high = std::numeric_limits<T>::lowest(), slope = 0;
        uint32_t size = 0, start = 0;
    };
    std::vector<Part> all(size_t(parts) + 1);
    for (int64_t i = 0; i < n; i++) {
        Part& part = all[bucket[i]];
        part.size++;
        part.low = std::min(part.low, values[i]);
        part.high = std::max(part.high, values[i]);
    }
    const double each = double(count) / double(n);
    int64_t before = 0;
    for (Part& part : all) {
        const double own = each * part.size - 1, slope = own / (double(part.high) - double(part.low));
        if (own > 0 && slope < double(std::numeric_limits<T>::max())) part.slope = T(slope);
        part.start = uint32_t(each * double(before));
        before += part.size;
    }
    for (int64_t i = 0; i < n; i++) {
        const Part& part = all[bucket[i]];
        // Rounding must not lead to a bucket beyond the last bucket of the part.
        const double last = double(std::max((&part + 1)->start, part.start + 1)) - 1;
        bucket[i] =
            uint32_t(std::min(double(part.start) + double((values[i] - part.low) * part.slope), last));
    }
}

// Write the bucket number of each value to `bucket`, by `buckets_of_clusters` or `buckets_of_bell`. If the
// distance between two clusters is at least 100 times their width, `buckets_of_clusters` makes sorting and
// halfspace masses 1.4 to 5 times as fast. It is chosen if an eighth of the probes, not all equal, falls into
// a 500th of the buckets. The probes are a few of the values.
template <class T> void fill_buckets(const T* values, int64_t n, int64_t count, uint32_t* bucket) {
    const Probes<T> probes(values, n);
    uint32_t coarse[Probes<T>::most + bucket_padding];
    buckets_of_bell(probes.values, probes.count, probes, 1000, coarse);
    bool clusters = false;
    for (int64_t j = 0, step = probes.count / 8; step > 1 && j + step < probes.count; j++)
        clusters |= probes.values[j] < probes.values[j + step] && coarse[j + step] - coarse[j] < 2;
    if (clusters) buckets_of_clusters(values, n, probes, count, bucket);
    else buckets_of_bell(values, n, probes, count, bucket);
}

template <class T> class Sorter {
  public:
    Workspace<T> keys;          // sorted values
    Workspace<uint32_t> index;  // original index of each sorted value
    // Start of each range of values, then the end of the last range. All values of a range are below all
    // values of the next range.
    std::vector<uint32_t> starts;

    explicit Sorter(int64_t n)
        : keys(n), index(n), spare_(n > stretch_size ? n : 0), bucket_(n + bucket_padding), ends_(2 * n) {}

    void sort(const T* values, int64_t n) {
        divide(values, n);
        if (starts.size() == 2) return sort_stretch(0, 0);
        for (int64_t i = 0; i < n; i++) spare_index_[next_in_stretch(i)] = uint32_t(i);
        for (size_t s = 0; s + 1 < starts.size(); s++) {
            sort_stretch(s, starts[s]);
            for (int64_t i = starts[s]; i < starts[s + 1]; i++) index[i] = spare_index_[starts[s] + index[i]];
        }
    }

    // Divide the values into ranges that fit into the cache.
    void divide(const T* values, int64_t n) {
        fill_buckets(values, n, 2 * n, bucket_.data());
        values_ = values, value_buckets_ = bucket_.data(), buckets_ = 2 * n;
        for (bits_ = n > stretch_size ? 13 : 31; (buckets_ >> bits_) > 255;) bits_++;
        starts.assign(size_t(buckets_ >> bits_) + 2, 0);
        if (starts.size() == 2) return void(starts[1] = uint32_t(n));
        for (int64_t i = 0; i < n; i++) starts[(bucket_[i] >> bits_) + 1]++;
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        cursors_ = starts;
        for (int64_t i = 0; i < n; i++) {
            const uint32_t to = next_in_stretch(i);
            spare_keys_[to] = values[i];
            spare_bucket_[to] = bucket_[i];
        }
        cursors_ = starts;
        values_ = spare_keys_.data(), value_buckets_ = spare_bucket_.data();
    }
    // Return the position of value i after the division into ranges. It must be called once for each value,
    // in increasing order of i.
    uint32_t next_in_stretch(int64_t i) { return cursors_[bucket_[i] >> bits_]++; }

    // Sort range `number`, and write its values to `keys` and their indices to `index`, from position
    // `offset` on. Indices are relative to the start of the range.
    void sort_stretch(size_t number, int64_t offset) {
        const int64_t start = starts[number], n = starts[number + 1] - start;
        const T* values = values_ + start;
        const uint32_t *bucket = value_buckets_ + start, first = uint32_t(number << bits_);
        const int64_t buckets = std::min(int64_t(1) << bits_, buckets_ - first);
        T* keys = this->keys.data() + offset;
        uint32_t *index = this->index.data() + offset, *ends = ends_.data();
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
            const uint32_t to = ends[bucket[i] - first]++;
            keys[to] = values[i];
            index[to] = uint32_t(i);
        }
        if (largest > crowded) sort_crowded(buckets, keys, index);
        for (int64_t i = 1; i < n; i++) {
            const T x = keys[i];
            if (!(x < keys[i - 1])) continue;
            const uint32_t own = index[i];
            int64_t j = i;
            for (; j > 0 && keys[j - 1] > x; j--) keys[j] = keys[j - 1], index[j] = index[j - 1];
            keys[j] = x, index[j] = own;
        }
    }

  private:
    static constexpr int64_t crowded = 24;  // larger buckets are sorted by comparison
    // Larger numbers of values are divided into ranges before they are sorted, because writing at random
    // positions would miss the cache.
    static constexpr int64_t stretch_size = 1 << 15;
    int64_t spare_;                  // size of the spare arrays; 0 if the values need no division into ranges
    const T* values_;                // the values, grouped by range but not sorted within a range
    const uint32_t* value_buckets_;  // bucket numbers of `values_`
    int64_t buckets_;
    int bits_;  // a range has 2**bits_ buckets
    std::vector<uint32_t> cursors_;
    Workspace<uint32_t> bucket_, ends_, spare_index_{spare_}, spare_bucket_{spare_};
    Workspace<T> spare_keys_{spare_};

    void sort_crowded(int64_t buckets, T* keys, uint32_t* index) const {
        std::vector<std::pair<T, uint32_t>> pairs;
        for (int64_t b = 0, start = 0, stop; b < buckets; b++, start = stop) {
            stop = ends_[b];
            if (stop - start <= crowded || std::is_sorted(keys + start, keys + stop)) continue;
            pairs.clear();
            for (int64_t i = start; i < stop; i++) pairs.emplace_back(keys[i], index[i]);
            std::sort(pairs.begin(), pairs.end());
            for (int64_t i = start; i < stop; i++) std::tie(keys[i], index[i]) = pairs[size_t(i - start)];
        }
    }
};

// Write the indices that sort `values` (n,) to `order`. The sort is stable for any number of threads.
template <class T> void stable_order(const T* values, int64_t n, int64_t n_threads, int64_t* order) {
    // `cost` is the estimated cost of sorting one value, relative to the projection of one row. `probes_each`
    // is the number of sampled values per thread.
    constexpr int64_t cost = 64, probes_each = 64;
    const int64_t parts = worker_count(n_threads, n / probes_each, cost * n);
    // Each thread sorts the values between two consecutive cuts. Equal values are never separated by a cut.
    std::vector<T> probes, cuts = {-infinity<T>};
    for (int64_t i = 0; i < parts * probes_each; i++) probes.push_back(values[i * n / (parts * probes_each)]);
    std::sort(probes.begin(), probes.end());
    for (int64_t part = 1; part < parts; part++) cuts.push_back(probes[size_t(part * probes_each)]);
    cuts.push_back(infinity<T>);
    parallel_for(parts, parts, [&](int64_t, int64_t part) {
        const T low = cuts[size_t(part)], high = cuts[size_t(part) + 1];
        Workspace<T> keys(n + 1);
        Workspace<uint32_t> from(n + 1);
        int64_t below = 0, size = 0;
        for (int64_t i = 0; i < n; i++) {
            keys[size] = values[i];
            from[size] = uint32_t(i);
            below += values[i] < low;
            size += (values[i] >= low) & (values[i] < high);
        }
        if (!size) return;
        Sorter<T> sorter(size);
        sorter.sort(keys.data(), size);
        for (int64_t i = 0; i < size; i++) order[below + i] = from[sorter.index[i]];
    });
}

}  // namespace isodepth
