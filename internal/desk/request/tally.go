package request

import (
	"time"

	"atrium/internal/platform/period"
)

// tally counts requests into the figures of a time, of the time before it, of the steps of the time, and of groups.
type tally struct {
	before, from, to int64 // microseconds since 1970; before is from where the time before is not asked for
	steps            []period.Step
	most             int // requests that are read

	whole  grouping // two groups: the time, and the one before
	over   grouping // a group for each step
	groups []*keyed

	response, resolution durations
}

// The groups of tally.whole.
const (
	inTime = int32(iota)
	inTimeBefore
)

func newTally(before, from, to time.Time, steps []period.Step, groups int) *tally {
	t := &tally{before: before.UnixMicro(), from: from.UnixMicro(), to: to.UnixMicro(), steps: steps, most: maxReportRows, groups: make([]*keyed, groups)}
	t.whole.figures = make([]Figures, 2)
	t.over.figures = make([]Figures, len(steps))
	for i := range t.groups {
		t.groups[i] = newKeyed()
	}
	return t
}

// within returns the time in which a moment lies; nobodys for another one, or for none.
func (t *tally) within(micros int64) int32 {
	switch {
	case micros < t.before, micros >= t.to:
		return nobodys
	case micros < t.from:
		return inTimeBefore
	}
	return inTime
}

// add counts a request; values are what groups tell it apart by.
func (t *tally) add(l *life, values [][]byte) {
	filed, completed, cancelled := t.within(l.created), t.within(l.completed), t.within(l.cancelled)
	kept := filed != nobodys
	if kept {
		t.response.add(l.created, l.responded)
		t.resolution.add(l.created, l.completed)
	}
	t.whole.count(l, kept, filed, completed, cancelled)
	step := func(time int32, micros int64) int32 {
		if time != inTime {
			return nobodys
		}
		return int32(period.StepAt(t.steps, micros))
	}
	t.over.count(l, kept, step(filed, l.created), step(completed, l.completed), step(cancelled, l.cancelled))
	some := filed == inTime || completed == inTime || cancelled == inTime
	for i, g := range t.groups {
		group := nobodys
		if some {
			group = g.group(values[i])
		}
		at := func(time int32) int32 {
			if time != inTime {
				return nobodys
			}
			return group
		}
		g.count(l, kept, at(filed), at(completed), at(cancelled))
	}
}

// count counts a request in the groups in which it was filed, completed and cancelled; nobodys for none. A request that is kept has
// lengths of time.
func (g *grouping) count(l *life, kept bool, filed, completed, cancelled int32) {
	if kept {
		g.of = append(g.of, filed)
	}
	if filed != nobodys {
		g.figures[filed].file(l)
	}
	if completed != nobodys {
		g.figures[completed].Completed++
	}
	if cancelled != nobodys {
		g.figures[cancelled].Cancelled++
	}
}

// finish computes the percentiles and means of all groups.
func (t *tally) finish() {
	response, resolution := t.response.sorted(), t.resolution.sorted()
	t.whole.finish(response, resolution)
	t.over.finish(response, resolution)
	for _, g := range t.groups {
		g.finish(response, resolution)
	}
}

// stepRows returns the figures of the steps.
func (t *tally) stepRows() []*FiguresOf {
	out := make([]*FiguresOf, len(t.steps))
	for i := range t.steps {
		out[i] = &FiguresOf{Key: &t.steps[i].Key, Figures: t.over.figures[i]}
	}
	return out
}
