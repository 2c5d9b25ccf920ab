package sla_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/internal/desk/sla"
)

func of[T any](v T) *T { return &v }

func days(t testing.TB, text string) *time.Time { return of(at(t, text)) }

// The clock in the usual cases.
func TestDerive(t *testing.T) {
	t.Parallel()
	c := office(t, "Europe/Berlin")
	levels := sla.Levels{
		Targets: sla.Targets{ResponseMinutes: of(60), ResolutionMinutes: of(480)}, WarnAtPercent: 75,
		ByPriority:  &sla.ByPriority{URGENT: &sla.Targets{ResponseMinutes: of(15)}},
		Escalations: []sla.Escalation{{AfterMinutes: 90, Of: "response", Do: sla.Raise}},
	}
	filed := sla.Event{Kind: sla.Filed, At: at(t, "2026-05-22T16:30:00+02:00")} // a Friday afternoon
	derive := func(priority, now string, log ...sla.Event) sla.Clock {
		return sla.Derive(levels, priority, c, append([]sla.Event{filed}, log...), at(t, now))
	}
	moment := func(want string, got *time.Time) {
		t.Helper()
		require.NotNil(t, got)
		require.True(t, got.Equal(at(t, want)), got)
	}
	kinds := func(c sla.Clock) (out []string) {
		for _, f := range c.Firings {
			out = append(out, string(f.Kind)+" "+f.Key)
		}
		return out
	}

	k := derive("MEDIUM", "2026-05-22T16:30:00+02:00")
	require.Equal(t, sla.OnTrack, k.State)
	moment("2026-05-25T09:30:00+02:00", k.ResponseDueAt)
	moment("2026-05-25T16:30:00+02:00", k.ResolutionDueAt)
	moment("2026-05-25T09:15:00+02:00", k.NextAt)
	require.Empty(t, k.Firings)

	k = derive("MEDIUM", "2026-05-25T09:15:00+02:00")
	require.Equal(t, sla.InWarning, k.State)
	require.Equal(t, []string{"WARNED RESPONSE"}, kinds(k))
	moment("2026-05-25T09:30:00+02:00", k.NextAt)

	k = derive("MEDIUM", "2026-05-25T12:00:00+02:00") // after a night without a sweep: everything once, in order, but no warning of what is late
	require.Equal(t, sla.Late, k.State)
	require.Equal(t, []string{"BREACHED RESPONSE", "ESCALATED response/90/raise"}, kinds(k))
	k = derive("MEDIUM", "2026-05-25T09:20:00+02:00", sla.Event{Kind: sla.Breached, Key: "RESPONSE"}) // it was late under shorter levels
	require.Equal(t, sla.InWarning, k.State)
	require.Empty(t, k.Firings)
	k = derive("MEDIUM", "2026-05-25T12:00:00+02:00", sla.Event{Kind: sla.Warned, Key: "RESPONSE"},
		sla.Event{Kind: sla.Breached, Key: "RESPONSE"}, sla.Event{Kind: sla.Escalated, Key: "response/90/raise"})
	require.Equal(t, sla.Late, k.State)
	require.Empty(t, k.Firings)

	k = derive("URGENT", "2026-05-22T16:40:00+02:00") // the response of its priority, the general resolution
	moment("2026-05-22T16:45:00+02:00", k.ResponseDueAt)
	moment("2026-05-25T16:30:00+02:00", k.ResolutionDueAt)

	answered := sla.Event{Kind: sla.Answered, At: at(t, "2026-05-25T09:00:00+02:00"), Due: days(t, "2026-05-25T09:30:00+02:00")}
	paused := sla.Event{Kind: sla.Paused, At: at(t, "2026-05-25T10:00:00+02:00")}
	k = derive("URGENT", "2026-05-25T12:00:00+02:00", answered, paused) // answered in time at the old priority
	require.Equal(t, sla.PausedState, k.State)
	require.Nil(t, k.ResolutionDueAt)
	require.Nil(t, k.NextAt)
	k = derive("MEDIUM", "2026-06-25T12:00:00+02:00", answered, paused)
	require.Empty(t, k.Firings, "never while it stands still")
	k = derive("MEDIUM", "2026-05-25T12:00:00+02:00", answered, paused, sla.Event{Kind: sla.Resumed, At: at(t, "2026-05-25T11:00:00+02:00")})
	require.Equal(t, sla.OnTrack, k.State)
	moment("2026-05-26T09:30:00+02:00", k.ResolutionDueAt)

	k = derive("MEDIUM", "2026-05-25T12:00:00+02:00", answered, sla.Event{Kind: sla.Ended, At: at(t, "2026-05-25T11:00:00+02:00")})
	require.Equal(t, sla.Met, k.State)
	require.Nil(t, k.NextAt)
	k = derive("MEDIUM", "2026-05-25T12:00:00+02:00", sla.Event{Kind: sla.Answered, At: at(t, "2026-05-25T10:00:00+02:00"), Due: days(t, "2026-05-25T09:30:00+02:00")},
		sla.Event{Kind: sla.Ended, At: at(t, "2026-05-25T11:00:00+02:00")})
	require.Equal(t, sla.Late, k.State, "it was accepted late, which the end does not mend")

	require.Equal(t, sla.Clock{}, sla.Derive(sla.Levels{}, "MEDIUM", nil, []sla.Event{filed}, at(t, "2026-05-25T12:00:00+02:00")))
}

