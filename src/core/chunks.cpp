// The passes over chunks, as Python sees them.
#include "chunks.hpp"

#include "module.hpp"

namespace isodepth {

template <class T> using Centers = std::optional<Vector<T>>;
using Typical = std::optional<double>;

// Counts (3, K), the numbers inside of all brackets one after the other, and their weights.
template <class T> static nb::tuple numbers_inside(const ChunkPass<T>& pass, Vector<T> low, Vector<T> high,
                                                   Vector<int64_t> most, Centers<T> centers,
                                                   Typical typical) {
    const Deviations<T> deviations(centers, typical, pass.d);
    const size_t count = size_t(pass.count);
    std::vector<Inside<T>> found(count);
    {
        nb::gil_scoped_release released;
        pass.over_directions([&](const Tiles<T>& rows, T* along, int64_t k) {
            deviations(rows, along, k);
            const Numbers<T> of(along, pass.n, pass.weights);
            found[size_t(k)].find(of, low.data()[k], high.data()[k], most.data()[k]);
        });
    }
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

template <class T> static void count_keys(const ChunkPass<T>& pass, OutMatrix<int64_t> counts,
                                          Vector<uint64_t> low, Vector<int64_t> shift, Centers<T> centers,
                                          Typical typical) {
    const KeyCells cells{low.data(), shift.data(), int64_t(counts.shape(1)) - 2};
    const Deviations<T> deviations(centers, typical, pass.d);
    nb::gil_scoped_release released;
    pass.count_cells(cells, counts, deviations);
}

template <class T> static void count_rank_cells(const ChunkPass<T>& pass, OutMatrix<int64_t> counts,
                                                Vector<T> middles, Vector<T> scales, int bits) {
    nb::gil_scoped_release released;
    pass.count_cells(RankCells<T>{middles.data(), scales.data(), bits}, counts, [](auto&&...) {});
}

template <class T> static Result<T> outlyingness(const ChunkPass<T>& pass, Vector<T> medians, Vector<T> mads,
                                                 Vector<T> scales, double typical) {
    auto out = new_array<T>({size_t(pass.n)});
    nb::gil_scoped_release released;
    const Rounding<T> rounding(pass.d, T(typical));
    std::fill_n(out.data(), pass.n, T(0));
    pass.over_row_blocks([&](const Tiles<T>& rows, const T* along, int64_t k, int64_t start) {
        T* found = out.data() + start;
        const T middle = medians.data()[k], mad = mads.data()[k], inverse = T(1) / mad;
        if (mad > rounding.of_mad())
            for (int64_t i = 0; i < rows.n; i++) {
                const T away = std::fabs(along[i] - middle) * inverse;
                found[i] = away > found[i] ? away : found[i];
            }
        else
            for (int64_t i = 0; i < rows.n; i++) {
                const T away = std::fabs(along[i] - middle);
                found[i] = std::max(found[i], rounding.outlyingness(away, scales.data()[k], rows.size(i)));
            }
    });
    return out;
}

template <class T> static Result<double> rank_bounds(const ChunkPass<T>& pass, Cube<double> bounds,
                                                     bool smallest, Vector<T> middles, Vector<T> scales,
                                                     int bits) {
    const RankCells<T> cells{middles.data(), scales.data(), bits};
    auto out = new_array<double>({size_t(pass.n), 2});
    nb::gil_scoped_release released;
    std::fill_n(out.data(), 2 * pass.n, smallest ? std::numeric_limits<double>::infinity() : 0.0);
    pass.over_row_blocks([&](const Tiles<T>& rows, const T* along, int64_t k, int64_t start) {
        const double* own = bounds.data() + k * int64_t(bounds.shape(1)) * 2;
        double* found = out.data() + 2 * start;
        for (int64_t i = 0; i < rows.n; i++) {
            const double* both = own + 2 * cells(k, along[i]);
            for (int64_t side = 0; side < 2; side++) {
                double& known = found[2 * i + side];
                known = smallest ? std::min(known, both[side]) : known + both[side];
            }
        }
    });
    return out;
}

template <class T> static void bind(nb::module_& m, const char* name) {
    nb::class_<ChunkPass<T>>(m, name, "Rows (n, d) of a chunk and directions (K, d), moved and scaled.")
        .def(nb::init<Matrix<T>, Vector<T>, int, Matrix<T>, std::optional<Vector<int64_t>>, int64_t>(),
             "points"_a, "center"_a, "exponent"_a, "directions"_a, "weights"_a.none(), "n_threads"_a)
        .def("numbers_inside", numbers_inside<T>, "low"_a, "high"_a, "most"_a, "centers"_a.none(),
             "typical"_a.none(),
             "Counts (3, K) for brackets (K,): the weight below, the weight inside, how many numbers are "
             "inside or -1 for more than `most` (K,); these numbers, and their weights.")
        .def("count_keys", count_keys<T>, "counts"_a.noconvert(), "low"_a, "shift"_a, "centers"_a.none(),
             "typical"_a.none(), "Add weights to counts (K, cells + 2) in cells of 2**shift floats.")
        .def("count_rank_cells", count_rank_cells<T>, "counts"_a.noconvert(), "middles"_a, "scales"_a,
             "bits"_a,
             "Add weights to counts (K, 16 * 2**bits) in cells around the middle of each direction.")
        .def("outlyingness", outlyingness<T>, "medians"_a, "mads"_a, "scales"_a, "typical"_a,
             "Largest |<u, x> - median| / MAD (n,); the scale takes the place of a MAD that is zero.")
        .def("rank_bounds", rank_bounds<T>, "bounds"_a, "smallest"_a, "middles"_a, "scales"_a, "bits"_a,
             "The smallest, or the sum, over directions of the bounds (K, cells, 2) of cells: (n, 2).");
}

void bind_chunks(nb::module_& m) {
    bind<float>(m, "Chunk32");
    bind<double>(m, "Chunk64");
}

}  // namespace isodepth
