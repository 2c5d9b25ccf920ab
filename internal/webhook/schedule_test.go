package webhook_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/internal/platform/egress"
	"atrium/internal/secret"
	"atrium/internal/webhook"
)

func TestSchedule(t *testing.T) {
	t.Parallel()
	require.Equal(t, []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour}, webhook.DefaultRetries)
	for step, want := range webhook.DefaultRetries {
		wait, again := webhook.After(webhook.DefaultRetries, step+1, 0)
		require.True(t, again)
		require.Equal(t, want, wait)
	}
	_, again := webhook.After(webhook.DefaultRetries, 6, 0)
	require.False(t, again, "a sixth retry")
	_, again = webhook.After(nil, 1, time.Hour)
	require.False(t, again, "a schedule without retries")
}

// A receiver may ask for a longer wait, up to the length of the following step, but not for a shorter one.
func TestScheduleWithRetryAfter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step        int
		asked, want time.Duration
	}{
		{1, time.Second, 30 * time.Second},
		{1, 30 * time.Second, 30 * time.Second},
		{1, time.Minute, time.Minute},
		{1, 2 * time.Minute, 2 * time.Minute},
		{1, 24 * time.Hour, 2 * time.Minute},
		{2, 5 * time.Minute, 5 * time.Minute},
		{4, 24 * time.Hour, 6 * time.Hour},
		{5, time.Hour, 6 * time.Hour},
		{5, 24 * time.Hour, 6 * time.Hour},
	} {
		wait, again := webhook.After(webhook.DefaultRetries, c.step, c.asked)
		require.True(t, again)
		require.Equal(t, c.want, wait, "%+v", c)
	}
}

func TestScheduleNeverComesEarlier(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		retries := rapid.SliceOfN(rapid.Map(rapid.Int64Range(1, int64(8*time.Hour)), func(n int64) time.Duration { return time.Duration(n) }), 1, 8).Draw(t, "retries")
		step := rapid.IntRange(1, len(retries)).Draw(t, "step")
		asked := time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(t, "asked"))
		wait, again := webhook.After(retries, step, asked)
		require.True(t, again)
		own, next := retries[step-1], retries[min(step, len(retries)-1)]
		require.GreaterOrEqual(t, wait, own)
		require.GreaterOrEqual(t, wait, min(asked, next))
		require.LessOrEqual(t, wait, max(own, next))
	})
}

func TestRetryAfterHeader(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 1, 15, 10, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "0": 0, "120": 2 * time.Minute, "-3": 0, "1.5": 0, "soon": 0, "99999999999999999999": 0,
		now.Add(90 * time.Second).Format(http.TimeFormat): 90 * time.Second,
		now.Add(-time.Hour).Format(http.TimeFormat):       0,
	} {
		require.Equal(t, want, webhook.RetryAfter(value, now), "%q", value)
	}
}

func TestSchedulesThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, retries := range [][]time.Duration{{0}, {time.Second, -1}, {8 * 24 * time.Hour}, make([]time.Duration, 21)} {
		_, err := webhook.New(webhook.Options{Retries: retries})
		require.Error(t, err, "%v", retries)
	}
}

// The stored part of an answer is text that any database accepts, is at most a kilobyte long, and does not contain the signing
// secret.
func TestKeptBody(t *testing.T) {
	t.Parallel()
	answer := func(body string, kind ...string) egress.Answer {
		return egress.Answer{Body: []byte(body), Header: http.Header{"Content-Type": kind}}
	}
	require.Equal(t, "thanks", webhook.Kept(answer("thanks"), true))
	require.Equal(t, `a\x00b\xff`, webhook.Kept(answer("a\x00b\xff"), true))
	require.Equal(t, "Zoë", webhook.Kept(answer("Zo\xeb", "text/plain; charset=iso-8859-1"), true), "in the charset that it names")
	require.Equal(t, `Zo\xeb`, webhook.Kept(answer("Zo\xeb", "text/plain; charset=klingon"), true))
	require.Equal(t, "abü", webhook.Kept(answer("abü\xf0\x9f\x98"), false), "its end is cut within a character")
	require.Equal(t, `abü\xf0\x9f\x98`, webhook.Kept(answer("abü\xf0\x9f\x98"), true))
	require.Len(t, webhook.Kept(answer(strings.Repeat("x", 5000)), true), 1024)
	require.Len(t, webhook.Kept(answer(strings.Repeat("\xff", 1024)), true), 1024)
	key := secret.Value("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	for _, echo := range []string{"you sent " + string(key) + "!", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"} {
		require.NotContains(t, webhook.Kept(answer(echo), true, key), "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	}
	rapid.Check(t, func(t *rapid.T) {
		text := webhook.Kept(egress.Answer{Body: rapid.SliceOf(rapid.Byte()).Draw(t, "body")}, rapid.Bool().Draw(t, "whole"))
		require.True(t, utf8.ValidString(text))
		require.NotContains(t, text, "\x00")
		require.LessOrEqual(t, len(text), 1024)
	})
}
