package mention

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/notify/mail"
	"atrium/internal/platform/markdown"
)

// pattern matches an @ before a user's id or an e-mail address, with the character before it.
var pattern = regexp.MustCompile(`(^|[^\w.@-])@(usr_[0-9a-z]{26}\b|[^\s@<>(),;:"]+@[A-Za-z0-9.-]*[A-Za-z0-9])`)

// The most people whom texts that are shown together name, and characters of a name.
const (
	maxNamed = 500
	maxName  = 60
)

// In returns the ids and addresses that texts mention, lower case, each once, in order.
func In(texts ...string) []string {
	var out []string
	for _, s := range texts {
		if !strings.Contains(s, "@") {
			continue
		}
		for _, m := range pattern.FindAllStringSubmatch(s, -1) {
			out = append(out, strings.ToLower(m[2]))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Names are the names of people by their ids and addresses.
type Names map[string]string

// Read returns the names of those whom texts mention. ctx sees every person of the company.
func Read(ctx context.Context, db *ent.Client, texts ...string) (Names, error) {
	asked := In(texts...)
	if len(asked) == 0 {
		return nil, nil
	}
	asked = asked[:min(len(asked), maxNamed)]
	people, err := db.User.Query().Where(user.Or(user.IDIn(asked...), user.EmailIn(asked...))).
		Select(user.FieldID, user.FieldEmail, user.FieldName).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the names of who is mentioned: %w", err)
	}
	out := make(Names, 2*len(people))
	for _, u := range people {
		name := mail.Plain(u.Name, maxName)
		out[u.ID], out[strings.ToLower(u.Email)] = name, name
	}
	return out, nil
}

// In returns a text with the names of those whom it mentions. What names nobody stays as it was typed.
func (n Names) In(text string) string { return n.put(text, func(name string) string { return name }) }

// InMarkdown is In for a text in Markdown, in which no name is taken for marks.
func (n Names) InMarkdown(source string) string { return n.put(source, markdown.Escape) }

func (n Names) put(text string, as func(string) string) string {
	if len(n) == 0 {
		return text
	}
	return pattern.ReplaceAllStringFunc(text, func(m string) string {
		before, who, _ := strings.Cut(m, "@")
		name, ok := n[strings.ToLower(who)]
		if !ok {
			return m
		}
		return before + "@" + as(name)
	})
}
