package sender

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"blitiri.com.ar/go/spf"
	"github.com/emersion/go-msgauth/dkim"
	"github.com/emersion/go-msgauth/dmarc"
	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// Bounds of one check.
const (
	maxSignatures = 3
	maxQueries    = 20
	maxTime       = 5 * time.Second
)

// Verdict is the answer of a check.
type Verdict struct {
	Aligned   bool     // the mail comes from the From's domain
	Temporary bool     // not aligned, but something could not be asked: another check may say otherwise
	By        string   // what vouches for it: dkim, spf or dmarc; empty unless Aligned
	Reasons   []string // what was found, for staff, such as "dkim: acme.test: signature did not verify"; at most 10
}

func (v *Verdict) say(format string, args ...any) {
	if len(v.Reasons) < 10 {
		v.Reasons = append(v.Reasons, fmt.Sprintf(format, args...))
	}
}

// Resolver is what is asked of the DNS. A *net.Resolver is one.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error)
	LookupAddr(ctx context.Context, addr string) ([]string, error)
}

// Envelope is how a mail came to our SMTP listener.
type Envelope struct {
	Client netip.Addr // the zero value if the mail did not come from its sender's server itself: then SPF is not asked
	Helo   string
	Sender string // MAIL FROM; empty for the null sender, for which the Helo counts
}

// Checker checks mails by the DNS.
type Checker struct{ Resolver Resolver }

// Check says whether the mail is from the domain of the address, which is the one that inmail.Parse found in it. raw is the mail as it
// came.
func (c Checker) Check(ctx context.Context, raw []byte, from string, e Envelope) Verdict {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	var v Verdict
	domain, err := domainOf(from)
	if err != nil {
		v.say("from: %v", err)
		return v
	}
	if err := unambiguous(raw); err != nil {
		v.say("from: %v", err)
		return v
	}
	r := &bounded{Resolver: c.Resolver, ctx: ctx, left: maxQueries}
	record, err := policy(r, domain)
	if err != nil {
		v.Temporary = true
		v.say("dmarc: %s: the policy could not be read", domain)
		return v
	}
	if checkDKIM(&v, r, raw, domain, record.DKIMAlignment == dmarc.AlignmentStrict) ||
		checkSPF(&v, r, e, domain, record.SPFAlignment == dmarc.AlignmentStrict) {
		v.Aligned, v.Temporary = true, false
	}
	return v
}

// policy returns the policy of a domain, or that of its organization, or the relaxed one. An error means that nobody answered.
func policy(r *bounded, domain string) (*dmarc.Record, error) {
	for _, name := range []string{domain, organization(domain)} {
		record, err := dmarc.LookupWithOptions(name, &dmarc.LookupOptions{LookupTXT: r.txt})
		switch {
		case err == nil:
			return record, nil
		case dmarc.IsTempFail(err) || r.failed:
			return nil, err
		case !errors.Is(err, dmarc.ErrNoPolicy):
			// A policy that breaks the rules is none, and the strict reading of it is the safe one.
			return &dmarc.Record{DKIMAlignment: dmarc.AlignmentStrict, SPFAlignment: dmarc.AlignmentStrict}, nil
		}
		if name == organization(domain) {
			break
		}
	}
	return &dmarc.Record{DKIMAlignment: dmarc.AlignmentRelaxed, SPFAlignment: dmarc.AlignmentRelaxed}, nil
}

// checkDKIM looks for a valid signature of an aligned domain. Keys of other domains are not asked for.
func checkDKIM(v *Verdict, r *bounded, raw []byte, domain string, strict bool) bool {
	signatures, err := dkim.VerifyWithOptions(bytes.NewReader(raw), &dkim.VerifyOptions{
		MaxVerifications: maxSignatures,
		LookupTXT: func(name string) ([]string, error) {
			_, signer, _ := strings.Cut(name, "._domainkey.")
			if !aligned(signer, domain, strict) {
				return nil, errors.New("not of the author's domain")
			}
			return r.txt(name)
		},
	})
	if err != nil && !errors.Is(err, dkim.ErrTooManySignatures) {
		v.say("dkim: the signatures could not be read")
		return false
	}
	if len(signatures) == 0 {
		v.say("dkim: no signature")
	}
	for _, s := range signatures {
		switch {
		case s.Err == nil && aligned(s.Domain, domain, strict):
			v.By = "dkim"
			v.say("dkim: %s: pass", short(s.Domain))
			return true
		case s.Err == nil: // cannot be, since its key was not asked for
			v.say("dkim: %s: another domain than %s", short(s.Domain), domain)
		default:
			v.Temporary = v.Temporary || dkim.IsTempFail(s.Err)
			v.say("dkim: %s: %s", short(s.Domain), short(strings.TrimPrefix(s.Err.Error(), "dkim: ")))
		}
	}
	return false
}

