// Lower the smallest halfspace masses along one direction, mostly without sorting.
//
// A direction matters to few points: among a thousand, the smallest mass of a point is lowered about seven
// times. Counts of buckets bound every mass from below at once, and only the points for which that bound is
// an improvement are ranked among the others of their bucket.
#pragma once

#include "sort.hpp"

namespace isodepth {

constexpr int64_t worth_bounds = 128;  // fewer points are sorted in the same time

// Lower two arrays of masses to the smaller of both. What others write to `known` at the same time may be
// lost, or come a little later: it need not hold the smallest, only true ones.
template <class Mass> void exchange(Mass* best, Mass* known, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        const Mass mine = best[i], theirs = __atomic_load_n(known + i, __ATOMIC_RELAXED);
        if (theirs < mine) best[i] = theirs;
        else if (mine < theirs) __atomic_store_n(known + i, mine, __ATOMIC_RELAXED);
    }
}

template <class T, class Mass> class HalfspaceBounds {
  public:
    HalfspaceBounds(int64_t n, const int64_t* weights, Mass total)
        : n_(n),
          buckets_(bucket_count(n)),
          total_(total),
          weights_(weights),
          bucket_(n),
          found_(n + 1),
          start_(buckets_ + 1),
          bound_(buckets_),
          wanted_(buckets_, uint8_t(0)),
          values_(std::max<int64_t>(n / few, most_probes)),
          sorter_(std::max<int64_t>(n / few, most_probes)) {}

    static double bytes(int64_t n) {
        return 8.0 * double(n) + (2 * sizeof(Mass) + 1.0) * double(bucket_count(n)) +
               double(n / few) * sizeof(T) + Sorter<T>::bytes(n / few);
    }

    // Calls `lower(i, mass)` for all points whose mass may be less than what is known in `best` (n,).
    // Returns false, with nothing called, where so many are to be ranked that sorting all is faster.
    template <class Lower> bool lower(const T* values, const Mass* best, Lower lower) {
        const auto at = center_and_spread(values, n_, values_.data());
        if (!(at.spread > 0)) return false;
        bound_masses(values, at);
        int64_t count = 0;
        for (int64_t i = 0; i < n_; i++) {
            found_[count] = uint32_t(i);
            count += bound_[bucket_[i]] < best[i];
        }
        if (count == 0) return true;
        if (count > n_ / few) return false;
        for (int64_t j = 0; j < count; j++) wanted_[bucket_[found_[j]]] = 1;
        count = 0;
        for (int64_t i = 0; i < n_; i++) {
            found_[count] = uint32_t(i);
            count += wanted_[bucket_[i]];
        }
        std::fill_n(wanted_.data(), buckets_, uint8_t(0));
        if (count > n_ / few) return false;
        rank_found(values, count, lower);
        return true;
    }

  private:
    // Where more than one in so many points has to be ranked, sorting all of them is faster.
    static constexpr int64_t few = 3;
    int64_t n_, buckets_;
    Mass total_;
    const int64_t* weights_;
    Workspace<uint32_t> bucket_, found_;
    Workspace<Mass> start_;  // the mass in the buckets before
    Workspace<Mass> bound_;  // less than this is no mass of a point in the bucket
    Workspace<uint8_t> wanted_;
    Workspace<T> values_;
    Sorter<T> sorter_;

    // Counters should stay in the cache, but with many values in a bucket its bound says little.
    static int64_t bucket_count(int64_t n) {
        return std::max<int64_t>(1, std::min(n / 2, std::max<int64_t>(1 << 15, n / 8)));
    }

    void bound_masses(const T* values, CenterAndSpread<T> at) {
        Mass* counts = start_.data() + 1;
        std::fill_n(start_.data(), buckets_ + 1, Mass(0));
        const bool crowds = has_crowds(values_.data(), probe_count(n_), at);
        if (crowds) fill_by_crowds(values, n_, at, values_.data(), found_.data(), buckets_, bucket_.data());
        const BucketOf<T> place(at, buckets_);
        // Counted while they are still in the cache.
        constexpr int64_t chunk = 1 << 11;
        for (int64_t first = 0; first < n_; first += chunk) {
            const int64_t some = std::min(chunk, n_ - first);
            if (!crowds) place.fill(values + first, some, bucket_.data() + first);
            for (int64_t i = first; i < first + some; i++)
                counts[bucket_[i]] += weights_ ? Mass(weights_[i]) : Mass(1);
        }
        Mass running = 0, *bound = bound_.data();
        const Mass total = total_;
        for (int64_t b = 0, buckets = buckets_; b < buckets; b++) {
            const Mass before = running;
            running += counts[b];
            counts[b] = running;
            bound[b] = std::min<Mass>(before, total - running) + 1;
        }
    }

    // The listed points are all the points of some buckets.
    template <class Lower> void rank_found(const T* values, int64_t count, Lower lower) {
        for (int64_t j = 0; j < count; j++) values_[j] = values[found_[j]];
        sorter_.sort(values_.data(), count);
        const T* keys = sorter_.keys.data();
        const uint32_t* index = sorter_.index.data();
        int64_t here = -1;
        Mass below = 0;
        for (int64_t i = 0, stop; i < count; i = stop) {
            const int64_t bucket = bucket_[found_[index[i]]];
            if (bucket != here) here = bucket, below = start_[bucket];
            Mass upto = below;
            for (stop = i; stop < count && keys[stop] == keys[i]; stop++)
                upto += weights_ ? Mass(weights_[found_[index[stop]]]) : Mass(1);
            const Mass smaller = std::min<Mass>(upto, total_ - below);
            for (int64_t j = i; j < stop; j++) lower(int64_t(found_[index[j]]), smaller);
            below = upto;
        }
    }
};

}  // namespace isodepth
