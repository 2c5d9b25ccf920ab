package execution

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"atrium/ent"
	"atrium/ent/attachment"
	"atrium/ent/team"
	"atrium/ent/user"
	"atrium/internal/desk/form"
	"atrium/internal/notify/mail"
	"atrium/internal/platform/locale"
)

// maxMailed is how many lines of a mail tell of earlier results.
const maxMailed = 20

// MailedWithTask returns what a mail about a task tells of earlier results, a line for each; the empty text for nothing. Its context reads
// the whole company.
func MailedWithTask(ctx context.Context, db *ent.Client, t *ent.Task) (locale.Text, error) {
	return mailed(ctx, db, ofTask(t))
}

func mailed(ctx context.Context, db *ent.Client, a asked) (locale.Text, error) {
	found, err := shown(ctx, db, []asked{a})
	if err != nil {
		return locale.Text{}, err
	}
	type line struct {
		*ShownField
		branch string
	}
	var fields []line
	ids := map[string][]string{} // of what is named, by the type
	for _, one := range found[a.id] {
		for _, f := range one.Fields {
			branch := ""
			if one.Branch != nil {
				branch = *one.Branch + " · "
			}
			if fields = append(fields, line{f, branch}); len(fields) <= maxMailed {
				ids[f.Type] = append(ids[f.Type], f.texts()...)
			}
		}
	}
	if len(fields) == 0 {
		return locale.Text{}, nil
	}
	names, err := namesOf(ctx, db, ids)
	if err != nil {
		return locale.Text{}, err
	}
	lines := []locale.Text{locale.Say("From earlier steps:")}
	for _, f := range fields[:min(len(fields), maxMailed)] {
		label := locale.Raw(mail.Plain(f.branch+f.Label, 200))
		if f.Type == ofOutcome {
			label = locale.Say("Outcome")
		}
		lines = append(lines, locale.Say("%s: %s", label, f.told(names)))
	}
	return locale.Lines(lines...), nil
}

// texts returns the texts of a value: of a list its entries, of a text itself.
func (f *ShownField) texts() []string {
	var list []string
	var one string
	if json.Unmarshal(f.Value, &list) == nil {
		return list
	}
	if json.Unmarshal(f.Value, &one) == nil {
		return []string{one}
	}
	return nil
}

// namesOf returns the names of people, teams and files by their ids.
func namesOf(ctx context.Context, db *ent.Client, ids map[string][]string) (map[string]string, error) {
	names := map[string]string{}
	for _, look := range []struct {
		of   form.Type
		scan func(ids []string, into any) error
	}{
		{form.User, func(ids []string, into any) error {
			return db.User.Query().Where(user.IDIn(ids...)).Select(user.FieldID, user.FieldName).Scan(ctx, into)
		}},
		{form.Team, func(ids []string, into any) error {
			return db.Team.Query().Where(team.IDIn(ids...)).Select(team.FieldID, team.FieldName).Scan(ctx, into)
		}},
		{form.File, func(ids []string, into any) error {
			return db.Attachment.Query().Where(attachment.IDIn(ids...)).Select(attachment.FieldID, attachment.FieldName).Scan(ctx, into)
		}},
	} {
		var rows []struct{ ID, Name string }
		if of := ids[string(look.of)]; len(of) == 0 {
			continue
		} else if err := look.scan(of, &rows); err != nil {
			return nil, fmt.Errorf("read the names of %ss: %w", look.of, err)
		}
		for _, row := range rows {
			names[row.ID] = row.Name
		}
	}
	return names, nil
}

// told returns a value as a line of a mail says it.
func (f *ShownField) told(names map[string]string) locale.Text {
	texts := f.texts()
	said := string(f.Value)
	if texts != nil {
		for i, one := range texts {
			if name, known := names[one]; known {
				texts[i] = name
			}
		}
		said = strings.Join(texts, ", ")
	}
	switch form.Type(f.Type) {
	case form.Boolean:
		if said == "true" {
			return locale.Say("Yes")
		}
		return locale.Say("No")
	case ofOutcome:
		switch said {
		case "Approved":
			return locale.Say("Approved")
		case "Rejected":
			return locale.Say("Rejected")
		case "Expired":
			return locale.Say("Expired")
		}
	}
	return locale.Raw(mail.Plain(said, maxShownText))
}
