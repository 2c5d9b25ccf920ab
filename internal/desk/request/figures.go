package request

import (
	"cmp"
	"math"
	"slices"

	"atrium/internal/op"
)

// Figures are what a report says about some requests. Completed and Cancelled count those that were completed or cancelled in the time,
// all others are about those that were filed in it.
type Figures struct {
	Filed            int
	Completed        int
	Cancelled        int
	Open             int
	Reopened         int
	FirstResponseP50 *int // minutes from filing to the first response
	FirstResponseP90 *int
	ResolutionP50    *int // minutes from filing to completion
	ResolutionP90    *int
	SLAMet           int
	SLAMissed        int
	Ratings          int
	Satisfaction     *float64 // the mean of the ratings; nil for none

	stars int // the sum of the ratings
}

// life is what figures are made from: one request. Moments are microseconds since 1970, or never.
type life struct {
	created, responded, completed, cancelled int64

	open, reopened, met, missed bool

	stars int // the rating; 0 for none
}

// never is the moment of what has not come.
const never = int64(math.MinInt64)

// file counts a request that was filed in the time.
func (f *Figures) file(l *life) {
	f.Filed++
	f.Open += one(l.open)
	f.Reopened += one(l.reopened)
	f.SLAMet += one(l.met)
	f.SLAMissed += one(l.missed)
	f.Ratings += one(l.stars > 0)
	f.stars += l.stars
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// nobodys is the group of a request that is in none, and unknown is the length of time that did not come to its end.
const (
	nobodys = int32(-1)
	unknown = uint32(math.MaxUint32)
)

// grouping tells requests apart by one thing. It keeps a group for each request that was filed, so that one pass in the order of the
// lengths of time finds the percentiles of all groups.
type grouping struct {
	figures []Figures
	of      []int32 // the group of each request that was filed; nobodys for none
}

// keyed is a grouping by the values of a column.
type keyed struct {
	grouping
	keys  []*string // of the groups
	index map[string]int32
	none  int32 // the group of requests without a value
}

func newKeyed() *keyed { return &keyed{index: map[string]int32{}, none: nobodys} }

// group returns the group of a value; nil is that of requests without one.
func (k *keyed) group(value []byte) int32 {
	if value == nil {
		if k.none == nobodys {
			k.none = k.add(nil)
		}
		return k.none
	}
	g, ok := k.index[string(value)]
	if !ok {
		key := string(value)
		g = k.add(&key)
		k.index[key] = g
	}
	return g
}

func (k *keyed) add(key *string) int32 {
	k.keys, k.figures = append(k.keys, key), append(k.figures, Figures{})
	return int32(len(k.figures) - 1)
}

// rows returns the groups, the most filed first.
func (k *keyed) rows() []*FiguresOf {
	out := make([]*FiguresOf, len(k.keys))
	for i, key := range k.keys {
		out[i] = &FiguresOf{Key: key, Figures: k.figures[i]}
	}
	slices.SortFunc(out, func(a, b *FiguresOf) int {
		return cmp.Or(cmp.Compare(b.Figures.Filed, a.Figures.Filed), cmp.Compare(op.Or(a.Key, ""), op.Or(b.Key, "")))
	})
	return out
}

// durations are the lengths of time of the requests that were filed, in minutes, in the order in which they were read.
type durations []uint32

// add appends the minutes between two moments; none where the second has not come.
func (d *durations) add(from, to int64) {
	if to == never {
		*d = append(*d, unknown)
		return
	}
	*d = append(*d, uint32(max(0, min((to-from)/60e6, int64(unknown)-1))))
}

// sorted returns the known lengths in order, each in the upper half of a number and the request's index in the lower.
func (d durations) sorted() []uint64 {
	out := make([]uint64, 0, len(d))
	for i, minutes := range d {
		if minutes != unknown {
			out = append(out, uint64(minutes)<<32|uint64(uint32(i)))
		}
	}
	slices.Sort(out)
	return out
}

// percentile is the smallest length that at least so many percent of a group's do not exceed.
type percentile struct {
	percent int
	set     func(f *Figures, minutes int)
}

var (
	responses   = []percentile{{50, func(f *Figures, m int) { f.FirstResponseP50 = &m }}, {90, func(f *Figures, m int) { f.FirstResponseP90 = &m }}}
	resolutions = []percentile{{50, func(f *Figures, m int) { f.ResolutionP50 = &m }}, {90, func(f *Figures, m int) { f.ResolutionP90 = &m }}}
)

// place sets percentiles of all groups from the lengths of time in their order.
func (g *grouping) place(sorted []uint64, wanted []percentile) {
	counts := make([]int, len(g.figures))
	for _, d := range sorted {
		if group := g.of[uint32(d)]; group != nobodys {
			counts[group]++
		}
	}
	ranks := make([][2]int, len(counts)) // by the place in wanted
	for group, n := range counts {
		for i, p := range wanted {
			ranks[group][i] = max(1, (n*p.percent+99)/100)
		}
		counts[group] = 0
	}
	for _, d := range sorted {
		group := g.of[uint32(d)]
		if group == nobodys {
			continue
		}
		counts[group]++
		for i, rank := range ranks[group] {
			if counts[group] == rank {
				wanted[i].set(&g.figures[group], int(d>>32))
			}
		}
	}
}

// finish computes what counting alone does not give.
func (g *grouping) finish(response, resolution []uint64) {
	g.place(response, responses)
	g.place(resolution, resolutions)
	for i := range g.figures {
		if f := &g.figures[i]; f.Ratings > 0 {
			f.Satisfaction = new(float64(f.stars) / float64(f.Ratings))
		}
	}
}
