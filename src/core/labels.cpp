// Statistics of permuted labels.
#include "labels.hpp"
#include "module.hpp"

namespace isodepth {

static auto label_distances(Matrix<double> points, Matrix<double> directions, Matrix<uint64_t> words,
                            int64_t count, Vector<double> betas, double q, double p, int64_t n_threads) {
    const Labels labels{words.data(), int64_t(points.shape(0)), count};
    const LabelTask task{
        rows_of(points), rows_of(directions), labels, betas.data(), int64_t(betas.shape(0)), q, p, n_threads};
    return as_array(without_gil([&] { return LabelDistances(task).find(); }), {size_t(count)});
}

static auto differences_of_shares(Matrix<double> values, Matrix<uint64_t> words, int64_t count, int64_t cuts,
                                  int64_t n_threads) {
    const size_t functions = values.shape(0);
    auto half_lines = new_array<double>({functions, size_t(count)});
    auto intervals = new_array<double>({functions, size_t(count)});
    nb::gil_scoped_release released;
    share_differences(values.data(), functions, {words.data(), int64_t(values.shape(1)), count}, cuts,
                      n_threads, half_lines.data(), intervals.data());
    return std::pair(half_lines, intervals);
}

void bind_labels(nb::module_& m) {
    m.def("share_differences", differences_of_shares, "values"_in, "words"_in, "count"_a, "cuts"_a,
          "n_threads"_a = 1,
          "The largest differences (F, count) of the shares of both parts in half-lines, and in intervals.");
    m.def("label_distances", label_distances, "points"_in, "directions"_in, "words"_in, "count"_a, "betas"_in,
          "q"_a, "p"_a, "n_threads"_a = 1,
          "DR between the two parts of each labeling of points (n, d); bit b of words[i, r] says whether row "
          "r is in the first part of labeling 64 i + b.");
}

}  // namespace isodepth
