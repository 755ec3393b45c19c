// Lexicographic order of the rows of a table, with equal rows merged.
#pragma once

#include "sort.hpp"

namespace isodepth {

template <class T> class DistinctRows {
  public:
    DistinctRows(Rows<T> rows, int64_t n_threads)
        : order_(rows.n), number_(rows.n), rows_(rows), n_(rows.n), d_(rows.d), n_threads_(n_threads) {
        const int64_t n = n_;
        Workspace<T> column(n);
        over_rows(n, 8, n_threads, [&](int64_t start, int64_t stop) {
            // Adding zero turns -0.0 into 0.0, so that equal numbers have equal bits.
            for (int64_t i = start; i < stop; i++) column[i] = rows[i][0] + T(0);
        });
        stable_order(column.data(), n, n_threads, order_.data());
        Workspace<T> sorted(n);
        over_rows(n, 8, n_threads, [&](int64_t start, int64_t stop) {
            for (int64_t i = start; i < stop; i++) sorted[i] = column[order_[i]];
        });
        auto before = [=](int64_t a, int64_t b) {
            return std::lexicographical_compare(rows[a], rows[a + 1], rows[b], rows[b + 1]);
        };
        // After sorting by the first column, only rows with equal first entries can be out of order.
        over_rows(n, 8, n_threads, [&](int64_t start, int64_t stop) {
            for (int64_t i = start; i < stop; i++) {
                if (i > 0 && sorted[i - 1] == sorted[i]) continue;
                int64_t end = i + 1;
                while (end < n && sorted[end] == sorted[i]) end++;
                if (end - i > 1) std::stable_sort(&order_[i], &order_[end], before);
                number_[i] = i > 0;
                for (int64_t k = i + 1; k < end; k++) number_[k] = before(order_[k - 1], order_[k]);
            }
        });
        std::partial_sum(number_.data(), number_.data() + n, number_.data());
    }

    int64_t count() const { return number_[n_ - 1] + 1; }

    // Write the distinct rows to `out` (count, d), and the index of the distinct row of each row to `inverse`
    // (n,).
    void write(T* out, int64_t* inverse) const {
        over_rows(n_, 8 * d_, n_threads_, [&](int64_t start, int64_t stop) {
            for (int64_t i = start; i < stop; i++) {
                const int64_t number = inverse[order_[i]] = number_[i];
                if (i > 0 && number_[i - 1] == number) continue;
                for (int64_t k = 0; k < d_; k++) out[number * d_ + k] = rows_[order_[i]][k] + T(0);
            }
        });
    }

  private:
    // `order_` (n,) has the row indices in lexicographic order of the rows. `number_` (n,) has the index of
    // the distinct row at each position of this order.
    Workspace<int64_t> order_, number_;
    Rows<T> rows_;
    int64_t n_, d_, n_threads_;
};

}  // namespace isodepth
