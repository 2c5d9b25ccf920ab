package ratelimit_test

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"atrium/internal/platform/ratelimit"
	"atrium/internal/test/testkit"
)

// BenchmarkMemoryAllowed measures the hot path: every call is allowed, pushes one time and drops one.
func BenchmarkMemoryAllowed(b *testing.B) {
	m, limit, now, ctx := ratelimit.NewMemory(), ratelimit.Limit{PerMinute: 600, PerDay: 1 << 40}, noon, b.Context()
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(100 * time.Millisecond)
		if res, err := m.Take(ctx, "key_0123456789abcdef", limit, now); err != nil || !res.Allowed {
			b.Fatal(res, err)
		}
	}
}

func BenchmarkMemoryRefused(b *testing.B) {
	m, limit, ctx := ratelimit.NewMemory(), ratelimit.Limit{PerMinute: 1, PerDay: 1 << 40}, b.Context()
	_, _ = m.Take(ctx, "key_0123456789abcdef", limit, noon)
	b.ReportAllocs()
	for b.Loop() {
		if res, err := m.Take(ctx, "key_0123456789abcdef", limit, noon); err != nil || res.Allowed {
			b.Fatal(res, err)
		}
	}
}

// BenchmarkMemoryManyKeys spreads the calls of all processors over 10,000 keys.
func BenchmarkMemoryManyKeys(b *testing.B) {
	m, ctx := ratelimit.NewMemory(), b.Context()
	keys := make([]string, 10_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("key_%016d", i)
		_, _ = m.Take(ctx, keys[i], ratelimit.Free(), noon)
	}
	var turn atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		i := int(turn.Add(5_003))
		for pb.Next() {
			i++
			_, _ = m.Take(ctx, keys[i%len(keys)], ratelimit.Free(), noon.Add(time.Duration(i)*time.Millisecond))
		}
	})
}

func BenchmarkRedis(b *testing.B) {
	client, err := ratelimit.OpenRedis(testkit.Redis(b), slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	l, limit, now, ctx := ratelimit.NewRedis(client), ratelimit.Limit{PerMinute: 600, PerDay: 1 << 40}, noon, b.Context()
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(100 * time.Millisecond)
		if res, err := l.Take(ctx, "key_0123456789abcdef", limit, now); err != nil || !res.Allowed {
			b.Fatal(res, err)
		}
	}
}
