// Arrays that come from Python and go back to it.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

namespace isodepth {

namespace nb = nanobind;
using namespace nb::literals;

// An argument that is taken as it is, never copied to another type or layout.
inline auto operator""_in(const char* name, size_t) { return nb::arg(name).noconvert(); }

// C-contiguous input of one, two or three dimensions, bound as "name"_in.
template <class T> using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T> using Cube = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
// Arrays that are written to in place.
template <class T> using OutMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
// What is handed to Python.
template <class T> using Result = nb::ndarray<nb::numpy, T, nb::c_contig>;

// Rows (n, d) of somebody else's array.
template <class T> struct Rows {
    const T* data;
    int64_t n, d;
    const T* operator[](int64_t i) const { return data + i * d; }
};

template <class T> Rows<T> rows_of(const Matrix<T>& array) {
    return {array.data(), int64_t(array.shape(0)), int64_t(array.shape(1))};
}

// The numbers of a vector as an array of that shape.
template <class T> Result<T> as_array(std::vector<T> values, std::initializer_list<size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Result<T>(kept->data(), shape.size(), shape.begin(), owner);
}

// A new array of zeros.
template <class T> Result<T> new_array(std::initializer_list<size_t> shape) {
    size_t count = 1;
    for (size_t size : shape) count *= size;
    return as_array(std::vector<T>(count), shape);
}

// The result of `work()`, during which other threads of Python may run.
template <class Work> auto without_gil(Work work) {
    nb::gil_scoped_release released;
    return work();
}

// What a pass may use; none of it changes the result.
struct Resources {
    int64_t n_threads;
    double memory_mb;
};

}  // namespace isodepth
