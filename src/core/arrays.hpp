// Types and checks of arrays received from Python, and construction of arrays returned to Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "simd.hpp"

namespace isodepth {

namespace nb = nanobind;
using namespace nb::literals;

// Declare an array argument without implicit conversion: an array of another dtype or memory layout is
// rejected, not copied.
inline auto operator""_in(const char* name, size_t) { return nb::arg(name).noconvert(); }

template <class T> using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T> using Cube = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class T> using OutMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T> using Result = nb::ndarray<nb::numpy, T, nb::c_contig>;
// Integer weights (n,) of rows. Without a value, all rows have weight 1.
using Weights = std::optional<Vector<int64_t>>;

// View of a matrix (n, d) that is stored row by row. The caller owns the memory.
template <class T> struct Rows {
    const T* data;
    int64_t n, d;
    const T* operator[](int64_t i) const { return data + i * d; }
    std::span<const T> values() const { return {data, size_t(n * d)}; }
};

// Exclusive upper bound of the numbers of rows and columns. Sorting uses 32-bit integers for two buckets per
// row.
constexpr int64_t most_rows = int64_t(1) << 30;

using Bind = void(nb::module_&);
Bind bind_labels, bind_depths, bind_hull, bind_gaps, bind_chunks;

// Checks of arguments, made by the functions that Python calls. Kernels rely on these checks and do not
// repeat them.

inline void require(bool condition, const char* message) {
    if (!condition) throw nb::value_error(message);
}

template <class T> bool are_finite(std::span<const T> values, T limit = std::numeric_limits<T>::max()) {
    // Compilers vectorize the loop, because it does not end early and the integer `wrong` has the size of T.
    std::conditional_t<sizeof(T) == 4, int32_t, int64_t> wrong = 0;
    for (const T x : values) wrong |= !(std::fabs(x) <= limit);
    return wrong == 0;
}

template <class Array> auto values_of(const Array& array) { return std::span(array.data(), array.size()); }

// NumPy allows arrays at any address, but compiled code may assume that a number starts at a multiple of its
// size.
template <class Array> void check_aligned(const Array& array) {
    require(reinterpret_cast<uintptr_t>(array.data()) % alignof(typename Array::Scalar) == 0,
            "an array is not aligned in memory; pass a copy, such as numpy.array(x)");
}

template <class Array> void check_shape(const Array& array) {
    check_aligned(array);
    require(array.size() > 0, "an array is empty; it needs at least one row and one column");
    for (size_t axis = 0; axis < array.ndim(); axis++)
        require(int64_t(array.shape(axis)) < most_rows,
                "an array has 2**30 rows or columns or more; use fewer");
}

inline void check_finite(bool finite) { require(finite, "an array has a value that is NaN or infinite"); }

template <class Array> void check_values(const Array& array) {
    check_shape(array);
    if constexpr (std::is_floating_point_v<typename Array::Scalar>)
        check_finite(are_finite(values_of(array)));
}

// Check a vector and return its values. If `size` is not negative, the vector must have `size` values.
template <class T> std::span<const T> check_vector(const Vector<T>& array, int64_t size = -1) {
    require(size < 0 || int64_t(array.size()) == size,
            "an array has another length than the arrays it belongs to");
    check_values(array);
    return values_of(array);
}

// Check a matrix and return a view of its rows. If `d` is not negative, the matrix must have `d` columns.
template <class T> Rows<T> check_rows(const Matrix<T>& array, int64_t d = -1) {
    require(d < 0 || int64_t(array.shape(1)) == d, "two arrays have different numbers of columns");
    check_values(array);
    return {array.data(), int64_t(array.shape(0)), int64_t(array.shape(1))};
}

// Check the weights of n rows. Return a pointer to the weights and their sum, or without
// weights a null pointer and n. Each weight must be at least `least`. The sum must be positive and at most
// 2**62.
inline std::pair<const int64_t*, int64_t> check_weights(const Weights& weights, int64_t n, int64_t least) {
    if (!weights) return {nullptr, n};
    constexpr int64_t most = int64_t(1) << 62;
    int64_t total = 0;
    for (const int64_t weight : check_vector(*weights, n)) {
        require(weight >= least && weight <= most - total,
                "weights must not be negative or, for depths, zero; their sum must be at most 2**62");
        total += weight;
    }
    require(total > 0, "the sum of the weights must be positive");
    return {weights->data(), total};
}

// Check `sizes`, the number of rows in the depth region of each level. The sizes must not decrease, and must
// be between `least` and `rows`.
inline void check_prefix_sizes(std::span<const int64_t> sizes, int64_t rows, int64_t least = 1) {
    require(!sizes.empty(), "prefix sizes are empty; at least one level is needed");
    for (const int64_t size : sizes) {
        require(least <= size && size <= rows,
                "prefix sizes must not decrease and must be between 1 and the number of rows");
        least = size;
    }
}

// Limits of the number of threads and of the scratch memory. The result of a computation does not depend on
// them.
struct Resources {
    int64_t n_threads;
    double memory_mb;
};

inline Resources check_resources(int64_t n_threads, double memory_mb) {
    require(n_threads >= 1, "n_threads must be at least 1");
    require(memory_mb >= 0, "memory_mb must not be negative");
    return {n_threads, memory_mb};
}

using Shape = std::initializer_list<size_t>;

// Return a NumPy array of `values` without copying them. The array takes over `owner`, the vector or pointer
// whose memory holds the values.
template <class T, class Owner> Result<T> owned_array(T* values, Owner owner, Shape shape) {
    auto kept = std::make_unique<Owner>(std::move(owner));
    nb::capsule capsule(kept.get(), [](void* p) noexcept { delete static_cast<Owner*>(p); });
    kept.release();
    return Result<T>(values, shape.size(), shape.begin(), capsule);
}

template <class T> Result<T> as_array(std::vector<T> values, Shape shape) {
    T* data = values.data();
    return owned_array(data, std::move(values), shape);
}

// Return an array without initializing it. The operating system then allocates the memory in parallel, when
// threads first write to it.
template <class T> Result<T> new_array(Shape shape) {
    const size_t count = std::reduce(shape.begin(), shape.end(), size_t(1), std::multiplies<>());
    std::unique_ptr<T[]> values(new T[count]);
    T* data = values.get();
    return owned_array(data, std::move(values), shape);
}

template <class T> Result<T> new_array(Shape shape, T value) {
    auto array = new_array<T>(shape);
    std::fill_n(array.data(), array.size(), value);
    return array;
}

}  // namespace isodepth