// reference is an implementation that counts minute by minute.
type reference struct {
	levels           sla.Levels
	priority         string
	works            func(time.Time) bool
	now              time.Time
	counts           map[sla.Target]int
	reached          map[sla.Target][]time.Time // when the count reached each number
	paused, answered bool
	ended, late      bool
	lateAnswer       bool // the response ended late, which a reopening does not mend either
	fired            []string
}

func (r *reference) minutes(t sla.Target) int {
	own := map[string]*sla.Targets{"LOW": r.levels.ByPriority.LOW, "URGENT": r.levels.ByPriority.URGENT}[r.priority]
	all := &r.levels.Targets
	pick := func(o *sla.Targets) *int {
		if o == nil {
			return nil
		}
		if t == sla.Response {
			return o.ResponseMinutes
		}
		return o.ResolutionMinutes
	}
	if m := pick(own); m != nil {
		return *m
	}
	if m := pick(all); m != nil {
		return *m
	}
	return 0
}

func (r *reference) runs(t sla.Target) bool {
	return !r.ended && (t == sla.Resolution && !r.paused || t == sla.Response && !r.answered)
}

// check fires what the counts have reached.
func (r *reference) check() {
	fire := func(what string) {
		if !slices.Contains(r.fired, what) {
			r.fired = append(r.fired, what)
		}
	}
	for _, t := range []sla.Target{sla.Response, sla.Resolution} {
		if !r.runs(t) {
			continue
		}
		if m := r.minutes(t); m > 0 {
			if r.counts[t] >= m {
				fire("BREACHED " + string(t))
			}
		}
		for _, e := range r.levels.Escalations {
			if (e.Of == "response") == (t == sla.Response) && r.counts[t] >= e.AfterMinutes {
				fire("ESCALATED " + e.Key())
			}
		}
	}
}

// warn fires the warnings that a look at the clock finds: of targets that are not missed.
func (r *reference) warn() {
	for _, t := range []sla.Target{sla.Response, sla.Resolution} {
		what, m := "WARNED "+string(t), r.minutes(t)
		if r.runs(t) && m > 0 && r.counts[t] < m && r.counts[t]*100 >= m*r.levels.WarnAtPercent &&
			!slices.Contains(r.fired, what) && !slices.Contains(r.fired, "BREACHED "+string(t)) {
			r.fired = append(r.fired, what)
		}
	}
}

func (r *reference) advance(minutes int) {
	for range minutes {
		for _, t := range []sla.Target{sla.Response, sla.Resolution} {
			if r.runs(t) && r.works(r.now) {
				r.counts[t]++
				r.reached[t] = append(r.reached[t], r.now.Add(time.Minute))
			}
		}
		r.now = r.now.Add(time.Minute)
		r.check()
	}
}

// due returns when a running target is due if no further event happens.
func (r *reference) due(t sla.Target) time.Time {
	m := r.minutes(t)
	if r.counts[t] >= m {
		return r.reached[t][m-1]
	}
	left := m - r.counts[t]
	for now := r.now; ; now = now.Add(time.Minute) {
		if r.works(now) {
			if left--; left == 0 {
				return now.Add(time.Minute)
			}
		}
	}
}

