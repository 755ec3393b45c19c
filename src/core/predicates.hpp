// Exact signs of determinants of differences of points.
//
// A number is represented by an expansion: a list of doubles that do not overlap and whose sum is the number
// (Shewchuk 1997). Adding a double to an expansion, and multiplying an expansion by a double, are exact
// unless an operation overflows or underflows, which the callers prevent. The sign of a determinant is the
// sign of the largest term of its expansion.
#pragma once

#include <bit>

#include "active_set.hpp"

namespace isodepth {

// Half of the distance from 1 to the next double: the maximum relative rounding error of one operation.
constexpr double roundoff = 0x1p-53;

// A rounded value, and its error or a bound of the error.
struct TwoTerms {
    double value, error;
};

inline TwoTerms two_sum(double a, double b) {
    const double s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}

inline TwoTerms two_product(double a, double b) { return {a * b, std::fma(a, b, -(a * b))}; }

using Expansion = std::vector<double>;  // terms of increasing absolute value, none of them zero

inline void add(Expansion& terms, double x) {
    if (x == 0.0) return;
    size_t kept = 0;
    for (const double term : terms) {
        const TwoTerms sum = two_sum(x, term);
        x = sum.value;
        if (sum.error != 0.0) terms[kept++] = sum.error;
    }
    terms.resize(kept);
    if (x != 0.0) terms.push_back(x);
}

// Signs of determinants of the vectors from an origin to points (n, d).
class Determinants {
  public:
    explicit Determinants(Rows<double> points) : points_(points), minors_(size_t(1) << points.d) {}

    // Return the sign of the determinant of (points[rows] - origin)[:, columns], where both index lists have
    // length `size`. Not inlined, because it is rarely called.
    __attribute__((noinline)) int sign(const double* origin, const int64_t* rows, const int64_t* columns,
                                       int64_t size) {
        // A bit mask with k bits set selects k columns. Compute the minor of the first k rows and these
        // columns by Laplace expansion along row k. The smaller minors of the expansion have smaller masks,
        // so they are already computed.
        minors_[0] = {1.0};
        for (uint32_t mask = 1; mask < uint32_t(1) << size; mask++) {
            minors_[mask].clear();
            double factor = 1.0;
            for (int64_t c = size - 1; c >= 0; c--) {
                if (!(mask >> c & 1)) continue;
                const double* row = points_[rows[std::popcount(mask) - 1]];
                const auto [value, error] = two_sum(row[columns[c]], -origin[columns[c]]);
                for (const double term : minors_[mask ^ (uint32_t(1) << c)])
                    for (const double part : {value, error}) {
                        const TwoTerms product = two_product(factor * part, term);
                        add(minors_[mask], product.error);
                        add(minors_[mask], product.value);
                    }
                factor = -factor;
            }
        }
        const Expansion& whole = minors_[(size_t(1) << size) - 1];
        return whole.empty() ? 0 : whole.back() > 0.0 ? 1 : -1;
    }

  private:
    Rows<double> points_;
    std::vector<Expansion> minors_;
};

}  // namespace isodepth
