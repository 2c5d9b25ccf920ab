package authz

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// watchEvery is how often the operator's folder is checked.
const watchEvery = 2 * time.Second

// Watch reads the operator's modules again whenever a file in their folder has changed, until ctx ends. If they do
// not compile, Watch logs the error, and the previous modules stay in force.
func (e *Engine) Watch(ctx context.Context, log *slog.Logger) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for seen := e.seen; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := fingerprint(e.dir)
		if now == seen {
			continue
		}
		seen = now
		changed, err := e.Reload(ctx)
		switch {
		case err != nil:
			log.ErrorContext(ctx, "the policies in the folder are not taken; the last good ones stay in force", "error", err, "bundle", e.Bundle())
		case changed:
			log.InfoContext(ctx, "policies were read again", "bundle", e.Bundle())
		}
	}
}

// fingerprint distinguishes states of a folder without reading its files.
func fingerprint(dir string) string {
	var b strings.Builder
	files, _ := filepath.Glob(filepath.Join(dir, "*.rego")) // the pattern is good
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			b.WriteString(err.Error())
			continue
		}
		b.WriteString(file + " " + info.ModTime().String() + " " + intText(info.Size()).String() + "\n")
	}
	return b.String()
}
