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
	quick      bool
	strict     bool
	dialect    string
	workload   string
	profile    string
	binary     string
	postgres   string
	slices     int
	slice      time.Duration
	rows       int
	big, small int
	conns      int
	keep       bool
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "-role" {
		if err := serveRole(os.Args[2], os.Args[3:]); err != nil {
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
		os.Exit(1) //nolint:gocritic // nothing is deferred but the signals
	}
	if missed && o.strict {
		os.Exit(1)
	}
}

func readFlags() options {
	o := options{slices: 6, slice: 2 * time.Second, rows: 100_000, big: 1_000_000, small: 10_000}
	flag.BoolVar(&o.quick, "quick", false, "20,000 rows and short slices; figures are rough")
	flag.BoolVar(&o.strict, "strict", false, "exit 1 when a bound is missed")
	flag.StringVar(&o.dialect, "dialect", "both", "sqlite, postgres or both")
	flag.StringVar(&o.workload, "workload", "", "only workloads whose name begins with one of these, comma-separated: "+strings.Join(names(), " ")+" idle")
	flag.StringVar(&o.profile, "cpuprofile", "", "write CPU profiles of the product to FILE.<dialect>.<workload>, taken after the measured slices")
	flag.StringVar(&o.binary, "binary", "", "measure this atrium binary's `serve` in place of the product's handler (no profiles)")
	flag.StringVar(&o.postgres, "postgres", os.Getenv("ATRIUM_TEST_POSTGRES_URL"), "cluster to make a database on")
	flag.IntVar(&o.conns, "conns", 32, "connections of the load")
	n := flag.Int("slices", 0, "pairs of slices per workload (default 6)")
	d := flag.Duration("slice", 0, "length of a slice (default 2s)")
	flag.BoolVar(&o.keep, "keep", false, "leave database and folder behind")
	flag.Parse()
	if o.quick {
		o.slices, o.slice, o.rows, o.big, o.small = 3, 700*time.Millisecond, 20_000, 50_000, 5_000
	}
	if *n > 0 {
		o.slices = *n
	}
	if *d > 0 {
		o.slice = *d
	}
	return o
}

// wants tells whether a workload was asked for.
func (o options) wants(name string) bool {
	return o.workload == "" || slices.ContainsFunc(strings.Split(o.workload, ","), func(p string) bool { return strings.HasPrefix(name, p) })
}

// run measures what was asked for and prints it. missed tells whether a bound was not met.
func run(ctx context.Context, o options) (missed bool, err error) {
	var dialects []string
	switch o.dialect {
	case "both":
		dialects = []string{"sqlite", "postgres"}
	case "sqlite", "postgres":
		dialects = []string{o.dialect}
	default:
		return false, fmt.Errorf("-dialect %s: name sqlite, postgres or both", o.dialect)
	}
	for _, d := range dialects {
		m, err := runDialect(ctx, o, d)
		if err != nil {
			return missed, fmt.Errorf("%s: %w", d, err)
		}
		missed = missed || m
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

func runDialect(ctx context.Context, o options, dialect string) (missed bool, err error) {
	progress("%s: seeding %d requests", dialect, o.rows)
	w, err := newWorld(ctx, o, dialect)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	w.rowsNote, err = sameRows(ctx, o, w)
	if err != nil {
		return false, err
	}
	if err := w.seed(ctx, &w.Main, o.rows); err != nil {
		return false, err
	}
	var results []result
	if err := compare(ctx, o, w, &results); err != nil {
		return false, err
	}
	var pages []pageResult
	if o.wants("page") {
		if pages, err = comparePages(ctx, o, w); err != nil {
			return false, err
		}
	}
	var doors []result
	if o.wants("doors") {
		if doors, err = compareDoors(ctx, o, w); err != nil {
			return false, err
		}
	}
	missed = printReport(o, w, results, pages)
	if len(doors) > 0 {
		missed = printDoors(doors) || missed
	}
	return missed, nil
}

// compare runs every workload of the product against the floor.
func compare(ctx context.Context, o options, w *world, results *[]result) (err error) {
	var todo []workload
	for _, wl := range workloads(w) {
		if o.wants(wl.name) {
			todo = append(todo, wl)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	product, floor, stop, err := startBoth(ctx, o, w)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for _, wl := range todo {
		progress("%s: %s", w.Dialect, wl.name)
		r, err := measure(ctx, o, w, wl, product, floor)
		if err != nil {
			return fmt.Errorf("%s: %w", wl.name, err)
		}
		*results = append(*results, r)
		if o.profile != "" && o.binary == "" {
			if err := profile(ctx, o, w, wl, product); err != nil {
				return fmt.Errorf("%s: %w", wl.name, err)
			}
		}
	}
	return nil
}

// progress tells the one who waits what is going on; the tables are on stdout.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", args...)
}
