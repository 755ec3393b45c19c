// Signs of determinants of differences of points, without any rounding error.
//
// A number is held as a list of doubles that do not overlap and whose sum it is (an expansion, after Shewchuk
// 1997). Adding a double to one, and multiplying one by a double, are exact as long as nothing overflows or
// underflows, which the callers see to. So the sign of a determinant is that of the largest term of its
// expansion.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "active_set.hpp"

namespace isodepth {

// Half of the distance from 1 to the next double: the largest relative error of one operation.
constexpr double roundoff = 0x1p-53;

// A rounded value, and its error or a bound of it.
struct TwoTerms {
    double value, error;
};

inline TwoTerms two_sum(double a, double b) {
    const double s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}

inline TwoTerms two_product(double a, double b) { return {a * b, std::fma(a, b, -(a * b))}; }

class Expansion {
  public:
    void clear() { terms_.clear(); }
    const std::vector<double>& terms() const { return terms_; }
    int sign() const { return terms_.empty() ? 0 : terms_.back() > 0.0 ? 1 : -1; }

    void add(double x) {
        size_t kept = 0;
        for (const double term : terms_) {
            const TwoTerms sum = two_sum(x, term);
            x = sum.value;
            if (sum.error != 0.0) terms_[kept++] = sum.error;
        }
        terms_.resize(kept);
        if (x != 0.0) terms_.push_back(x);
    }

  private:
    std::vector<double> terms_;  // of increasing size, none of them zero
};

// Determinants of points (n, d) seen from an origin.
class Determinants {
  public:
    explicit Determinants(Rows<double> points) : points_(points), minors_(size_t(1) << points.d) {}

    // Sign of the determinant of points[rows] - origin in `columns`, `size` of each.
    __attribute__((noinline)) int sign(const double* origin, const int64_t* rows, const int64_t* columns,
                                       int64_t size) {
        if (size == 2) {
            const int quick = quick_sign(origin, points_[rows[0]], points_[rows[1]], columns[0], columns[1]);
            if (quick != unknown) return quick;
        }
        // Minors of the first rows, one for each set of columns (a bit mask), by Laplace expansion along
        // the last of these rows. A smaller set is a smaller number, so it is ready in time.
        minors_[0].clear();
        minors_[0].add(1.0);
        for (uint32_t mask = 1; mask < uint32_t(1) << size; mask++) {
            Expansion& minor = minors_[mask];
            minor.clear();
            const double* row = points_[rows[std::popcount(mask) - 1]];
            double factor = 1.0;
            for (int64_t c = size - 1; c >= 0; c--) {
                if (!(mask >> c & 1)) continue;
                const TwoTerms entry = two_sum(row[columns[c]], -origin[columns[c]]);
                for (const double term : minors_[mask ^ (uint32_t(1) << c)].terms())
                    for (const double part : {entry.value, entry.error}) {
                        if (part == 0.0) continue;
                        const TwoTerms product = two_product(factor * part, term);
                        minor.add(product.error);
                        minor.add(product.value);
                    }
                factor = -factor;
            }
        }
        return minors_[(size_t(1) << size) - 1].sign();
    }

  private:
    static constexpr int unknown = 2;
    Rows<double> points_;
    std::vector<Expansion> minors_;

    // Sign of the 2 x 2 determinant of rows j, k in columns c, e in about twice the precision.
    static int quick_sign(const double* o, const double* j, const double* k, int64_t c, int64_t e) {
        const TwoTerms jc = two_sum(j[c], -o[c]), je = two_sum(j[e], -o[e]);
        const TwoTerms kc = two_sum(k[c], -o[c]), ke = two_sum(k[e], -o[e]);
        const TwoTerms left = two_product(jc.value, ke.value), right = two_product(je.value, kc.value);
        const TwoTerms main = two_sum(left.value, -right.value);
        const double p = jc.value * ke.error, q = jc.error * ke.value;
        const double r = je.value * kc.error, s = je.error * kc.value;
        const double size = std::abs(main.error) + std::abs(left.error) + std::abs(right.error) +
                            std::abs(p) + std::abs(q) + std::abs(r) + std::abs(s);
        const double value = main.value + (main.error + (left.error - right.error) + ((p + q) - (r + s)));
        // Twelve roundings of the small terms and of the sum, and the products of two errors, left out.
        const double bound = 16.0 * roundoff * size +
                             4.0 * roundoff * roundoff * (std::abs(left.value) + std::abs(right.value)) +
                             roundoff * std::abs(value);
        if (value > bound) return 1;
        if (-value > bound) return -1;
        if (bound == 0.0) return 0;  // one of the rows is the origin, or both lie on one axis
        const bool exact = jc.error == 0.0 && je.error == 0.0 && kc.error == 0.0 && ke.error == 0.0;
        return exact && main.value == 0.0 && left.error == right.error ? 0 : unknown;
    }
};

// Positive when c lies left of the way from a to b in the plane, negative when right; and what rounding may
// have changed it by (Shewchuk's bound for a 2 x 2 determinant of differences).
inline TwoTerms quick_orientation(const double* a, const double* b, double cx, double cy) {
    const double left = (b[0] - a[0]) * (cy - a[1]), right = (b[1] - a[1]) * (cx - a[0]);
    return {left - right, (3.0 + 16.0 * roundoff) * roundoff * (std::abs(left) + std::abs(right))};
}

}  // namespace isodepth
