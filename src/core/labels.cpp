// Statistics of permuted labels.
#include "labels.hpp"
#include "arrays.hpp"
#include "module.hpp"

namespace isodepth {

using Words = nb::ndarray<const uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Centers = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

static auto label_centers(Matrix<double> points, Matrix<double> directions, Words words, int64_t count,
                          double zero, int64_t n_threads) {
    const LabelTask task{points.data(),
                         directions.data(),
                         words.data(),
                         int64_t(points.shape(0)),
                         int64_t(points.shape(1)),
                         int64_t(directions.shape(0)),
                         count,
                         zero};
    const size_t stride = size_t(task.stride());
    auto projections = new_array<double>({size_t(task.n), stride});
    auto centers = new_array<double>({size_t(count), 2, stride});
    auto scales = new_array<double>({size_t(count), 2, stride});
    {
        nb::gil_scoped_release released;
        for (auto* array : {&projections, &centers, &scales}) std::fill_n(array->data(), array->size(), 0.0);
        LabelCenters(task, projections.data(), centers.data(), scales.data()).run(n_threads);
    }
    return nb::make_tuple(projections, centers, scales);
}

static auto label_distances(Matrix<double> projections, Words words, Centers centers, Centers scales,
                            int64_t k, Vector<double> betas, int64_t first, int64_t last, double q, double p,
                            int64_t n_threads) {
    const LabelTask task{
        nullptr, nullptr, words.data(), int64_t(projections.shape(0)), 0, k, int64_t(centers.shape(0)), 0};
    auto out = new_array<double>({size_t(last - first)});
    nb::gil_scoped_release released;
    LabelDistances(task, projections.data(), centers.data(), scales.data(), betas.data(),
                   int64_t(betas.shape(0)), q, p)
        .run(first, last, n_threads, out.data());
    return out;
}

static auto share_differences(Matrix<double> values, Words words, int64_t count, int64_t cuts,
                              int64_t n_threads) {
    const LabelTask task{nullptr, nullptr, words.data(), int64_t(values.shape(1)), 0, 0, count, 0};
    auto half_lines = new_array<double>({values.shape(0), size_t(count)});
    auto intervals = new_array<double>({values.shape(0), size_t(count)});
    {
        nb::gil_scoped_release released;
        ShareDifferences(task, values.data(), int64_t(values.shape(0)), cuts, half_lines.data(),
                         intervals.data())
            .run(n_threads);
    }
    return nb::make_tuple(half_lines, intervals);
}

void bind_labels(nb::module_& m) {
    m.def("share_differences", share_differences, "values"_a.noconvert(), "words"_a.noconvert(), "count"_a,
          "cuts"_a, "n_threads"_a = 1,
          "The largest differences (F, count) between the shares of the two parts of each labeling in a "
          "half-line, and in an interval, of values (F, n); half-lines end at most at `cuts` values.");
    m.def("label_centers", label_centers, "points"_a.noconvert(), "directions"_a.noconvert(),
          "words"_a.noconvert(), "count"_a, "zero"_a, "n_threads"_a = 1,
          "Projections (n, S) of points (n, d), and the medians and one over the MADs (count, 2, S) of the "
          "two parts of each labeling, S >= K being a multiple of 8; bit b of words[i, r] says whether row r "
          "is in the first part of "
          "labeling 64 i + b.");
    m.def("label_distances", label_distances, "projections"_a.noconvert(), "words"_a.noconvert(),
          "centers"_a.noconvert(), "scales"_a.noconvert(), "n_directions"_a, "betas"_a.noconvert(), "first"_a,
          "last"_a, "q"_a, "p"_a, "n_threads"_a = 1,
          "DR between the two parts of the labelings first..last, with plain means of order q over "
          "directions and p over levels.");
}

}  // namespace isodepth
