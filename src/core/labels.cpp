// Python bindings of the statistics of permuted labels.
#include "shares.hpp"

namespace isodepth {

// Check and return `count` labelings of n rows. Each labeling must assign at least one row to each of the two
// samples.
static Labels check_labels(const Matrix<uint64_t>& words, int64_t n, int64_t count) {
    check_aligned(words);
    require(count >= 1 && count < most_rows, "count must be between 1 and 2**30");
    require(int64_t(words.shape(0)) == (count + word_bits - 1) / word_bits && int64_t(words.shape(1)) == n,
            "words must have shape (count / 64 rounded up, n)");
    for (int64_t first = 0; first < count; first += word_bits) {
        const uint64_t* own = words.data() + first / word_bits * n;
        uint64_t any = 0, all = ~uint64_t(0);
        for (int64_t i = 0; i < n; i++) any |= own[i], all &= own[i];
        const uint64_t used = ~uint64_t(0) >> std::max<int64_t>(0, first + word_bits - count);
        require((any & used) == used && !(all & used), "both parts of every labeling need at least one row");
    }
    return {words.data(), n, count};
}

static auto label_distances(Matrix<double> points, Matrix<double> directions, Matrix<uint64_t> words,
                            int64_t count, Vector<double> betas, double q, double p, int64_t n_threads) {
    const Rows<double> rows = check_rows(points), along = check_rows(directions, rows.d);
    const auto levels = check_vector(betas);
    require(std::all_of(levels.begin(), levels.end(), [](double beta) { return 0 <= beta && beta < 1; }),
            "betas must be in [0, 1)");
    require(q >= 1 && p > 0, "q must be at least 1, and p must be positive");
    const Labels labels = check_labels(words, rows.n, count);
    auto find = [&] { return LabelDistances{rows, along, labels, levels, q, p, n_threads}.find(); };
    return as_array(without_gil(find), {size_t(count)});
}

static auto differences_of_shares(Matrix<double> values, Matrix<uint64_t> words, int64_t count, int64_t cuts,
                                  std::pair<double, double> clip, Matrix<double> limits, int64_t n_threads) {
    const Rows<double> functions = check_rows(values), far = check_rows(limits, 2);
    require(cuts >= 1, "cuts must be at least 1");
    require(0 <= clip.first && clip.first < clip.second && clip.second <= 1,
            "clip must be two increasing ranks in [0, 1]");
    require(far.n == functions.n, "limits must have shape (functions, 2)");
    const Labels labels = check_labels(words, functions.d, count);
    const Shape shape = {size_t(functions.n), size_t(count)};
    auto half_lines = new_array<double>(shape), intervals = new_array<double>(shape);
    auto ranks = new_array<double>(shape);
    const double ends[] = {clip.first, clip.second};
    ReleasedGil released;
    share_differences(functions, labels, cuts, ends, far, n_threads,
                      {half_lines.data(), intervals.data(), ranks.data()});
    return std::tuple(half_lines, intervals, ranks);
}

void bind_labels(nb::module_& m) {
    m.def("share_differences", differences_of_shares, "values"_in, "words"_in, "count"_a, "cuts"_a, "clip"_a,
          "limits"_in, "n_threads"_a = 1,
          "Three statistics (F, count) of the functions `values` (F, n) for each labeling: the maximum "
          "differences of shares in half-lines and in intervals, and the absolute differences of mean "
          "clipped ranks. Values outside `limits` (F, 2) have the middle rank.");
    m.def("label_distances", label_distances, "points"_in, "directions"_in, "words"_in, "count"_a, "betas"_in,
          "q"_a, "p"_a, "n_threads"_a = 1,
          "Distance DR (count,) between the two parts of each labeling of points (n, d). Bit b of "
          "words[i, r] is 1 if row r is in the first part of labeling 64 i + b.");
}

}  // namespace isodepth
