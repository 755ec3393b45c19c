// Vectors of the instruction set this file is compiled for, by the vector extensions of gcc and clang.
#pragma once

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

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif
// A tile is one cache line: several numbers side by side, whatever the width of a vector.
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
// All bits of a lane set for true, none for false.
template <class T> using Mask = typename VectorOf<T>::I;

// Numbers in a tile, and in a vector.
template <class T> constexpr int lanes = tile_bytes / sizeof(T);
template <class T> constexpr int width = vector_bytes / sizeof(T);

// Not by memcpy, which gcc takes through general registers on aarch64.
template <class T> ISODEPTH_INLINE Vec<T> load(const T* at) {
    return *reinterpret_cast<const typename VectorOf<T>::Anywhere*>(at);
}
template <class T> ISODEPTH_INLINE void store(T* at, Vec<T> v) {
    *reinterpret_cast<typename VectorOf<T>::Anywhere*>(at) = v;
}
template <class T> ISODEPTH_INLINE Vec<T> broadcast(T x) { return x - Vec<T>{}; }
#if defined(__aarch64__)
// In one instruction, which the compiler does not find by itself.
template <class T> ISODEPTH_INLINE Vec<T> absolute(Vec<T> v) {
    if constexpr (sizeof(T) == 4) return (Vec<T>)vabsq_f32((float32x4_t)v);
    else return (Vec<T>)vabsq_f64((float64x2_t)v);
}
#else
template <class T> ISODEPTH_INLINE Vec<T> absolute(Vec<T> v) {
    return (Vec<T>)((Mask<T>)v & ~(Mask<T>)broadcast<T>(T(-0.0)));
}
#endif
template <class T> ISODEPTH_INLINE Vec<T> distance(Vec<T> a, Vec<T> b) {
#if defined(__aarch64__)
    if constexpr (sizeof(T) == 4) return (Vec<T>)vabdq_f32((float32x4_t)a, (float32x4_t)b);
    else return (Vec<T>)vabdq_f64((float64x2_t)a, (float64x2_t)b);
#else
    return absolute<T>(a - b);
#endif
}
// Of finite numbers: compilers need more than one instruction to be right about others, too.
#if defined(__AVX512F__)
#define ISODEPTH_EXTREME(name, op)                                                           \
    template <class T> ISODEPTH_INLINE Vec<T> name(Vec<T> a, Vec<T> b) {                     \
        if constexpr (sizeof(T) == 4) return (Vec<T>)_mm512_##op##_ps((__m512)a, (__m512)b); \
        else return (Vec<T>)_mm512_##op##_pd((__m512d)a, (__m512d)b);                        \
    }
#elif defined(__AVX__)
#define ISODEPTH_EXTREME(name, op)                                                           \
    template <class T> ISODEPTH_INLINE Vec<T> name(Vec<T> a, Vec<T> b) {                     \
        if constexpr (sizeof(T) == 4) return (Vec<T>)_mm256_##op##_ps((__m256)a, (__m256)b); \
        else return (Vec<T>)_mm256_##op##_pd((__m256d)a, (__m256d)b);                        \
    }
#elif defined(__SSE2__)
#define ISODEPTH_EXTREME(name, op)                                                        \
    template <class T> ISODEPTH_INLINE Vec<T> name(Vec<T> a, Vec<T> b) {                  \
        if constexpr (sizeof(T) == 4) return (Vec<T>)_mm_##op##_ps((__m128)a, (__m128)b); \
        else return (Vec<T>)_mm_##op##_pd((__m128d)a, (__m128d)b);                        \
    }
#elif defined(__aarch64__)
#define ISODEPTH_EXTREME(name, op)                                                                 \
    template <class T> ISODEPTH_INLINE Vec<T> name(Vec<T> a, Vec<T> b) {                           \
        if constexpr (sizeof(T) == 4) return (Vec<T>)v##op##q_f32((float32x4_t)a, (float32x4_t)b); \
        else return (Vec<T>)v##op##q_f64((float64x2_t)a, (float64x2_t)b);                          \
    }
#else
#define ISODEPTH_EXTREME(name, op) \
    template <class T> ISODEPTH_INLINE Vec<T> name(Vec<T> a, Vec<T> b) { return op##_of<T>(a, b); }
template <class T> ISODEPTH_INLINE Vec<T> max_of(Vec<T> a, Vec<T> b) { return a > b ? a : b; }
template <class T> ISODEPTH_INLINE Vec<T> min_of(Vec<T> a, Vec<T> b) { return b > a ? a : b; }
#endif
ISODEPTH_EXTREME(maximum, max)
ISODEPTH_EXTREME(minimum, min)
#undef ISODEPTH_EXTREME

// a * b + c with one rounding where the processor can, with two where it cannot.
template <class T> ISODEPTH_INLINE Vec<T> multiply_add(Vec<T> a, Vec<T> b, Vec<T> c) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) return (Vec<T>)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
    else return (Vec<T>)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
    if constexpr (sizeof(T) == 4) return (Vec<T>)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
    else return (Vec<T>)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(__aarch64__)
    if constexpr (sizeof(T) == 4) return (Vec<T>)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
    else return (Vec<T>)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
    return a * b + c;
#endif
}

// The largest number of a vector.
template <class T> ISODEPTH_INLINE T largest_of(Vec<T> v) {
#if defined(__aarch64__)
    if constexpr (sizeof(T) == 4) return vmaxnmvq_f32((float32x4_t)v);
    else return vmaxnmvq_f64((float64x2_t)v);
#else
    T largest = v[0];
    for (int i = 1; i < width<T>; i++) largest = v[i] > largest ? v[i] : largest;
    return largest;
#endif
}

// Whether any lane of a mask is set.
template <class T> ISODEPTH_INLINE bool any(Mask<T> m) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) return _mm512_movepi32_mask((__m512i)m) != 0;
    else return _mm512_movepi64_mask((__m512i)m) != 0;
#elif defined(__AVX__)
    return _mm256_movemask_ps((__m256)m) != 0;
#elif defined(__SSE2__)
    return _mm_movemask_ps((__m128)m) != 0;
#elif defined(__aarch64__)
    return vmaxvq_u32((uint32x4_t)m) != 0;
#else
    for (int i = 0; i < width<T>; i++)
        if (m[i]) return true;
    return false;
#endif
}

}  // namespace isodepth
