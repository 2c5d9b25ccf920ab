package inbound

import (
	"context"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"atrium/ent"
	"atrium/internal/workflow/definition"
)

// conditions caches compiled conditions by their text.
var conditions, _ = lru.New[string, *definition.Condition](512)

// costly runs work as op.Tx.Costly and op.Engine.Costly do.
type costly func(ctx context.Context, work func(context.Context) error) error

// unmet says why a call of a webhook starts nothing: its condition is not met, or cannot be evaluated on this call. Empty for a call that
// starts the workflow. The call is judged by the condition as it was when the call came. Work that takes long waits for its turn.
func unmet(ctx context.Context, w *ent.InboundWebhook, webhook map[string]any, turn costly) (reason string, err error) {
	if w.When == nil {
		return "", nil
	}
	decide := func(ctx context.Context) error {
		reason = decided(ctx, *w.When, webhook)
		return ctx.Err()
	}
	if c, ok := conditions.Get(*w.When); ok && !c.Costly() {
		err = decide(ctx)
	} else {
		err = turn(ctx, decide)
	}
	return reason, err
}

func decided(ctx context.Context, source string, webhook map[string]any) string {
	c, ok := conditions.Get(source)
	if !ok {
		var faults []string
		made, details := definition.ParseCallCondition(ctx, "when", source)
		for _, d := range details {
			faults = append(faults, d.Message)
		}
		if made == nil { // it was checked when it was saved, by an older release
			return "The condition could not be evaluated: " + strings.Join(faults, " ")
		}
		conditions.Add(source, made)
		c = made
	}
	holds, err := c.Decide(ctx, definition.Vars{Webhook: webhook}.Bind())
	switch {
	case err != nil:
		return "The condition could not be evaluated: " + strings.TrimPrefix(err.Error(), "evaluate expression: ") + "."
	case !holds:
		return "The condition is not met."
	}
	return ""
}

// variable returns the variable webhook of a call, as expressions read it.
func variable(body any, headers map[string]string, receivedAt string) map[string]any {
	named := make(map[string]any, len(headers))
	for name, value := range headers {
		named[name] = value
	}
	return map[string]any{"body": body, "headers": named, "method": method, "receivedAt": receivedAt}
}
