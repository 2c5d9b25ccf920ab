package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// idleBound is how much memory an idle server may keep, in MiB.
const idleBound = 120.0

// idle starts `atrium serve` in an empty folder and once more in the one it made, and prints what each keeps resident.
func idle(ctx context.Context, o options) (missed bool, err error) {
	dir, err := os.MkdirTemp("", "atrium-idle-")
	if err != nil {
		return false, fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // scratch
	binary, note := o.binary, ""
	if binary == "" {
		if binary, note, err = build(ctx, dir); err != nil {
			fmt.Println("\nidle: not measured:", err)
			return false, nil
		}
	}
	wait := 10 * time.Second
	if o.quick {
		wait = 6 * time.Second // the memory of hashing the first password goes back meanwhile
	}
	data := filepath.Join(dir, "data")
	fmt.Println()
	for _, start := range []string{"first start, with demo company", "second start"} {
		progress("idle: %s", start)
		mib, peak, err := resident(ctx, binary, data, wait)
		if err != nil {
			return missed, err
		}
		fmt.Printf("idle `atrium serve` on SQLite, %s%s: %.0f MiB resident after %s (peak %.0f), bound ≤ %.0f: %s\n",
			start, note, mib, wait, peak, idleBound, verdict(mib <= idleBound, &missed))
	}
	return missed, nil
}

// build makes the binary, or falls back on the one in bin/.
func build(ctx context.Context, dir string) (binary, note string, err error) {
	binary = filepath.Join(dir, "atrium")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/atrium")
	out, err := cmd.CombinedOutput()
	if err == nil {
		return binary, "", nil
	}
	if _, serr := os.Stat("bin/atrium"); serr == nil {
		return "bin/atrium", " (bin/atrium, as the tree does not build)", nil
	}
	return "", "", fmt.Errorf("build atrium: %w\n%s", err, out)
}

// resident serves from a data folder, waits, and returns the memory that is resident then and was at the peak.
func resident(ctx context.Context, binary, data string, wait time.Duration) (mib, peak float64, err error) {
	cmd := exec.CommandContext(ctx, binary, "serve", "--data", data, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	s, err := start(cmd, "atrium serve")
	if err != nil {
		return 0, 0, err
	}
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
	mib, peak = residentMiB(s.pid, "VmRSS"), residentMiB(s.pid, "VmHWM")
	return mib, peak, s.stop()
}
