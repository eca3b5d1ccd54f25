// Philox4x32-7 over the lanes of a block: uniforms as a pure function of (key, run, slot, draw).
//
// Each counter gives two 52-bit uniforms, so draws are made in pairs; a chunk of kDraws rows is
// filled at once. 32-bit words live in 64-bit lanes: the widening multiply ignores the upper half,
// so only the last step needs masks.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "core/rng.hpp"
#include "kernels/vmath.hpp"

namespace committal::COMMITTAL_ISA {

inline constexpr int kDraws = 16;  // rows of uniforms filled at once, a power of two

#if defined(__AVX512F__)
using Words = __m512i;
inline constexpr int kWords = 8;
COMMITTAL_INLINE Words words_load(const std::uint64_t* p) { return _mm512_loadu_si512(p); }
COMMITTAL_INLINE Words words_set(std::uint64_t x) {
  return _mm512_set1_epi64(static_cast<long long>(x));
}
COMMITTAL_INLINE Words words_mul(Words a, Words b) { return _mm512_mul_epu32(a, b); }
COMMITTAL_INLINE Words words_high(Words a) { return _mm512_srli_epi64(a, 32); }
COMMITTAL_INLINE Words words_xor(Words a, Words b) { return _mm512_xor_si512(a, b); }
COMMITTAL_INLINE Words words_xor3(Words a, Words b, Words c) {
  return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}
// The top 52 of the 64 bits (high << 32 | low) as a double in [0, 1).
COMMITTAL_INLINE void words_store_uniform(double* out, Words low, Words high) {
  const Words both = _mm512_mask_blend_epi32(0xaaaa, low, _mm512_slli_epi64(high, 32));
  const Words bits = _mm512_or_si512(_mm512_srli_epi64(both, 12), words_set(0x3ff0000000000000));
  _mm512_storeu_pd(out, _mm512_sub_pd(_mm512_castsi512_pd(bits), _mm512_set1_pd(1.0)));
}
#elif defined(__AVX2__)
using Words = __m256i;
inline constexpr int kWords = 4;
COMMITTAL_INLINE Words words_load(const std::uint64_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
COMMITTAL_INLINE Words words_set(std::uint64_t x) {
  return _mm256_set1_epi64x(static_cast<long long>(x));
}
COMMITTAL_INLINE Words words_mul(Words a, Words b) { return _mm256_mul_epu32(a, b); }
COMMITTAL_INLINE Words words_high(Words a) { return _mm256_srli_epi64(a, 32); }
COMMITTAL_INLINE Words words_xor(Words a, Words b) { return _mm256_xor_si256(a, b); }
COMMITTAL_INLINE Words words_xor3(Words a, Words b, Words c) {
  return _mm256_xor_si256(_mm256_xor_si256(a, b), c);
}
COMMITTAL_INLINE void words_store_uniform(double* out, Words low, Words high) {
  const Words both = _mm256_blend_epi32(low, _mm256_slli_epi64(high, 32), 0xaa);
  const Words bits = _mm256_or_si256(_mm256_srli_epi64(both, 12), words_set(0x3ff0000000000000));
  _mm256_storeu_pd(out, _mm256_sub_pd(_mm256_castsi256_pd(bits), _mm256_set1_pd(1.0)));
}
#else
using Words = std::uint64_t;
inline constexpr int kWords = 1;
COMMITTAL_INLINE Words words_load(const std::uint64_t* p) { return *p; }
COMMITTAL_INLINE Words words_set(std::uint64_t x) { return x; }
COMMITTAL_INLINE Words words_mul(Words a, Words b) { return (a & 0xffffffff) * (b & 0xffffffff); }
COMMITTAL_INLINE Words words_high(Words a) { return a >> 32; }
COMMITTAL_INLINE Words words_xor(Words a, Words b) { return a ^ b; }
COMMITTAL_INLINE Words words_xor3(Words a, Words b, Words c) { return a ^ b ^ c; }
COMMITTAL_INLINE void words_store_uniform(double* out, Words low, Words high) {
  *out = uniform_from_words(static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(high));
}
#endif

// Counters of some vectors of lanes, which advance together: one alone waits for its
// multiplications.
template <int N>
struct PhiloxWords {
  Words x0[N], x1[N], x2[N], x3[N];

  COMMITTAL_INLINE void set(int i, const PhiloxCounter& counter, Words run) {
    x0[i] = words_set(counter.word[0]);
    x1[i] = words_set(counter.word[1]);
    x2[i] = run;
    x3[i] = words_high(run);
  }
  // All rounds, but for some that are made already.
  COMMITTAL_INLINE void advance(std::uint64_t key, int made = 0) {
    const Words multiplier0 = words_set(kPhiloxM0);
    const Words multiplier1 = words_set(kPhiloxM1);
    const auto before = static_cast<std::uint32_t>(made);
    std::uint32_t k0 = static_cast<std::uint32_t>(key) + before * kPhiloxW0;
    std::uint32_t k1 = static_cast<std::uint32_t>(key >> 32) + before * kPhiloxW1;
    for (int round = made; round < kPhiloxRounds; ++round) {
      const Words key0 = words_set(k0);
      const Words key1 = words_set(k1);
      for (int i = 0; i < N; ++i) {
        const Words product0 = words_mul(x0[i], multiplier0);
        const Words product1 = words_mul(x2[i], multiplier1);
        x0[i] = words_xor3(words_high(product1), x1[i], key0);
        x1[i] = product1;
        x2[i] = words_xor3(words_high(product0), x3[i], key1);
        x3[i] = product0;
      }
      k0 += kPhiloxW0;
      k1 += kPhiloxW1;
    }
  }
  COMMITTAL_INLINE void store(int i, double* even, double* odd) const {
    words_store_uniform(even, x0[i], x1[i]);
    words_store_uniform(odd, x2[i], x3[i]);
  }
};

// Uniforms number first .. first + kDraws - 1 (first a multiple of kDraws) of `slot` for the runs
// run[0..W): out[d][lane].
template <int W>
inline void fill_uniforms(std::uint64_t key, const std::uint64_t* run, std::uint32_t slot,
                          std::uint64_t first, double* out) {
  const Words multiplier0 = words_set(kPhiloxM0);
  const Words multiplier1 = words_set(kPhiloxM1);
  const std::uint32_t key0 = static_cast<std::uint32_t>(key);
  const std::uint32_t key1 = static_cast<std::uint32_t>(key >> 32);
  const PhiloxCounter counter = stream_counter(0, slot, first);
  constexpr int kTogether = W / kWords < 4 ? W / kWords : 4;
  for (int l = 0; l < W; l += kWords * kTogether) {
    // Only the first word of the counter tells one pair from the next, and it reaches one half of
    // the state after a round and all of it after three: what it has not reached is the same for
    // all pairs. `low` and `high` are the halves of the second round's first product.
    Words run_high[kTogether], product[kTogether], low[kTogether], high[kTogether];
    for (int i = 0; i < kTogether; ++i) {
      const Words r = words_load(run + l + i * kWords);
      const Words product1 = words_mul(r, multiplier1);
      const Words x0 =
          words_xor3(words_high(product1), words_set(counter.word[1]), words_set(key0));
      run_high[i] = words_xor(words_high(r), words_set(key1));
      product[i] = words_xor(product1, words_set(key0 + kPhiloxW0));
      low[i] = words_mul(x0, multiplier0);
      high[i] = words_xor(words_high(low[i]), words_set(key1 + kPhiloxW1));
    }
    for (int pair = 0; pair < kDraws / 2; ++pair) {
      const std::uint64_t product0 =
          static_cast<std::uint64_t>(kPhiloxM0) * (counter.word[0] + static_cast<unsigned>(pair));
      PhiloxWords<kTogether> x;
      for (int i = 0; i < kTogether; ++i) {
        const Words x2 = words_xor(run_high[i], words_set(product0 >> 32));
        x.x1[i] = words_mul(x2, multiplier1);
        x.x0[i] = words_xor(words_high(x.x1[i]), product[i]);
        x.x2[i] = words_xor(high[i], words_set(product0));
        x.x3[i] = low[i];
      }
      x.advance(key, 2);
      double* even = out + (2 * pair) * W + l;
      for (int i = 0; i < kTogether; ++i) x.store(i, even + i * kWords, even + W + i * kWords);
    }
  }
}

// The same for few draws (first and draws even) of some of the lanes: run[] and the rows of out
// have W, and it is vectors of lanes that are filled.
template <int W>
inline void fill_uniforms_of(int lanes, int draws, std::uint64_t key, const std::uint64_t* run,
                             std::uint32_t slot, std::uint64_t first, double* out) {
  constexpr int kTogether = kWords == 8 ? 4 : 2;  // as many as there are registers for
  const int last = (lanes + kWords - 1) / kWords * kWords - kWords;
  int pair = 0;
  int lane = 0;
  while (pair < draws / 2) {
    PhiloxWords<kTogether> x;
    double* even[kTogether];
    for (int i = 0; i < kTogether; ++i) {
      const std::uint64_t draw = first + 2 * static_cast<unsigned>(pair);
      x.set(i, stream_counter(0, slot, draw), words_load(run + lane));
      even[i] = out + (2 * pair) * W + lane;
      // Those past the last one make it again.
      const bool more = lane < last;
      const bool again = !more && 2 * pair + 2 >= draws && i + 1 < kTogether;
      pair += more || again ? 0 : 1;
      lane = more ? lane + kWords : again ? lane : 0;
    }
    x.advance(key);
    for (int i = 0; i < kTogether; ++i) x.store(i, even[i], even[i] + W);
  }
}

}  // namespace committal::COMMITTAL_ISA
