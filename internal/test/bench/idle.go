package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// idleBound is the most resident memory that an idle server may use, in MiB.
const idleBound = 90.0

// idle starts `atrium serve` in an empty data folder and then again in the same folder, and prints the resident memory of each.
func idle(ctx context.Context, o options) (missed bool, err error) {
	dir, err := os.MkdirTemp("", "atrium-idle-")
	if err != nil {
		return false, fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // scratch
	binary, err := o.atrium(ctx, dir)
	if err != nil {
		return false, err
	}
	wait := 10 * time.Second
	if o.quick {
		wait = 6 * time.Second // until the memory used to hash the first password is returned to the system
	}
	data := filepath.Join(dir, "data")
	fmt.Println()
	for _, start := range []string{"first start, with demo company", "second start"} {
		progress("idle: %s", start)
		mib, peak, err := resident(ctx, binary, data, wait)
		if err != nil {
			return missed, err
		}
		fmt.Printf("idle `atrium serve` on SQLite, %s: %.0f MiB resident after %s (peak %.0f), bound ≤ %.0f: %s\n",
			start, mib, wait, peak, idleBound, verdict(mib <= idleBound, &missed))
	}
	return missed, nil
}

// atrium returns the binary that the flags name, or one that it builds into the folder.
func (o options) atrium(ctx context.Context, dir string) (string, error) {
	if o.binary != "" {
		return o.binary, nil
	}
	binary := filepath.Join(dir, "atrium")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/atrium").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build atrium: %w\n%s", err, out)
	}
	return binary, nil
}

// resident runs the server from a data folder, waits, and returns its resident memory then and at the peak, in MiB.
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
