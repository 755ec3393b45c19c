// Bindings of what lies between depth order and distance.
#include "gaps.hpp"

#include "arrays.hpp"
#include "module.hpp"

namespace isodepth {

template <class T> static Prefixes<T> prefixes(const Matrix<T>& rows, const Vector<int64_t>& sizes) {
    return {rows.data(), sizes.data(), int64_t(sizes.shape(0)), int64_t(rows.shape(1))};
}

template <class T>
static std::pair<Result<double>, Result<int64_t>> gaps(Matrix<T> x, Matrix<T> y, Vector<int64_t> sizes_x,
                                                       Vector<int64_t> sizes_y, Matrix<T> directions,
                                                       double q, int64_t n_threads, double memory_mb,
                                                       int64_t chunk_rows) {
    const size_t levels = sizes_x.shape(0);
    auto gaps = new_array<double>({levels});
    auto codes = new_array<int64_t>({levels});
    nb::gil_scoped_release released;
    const Tiles<T> tiles(directions.data(), directions.shape(0), directions.shape(1), n_threads);
    const Prefixes<T> samples[2] = {prefixes(x, sizes_x), prefixes(y, sizes_y)};
    const Resources resources = {n_threads, memory_mb};
    if (std::isinf(q)) search_gaps(samples, tiles, chunk_rows, resources, gaps.data(), codes.data());
    else mean_gaps(samples, tiles, q, chunk_rows, resources, gaps.data(), codes.data());
    return {gaps, codes};
}

template <class T> static void bind_for(nb::module_& m) {
    m.def("gaps", gaps<T>, "x"_a.noconvert(), "y"_a.noconvert(), "prefix_sizes_x"_a.noconvert(),
          "prefix_sizes_y"_a.noconvert(), "directions"_a.noconvert(), "q"_a, "n_threads"_a, "memory_mb"_a,
          "chunk_rows"_a = 0, "The gap of each level, and a code of the direction of the largest.");
}

void bind_gaps(nb::module_& m) {
    bind_for<float>(m);
    bind_for<double>(m);
}

}  // namespace isodepth
