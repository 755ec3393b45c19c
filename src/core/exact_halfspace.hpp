// Exact halfspace depth of a query: minimum mass (sum of weights) of a closed halfspace with the query on its
// boundary.
//
// Let the query be the origin, so that points are vectors in d dimensions. The mass of a halfspace depends
// only on the signs of <u, v>, where u is its normal vector and v a point. A minimizing u can be rotated
// until it is orthogonal to some point v. Of the points on the line of v, those on one side of the origin
// count, and the side of smaller mass is chosen. The other points are projected along v, which gives the same
// problem in d - 1 dimensions (Dyckerhoff and Mozharovskyi 2016). In the plane, u rotates and becomes
// orthogonal to the points in the order of their angles.
//
// Each set of d - 2 points is eliminated in one order only. This is sufficient: the hyperplanes orthogonal to
// the points divide the space of u into cells. A minimizing u can be rotated to a face of its cell on which d
// - 2 facets meet, and at each step the facet of smallest index can be chosen.
//
// Projecting along a vector is one step of Gaussian elimination. It is computed in doubles with an error
// bound, which is 0 if no operation rounds (for example, for small integers). If the error bound leaves a
// sign uncertain, the sign is computed from a determinant in exact arithmetic.
#pragma once

#include "predicates.hpp"

namespace isodepth {

// Vectors from the query to the points after some elimination steps, as in the method of Bareiss. Coordinate
// k of vector j is a positive multiple of a determinant. The rows of the determinant are the eliminated
// vectors and vector j. Its columns are the pivot columns and column k.
struct Projected {
    Workspace<TwoTerms> vectors;   // (n, d), row j starts with the remaining coordinates of vector j
    Workspace<int64_t> ids;        // (n,) index of the point of each vector, increasing
    std::vector<int64_t> columns;  // original column of each remaining coordinate
    std::vector<char> skip;  // (n,) 1 for points on a line that was already eliminated from these vectors
    int64_t count = 0;
    int sign = 1;  // sign of the last pivot

    Projected(int64_t n, int64_t d) : vectors(n * d), ids(n), columns(d), skip(n) {}
};

class HalfspaceSearch {
  public:
    // The points (n, d), d >= 2, must be distinct and not all in one hyperplane. `masses` (n,) are their
    // weights.
    HalfspaceSearch(Rows<double> points, const int64_t* masses) : points_(points), masses_(masses) {
        for (int64_t level = 0; level + 1 < d_; level++) levels_.emplace_back(n_, d_);
    }

    // Lower `best` to the minimum halfspace mass at the query, over all orders of elimination that begin with
    // vector `first`. In two dimensions no vector is eliminated, and the minimum is over all halfspaces.
    // `check()` handles signals.
    void search(const double* query, int64_t first, std::atomic<int64_t>& best, auto& check) {
        if (query != origin_) look_from(query);
        best_ = &best;
        if (d_ == 2) lower(at_query_ + planar_sweep(0));
        else if (first < levels_[0].count) search_level(0, first, first + 1, at_query_, check);
    }

  private:
    // Error bounds are themselves computed in doubles. The factor `slack` covers the rounding of an error
    // bound, and the term `tiny` covers underflow.
    static constexpr double slack = 1.0 + 0x1p-40, tiny = 1e-290;
    // Results above this limit are far from underflow, so that a computed rounding error of 0 is reliable.
    static constexpr double safe = 1e-75;

    const Rows<double> points_;
    const int64_t* const masses_;
    const int64_t n_ = points_.n, d_ = points_.d;
    Determinants exact_{points_};
    const double* origin_ = nullptr;  // current query, owned by the caller
    int64_t at_query_ = 0;            // mass of the sample point that equals the query, or 0
    std::atomic<int64_t>* best_ = nullptr;
    std::vector<Projected> levels_;
    // Indices of the points eliminated so far, and the columns of their pivots.
    std::vector<int64_t> chosen_ = std::vector<int64_t>(d_), pivots_ = chosen_;
    // Line through the origin of the plane, at an angle in [0, pi) to the first axis.
    struct Line {
        // Bounds of -cot(angle), which increases with the angle.
        double low, high;
        // A vector on the line. `side` is 1 if the vector is at the angle of the line, and -1 if it is
        // opposite.
        int vector, side;
    };
    std::vector<Line> lines_;

    // Set the origin to a query: compute the vectors from the query to all points.
    void look_from(const double* query) {
        Projected& state = levels_[0];
        origin_ = query;
        at_query_ = state.count = 0;
        for (int64_t i = 0; i < n_; i++) {
            bool distinct = false;
            for (int64_t k = 0; k < d_; k++) {
                const auto [value, error] = two_sum(points_[i][k], -query[k]);
                state.vectors[state.count * d_ + k] = {value, std::abs(error)};
                distinct = distinct || value != 0.0;
            }
            state.ids[state.count] = i;
            if (distinct) state.count++;
            else at_query_ += masses_[i];
        }
        std::iota(state.columns.begin(), state.columns.end(), int64_t(0));
        std::fill(state.skip.begin(), state.skip.end(), 0);
    }