// checkSPF asks whether the client may send for the envelope's domain, if that is aligned.
func checkSPF(v *Verdict, r *bounded, e Envelope, domain string, strict bool) bool {
	if !e.Client.IsValid() {
		v.say("spf: the client's address is not known")
		return false
	}
	sender := e.Sender
	if sender == "" {
		sender = "postmaster@" + e.Helo
	}
	envelope, err := domainOf(sender)
	if err != nil || !aligned(envelope, domain, strict) {
		v.say("spf: the envelope is not of %s", domain)
		return false
	}
	result, err := spf.CheckHostWithSender(e.Client.Unmap().AsSlice(), e.Helo, sender, spf.WithResolver(r), spf.WithContext(r.ctx))
	v.say("spf: %s: %s", envelope, result)
	switch {
	case result == spf.Pass:
		v.By = "spf"
		return true
	case result == spf.TempError || r.failed:
		v.Temporary = true
	case errors.Is(err, spf.ErrLookupLimitReached):
		v.say("spf: %s: more than 10 lookups", envelope)
	}
	return false
}

// domainOf returns the domain of an address, in ASCII and lower case.
func domainOf(address string) (string, error) {
	at := strings.LastIndexByte(address, '@')
	if at <= 0 {
		return "", errors.New("no address of one author")
	}
	domain, err := idna.Lookup.ToASCII(strings.TrimSuffix(address[at+1:], "."))
	if err != nil || !strings.Contains(domain, ".") || len(domain) > 253 {
		return "", errors.New("the domain is none")
	}
	return strings.ToLower(domain), nil
}

// organization returns the domain that somebody registered, below a public suffix. A public suffix stands for itself alone.
func organization(domain string) string {
	if org, err := publicsuffix.EffectiveTLDPlusOne(domain); err == nil {
		return org
	}
	return domain
}

// aligned reports whether two domains are the same or, unless strict, of one organization.
func aligned(other, domain string, strict bool) bool {
	other, err := idna.Lookup.ToASCII(strings.ToLower(strings.TrimSuffix(other, ".")))
	if err != nil || other == "" {
		return false
	}
	return other == domain || !strict && organization(other) == organization(domain) && strings.Contains(other, ".")
}

// once are the fields that a header has at most once (RFC 5322). A signature covers the last of several, and we would read the first:
// somebody who holds a signed mail could give it another subject, thread or structure.
var once = []string{
	"from", "sender", "reply-to", "to", "cc", "subject", "date", "message-id", "in-reply-to", "references", "mime-version",
	"content-type", "content-transfer-encoding",
}

// unambiguous returns an error unless all programs see the same header: one From, none of the others twice, and no line that some take
// for a field and others for nothing.
func unambiguous(raw []byte) error {
	seen := map[string]int{}
	for len(raw) > 0 {
		line, rest, _ := bytes.Cut(raw, []byte("\n"))
		raw = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 {
			break
		}
		if bytes.ContainsAny(line, "\r\x00") {
			return errors.New("the header has a line that programs read in different ways")
		}
		if line[0] == ' ' || line[0] == '\t' {
			continue
		}
		name, _, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return errors.New("the header has a line that is no field")
		}
		seen[strings.ToLower(strings.TrimSpace(string(name)))]++
	}
	for _, name := range once {
		if n := seen[name]; n > 1 || n == 0 && name == "from" {
			return fmt.Errorf("%d fields %s instead of one", n, name)
		}
	}
	return nil
}

// short cuts a text of others for a reason.
func short(s string) string {
	if len(s) > 100 {
		s = s[:100] + "…"
	}
	return strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s), "?")
}
