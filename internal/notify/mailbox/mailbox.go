package mailbox

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/mailbox"
	"atrium/ent/offering"
	"atrium/ent/team"
	"atrium/internal/desk/attachment"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/id"
	"atrium/internal/platform/text"
	"atrium/internal/secret"
)

// maxMailboxes is how many a company may have.
const maxMailboxes = 50

var sorts = op.Sorts{"createdAt": mailbox.FieldCreatedAt, "updatedAt": mailbox.FieldUpdatedAt}

// The operations on mailboxes. They require a person, not an API key.
var (
	List = paging.NewList("mailbox.list", op.Spec{
		Resource: "Mailbox", Action: op.Read, AdminLayer: true, Sorts: sorts, Summary: "List mailboxes",
	}, func(_ context.Context, tx *op.Tx, _ ListInput) *ent.MailboxQuery { return tx.Mailbox.Query() })

	Get = op.Get("mailbox.read", op.Spec{
		Resource: "Mailbox", Action: op.Read, AdminLayer: true, Summary: "Get a mailbox",
	}, load)

	Create = op.New("mailbox.create", op.Spec{
		Resource: "Mailbox", Action: op.Create, AdminLayer: true, LiveOnly: true, Summary: "Make an address whose mail becomes requests and comments",
	}, create).WithCheck(checkNew)

	Update = op.OnRow("mailbox.update", op.Spec{
		Resource: "Mailbox", Action: op.Update, AdminLayer: true, Summary: "Change a mailbox",
	}, load, update).WithCheck(func(ctx context.Context, tx *op.Tx, in UpdateInput) error {
		before, err := load(ctx, tx, in.ID)
		if err != nil {
			return err
		}
		return in.check(ctx, tx, before)
	})

	RotatePassword = op.OnRow("mailbox.rotate", op.Spec{
		Resource: "Mailbox", Action: op.Update, AdminLayer: true, Summary: "Replace the password of a mailbox's webhook",
	}, load, rotate)

	Delete = op.OnRow("mailbox.delete", op.Spec{
		Resource: "Mailbox", Action: op.Delete, AdminLayer: true, Summary: "Delete a mailbox with the history of its mail; what its mail became stays",
	}, load, remove)
)

// ListInput pages the mailboxes.
type ListInput struct{ paging.Page }

func load(ctx context.Context, tx *op.Tx, id string) (*ent.Mailbox, error) {
	return op.Lock(tx, tx.Mailbox.Query().Where(mailbox.ID(id))).Only(ctx)
}

// CreateInput describes a new mailbox.
type CreateInput struct {
	Address        string        `json:"address" minLength:"3" maxLength:"254" doc:"What people write to." example:"help@example.com"`
	Kind           *string       `json:"kind,omitempty" nullable:"true" enum:"smtp,webhook,imap" doc:"How its mail comes; smtp when not given: have your mail server forward it to receivesAt." example:"smtp"`
	OfferingID     string        `json:"offeringId" minLength:"1" maxLength:"64" doc:"The offering against which a new mail files a request."`
	TeamID         *string       `json:"teamId,omitempty" nullable:"true" maxLength:"64" doc:"The team of these requests; the rules decide when not given."`
	UnknownSenders *string       `json:"unknownSenders,omitempty" nullable:"true" enum:"hold,create,refuse" doc:"What becomes of mail from people who are no members; hold when not given." example:"hold"`
	AuthservID     *string       `json:"authservId,omitempty" nullable:"true" maxLength:"254" doc:"The mail server whose Authentication-Results are believed: the one that takes the mail before it comes here. SPF, DKIM and DMARC are checked here when not given." example:"mx.example.com"`
	Server         *string       `json:"server,omitempty" nullable:"true" maxLength:"260" doc:"For imap: the mail server as host:port, with TLS from the start; the port is 993 when not given." example:"imap.example.com:993"`
	Username       *string       `json:"username,omitempty" nullable:"true" maxLength:"254" doc:"For imap: who signs in; the address when not given." example:"help@example.com"`
	Password       *secret.Value `json:"password,omitempty" nullable:"true" writeOnly:"true" doc:"For imap: the password of that user, best one for this application alone."`
}

// Issued is a mailbox with the password of its webhook, which is shown only once.
type Issued struct {
	ID       string
	Mailbox  *ent.Mailbox
	Password *secret.Value // nil for another kind
}

// create returns conflict for a server that takes no mail by SMTP, and for the 51st mailbox of a company.
func create(ctx context.Context, tx *op.Tx, in CreateInput) (Issued, error) {
	if err := checkNew(ctx, tx, in); err != nil {
		return Issued{}, err
	}
	address, _ := text.Email(in.Address)
	if err := tx.LockName(ctx, "mailboxes/"+tx.Principal().CompanyID); err != nil {
		return Issued{}, err
	}
	if err := mayAdd(ctx, tx, address); err != nil {
		return Issued{}, err
	}
	if err := attachment.NeedKey(ctx, tx); err != nil {
		return Issued{}, err
	}
	out := Issued{ID: id.New("mbx")}
	create := tx.Mailbox.Create().SetID(out.ID).SetAddress(address).SetOfferingID(in.OfferingID).SetNillableTeamID(in.TeamID).
		SetUnknownSenders(mailbox.UnknownSenders(op.Or(in.UnknownSenders, string(mailbox.DefaultUnknownSenders)))).SetNillableAuthservID(in.AuthservID).
		SetCreatedBy(tx.Principal().ID)
	var err error
	if out.Password, err = (source{in, out.ID, address}).set(ctx, tx, create); err != nil {
		return Issued{}, err
	}
	if out.Mailbox, err = create.Save(ctx); err != nil {
		return out, fmt.Errorf("make the mailbox: %w", err)
	}
	tx.Changed(nil, out.Mailbox)
	return out, nil
}