    void lower(int64_t mass) {
        for (int64_t known = *best_; mass < known && !best_->compare_exchange_weak(known, mass);) {
        }
    }

    // Eliminate each of the vectors start..stop in turn, and search the remaining vectors recursively.
    // `level` vectors were eliminated before, and `spent` is the mass that they contribute to the halfspace.
    // The recursion is skipped if the mass is not below the minimum found so far.
    void search_level(int64_t level, int64_t start, int64_t stop, int64_t spent, auto& check) {
        Projected &state = levels_[level], &next = levels_[level + 1];
        for (int64_t row = start; row < stop && *best_ > at_query_; row++) {
            const int64_t point = state.ids[row];
            if (state.skip[point] || (level > 0 && point < chosen_[level - 1])) continue;
            const int64_t cost = spent + eliminate(level, row);
            if (cost >= best_->load(std::memory_order_relaxed)) continue;
            if (level + 3 == d_) {
                lower(cost + planar_sweep(level + 1));
                check();
            } else {
                std::fill(next.skip.begin(), next.skip.end(), 0);
                search_level(level + 1, 0, next.count, cost, check);
            }
        }
    }

    static double certainty(TwoTerms x) { return std::abs(x.value) - x.error; }
    static bool is_certain(TwoTerms x) { return certainty(x) > 0.0 || x.error == 0.0; }
    static int rounded_sign(TwoTerms x) { return (x.value > 0.0) - (x.value < 0.0); }

    // Return the exact sign of coordinate `k` of vector `row` after `level` elimination steps.
    int component_sign(int64_t level, int64_t row, int64_t k) {
        const TwoTerms x = levels_[level].vectors[row * d_ + k];
        if (is_certain(x)) return rounded_sign(x);
        choose(level, row, k);
        return exact_.sign(origin_, chosen_.data(), pivots_.data(), level + 1);
    }

    void choose(int64_t level, int64_t row, int64_t k) {
        chosen_[level] = levels_[level].ids[row];
        pivots_[level] = levels_[level].columns[k];
    }

    bool is_zero(int64_t level, int64_t row) {
        for (int64_t k = 0; k < d_ - level; k++)
            if (component_sign(level, row, k) != 0) return false;
        return true;
    }

    // Return (a p - b c) * factor and a bound of its error. The factor is a power of two, possibly negative.
    static TwoTerms eliminated(TwoTerms a, TwoTerms p, TwoTerms b, TwoTerms c, double factor) {
        const TwoTerms left = two_product(a.value, p.value), right = two_product(b.value, c.value);
        const TwoTerms sum = two_sum(left.value, -right.value);
        const double value = sum.value * factor, given = a.error + p.error + b.error + c.error;
        double error = std::abs(left.error) + std::abs(right.error) + std::abs(sum.error);
        if (error + given == 0.0 && (value == 0.0 || std::abs(value) > safe)) return {value, 0.0};
        error += std::abs(a.value) * p.error + (std::abs(p.value) + p.error) * a.error;
        error += std::abs(b.value) * c.error + (std::abs(c.value) + c.error) * b.error;
        return {value, (error + tiny) * std::abs(factor) * slack + tiny};
    }

    // Eliminate vector `row` from the vectors that are left after `level` steps: project the others along its
    // line, and store them as the vectors after level + 1 steps. The origin divides the points on this line
    // into two sides. Return the smaller mass of the two sides. Mark the points on the line, so that none of
    // them is eliminated in this step again.
    int64_t eliminate(int64_t level, int64_t row) {
        Projected &state = levels_[level], &next = levels_[level + 1];
        const int64_t width = d_ - level;
        const TwoTerms* along = state.vectors.data() + row * d_;
        int64_t pivot = 0;
        for (int64_t k = 1; k < width; k++)
            if (certainty(along[k]) > certainty(along[pivot])) pivot = k;
        // The pivot must not be 0. At least one coordinate of the vector is not 0, unless the coordinates
        // have underflowed.
        int sign = component_sign(level, row, pivot);
        for (int64_t tried = 1; sign == 0 && tried < width; tried++)
            sign = component_sign(level, row, pivot = (pivot + 1) % width);
        if (sign == 0) throw std::underflow_error("differences of points underflow: scale the points");
        next.columns = state.columns;
        next.columns.erase(next.columns.begin() + pivot);
        next.sign = sign;
        // A common power of two prevents overflow. The factor also has the sign of the previous pivot, so
        // that all coordinates are positive multiples of determinants.
        const TwoTerms p = along[pivot];
        const double factor = std::ldexp(double(state.sign), -std::ilogb(std::abs(p.value) + p.error));
        int64_t ahead = 0, behind = 0;
        next.count = 0;
        choose(level, row, pivot);
        for (int64_t j = 0; j < state.count; j++) {
            const TwoTerms *from = state.vectors.data() + j * d_, b = from[pivot];
            TwoTerms* to = next.vectors.data() + next.count * d_;
            bool certain = false;
            for (int64_t k = 0; k < width; k++) {
                if (k == pivot) continue;
                *to = eliminated(from[k], p, b, along[k], factor);
                certain = certain || certainty(*to) > 0.0;
                to++;
            }
            const int64_t point = state.ids[j];
            next.ids[next.count] = point;
            if (certain || !(j == row || is_zero(level + 1, next.count))) {
                next.count++;
                continue;
            }
            state.skip[point] = 1;
            (component_sign(level, j, pivot) == sign ? ahead : behind) += masses_[point];
            choose(level, row, pivot);  // restore the pivot, which component_sign may have overwritten
        }
        return std::min(ahead, behind);
    }

