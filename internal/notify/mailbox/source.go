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
	kind := mailbox.Kind(op.Or(s.in.Kind, string(mailbox.KindSMTP)))
	create.SetKind(kind)
	if kind != mailbox.KindImap && (s.in.Server != nil || s.in.Username != nil || s.in.Password != nil) {
		return nil, errNotFetched()
	}
	switch kind {
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
	switch {
	case s.in.Server == nil:
		return nil, apperr.InvalidField("server", "must be given for a mailbox of kind imap")
	case s.in.Password == nil || *s.in.Password == "":
		return nil, apperr.InvalidField("password", "must be given for a mailbox of kind imap")
	}
	server, err := serverAt(tx, *s.in.Server)
	if err != nil {
		return nil, err
	}
	sealed, err := sealPassword(tx, s.id, *s.in.Password)
	create.SetServer(server).SetUsername(op.Or(s.in.Username, s.address)).SetSecretSealed(sealed)
	return nil, err
}

// changeSource changes from where the mail of a mailbox is fetched. What could not be fetched before is tried again at once.
func changeSource(tx *op.Tx, before *ent.Mailbox, in UpdateInput, u *ent.MailboxUpdateOne) error {
	server, username := in.Server.Value(), in.Username.Value()
	if server == nil && username == nil && in.Password == nil {
		return nil
	}
	if before.Kind != mailbox.KindImap {
		return errNotFetched()
	}
	u.ClearFault().SetNillableUsername(username)
	if server != nil {
		at, err := serverAt(tx, *server)
		if err != nil {
			return err
		}
		if at != *before.Server { // the places in another server's folder are others
			u.SetFetchedValidity(0).SetFetchedUID(0)
		}
		u.SetServer(at)
	}
	if in.Password == nil {
		return nil
	}
	sealed, err := sealPassword(tx, before.ID, *in.Password)
	u.SetSecretSealed(sealed)
	return err
}

func errNotFetched() error {
	return apperr.New(apperr.Validation, "Only a mailbox of kind imap has a server, a username and a password of its own.")
}

// serverAt returns host:port of a mail server that may be called.
func serverAt(tx *op.Tx, given string) (string, error) {
	at := strings.ToLower(strings.TrimSpace(given))
	host, port, err := net.SplitHostPort(at)
	if err != nil {
		host, port = strings.Trim(at, "[]"), "993"
	}
	at = net.JoinHostPort(host, port)
	if strings.ContainsAny(host, "/@?#") || tx.CheckURL("server", "https://"+at+"/") != nil {
		return "", apperr.InvalidField("server", "must be the host:port of a mail server that can be reached")
	}
	return at, nil
}

// sealPassword seals the password of a mailbox, for which alone it opens.
func sealPassword(tx *op.Tx, id string, v secret.Value) ([]byte, error) {
	if len(v) > 1000 {
		return nil, apperr.InvalidField("password", "must have at most 1000 bytes")
	}
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
