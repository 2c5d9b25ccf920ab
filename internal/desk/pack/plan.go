package pack

import (
	"cmp"
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
)

// What becomes of a document.
const (
	Make = "make" // it is new
	Keep = "keep" // the company has it already, and it stays as it is
)

// The operations on packs.
var (
	List = op.New("pack.list", op.Spec{
		Resource: "Pack", Action: op.Read, Scope: "workflows:read", Summary: "List the starter packs that ship",
	}, list)

	PlanOf = op.New("pack.plan", op.Spec{
		Resource: "Pack", Action: op.Read, Scope: "workflows:write", Summary: "Say what a pack would make",
	}, plan)
)

// Pack is a starter pack that ships.
type Pack struct {
	Key         string
	Name        string
	Description string
	Makes       []*Item
}

// Item is one thing that a pack makes.
type Item struct {
	Kind   string
	Key    string
	Name   string
	Action string  // Make or Keep
	ID     *string // of the row, once it is there
}

// Plan is what a pack makes in a company.
type Plan struct {
	Name        string
	Description string
	Items       []*Item
}

// ListInput says in which language packs are listed.
type ListInput struct {
	paging.Page
	Language string `json:"-" query:"language" maxLength:"35" doc:"The language of names and descriptions; the caller's when not given, and English where a pack has no other."`
}

// Input names a pack: one that ships, or a file.
type Input struct {
	Pack     *string `json:"pack,omitempty" nullable:"true" minLength:"1" maxLength:"63" doc:"The key of a pack that ships. Either this or source." example:"it-service-desk"`
	Source   *string `json:"source,omitempty" nullable:"true" minLength:"1" maxLength:"262144" doc:"A pack in YAML, at most 256 KiB and 200 documents. Either this or pack."`
	Language *string `json:"language,omitempty" nullable:"true" minLength:"1" maxLength:"35" doc:"The language of its texts; the caller's when not given, and English where the pack has no other." example:"de"`
}

func list(ctx context.Context, tx *op.Tx, in ListInput) (paging.List[*Pack], error) {
	if in.Size < 1 {
		in.Number, in.Size = 1, 100 // a door that does not page
	}
	out := paging.List[*Pack]{Page: in.Page}
	if in.Sort != "" {
		return out, apperr.InvalidField("sort", "must be left out: packs have one order")
	}
	files, err := shipped()
	if err != nil {
		return out, err
	}
	reader, err := readerOf(ctx, tx, in.Language)
	if err != nil {
		return out, err
	}
	out.Total = len(files)
	var page []*file
	if from, some := in.Offset(len(files)); some {
		page = files[from:min(from+in.Size, len(files))]
	}
	s, err := stateOf(ctx, tx, page...)
	if err != nil {
		return out, err
	}
	for _, f := range page {
		e := f.edition(reader.Language, reader.Zone)
		out.Rows = append(out.Rows, &Pack{Key: f.key, Name: e.say(f.name), Description: e.say(f.description), Makes: planned(f, s, e)})
	}
	return out, nil
}

// prepared is a file that was read and checked, or what is wrong with it.
type prepared struct {
	*file
	edition
	err error
}

// readPack reads and checks the pack of an input, which takes its turn among what is costly.
func readPack(ctx context.Context, tx *op.Tx, in Input) (out prepared, err error) {
	if (in.Pack == nil) == (in.Source == nil) {
		out.err = apperr.InvalidField("pack", "must be given, or else source")
		return out, nil
	}
	reader, err := readerOf(ctx, tx, op.Or(in.Language, ""))
	if err != nil {
		return out, err
	}
	if in.Pack != nil {
		if out.file, err = shippedAs(*in.Pack); err != nil || out.file == nil {
			out.err = apperr.InvalidField("pack", "is no pack that ships")
			return out, err
		}
		out.edition = out.file.edition(reader.Language, reader.Zone)
		return out, nil // a test has checked it
	}
	err = tx.Costly(ctx, func(ctx context.Context) error {
		if out.file, out.err = read(*in.Source); out.err == nil {
			out.edition = out.file.edition(reader.Language, reader.Zone)
			out.err = out.file.check(ctx, out.edition)
		}
		return ctx.Err()
	})
	return out, err
}