    // Return the minimum mass on one side of a line that rotates about the origin of the plane. The plane is
    // left after d - 2 of d dimensions have been eliminated.
    int64_t planar_sweep(int64_t level) {
        const Projected& state = levels_[level];
        auto mass = [&](const Line& line) { return masses_[state.ids[line.vector]]; };
        int64_t left = 0, total = 0;
        lines_.clear();
        for (int j = 0; j < state.count; j++) {
            const auto [x, x_error] = state.vectors[j * d_];
            const auto [y, y_error] = state.vectors[j * d_ + 1];
            int side = component_sign(level, j, 1);
            if (side == 0) side = component_sign(level, j, 0);
            const double inverse = 1.0 / std::abs(y), key = -side * x * inverse;
            const double error =
                3.0 * inverse * (x_error + std::abs(key) * y_error) + 4.0 * roundoff * std::abs(key) + tiny;
            const bool bounded = std::abs(y) > 2.0 * y_error && error < infinity<double>;
            lines_.push_back({bounded ? key - error : -infinity<double>,
                              bounded ? key + error : infinity<double>, j, side});
            total += mass(lines_.back());
            if (side > 0) left += mass(lines_.back());
        }
        std::copy_n(state.columns.begin(), 2, pivots_.begin() + level);
        // Sort by the lower bounds of the angles. Then correct the order of the few lines with overlapping
        // bounds by an insertion sort with exact comparisons.
        std::sort(lines_.begin(), lines_.end(), [](const Line& a, const Line& b) { return a.low < b.low; });
        for (size_t i = 1; i < lines_.size(); i++)
            for (size_t j = i; j > 0 && compare_angles(level, lines_[j], lines_[j - 1]) < 0; j--)
                std::swap(lines_[j], lines_[j - 1]);
        int64_t smallest = total;
        for (size_t i = 0; i < lines_.size(); i++) {
            // Vectors of equal angle change sides at the same time, so the minimum is updated only between
            // different angles.
            if (i == 0 || compare_angles(level, lines_[i - 1], lines_[i]) != 0)
                smallest = std::min({smallest, left, total - left});
            left -= lines_[i].side * mass(lines_[i]);
        }
        return smallest;
    }

    // Compare the angles of two lines: return a negative number if that of `a` is smaller, a positive number
    // if that of `b` is smaller, and 0 if they are equal.
    int compare_angles(int64_t level, const Line& a, const Line& b) {
        if (a.high < b.low) return -1;
        if (b.high < a.low) return 1;
        const Projected& state = levels_[level];
        const TwoTerms *u = state.vectors.data() + a.vector * d_, *v = state.vectors.data() + b.vector * d_;
        const TwoTerms across = eliminated(u[0], v[1], u[1], v[0], 1.0);
        int sign = rounded_sign(across);
        if (!is_certain(across)) {
            chosen_[level] = state.ids[a.vector];
            chosen_[level + 1] = state.ids[b.vector];
            sign = state.sign * exact_.sign(origin_, chosen_.data(), pivots_.data(), level + 2);
        }
        return -sign * a.side * b.side;
    }
};

// For each query (m, d), return the minimum mass of a closed halfspace that contains the query.
inline std::vector<int64_t> smallest_masses(Rows<double> points, const int64_t* masses, Rows<double> queries,
                                            int64_t n_threads) {
    const int64_t n = points.n, d = points.d, m = queries.n;
    // Number of tasks per query. In more than two dimensions, there is one task per vector that is eliminated
    // first.
    const int64_t pieces = d > 2 ? n : 1;
    const double operations = std::min(1e15, double(m) * std::pow(double(n), double(d - 1)));
    const int64_t workers = worker_count(n_threads, m * pieces, int64_t(operations));
    PerWorker<HalfspaceSearch> searches(workers);
    std::vector<std::atomic<int64_t>> best(m);
    for (auto& mass : best) mass = std::numeric_limits<int64_t>::max();
    parallel_checked(workers, m * pieces, [&](int64_t worker, int64_t part, auto& check) {
        auto& search = searches.of(worker, [&] { return HalfspaceSearch(points, masses); });
        search.search(queries[part / pieces], part % pieces, best[part / pieces], check);
    });
    return {best.begin(), best.end()};
}

}  // namespace isodepth