// kind returns how the mail of a new mailbox comes.
func (in CreateInput) kind() mailbox.Kind {
	return mailbox.Kind(op.Or(in.Kind, string(mailbox.KindSMTP)))
}

// checkNew returns a validation error for an address that a mailbox cannot have, for ids that are no rows of the company, and for where
// its mail cannot come from.
func checkNew(ctx context.Context, tx *op.Tx, in CreateInput) error {
	var refs op.Refs
	if address, ok := text.Email(in.Address); !ok || !takesTokens(address) {
		refs.Fault("address", "must be an e-mail address of at most 43 characters before the @, without +")
	}
	refs.Refused(checkTargets(ctx, tx, &in.OfferingID, in.TeamID))
	checkSource(tx, in.kind(), in.Server, in.Username, in.Password, &refs)
	if in.kind() == mailbox.KindImap {
		if in.Server == nil {
			refs.Fault("server", "must be given for a mailbox of kind imap")
		}
		if op.Or(in.Password, "") == "" {
			refs.Fault("password", "must be given for a mailbox of kind imap")
		}
	}
	return refs.Err()
}

// mayAdd returns conflict when the company has a mailbox of the address, or as many as it may have.
func mayAdd(ctx context.Context, tx *op.Tx, address string) error {
	all, err := tx.Mailbox.Query().Select(mailbox.FieldID, mailbox.FieldAddress).All(tx.Unfiltered(ctx, "mailboxes that the caller does not see count, too"))
	if err != nil {
		return fmt.Errorf("read the mailboxes: %w", err)
	}
	for _, m := range all {
		if m.Address == address {
			return apperr.New(apperr.Conflict, "There is a mailbox of this address already.")
		}
	}
	if len(all) >= maxMailboxes {
		return apperr.New(apperr.Conflict, "A company has at most %d mailboxes.", maxMailboxes)
	}
	return nil
}

func checkTargets(ctx context.Context, tx *op.Tx, offeringID, teamID *string) error {
	var refs op.Refs
	refs.Check("offeringId", offeringID, "offering", op.FindShared(ctx, tx, func(id string) *ent.OfferingQuery {
		return tx.Offering.Query().Where(offering.ID(id))
	}))
	refs.Check("teamId", teamID, "team", op.FindShared(ctx, tx, func(id string) *ent.TeamQuery { return tx.Team.Query().Where(team.ID(id)) }))
	return refs.Err()
}

// UpdateInput changes the fields that it names.
type UpdateInput struct {
	op.ByID
	OfferingID     op.Patch[string] `json:"offeringId,omitzero" minLength:"1" maxLength:"64" doc:"The offering against which a new mail files a request."`
	TeamID         op.Patch[string] `json:"teamId,omitzero" nullable:"true" maxLength:"64" doc:"The team of these requests; null to leave that to the rules."`
	UnknownSenders op.Patch[string] `json:"unknownSenders,omitzero" enum:"hold,create,refuse" doc:"What becomes of mail from people who are no members."`
	AuthservID     op.Patch[string] `json:"authservId,omitzero" nullable:"true" maxLength:"254" doc:"The mail server whose Authentication-Results are believed; null to check here."`
	Enabled        op.Patch[bool]   `json:"enabled,omitzero" doc:"Whether it takes mail."`
	Server         op.Patch[string] `json:"server,omitzero" minLength:"1" maxLength:"260" doc:"For imap: the mail server as host:port; another one takes the password, too."`
	Username       op.Patch[string] `json:"username,omitzero" minLength:"1" maxLength:"254" doc:"For imap: who signs in."`
	Password       *secret.Value    `json:"password,omitempty" nullable:"true" writeOnly:"true" doc:"For imap: the password of that user."`
}

// check returns a validation error for what the mailbox cannot become.
func (in UpdateInput) check(ctx context.Context, tx *op.Tx, before *ent.Mailbox) error {
	var refs op.Refs
	refs.Refused(checkTargets(ctx, tx, in.OfferingID.Value(), in.TeamID.Value()))
	checkSource(tx, before.Kind, in.Server.Value(), in.Username.Value(), in.Password, &refs)
	if in.elsewhere(before) && op.Or(in.Password, "") == "" {
		refs.Fault("password", "must be given with another server: the one that is kept is sent to the server that it was entered for")
	}
	return refs.Err()
}

func update(ctx context.Context, tx *op.Tx, before *ent.Mailbox, in UpdateInput) (*ent.Mailbox, error) {
	if err := in.check(ctx, tx, before); err != nil {
		return nil, err
	}
	u := before.Update()
	op.Set(in.OfferingID, u.SetOfferingID)
	op.SetOrClear(in.TeamID, u.SetTeamID, u.ClearTeamID)
	op.Set(in.UnknownSenders, func(v string) *ent.MailboxUpdateOne { return u.SetUnknownSenders(mailbox.UnknownSenders(v)) })
	op.SetOrClear(in.AuthservID, u.SetAuthservID, u.ClearAuthservID)
	op.Set(in.Enabled, u.SetEnabled)
	if err := changeSource(tx, before, in, u); err != nil {
		return nil, err
	}
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("change the mailbox: %w", err)
	}
	return after, nil
}

func remove(ctx context.Context, tx *op.Tx, m *ent.Mailbox, _ op.ByID) (struct{}, error) {
	return op.Remove(ctx, tx, m, tx.Mailbox.DeleteOne(m).Exec)
}
