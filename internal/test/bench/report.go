package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// printReport prints the table of one database and reports whether a bound was missed.
func printReport(o options, w *world, rows string, results []result) (missed bool) {
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("\n%s (%s), %d connections, %d requests seeded, %d × %s per side, GOMAXPROCS %d, load average %.4s\n%s\n",
		w.Dialect, w.settings, connections, o.rows, o.slices, o.slice, runtime.GOMAXPROCS(0), load, rows)
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "workload\tof\tproduct req/s\tother req/s\tratio (min–max)\tbound\tok?\tp50 / p99 product\tother\tCPU µs/req product\tother\tdatabase µs/req product\tother")
	for i := range results {
		r := &results[i]
		a, b := &r.sides[0], &r.sides[1]
		ok := verdict(median(r.ratios) >= r.bound, &missed)
		_, _ = fmt.Fprintf(t, "%s\t%s\t%.0f\t%.0f\t%.2f (%.2f–%.2f)\t≥ %.2f\t%s\t%s\t%s\t%.0f\t%.0f\t%.0f\t%.0f\n", r.name, r.against, median(a.rates), median(b.rates),
			median(r.ratios), slices.Min(r.ratios), slices.Max(r.ratios), r.bound, ok, a.percentiles(), b.percentiles(),
			a.perRequest(a.cpu), b.perRequest(b.cpu), a.perRequest(a.database), b.perRequest(b.database))
	}
	_ = t.Flush()
	for i := range results {
		fmt.Printf("  %s: %s\n", results[i].name, results[i].note)
	}
	return missed
}

func verdict(ok bool, missed *bool) string {
	if ok {
		return "yes"
	}
	*missed = true
	return "NO"
}

// side holds the measurements of one of the two servers over all slices of a workload.
type side struct {
	rates         []float64
	requests      int
	cpu, database time.Duration
	latencies     []time.Duration
}

func (s *side) add(r sliceResult, database time.Duration) {
	s.rates = append(s.rates, r.rate())
	s.requests += len(r.latencies)
	s.cpu += r.cpu
	s.database += database
	s.latencies = append(s.latencies, r.latencies...)
}

// perRequest returns d divided by the number of requests, in µs.
func (s *side) perRequest(d time.Duration) float64 {
	return float64(d.Microseconds()) / float64(max(1, s.requests))
}

// percentiles returns p50 and p99 of the latencies.
func (s *side) percentiles() string {
	slices.Sort(s.latencies)
	var out []string
	for _, p := range []float64{.5, .99} {
		out = append(out, fmt.Sprintf("%.1f ms", float64(s.latencies[int(p*float64(len(s.latencies)-1))].Microseconds())/1000))
	}
	return strings.Join(out, " / ")
}

// median returns the median. It sorts values in place.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
