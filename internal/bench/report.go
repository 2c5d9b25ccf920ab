package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"
)

// printReport prints a dialect's tables and tells whether a bound was missed.
func printReport(o options, w *world, results []result, pages []pageResult) (missed bool) {
	fmt.Printf("\n%s (%s), %d connections, %d requests seeded, %d × %s per side, GOMAXPROCS %d, load average %s\n",
		w.Dialect, w.settings, o.conns, o.rows, o.slices, o.slice, runtime.GOMAXPROCS(0), loadAverage())
	if o.quick {
		fmt.Println("-quick: rough figures")
	}
	fmt.Println(w.rowsNote)
	if len(results) > 0 {
		missed = printComparison(results) || missed
	}
	if len(pages) > 0 {
		missed = printPages(pages) || missed
	}
	return missed
}

func printComparison(results []result) (missed bool) {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "workload\tproduct req/s\tfloor req/s\tratio (min–max)\tbound\tok?\tp50 / p99 product\tp50 / p99 floor\tCPU µs/req product\tfloor\tfloor:product\tdatabase µs/req product\tfloor")
	for i := range results {
		r := &results[i]
		a, b := &r.sides[0], &r.sides[1]
		ok := verdict(r.bound == 0 || median(r.ratios) >= r.bound, &missed)
		_, _ = fmt.Fprintf(t, "%s\t%.0f\t%.0f\t%s\t%s\t%s\t%s\t%s\t%.0f\t%.0f\t%.2f\t%.0f\t%.0f\n", r.name, median(a.rates), median(b.rates), spread(r.ratios),
			bound("≥", r.bound), ok, latencies(a), latencies(b), a.perRequest(a.cpu), b.perRequest(b.cpu), b.perRequest(b.cpu)/max(1, a.perRequest(a.cpu)), a.perRequest(a.database), b.perRequest(b.database))
	}
	_ = t.Flush()
	for i := range results {
		fmt.Printf("  %s: %s\n", results[i].name, results[i].note)
	}
	return missed
}

// printPages prints how much more page 1 costs in the big company: requests per second there over those in the small one.
func printPages(pages []pageResult) (missed bool) {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "page 1, exact total\ttotal small\tbig\tsmall req/s\tbig req/s\ttimes as much (min–max)\tbound\tok?\tp50 / p99 small\tbig")
	for i := range pages {
		r := &pages[i]
		ok := verdict(r.bound == 0 || median(r.ratios) <= r.bound, &missed)
		_, _ = fmt.Fprintf(t, "%s\t%d\t%d\t%.0f\t%.0f\t%s\t%s\t%s\t%s\t%s\n", r.query, r.small, r.big, median(r.sides[0].rates), median(r.sides[1].rates),
			spread(r.ratios), bound("≤", r.bound), ok, latencies(&r.sides[0]), latencies(&r.sides[1]))
	}
	_ = t.Flush()
	return missed
}

func verdict(ok bool, missed *bool) string {
	if ok {
		return "yes"
	}
	*missed = true
	return "NO"
}

func spread(ratios []float64) string {
	return fmt.Sprintf("%.2f (%.2f–%.2f)", median(ratios), slices.Min(ratios), slices.Max(ratios))
}

func bound(sign string, b float64) string {
	if b == 0 {
		return "-"
	}
	return fmt.Sprintf("%s %.1f", sign, b)
}

func latencies(s *side) string {
	return fmt.Sprintf("%s / %s", short(s.percentile(.5)), short(s.percentile(.99)))
}

func short(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

// loadAverage is the first figure of /proc/loadavg: what else the machine was doing.
func loadAverage() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	var one string
	_, _ = fmt.Sscan(string(b), &one)
	return one
}
