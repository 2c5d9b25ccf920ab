package request

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/ent/comment"
	"atrium/internal/op"
	"atrium/internal/platform/markdown"
	"atrium/internal/platform/principal"
)

// formatFor returns how a text is written. What agents write is plain: others may have put it there.
func formatFor(tx *op.Tx, given *string) string {
	if given == nil || tx.Principal().Type == principal.TypeAgent {
		return string(comment.FormatPlain)
	}
	return *given
}

// RenderMarkdown shows a text as it would be shown, before it is sent.
var RenderMarkdown = op.New("request.render", op.Spec{
	Resource: "Request", Action: op.Read, Scope: "requests:read",
	Summary: "Render Markdown as a tree of blocks",
}, func(_ context.Context, _ *op.Tx, in RenderInput) (json.RawMessage, error) {
	return Content(string(comment.FormatMarkdown), in.Text)
})

// RenderInput is what to render.
type RenderInput struct {
	Text string `json:"text" maxLength:"10000" doc:"In Markdown."`
}

// Content returns the blocks of a text of that format, as markdown.Parse has them; nil for plain text.
func Content(format, source string) (json.RawMessage, error) {
	if format != string(comment.FormatMarkdown) {
		return nil, nil
	}
	raw, err := json.Marshal(markdown.Parse(source))
	if err != nil {
		return nil, fmt.Errorf("encode the blocks: %w", err)
	}
	return raw, nil
}
