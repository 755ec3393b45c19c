// Rows of a table: their lexicographic order, and equal ones merged.
#pragma once

#include "blocks.hpp"
#include "sort.hpp"

namespace isodepth {

// Rows (n, d) in lexicographic order.
template <class T> class OrderedRows {
  public:
    Workspace<int64_t> order;  // (n,)

    OrderedRows(const T* rows, int64_t n, int64_t d, int64_t n_threads)
        : order(n), rows_(rows), n_(n), d_(d), n_threads_(n_threads) {
        Workspace<T> column(n);
        over_rows(n, 2, n_threads, [&](int64_t start, int64_t stop) {
            // Adding zero turns -0.0 into 0.0: equal numbers must be equal bits.
            for (int64_t i = start; i < stop; i++) column[i] = rows[i * d] + T(0);
        });
        stable_order(column.data(), n, n_threads, order.data());
        // Only the rows that share their first entry with a neighbor are still out of order.
        std::vector<std::pair<int64_t, int64_t>> ties;
        for (int64_t start = 0, stop; start < n; start = stop) {
            const T own = column[order[start]];
            for (stop = start + 1; stop < n && column[order[stop]] == own; stop++) {
            }
            if (stop - start > 1) ties.emplace_back(start, stop);
        }
        constexpr int64_t each = 64;
        const int64_t parts = (int64_t(ties.size()) + each - 1) / each;
        parallel_for(worker_count(n_threads, parts, 16 * n), parts, [&](int64_t, int64_t part) {
            const int64_t last = std::min(int64_t(ties.size()), (part + 1) * each);
            for (int64_t tie = part * each; tie < last; tie++)
                std::sort(order.data() + ties[size_t(tie)].first, order.data() + ties[size_t(tie)].second,
                          [&](int64_t a, int64_t b) { return comes_before(a, b); });
        });
        for (const auto& [start, stop] : ties)
            for (int64_t i = start + 1; i < stop && distinct_; i++) distinct_ = !same(i - 1, i);
    }

    // Whether no two rows are equal.
    bool distinct() const { return distinct_; }
    // Whether the rows at two places of the order are equal.
    bool same(int64_t a, int64_t b) const {
        const T *one = rows_ + order[a] * d_, *other = rows_ + order[b] * d_;
        return std::equal(one, one + d_, other);
    }
    // Write the distinct rows to `out` (u, d), and to `inverse` (n,) where each row is among them. `places`
    // (n,) says the same of the order, or is null where all are distinct.
    void write(const int64_t* places, T* out, int64_t* inverse) const {
        over_rows(n_, 2 * d_, n_threads_, [&](int64_t start, int64_t stop) {
            for (int64_t i = start; i < stop; i++) {
                const int64_t place = places ? places[i] : i;
                inverse[order[i]] = place;
                if (places && i > 0 && places[i - 1] == place) continue;
                for (int64_t k = 0; k < d_; k++) out[place * d_ + k] = rows_[order[i] * d_ + k] + T(0);
            }
        });
    }

  private:
    const T* rows_;
    int64_t n_, d_, n_threads_;
    bool distinct_ = true;

    bool comes_before(int64_t a, int64_t b) const {
        const T *one = rows_ + a * d_, *other = rows_ + b * d_;
        for (int64_t k = 1; k < d_; k++)
            if (one[k] != other[k]) return one[k] < other[k];
        return a < b;
    }
};

}  // namespace isodepth
