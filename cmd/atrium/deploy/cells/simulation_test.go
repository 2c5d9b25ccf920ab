package cells

import (
	"cmp"
	"container/heap"
	"container/list"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"
	"testing"

	"atrium/internal/platform/id"
)

const (
	companies = 1_000_000
	cells     = 64
	tolerated = 1.2           // times the mean load; a cell above it has companies moved away
	rows      = 1_000_000_000 // of all companies; a company's share of the rows equals its share of the load
	copied    = 10_000        // rows a second of an export and an import together: assumed
)

// BenchmarkCells distributes a million companies, whose loads follow Zipf's law with several exponents, over 64 cells, and
// reports the figures of the package comment. Its time per operation means nothing.
func BenchmarkCells(b *testing.B) {
	for _, s := range []float64{0.8, 1.0, 1.2} {
		b.Run(fmt.Sprintf("s=%.1f", s), func(b *testing.B) {
			for b.Loop() {
				random := rand.New(rand.NewPCG(1, 2))
				loads := zipf(s)
				own := oversized(loads)
				c := place(random, loads[own:], cells-own)
				hottest := c.hottest()
				first := c.balance()
				days := 0
				for range 30 {
					c.drift(random)
					days += c.balance()
				}
				small := sort.Search(companies, func(i int) bool { return loads[i]*rows < copied })
				b.ReportMetric(100*loads[0], "%-of-largest")
				b.ReportMetric(float64(own), "cells-of-one")
				b.ReportMetric(hottest, "hottest/mean")
				b.ReportMetric(float64(first), "moves")
				b.ReportMetric(float64(days)/30, "moves/day")
				b.ReportMetric(100*float64(companies-small)/companies, "%-companies-in-1s")
				b.ReportMetric(100*sum(loads[small:]), "%-load-in-1s")
				for _, size := range []int{10_000, 100_000} {
					b.ReportMetric(100*misses(random, loads, size), fmt.Sprintf("%%-misses-of-%dk", size/1000))
				}
				b.ReportMetric(float64(directory())/(1<<20), "MiB-whole")
			}
		})
	}
}

// zipf returns each company's share of the load, largest first.
func zipf(s float64) []float64 {
	out := make([]float64, companies)
	for i := range out {
		out[i] = math.Pow(float64(i+1), -s)
	}
	all := sum(out)
	for i := range out {
		out[i] /= all
	}
	return out
}

func sum(loads []float64) (all float64) {
	for _, l := range loads {
		all += l
	}
	return all
}

// oversized returns how many companies exceed a cell's share of the remaining load. Each of them gets a cell of its own.
func oversized(loads []float64) (n int) {
	for left := 1.0; loads[n] > left/float64(cells-n); n++ {
		left -= loads[n]
	}
	return n
}

// cluster holds the placement of companies in cells.
type cluster struct {
	loads []float64 // by company
	in    []map[int]bool
	at    []int // cell by company
	load  []float64
}

// place puts companies into cells at random, as a hash would: the future size of a new company is unknown.
func place(random *rand.Rand, loads []float64, n int) *cluster {
	c := &cluster{loads: slices.Clone(loads), in: make([]map[int]bool, n), at: make([]int, len(loads)), load: make([]float64, n)}
	for i := range c.in {
		c.in[i] = map[int]bool{}
	}
	for company, load := range loads {
		cell := random.IntN(n)
		c.at[company], c.in[cell][company] = cell, true
		c.load[cell] += load
	}
	return c
}

func (c *cluster) mean() float64    { return sum(c.load) / float64(len(c.load)) }
func (c *cluster) hottest() float64 { return slices.Max(c.load) / c.mean() }

// largest is a heap of companies by load.
type largest struct {
	*cluster
	of []int
}

func (h largest) Len() int           { return len(h.of) }
func (h largest) Less(i, j int) bool { return h.loads[h.of[i]] > h.loads[h.of[j]] }
func (h largest) Swap(i, j int)      { h.of[i], h.of[j] = h.of[j], h.of[i] }
func (h *largest) Push(x any)        { h.of = append(h.of, x.(int)) }
func (h *largest) Pop() any {
	last := h.of[len(h.of)-1]
	h.of = h.of[:len(h.of)-1]
	return last
}

// balance moves companies from each cell above the tolerated load to the cell with the least load. It moves the largest company
// that does not push that cell above the limit, and returns the number of moves.
func (c *cluster) balance() (moves int) {
	most := c.mean() * tolerated
	for from := range c.load {
		if c.load[from] <= most {
			continue
		}
		h := &largest{c, slices.Collect(maps.Keys(c.in[from]))}
		heap.Init(h)
		for c.load[from] > most && h.Len() > 0 {
			company := heap.Pop(h).(int)
			to := slices.Index(c.load, slices.Min(c.load))
			if load := c.loads[company]; c.load[to]+load <= most {
				delete(c.in[from], company)
				c.at[company], c.in[to][company] = to, true
				c.load[from] -= load
				c.load[to] += load
				moves++
			}
		}
	}
	return moves
}

// drift simulates a day: one company in a hundred swaps its load with another.
func (c *cluster) drift(random *rand.Rand) {
	for range len(c.loads) / 200 {
		a, b := random.IntN(len(c.loads)), random.IntN(len(c.loads))
		c.load[c.at[a]] += c.loads[b] - c.loads[a]
		c.load[c.at[b]] += c.loads[a] - c.loads[b]
		c.loads[a], c.loads[b] = c.loads[b], c.loads[a]
	}
}

// misses returns the share of calls that an LRU cache of the given size misses.
func misses(random *rand.Rand, loads []float64, size int) float64 {
	upTo := make([]float64, len(loads))
	all := 0.0
	for i, l := range loads {
		all += l
		upTo[i] = all
	}
	const calls = 2_000_000
	used, kept, missed := list.New(), map[int]*list.Element{}, 0
	for call := range 2 * calls { // the first half fills the cache
		company, _ := slices.BinarySearchFunc(upTo, random.Float64()*all, cmp.Compare[float64])
		if e, ok := kept[company]; ok {
			used.MoveToFront(e)
			continue
		}
		if call >= calls {
			missed++
		}
		if used.Len() >= size {
			delete(kept, used.Remove(used.Back()).(int))
		}
		kept[company] = used.PushFront(company)
	}
	return float64(missed) / calls
}

// directory returns how many bytes a router's full directory takes.
func directory() uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	all := make(map[string]uint8, companies)
	for i := range companies {
		all[id.New("co")] = uint8(i % cells)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(all)
	return after.HeapAlloc - before.HeapAlloc
}