// check names what is wrong with the documents, whatever the company has.
func (f *file) check(ctx context.Context, e edition) error {
	var faults []apperr.Detail
	for _, d := range f.documents {
		body, parent := d.body(e, placeholder)
		found := d.kind.check(ctx, body)
		if d.kind.parent != "" && parent == "" {
			found = append(found, apperr.Detail{Field: d.kind.parent, Message: "is required"})
		}
		faults = append(faults, d.faults(found)...)
	}
	if len(faults) > 0 {
		return apperr.Invalid(faults[:min(len(faults), maxFaults)]...)
	}
	return nil
}

// placeholder stands for the id of a reference where there is none yet: no two have the same one.
func placeholder(name string) string { return name[max(0, len(name)-40):] }

// faults names the document in what is wrong with its body.
func (d *document) faults(of []apperr.Detail) []apperr.Detail {
	out := make([]apperr.Detail, len(of))
	for i, f := range of {
		out[i] = apperr.Detail{Field: d.String() + ": " + f.Field, Message: atLine(f.Message, d.lineOf(f.Field))}
	}
	return out
}

func plan(ctx context.Context, tx *op.Tx, in Input) (*Plan, error) {
	p, err := readPack(ctx, tx, in)
	if err == nil {
		err = p.err
	}
	if err != nil {
		return nil, err
	}
	s, err := stateOf(ctx, tx, p.file)
	if err != nil {
		return nil, err
	}
	if err := p.resolvable(s); err != nil {
		return nil, err
	}
	return p.plan(planned(p.file, s, p.edition)), nil
}

func (p prepared) plan(items []*Item) *Plan {
	return &Plan{Name: p.say(p.name), Description: p.say(p.description), Items: items}
}

// planned says what becomes of each document.
func planned(f *file, s state, e edition) []*Item {
	items, ids := make([]*Item, 0, len(f.documents)), resolver{}
	for _, d := range f.documents {
		it := d.item(e)
		if id := s.found(f, d, ids.in(s)); id != "" {
			it.Action, it.ID = Keep, &id
			ids[d.String()] = id
		} else {
			ids[d.String()] = "-" // new: nothing that the company has is part of it
		}
		items = append(items, it)
	}
	return items
}

func (d *document) item(e edition) *Item {
	return &Item{Kind: d.kind.name, Key: d.key, Name: e.say(textOf(fieldsOf(d.spec)["name"])), Action: Make}
}

// resolver holds the ids of the documents so far.
type resolver map[string]string

// in returns what finds the id of a reference, in the file or else in the company.
func (r resolver) in(s state) func(string) string {
	return func(name string) string {
		if id := r[name]; id != "" {
			return id
		}
		return s[name]
	}
}

// resolvable returns a validation error for references to what neither the file nor the company has.
func (f *file) resolvable(s state) error {
	there := map[string]bool{}
	for _, d := range f.documents {
		there[d.String()] = true
	}
	var faults []apperr.Detail
	for _, d := range f.documents {
		for _, ref := range d.refs {
			if !there[ref.to] && s[ref.to] == "" {
				faults = append(faults, apperr.Detail{Field: d.String() + ": " + ref.field, Message: atLine("is in neither the file nor the company", ref.line)})
			}
		}
	}
	if len(faults) > 0 {
		return apperr.Invalid(faults[:min(len(faults), maxFaults)]...)
	}
	return nil
}

// readerOf returns the language that is asked for, or else the caller's, and the company's time zone, or else the caller's.
func readerOf(ctx context.Context, tx *op.Tx, asked string) (out locale.Printer, err error) {
	me := tx.Principal()
	all := tx.Unfiltered(ctx, "everybody knows their own language, and the company's")
	c, err := tx.Company.Get(all, me.CompanyID)
	if err != nil {
		return out, fmt.Errorf("read the company's language: %w", err)
	}
	var u *ent.User
	if me.Type == principal.TypeUser {
		if u, err = tx.User.Query().Where(user.ID(me.ID)).Only(all); err != nil {
			return out, fmt.Errorf("read the caller's language: %w", err)
		}
	}
	out = op.ReaderOf(u, c)
	out.Language, out.Zone = cmp.Or(asked, out.Language), op.Or(c.TimeZone, out.Zone)
	return out, nil
}
