package savedreply

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
)

// Fill writes a saved reply for a request.
var Fill = op.OnRow("request.fill_reply", op.Spec{
	Resource: "Request", Action: op.Read, Scope: "requests:read", Summary: "Write a saved reply for a request",
}, func(ctx context.Context, tx *op.Tx, id string) (*ent.Request, error) { return tx.Request.Load(ctx, id) }, fill).
	WithVerbs(func(FillInput) []string { return []string{"request.read", "savedreply.read"} })

// placeholder matches what a reply leaves open.
var placeholder = regexp.MustCompile(`\{\{\s*([^{}]*?)\s*\}\}`)

// values says what stands for a placeholder.
var values = map[string]func(about) string{
	"request.title":  func(a about) string { return a.request.Title },
	"request.number": func(a about) string { return fmt.Sprintf("#%d", a.request.Number) },
	"requester.name": func(a about) string { return a.requester },
	"me.name":        func(a about) string { return a.me },
}

// about is what a reply is written about, and by whom.
type about struct {
	request       *ent.Request
	requester, me string
}

// checkBody returns validation_error for a placeholder that nothing stands for.
func checkBody(body string) error {
	for _, m := range placeholder.FindAllStringSubmatch(body, -1) {
		if values[m[1]] == nil {
			return apperr.InvalidField("body", "must not have {{%s}}: there are request.title, request.number, requester.name and me.name", m[1])
		}
	}
	return nil
}

// FillInput names the reply with which a request is answered.
type FillInput struct {
	op.ByID
	ReplyID string `json:"-" minLength:"1" maxLength:"64"`
}

// fill returns the text of a reply for a request that the caller may read.
func fill(ctx context.Context, tx *op.Tx, r *ent.Request, in FillInput) (string, error) {
	reply, err := load(ctx, tx, in.ReplyID)
	if err != nil {
		return "", err
	}
	requester, err := tx.User.Query().Where(user.ID(r.RequesterID)).Only(ctx)
	if ent.IsNotFound(err) {
		requester = &ent.User{} // a service account, or somebody whom the access policies hide
	} else if err != nil {
		return "", fmt.Errorf("look the requester up: %w", err)
	}
	written := about{r, requester.Name, tx.Principal().Name}
	return placeholder.ReplaceAllStringFunc(reply.Body, func(m string) string {
		return values[strings.TrimSpace(m[2:len(m)-2])](written)
	}), nil
}
