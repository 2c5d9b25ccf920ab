package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	quick, strict   bool
	dialect         string
	workload        string
	profile, binary string
	postgres        string
	slices, rows    int
	slice           time.Duration
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == "-role" {
		if err := serveRole(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", os.Args[2]+":", err)
			os.Exit(1)
		}
		return
	}
	o := readFlags()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	missed, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	if err != nil || missed && o.strict {
		os.Exit(1) //nolint:gocritic // nothing is deferred but the signals
	}
}

func readFlags() options {
	var o options
	flag.BoolVar(&o.quick, "quick", false, "20,000 rows and short slices; figures are rough")
	flag.BoolVar(&o.strict, "strict", false, "exit 1 when a bound is missed")
	flag.StringVar(&o.dialect, "dialect", "sqlite,postgres", "which databases")
	flag.StringVar(&o.workload, "workload", "", "only workloads whose name begins with one of these, comma-separated: get list list-priority create edges everything idle")
	flag.StringVar(&o.profile, "cpuprofile", "", "write CPU profiles of the product to FILE.<dialect>.<workload>, taken after the measured slices")
	flag.StringVar(&o.binary, "binary", "", "measure this atrium binary's `serve` in place of the product's handler (no profiles)")
	flag.StringVar(&o.postgres, "postgres", os.Getenv("ATRIUM_TEST_POSTGRES_URL"), "cluster to make a database on")
	flag.IntVar(&o.slices, "slices", 6, "pairs of slices per workload")
	flag.IntVar(&o.rows, "rows", 100_000, "requests seeded")
	flag.DurationVar(&o.slice, "slice", 2*time.Second, "length of a slice")
	flag.Parse()
	if o.quick {
		o.slices, o.slice, o.rows = 3, 700*time.Millisecond, 20_000
	}
	return o
}

// wants reports whether the flags select a workload.
func (o options) wants(name string) bool {
	return o.workload == "" || slices.ContainsFunc(strings.Split(o.workload, ","), func(p string) bool { return strings.HasPrefix(name, p) })
}

// run measures what the flags select and prints it. missed reports whether a bound was not met.
func run(ctx context.Context, o options) (missed bool, err error) {
	for d := range strings.SplitSeq(o.dialect, ",") {
		if d != "sqlite" && d != "postgres" {
			return missed, fmt.Errorf("-dialect %s: name sqlite, postgres or both", d)
		}
		m := false
		if o.wants("get") || o.wants("list") || o.wants("list-priority") || o.wants("edges") || o.wants("create") {
			if m, err = compare(ctx, o, d); err != nil {
				return missed, fmt.Errorf("%s: %w", d, err)
			}
		}
		missed = missed || m
		if o.wants("everything") {
			if err := everything(ctx, o, d); err != nil {
				return missed, fmt.Errorf("%s, everything on: %w", d, err)
			}
		}
	}
	if o.wants("idle") {
		m, err := idle(ctx, o)
		if err != nil {
			return missed, fmt.Errorf("idle: %w", err)
		}
		missed = missed || m
	}
	return missed, nil
}

// compare runs the workloads on a new database.
func compare(ctx context.Context, o options, dialect string) (missed bool, err error) {
	progress("%s: seeding %d requests", dialect, o.rows)
	w, err := newWorld(ctx, o, dialect)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	product, err := startProduct(ctx, o, w)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, product.stop()) }()
	floor, err := startChild(ctx, w, "floor")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, floor.stop()) }()
	rows, err := w.sameRows(ctx, product, floor)
	if err != nil {
		return false, err
	}
	var results []result
	for _, wl := range workloads(w) {
		if !o.wants(wl.name) {
			continue
		}
		progress("%s: %s", dialect, wl.name)
		against := floor
		if wl.against == "REST" {
			against = product
		}
		r, err := measure(ctx, o, w, wl, [2]*server{product, against})
		if err != nil {
			return missed, fmt.Errorf("%s: %w", wl.name, err)
		}
		results = append(results, r)
		if o.profile != "" && o.binary == "" {
			if err := profile(ctx, o, w, wl, product); err != nil {
				return missed, fmt.Errorf("%s: %w", wl.name, err)
			}
		}
	}
	return printReport(o, w, rows, results), nil
}

// progress prints progress to stderr; the tables are on stdout.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", args...)
}
