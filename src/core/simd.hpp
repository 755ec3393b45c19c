// SIMD vectors of the instruction set that this file is compiled for, by vector extensions of gcc and clang.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define ISODEPTH_INLINE inline __attribute__((always_inline))

namespace isodepth {

// Macros that form the names of the float and double intrinsics of the instruction set.
#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#define ISODEPTH_FLOATS(op) _mm512_##op##_ps
#define ISODEPTH_DOUBLES(op) _mm512_##op##_pd
#elif defined(__AVX__)
constexpr int vector_bytes = 32;
#define ISODEPTH_FLOATS(op) _mm256_##op##_ps
#define ISODEPTH_DOUBLES(op) _mm256_##op##_pd
#elif defined(__SSE2__)
constexpr int vector_bytes = 16;
#define ISODEPTH_FLOATS(op) _mm_##op##_ps
#define ISODEPTH_DOUBLES(op) _mm_##op##_pd
#elif defined(__aarch64__)
constexpr int vector_bytes = 16;
#define ISODEPTH_FLOATS(op) v##op##q_f32
#define ISODEPTH_DOUBLES(op) v##op##q_f64
#else
constexpr int vector_bytes = 16;
#endif
// A tile is a block of rows that is stored by columns. One column of a tile fills one cache line, for any
// width of the SIMD vectors.
constexpr int tile_bytes = 64;
constexpr int vectors = tile_bytes / vector_bytes;

template <class T> struct VectorOf;
template <> struct VectorOf<float> {
    typedef float V __attribute__((vector_size(vector_bytes)));
    typedef float Anywhere __attribute__((vector_size(vector_bytes), aligned(4), may_alias));
    typedef int32_t I __attribute__((vector_size(vector_bytes)));
};
template <> struct VectorOf<double> {
    typedef double V __attribute__((vector_size(vector_bytes)));
    typedef double Anywhere __attribute__((vector_size(vector_bytes), aligned(8), may_alias));
    typedef int64_t I __attribute__((vector_size(vector_bytes)));
};
template <class T> using Vec = typename VectorOf<T>::V;
// Result of a comparison: all bits of a lane are 1 for true, and 0 for false.
template <class T> using Mask = typename VectorOf<T>::I;

// Number of values in one cache line (one column of a tile), and in one SIMD vector.
template <class T> constexpr int lanes = tile_bytes / sizeof(T);
template <class T> constexpr int width = vector_bytes / sizeof(T);

template <class T> constexpr T infinity = std::numeric_limits<T>::infinity();

// Loads and stores do not use memcpy, which gcc compiles to slow copies through general registers on aarch64.
template <class T> ISODEPTH_INLINE Vec<T> load(const T* at) {
    return *reinterpret_cast<const typename VectorOf<T>::Anywhere*>(at);
}
template <class T> ISODEPTH_INLINE void store(T* at, Vec<T> v) {
    *reinterpret_cast<typename VectorOf<T>::Anywhere*>(at) = v;
}
template <class T> ISODEPTH_INLINE Vec<T> broadcast(T x) { return x - Vec<T>{}; }
template <class T> ISODEPTH_INLINE Vec<T> absolute(Vec<T> v) {
    return (Vec<T>)((Mask<T>)v & ~(Mask<T>)broadcast<T>(T(-0.0)));
}

// Call the intrinsic `op` for float or double, according to T.
#define ISODEPTH_CALL(op, ...)                                             \
    if constexpr (sizeof(T) == 4) return ISODEPTH_FLOATS(op)(__VA_ARGS__); \
    else return ISODEPTH_DOUBLES(op)(__VA_ARGS__);
template <class T> ISODEPTH_INLINE Vec<T> distance(Vec<T> a, Vec<T> b) {
#if defined(__aarch64__)
    ISODEPTH_CALL(abd, a, b)
#else
    return absolute<T>(a - b);
#endif
}
// The arguments of `maximum` and `minimum` must not be NaN: handling NaN would need more than one
// instruction.
template <class T> ISODEPTH_INLINE Vec<T> maximum(Vec<T> a, Vec<T> b) {
#if defined(ISODEPTH_FLOATS)
    ISODEPTH_CALL(max, a, b)
#else
    return a > b ? a : b;
#endif
}
template <class T> ISODEPTH_INLINE Vec<T> minimum(Vec<T> a, Vec<T> b) {
#if defined(ISODEPTH_FLOATS)
    ISODEPTH_CALL(min, a, b)
#else
    return b > a ? a : b;
#endif
}
template <class T> ISODEPTH_INLINE Vec<T> multiply_add(Vec<T> a, Vec<T> b, Vec<T> c) {
#if defined(__FMA__)
    ISODEPTH_CALL(fmadd, a, b, c)
#elif defined(__aarch64__)
    ISODEPTH_CALL(fma, c, a, b)
#else
    return a * b + c;
#endif
}

template <class T> ISODEPTH_INLINE bool any(Mask<T> m) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) return _mm512_movepi32_mask((__m512i)m) != 0;
    else return _mm512_movepi64_mask((__m512i)m) != 0;
#elif defined(__SSE2__)
    return ISODEPTH_FLOATS(movemask)((Vec<float>)m) != 0;
#elif defined(__aarch64__)
    return vmaxvq_u32((uint32x4_t)m) != 0;
#else
    for (int i = 0; i < width<T>; i++)
        if (m[i]) return true;
    return false;
#endif
}

}  // namespace isodepth
