// The passes over chunks, as Python sees them.
#include "chunks.hpp"

#include "module.hpp"

namespace isodepth {

using Weights = std::optional<Vector<int64_t>>;
template <class T> using Centers = std::optional<Vector<T>>;

template <class T> static ChunkPass<T> pass_of(const Matrix<T>& points, const Vector<T>& center, int exponent,
                                               const Matrix<T>& directions, const Weights& weights,
                                               int64_t n_threads) {
    const int64_t n = points.shape(0), d = points.shape(1);
    if (int64_t(center.shape(0)) != d || int64_t(directions.shape(1)) != d)
        throw nb::value_error("points, center and directions need the same number of columns");
    if (weights && int64_t(weights->shape(0)) != n)
        throw nb::value_error("weights must have one entry for each row");
    return {points.data(),
            n,
            d,
            Frame<T>(center.data(), d, exponent),
            directions.data(),
            weights ? weights->data() : nullptr,
            int64_t(directions.shape(0)),
            n_threads};
}

// Of a negative typical size nothing but zero is rounding.
template <class T>
static Deviations<T> deviations(const Centers<T>& centers, std::optional<double> typical, int64_t d) {
    Deviations<T> found{centers ? centers->data() : nullptr, {}};
    if (typical) found.rounding.emplace(d, T(*typical));
    if (typical && *typical < 0) found.rounding->share = 0;
    return found;
}

template <class T> static nb::tuple numbers_inside(Matrix<T> points, Vector<T> center, int exponent,
                                                   Matrix<T> directions, Weights weights, Vector<T> low,
                                                   Vector<T> high, Vector<int64_t> most, Centers<T> centers,
                                                   std::optional<double> typical, int64_t n_threads) {
    const auto pass = pass_of(points, center, exponent, directions, weights, n_threads);
    const auto given = deviations(centers, typical, pass.d);
    const size_t count = size_t(pass.count);
    std::vector<Inside<T>> found(count);
    {
        nb::gil_scoped_release released;
        pass.over_directions([&](const Tiles<T>& rows, T* along, int64_t k) {
            given.replace(rows, along, k);
            const Numbers<T> of(along, pass.n, pass.weights);
            found[size_t(k)].find(of, low.data()[k], high.data()[k], most.data()[k]);
        });
    }
    // Rows: the weight below, the weight inside, and how many numbers are given; -1 for too many.
    auto counts = new_array<int64_t>({3, count});
    size_t total = 0;
    for (const auto& one : found) total += one.values.size();
    auto values = new_array<T>({total});
    auto masses = new_array<int64_t>({pass.weights ? total : 0});
    T* at = values.data();
    int64_t* mass = masses.data();
    for (size_t k = 0; k < count; k++) {
        counts.data()[k] = found[k].below, counts.data()[count + k] = found[k].weight;
        counts.data()[2 * count + k] = found[k].complete ? int64_t(found[k].values.size()) : -1;
        at = std::copy(found[k].values.begin(), found[k].values.end(), at);
        mass = std::copy(found[k].weights.begin(), found[k].weights.end(), mass);
    }
    return nb::make_tuple(std::move(counts), std::move(values), std::move(masses));
}

template <class T>
static void count_keys(Matrix<T> points, Vector<T> center, int exponent, Matrix<T> directions,
                       Weights weights, Vector<uint64_t> low, Vector<int64_t> shift, Centers<T> centers,
                       std::optional<double> typical, OutMatrix<int64_t> counts, int64_t n_threads) {
    const auto pass = pass_of(points, center, exponent, directions, weights, n_threads);
    const auto given = deviations(centers, typical, pass.d);
    const KeyCells cells{low.data(), shift.data(), int64_t(counts.shape(1)) - 2};
    nb::gil_scoped_release released;
    pass.over_directions([&](const Tiles<T>& rows, T* along, int64_t k) {
        given.replace(rows, along, k);
        int64_t* own = counts.data() + k * (cells.cells + 2);
        for (int64_t i = 0; i < pass.n; i++) own[cells(k, along[i])] += pass.weight(i);
    });
}

template <class T> static Result<T> outlyingness(Matrix<T> points, Vector<T> center, int exponent,
                                                 Matrix<T> directions, Vector<T> medians, Vector<T> mads,
                                                 Vector<T> scales, double typical, int64_t n_threads) {
    const auto pass = pass_of(points, center, exponent, directions, {}, n_threads);
    auto out = new_array<T>({size_t(pass.n)});
    nb::gil_scoped_release released;
    const Rounding<T> rounding(pass.d, T(typical));
    known_outlyingness(pass, medians.data(), mads.data(), scales.data(), rounding, out.data());
    return out;
}

template <class T> static void count_rank_cells(Matrix<T> points, Vector<T> center, int exponent,
                                                Matrix<T> directions, Weights weights, Vector<T> middles,
                                                Vector<T> scales, int bits, OutMatrix<int64_t> counts,
                                                int64_t n_threads) {
    const auto pass = pass_of(points, center, exponent, directions, weights, n_threads);
    const RankCells<T> cells{middles.data(), scales.data(), bits};
    nb::gil_scoped_release released;
    pass.over_directions([&](const Tiles<T>&, T* along, int64_t k) {
        int64_t* own = counts.data() + k * int64_t(counts.shape(1));
        for (int64_t i = 0; i < pass.n; i++) own[cells(k, along[i])] += pass.weight(i);
    });
}

template <class T> static Result<double> rank_bounds(Matrix<T> points, Vector<T> center, int exponent,
                                                     Matrix<T> directions, Vector<T> middles,
                                                     Vector<T> scales, int bits, Cube<double> bounds,
                                                     bool smallest, int64_t n_threads) {
    const auto pass = pass_of(points, center, exponent, directions, {}, n_threads);
    const RankCells<T> cells{middles.data(), scales.data(), bits};
    auto out = new_array<double>({size_t(pass.n), 2});
    nb::gil_scoped_release released;
    std::fill_n(out.data(), 2 * pass.n, smallest ? std::numeric_limits<double>::infinity() : 0.0);
    pass.over_row_blocks([&](const Tiles<T>& rows, const T* along, int64_t k, int64_t start) {
        const double* own = bounds.data() + k * int64_t(bounds.shape(1)) * 2;
        double* found = out.data() + 2 * start;
        for (int64_t i = 0; i < rows.n; i++) {
            const double* both = own + 2 * cells(k, along[i]);
            for (int side = 0; side < 2; side++) {
                double& known = found[2 * i + side];
                known = smallest ? std::min(known, both[side]) : known + both[side];
            }
        }
    });
    return out;
}

template <class T> static void bind(nb::module_& m) {
    const auto none = nb::none();
    auto points = "points"_a, center = "center"_a, directions = "directions"_a, weights = "weights"_a;
    points.noconvert(), center.noconvert(), directions.noconvert(), weights.noconvert().none();
    m.def("numbers_inside", numbers_inside<T>, points, center, "exponent"_a, directions, weights,
          nb::kw_only(), "low"_a.noconvert(), "high"_a.noconvert(), "most"_a.noconvert(),
          "centers"_a.noconvert() = none, "typical"_a = none, "n_threads"_a = 1,
          "Counts (3, K) of a chunk (n, d) and brackets (K,): the weight below, the weight inside and the "
          "number of numbers inside, -1 for more than `most`; these numbers, and their weights.");
    m.def("count_keys", count_keys<T>, points, center, "exponent"_a, directions, weights,
          nb::kw_only(), "low"_a.noconvert(), "shift"_a.noconvert(), "centers"_a.noconvert() = none,
          "typical"_a = none, "counts"_a.noconvert(), "n_threads"_a = 1,
          "Add the weights of a chunk to counts (K, cells + 2) in cells of equal numbers of floats.");
    m.def("outlyingness", outlyingness<T>, points, center, "exponent"_a, directions, nb::kw_only(),
          "medians"_a.noconvert(), "mads"_a.noconvert(), "scales"_a.noconvert(), "typical"_a,
          "n_threads"_a = 1, "Largest |<u, x> - median| / MAD over directions of the rows of a chunk.");
    m.def("count_rank_cells", count_rank_cells<T>, points, center, "exponent"_a, directions, weights,
          nb::kw_only(), "middles"_a.noconvert(), "scales"_a.noconvert(), "bits"_a, "counts"_a.noconvert(),
          "n_threads"_a = 1, "Add the weights of a chunk to counts (K, 16 * 2**bits) in cells by rank.");
    m.def("rank_bounds", rank_bounds<T>, points, center, "exponent"_a, directions, nb::kw_only(),
          "middles"_a.noconvert(), "scales"_a.noconvert(), "bits"_a, "bounds"_a.noconvert(), "smallest"_a,
          "n_threads"_a = 1,
          "Lower and upper bounds (n, 2) of depths: the smallest, or the sum, over directions of the bounds "
          "(K, cells, 2) of cells.");
}

void bind_chunks(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}

}  // namespace isodepth
