package mailbox

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"strings"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/ent/mailbox"
	"atrium/internal/notify/inmail/reply"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/text"
	"atrium/internal/secret"
)

// takesTokens reports whether answers can go to an address with a token behind its name.
func takesTokens(address string) bool {
	_, err := reply.Address(address, reply.Token(nil, "", "", ""))
	return err == nil
}

// source says where the mail of a new mailbox comes from.
type source struct {
	in          CreateInput
	id, address string
}

// set completes a mailbox with where its mail comes from. It returns the password of a new webhook.
func (s source) set(ctx context.Context, tx *op.Tx, create *ent.MailboxCreate) (*secret.Value, error) {
	create.SetKind(s.in.kind())
	switch s.in.kind() {
	case mailbox.KindSMTP:
		at, err := receivesAt(ctx, tx, s.address)
		if err == nil {
			create.SetReceivesAt(at)
		}
		return nil, err
	case mailbox.KindWebhook:
		password := secret.Value(rand.Text())
		sealed, err := sealPassword(tx, s.id, password)
		create.SetSecretSealed(sealed)
		return &password, err
	}
	sealed, err := sealPassword(tx, s.id, *s.in.Password)
	create.SetServer(serverAt(*s.in.Server)).SetUsername(op.Or(s.in.Username, s.address)).SetSecretSealed(sealed)
	return nil, err
}

// changeSource changes from where the mail of a mailbox is fetched. What could not be fetched before is tried again at once.
func changeSource(tx *op.Tx, before *ent.Mailbox, in UpdateInput, u *ent.MailboxUpdateOne) error {
	server, username := in.Server.Value(), in.Username.Value()
	if server == nil && username == nil && in.Password == nil {
		return nil
	}
	u.ClearFault().SetNillableUsername(username)
	if server != nil {
		u.SetServer(serverAt(*server))
	}
	if in.elsewhere(before) || username != nil && *username != *before.Username { // the places in another folder are others
		u.SetFetchedValidity(0).SetFetchedUID(0)
	}
	if in.Password == nil {
		return nil
	}
	sealed, err := sealPassword(tx, before.ID, *in.Password)
	u.SetSecretSealed(sealed)
	return err
}

// elsewhere reports whether a change has another server asked.
func (in UpdateInput) elsewhere(before *ent.Mailbox) bool {
	server := in.Server.Value()
	return server != nil && before.Server != nil && serverAt(*server) != *before.Server
}

// checkSource records what a mailbox of a kind cannot have: only one of kind imap has a server, a username and a password of its own.
func checkSource(tx *op.Tx, kind mailbox.Kind, server, username *string, password *secret.Value, refs *op.Refs) {
	if kind != mailbox.KindImap {
		for _, of := range []struct {
			field string
			given bool
		}{{"server", server != nil}, {"username", username != nil}, {"password", password != nil}} {
			if of.given {
				refs.Fault(of.field, "must be left out unless the kind is imap")
			}
		}
		return
	}
	if server != nil {
		host, _, _ := net.SplitHostPort(serverAt(*server))
		if strings.ContainsAny(host, "/@?#") || tx.CheckURL("server", "https://"+serverAt(*server)+"/") != nil {
			refs.Fault("server", "must be the host:port of a mail server that can be reached")
		}
	}
	if password != nil && len(*password) > 1000 {
		refs.Fault("password", "must have at most 1000 bytes")
	}
}

// serverAt returns host:port of a mail server.
func serverAt(given string) string {
	at := strings.ToLower(strings.TrimSpace(given))
	host, port, err := net.SplitHostPort(at)
	if err != nil {
		host, port = strings.Trim(at, "[]"), "993"
	}
	return net.JoinHostPort(host, port)
}

// sealPassword seals the password of a mailbox, for which alone it opens.
func sealPassword(tx *op.Tx, id string, v secret.Value) ([]byte, error) {
	sealed, err := tx.Sealer().Seal([]byte(v), []byte(id))
	if err != nil {
		return nil, fmt.Errorf("seal the password: %w", err)
	}
	return sealed, nil
}

func openPassword(sealer op.Sealer, m *ent.Mailbox) (string, error) {
	plain, err := sealer.Unseal(m.SecretSealed, []byte(m.ID))
	if err != nil {
		return "", fmt.Errorf("open the password: %w", err)
	}
	return string(plain), nil
}

// receivesAt returns the address at this server of a new mailbox: its name and the company's slug, which no other company has. It leaves
// room for a token (package reply).
func receivesAt(ctx context.Context, tx *op.Tx, address string) (string, error) {
	domain := tx.MailDomain()
	if domain == "" {
		return "", apperr.New(apperr.Conflict, "This server takes no mail by SMTP: its operator has given it no domain (--mail-domain).")
	}
	c, err := tx.Company.Query().Where(company.ID(tx.Principal().CompanyID)).Only(tx.Unfiltered(ctx, "the company's own name"))
	if err != nil {
		return "", fmt.Errorf("read the company: %w", err)
	}
	name, _, _ := strings.Cut(address, "@")
	local := text.Slug(name, "mail")
	local = strings.Trim(local[:min(12, len(local))], "-") + "." + c.Slug
	local = strings.Trim(local[:min(40, len(local))], ".-")
	for n := 1; n <= maxMailboxes+1; n++ {
		at := local + "@" + domain
		if n > 1 {
			at = fmt.Sprintf("%s%d@%s", local, n, domain)
		}
		var taken bool
		err := tx.AsSystem(ctx, "an address at this server is one mailbox's", func(ctx context.Context) (err error) {
			taken, err = tx.Mailbox.Query().Where(mailbox.ReceivesAt(at)).Exist(ctx)
			return err
		})
		if err != nil || !taken {
			return at, err
		}
	}
	return "", apperr.New(apperr.Conflict, "There are too many mailboxes of this name.")
}

// rotate returns conflict for a mailbox that has no webhook.
func rotate(ctx context.Context, tx *op.Tx, before *ent.Mailbox, _ op.ByID) (Issued, error) {
	if before.Kind != mailbox.KindWebhook {
		return Issued{}, apperr.New(apperr.Conflict, "The mailbox has no webhook.")
	}
	password := secret.Value(rand.Text())
	sealed, err := sealPassword(tx, before.ID, password)
	if err != nil {
		return Issued{}, err
	}
	after, err := before.Update().SetSecretSealed(sealed).Save(ctx)
	if err != nil {
		return Issued{}, fmt.Errorf("replace the password: %w", err)
	}
	tx.Changed(before, after)
	return Issued{ID: after.ID, Mailbox: after, Password: &password}, nil
}
