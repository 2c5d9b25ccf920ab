package request

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/internal/op"
	"atrium/internal/platform/markdown"
)

// RenderMarkdown shows a text as it would be shown, before it is sent.
var RenderMarkdown = op.New("request.render", op.Spec{
	Resource: "Request", Action: op.Read, Scope: "requests:read",
	Summary: "Render Markdown as a tree of blocks",
}, func(_ context.Context, _ *op.Tx, in RenderInput) (json.RawMessage, error) {
	return Content("markdown", in.Text)
})

// RenderInput is what to render.
type RenderInput struct {
	Text string `json:"text" maxLength:"10000" doc:"In Markdown."`
}

// Content returns the blocks of a text of that format, as markdown.Parse has them; nil for plain text.
func Content(format, source string) (json.RawMessage, error) {
	if format != "markdown" {
		return nil, nil
	}
	raw, err := json.Marshal(markdown.Parse(source))
	if err != nil {
		return nil, fmt.Errorf("encode the blocks: %w", err)
	}
	return raw, nil
}