func (r *reference) state() sla.State {
	late := r.late
	for _, t := range []sla.Target{sla.Response, sla.Resolution} {
		if m := r.minutes(t); !r.ended && m > 0 && (t == sla.Resolution || !r.answered) && r.counts[t] >= m {
			late = true
		}
	}
	running := !r.ended && (r.minutes(sla.Resolution) > 0 || !r.answered && r.minutes(sla.Response) > 0)
	warned := false
	for _, t := range []sla.Target{sla.Response, sla.Resolution} {
		if m := r.minutes(t); m > 0 && !r.ended && (t == sla.Resolution || !r.answered) && r.counts[t]*100 >= m*r.levels.WarnAtPercent {
			warned = true
		}
	}
	switch {
	case late:
		return sla.Late
	case running && r.paused && r.minutes(sla.Resolution) > 0:
		return sla.PausedState
	case running && warned:
		return sla.InWarning
	case running:
		return sla.OnTrack
	}
	return sla.Met
}

// For any events on a request, in any zone, across changes of daylight saving time and times without a sweep, the clock equals
// a count of minutes, and the same things fire.
func TestClockEqualsACountOfMinutes(t *testing.T) {
	t.Parallel()
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns"}
	starts := []string{"2026-03-07T00:00:00Z", "2026-03-28T00:00:00Z", "2026-04-04T00:00:00Z", "2026-10-03T00:00:00Z", "2026-10-24T00:00:00Z", "2026-11-01T00:00:00Z"}
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		loc, err := time.LoadLocation(zone)
		require.NoError(t, err)
		var hours []sla.Hours
		for day := range 7 { // some working time on every day, so that the reference terminates
			from := rapid.IntRange(0, 1300).Draw(t, "from")
			hours = append(hours, sla.Hours{Day: time.Weekday(day), From: from, To: rapid.IntRange(from+60, 1440).Draw(t, "to")})
		}
		start, err := time.Parse(time.RFC3339, rapid.SampledFrom(starts).Draw(t, "start"))
		require.NoError(t, err)
		filed := start.Add(time.Duration(rapid.IntRange(0, 24*60).Draw(t, "offset")) * time.Minute)
		day := func(label string) string {
			return filed.In(loc).AddDate(0, 0, rapid.IntRange(0, 3).Draw(t, label)).Format(time.DateOnly)
		}
		holiday, exception := day("holiday"), sla.Exception{Date: day("exception"), Hours: []sla.Hours{{From: 600, To: 660}}}
		cal, err := sla.New(zone, hours, []string{holiday}, exception)
		require.NoError(t, err)
		r := &reference{
			now: filed, priority: "MEDIUM", counts: map[sla.Target]int{}, reached: map[sla.Target][]time.Time{},
			works: func(now time.Time) bool {
				local := now.In(loc)
				if local.Format(time.DateOnly) == exception.Date {
					return local.Hour() == 10
				}
				return works(local, hours, holiday)
			},
			levels: sla.Levels{
				WarnAtPercent: 10 * rapid.IntRange(1, 9).Draw(t, "percent"),
				ByPriority:    &sla.ByPriority{URGENT: &sla.Targets{ResponseMinutes: of(10), ResolutionMinutes: of(60)}, LOW: &sla.Targets{ResolutionMinutes: of(600)}},
				Escalations: []sla.Escalation{
					{AfterMinutes: rapid.IntRange(1, 300).Draw(t, "after"), Of: "resolution", Do: sla.Notify},
					{AfterMinutes: rapid.IntRange(1, 100).Draw(t, "after"), Of: "response", Do: sla.Raise},
				},
			},
		}
		r.levels.ResponseMinutes, r.levels.ResolutionMinutes = of(10*rapid.IntRange(1, 12).Draw(t, "response")), of(10*rapid.IntRange(1, 48).Draw(t, "resolution"))
		log := []sla.Event{{Kind: sla.Filed, At: filed}}
		turnOf := func(kind sla.Kind, at time.Time) { // pauses are numbered, as their rows are
			n := len(slices.DeleteFunc(slices.Clone(log), func(e sla.Event) bool { return e.Kind != kind }))
			log = append(log, sla.Event{Kind: kind, At: at, Key: fmt.Sprint(n + 1)})
		}
		var fired []string
		derive := func() sla.Clock { return sla.Derive(r.levels, r.priority, cal, log, r.now) }
		settle := func() sla.Clock {
			r.warn()
			c := derive()
			for _, f := range c.Firings {
				require.False(t, f.At.After(r.now), "nothing fires before its time")
				fired = append(fired, string(f.Kind)+" "+f.Key)
				log = append(log, sla.Event{Kind: f.Kind, At: r.now, Key: f.Key})
			}
			return c
		}
		for range rapid.IntRange(1, 12).Draw(t, "turns") {
			before := derive().NextAt
			jump := rapid.SampledFrom([]int{1, 7, 45, 180, 1500}).Draw(t, "jump")
			was := r.now
			r.advance(jump)
			if c := derive(); len(c.Firings) > 0 {
				require.NotNil(t, before)
				require.False(t, before.After(r.now) || before.Before(was), "the sweep knew when to look: %s", before)
			}
			c := settle()
			switch turn := rapid.SampledFrom([]string{"pause", "resume", "answer", "end", "reopen", "priority", "nothing"}).Draw(t, "turn"); {
			case r.ended && turn == "reopen": // the time for which it was over counts as a pause
				i := slices.IndexFunc(log, func(e sla.Event) bool { return e.Kind == sla.Ended })
				over := log[i].At
				log = slices.Delete(log, i, i+1)
				turnOf(sla.Paused, over)
				turnOf(sla.Resumed, r.now)
				r.ended, r.late = false, r.lateAnswer
			case r.ended:
			case turn == "pause" && !r.paused:
				r.paused = true
				turnOf(sla.Paused, r.now)
			case turn == "resume" && r.paused:
				r.paused = false
				r.check()
				turnOf(sla.Resumed, r.now)
			case turn == "answer" && !r.answered:
				r.late = r.counts[sla.Response] >= r.minutes(sla.Response)
				r.answered, r.lateAnswer = true, r.late
				log = append(log, sla.Event{Kind: sla.Answered, At: r.now, Due: c.ResponseDueAt})
			case turn == "end" && r.answered:
				if r.paused { // a request that ends does not wait any more, and its clock ends at the same moment
					r.paused = false
					r.check()
					turnOf(sla.Resumed, r.now)
				}
				r.late = r.late || r.counts[sla.Resolution] >= r.minutes(sla.Resolution)
				r.ended = true
				log = append(log, sla.Event{Kind: sla.Ended, At: r.now})
			case turn == "priority":
				r.priority = rapid.SampledFrom([]string{"LOW", "MEDIUM", "URGENT"}).Draw(t, "priority")
				r.check()
			}
			c = settle()
			require.ElementsMatch(t, r.fired, fired, "at %s", r.now)
			if !r.ended { // what has ended keeps its result
				require.Equal(t, r.state(), c.State)
			}
			if !r.ended && !r.paused {
				require.True(t, r.due(sla.Resolution).Equal(*c.ResolutionDueAt), "want %s, got %s", r.due(sla.Resolution), c.ResolutionDueAt)
			}
			if !r.ended && !r.answered {
				require.True(t, r.due(sla.Response).Equal(*c.ResponseDueAt))
			}
		}
	})
}

// fifty returns a log of fifty events over a month.
func fifty(t testing.TB) (log []sla.Event, now time.Time) {
	now = at(t, "2026-05-04T09:00:00+02:00")
	log = append(log, sla.Event{Kind: sla.Filed, At: now}, sla.Event{Kind: sla.Answered, At: now.Add(30 * time.Minute), Due: of(now.Add(time.Hour))})
	for i := range 24 {
		now = now.Add(20 * time.Hour)
		log = append(log, sla.Event{Kind: sla.Paused, At: now, Key: fmt.Sprint(i)}, sla.Event{Kind: sla.Resumed, At: now.Add(3 * time.Hour), Key: fmt.Sprint(i)})
	}
	return log, now.Add(4 * time.Hour)
}

func BenchmarkDerive(b *testing.B) {
	c := office(b, "Europe/Berlin", "2026-05-14", "2026-05-25")
	levels := sla.Levels{Targets: sla.Targets{ResponseMinutes: of(60), ResolutionMinutes: of(20 * 480)}, WarnAtPercent: 80}
	log, now := fifty(b)
	require.Len(b, log, 50)
	b.ReportAllocs()
	for b.Loop() {
		sla.Derive(levels, "MEDIUM", c, log, now)
	}
}
