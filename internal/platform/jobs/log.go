package jobs

import (
	"context"
	"log/slog"
	"strings"
)

// warningsOnly removes River's messages below the level of a warning from the log.
func warningsOnly(log *slog.Logger) *slog.Logger { return slog.New(warnings{log.Handler()}) }

type warnings struct{ slog.Handler }

func (h warnings) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && h.Handler.Enabled(ctx, l)
}

// Handle drops River's messages about statements that were cancelled by the shutdown: River tries them again later.
func (h warnings) Handle(ctx context.Context, r slog.Record) error {
	cancelled := false
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" || a.Key == "err" {
			cancelled = strings.Contains(a.Value.String(), context.Canceled.Error())
		}
		return !cancelled
	})
	if cancelled {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{h.Handler.WithAttrs(attrs)}
}
func (h warnings) WithGroup(name string) slog.Handler { return warnings{h.Handler.WithGroup(name)} }
