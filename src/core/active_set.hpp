// Nearest point to a query in the affine span of a set of rows, the active rows. It is updated when a row is
// added or removed.
//
// The matrix C has one column (h, row - query) per active row, where h > 0 is a constant, the height. Its QR
// factorization is updated by reorthogonalized Gram-Schmidt when a row is added, and by Givens rotations when
// a row is removed. The weights w that minimize |sum_i w_i (row_i - query)| under sum_i w_i = 1 are
// proportional to (C'C)^-1 1, where 1 is the vector of ones. Since C' e_1 = h 1 with e_1 = (1, 0, ..., 0),
// one triangular solve gives the weights. Its right-hand side has the first coordinates of the orthonormal
// basis. Normal equations are avoided, because they would square the condition number.
#pragma once

#include "parallel.hpp"

namespace isodepth {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

// Return the dot product, by four running sums in a fixed order, so that rounding is reproducible.
inline double dot(const double* x, const double* y, int64_t n) {
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int64_t k = 0;
    for (; k + 4 <= n; k += 4)
        for (int i = 0; i < 4; i++) sum[i] += x[k + i] * y[k + i];
    for (; k < n; k++) sum[0] += x[k] * y[k];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

inline double length(const double* x, int64_t n) { return std::sqrt(dot(x, x, n)); }

inline double distance_between(const double* x, const double* y, int64_t n) {
    auto square = [](double a, double b) { return (a - b) * (a - b); };
    return std::sqrt(std::inner_product(x, x + n, y, 0.0, std::plus<>(), square));
}

class ActiveSet {
  public:
    std::vector<int64_t> ids;     // indices of the active rows
    std::vector<double> weights;  // weights of the active rows, with sum 1
    std::vector<double> offset;   // (dim,) weighted mean of the active rows, minus the query
    double distance = 0.0;        // length of `offset`
    double reach = 0.0;           // maximum distance from the query to an active row

    ActiveSet(int64_t dim, int64_t capacity) : offset(dim), width_(dim + 1), capacity_(capacity) {}

    // Compute the QR factorization of the active rows from scratch. Return false without active rows,
    // if a row equals the query, or if the rows are affinely dependent. The height, the first entry of each
    // column, is the distance from the query to the nearest active row. With this size, neither the first
    // entry nor the others are lost to rounding.
    bool factorize(Rows<double> rows, const double* query) {
        height_ = infinity<double>;
        for (const int64_t id : ids) height_ = std::min(height_, distance_between(rows[id], query, rows.d));
        if (ids.empty() || height_ == 0.0) return false;
        for (int64_t i = 0; i < count(); i++)
            if (!append(i, rows[ids[i]], query)) return false;
        return true;
    }

    // Add a row with weight zero to the active rows. Return false, and change nothing, if the capacity is
    // reached, or if the row is already active or affinely dependent on the active rows.
    bool enter(Rows<double> rows, int64_t id, const double* query) {
        if (count() == capacity_ || std::find(ids.begin(), ids.end(), id) != ids.end()) return false;
        if (!append(count(), rows[id], query)) return false;
        ids.push_back(id);
        weights.push_back(0.0);
        return true;
    }

    // Move the weights to those of the point of the affine span that is nearest to the query. Remove active
    // rows whose weights would become negative during the move, and repeat with the other rows.
    void descend() {
        while (true) {
            solve();
            double step = 1.0;
            int64_t worst = -1;
            for (int64_t i = 0; i < count(); i++) {
                if (affine_[i] > 0.0) continue;  // a weight of NaN counts as negative
                const double slope = weights[i] - affine_[i];
                const double reached = slope > 0.0 ? weights[i] / slope : 0.0;
                if (worst < 0 || reached < step) step = reached, worst = i;
            }
            if (worst < 0) {
                weights.assign(affine_.data(), affine_.data() + count());
                return;
            }
            if (step > 0.0)
                for (int64_t i = 0; i < count(); i++) weights[i] += step * (affine_[i] - weights[i]);
            weights[worst] = 0.0;
            for (int64_t i = count() - 1; i >= 0; i--)
                if (!(weights[i] > 0.0)) drop(i);
            const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
            for (double& weight : weights) weight /= total;
        }
    }

    // Recompute the members `offset`, `distance` and `reach` from the weights of the active rows.
    void move(Rows<double> rows, const double* query) {
        std::fill(offset.begin(), offset.end(), 0.0);
        reach = 0.0;
        for (int64_t i = 0; i < count(); i++) {
            const double* row = rows[ids[i]];
            for (int64_t k = 0; k < rows.d; k++) offset[k] += weights[i] * (row[k] - query[k]);
            reach = std::max(reach, distance_between(row, query, rows.d));
        }
        distance = length(offset.data(), rows.d);
        // If the offset is much shorter than the distances of the rows from the query, cancellation leaves
        // few correct digits. Two more orthogonal projections restore them.
        if (distance < 1e-3 * reach)
            for (int twice = 0; twice < 2; twice++) straighten();
    }

  private:
    int64_t width_, capacity_;
    // QR factorization of the matrix with one column (height, row - query) per active row: the columns of Q,
    // stored as rows (capacity, width), and the upper triangular matrix R (capacity, capacity).
    Workspace<double> basis_{capacity_ * width_};
    Workspace<double> triangle_{capacity_ * capacity_};
    Workspace<double> affine_{capacity_};
    double height_ = 0.0;

    int64_t count() const { return int64_t(ids.size()); }
    double* basis(int64_t i) { return basis_.data() + i * width_; }
    double& triangle(int64_t i, int64_t j) { return triangle_[i * capacity_ + j]; }

    // Make the offset orthogonal to the affine span of the active rows. The lower bound of the distance,
    // which is computed from the offset, is valid only then. Let V be the span of the orthonormal basis, and
    // e the projection of (1, 0, ..., 0) on V. The directions within the affine span are the vectors of V
    // that are orthogonal to e.
    void straighten() {
        const int64_t dim = width_ - 1;
        double size = 0.0, across = 0.0;
        for (int64_t i = 0; i < count(); i++) {
            affine_[i] = dot(basis(i) + 1, offset.data(), dim);
            size += basis(i)[0] * basis(i)[0];
            across += basis(i)[0] * affine_[i];
        }
        for (int64_t i = 0; i < count(); i++) {
            const double part = affine_[i] - basis(i)[0] * across / size;
            for (int64_t k = 0; k < dim; k++) offset[k] -= part * basis(i)[k + 1];
        }
        distance = length(offset.data(), dim);
    }

    // Add (height, row - query) as column `at` of the factorized matrix. Return false if the column depends
    // linearly on the previous columns.
    bool append(int64_t at, const double* row, const double* query) {
        double* column = basis(at);
        column[0] = height_;
        for (int64_t k = 1; k < width_; k++) column[k] = row[k - 1] - query[k - 1];
        const double size = length(column, width_);
        for (int64_t i = 0; i < at; i++) triangle(i, at) = 0.0;
        for (int twice = 0; twice < 2; twice++)
            for (int64_t i = 0; i < at; i++) {
                const double* axis = basis(i);
                const double along = dot(axis, column, width_);
                for (int64_t k = 0; k < width_; k++) column[k] -= along * axis[k];
                triangle(i, at) += along;
            }
        const double rest = triangle(at, at) = length(column, width_);
        if (rest <= 4.0 * epsilon * size) return false;
        for (int64_t k = 0; k < width_; k++) column[k] /= rest;
        return true;
    }

    void drop(int64_t gone) {
        const int64_t rest = count() - 1;
        for (int64_t j = gone; j < rest; j++)
            for (int64_t i = 0; i < j + 2; i++) triangle(i, j) = triangle(i, j + 1);
        for (int64_t i = gone; i < rest; i++) {
            const double size = std::hypot(triangle(i, i), triangle(i + 1, i));
            const double c = triangle(i, i) / size, s = triangle(i + 1, i) / size;
            for (int64_t j = i; j < rest; j++) rotate(c, s, triangle(i, j), triangle(i + 1, j));
            for (int64_t k = 0; k < width_; k++) rotate(c, s, basis(i)[k], basis(i + 1)[k]);
        }
        ids.erase(ids.begin() + gone);
        weights.erase(weights.begin() + gone);
    }

    static void rotate(double c, double s, double& upper, double& lower) {
        const double turned = c * upper + s * lower;
        lower = c * lower - s * upper;
        upper = turned;
    }

    // Compute the weights, possibly negative, of the point of the affine span that is nearest to the query.
    void solve() {
        double total = 0.0;
        for (int64_t i = count() - 1; i >= 0; i--) {
            double value = basis(i)[0];
            for (int64_t j = i + 1; j < count(); j++) value -= triangle(i, j) * affine_[j];
            affine_[i] = value / triangle(i, i);
            total += affine_[i];
        }
        for (int64_t i = 0; i < count(); i++) affine_[i] /= total;
    }
};

}  // namespace isodepth
