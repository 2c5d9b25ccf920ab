package sender

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-msgauth/dkim"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// zone is a DNS of its own. A name that it lacks does not exist; one of broken is not answered.
type zone struct {
	txt    map[string][]string
	mx     map[string][]*net.MX
	ip     map[string][]net.IPAddr
	names  map[string][]string // of addresses
	broken map[string]bool
	hang   bool
	asked  atomic.Int32
}

func (z *zone) answer(ctx context.Context, name string, has bool) error {
	z.asked.Add(1)
	if z.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if z.broken[name] {
		return &net.DNSError{Err: "server misbehaving", Name: name, IsTemporary: true}
	}
	if !has {
		return &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return nil
}

func (z *zone) LookupTXT(ctx context.Context, name string) ([]string, error) {
	out, has := z.txt[name]
	return out, z.answer(ctx, name, has)
}

func (z *zone) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	out, has := z.mx[name]
	return out, z.answer(ctx, name, has)
}

func (z *zone) LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error) {
	out, has := z.ip[host]
	return out, z.answer(ctx, host, has)
}

func (z *zone) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	out, has := z.names[addr]
	return out, z.answer(ctx, addr, has)
}

// The keys of the domains, and of somebody who has no domain but his own.
var (
	acmeKey, _    = rsa.GenerateKey(rand.Reader, 2048)
	_, evilKey, _ = ed25519.GenerateKey(rand.Reader)
)

func newZone() *zone {
	acme, _ := x509.MarshalPKIXPublicKey(acmeKey.Public())
	evil := evilKey.Public().(ed25519.PublicKey)
	return &zone{
		txt: map[string][]string{
			"acme.test":                      {"v=spf1 ip4:192.0.2.1 -all"},
			"s1._domainkey.acme.test":        {"v=DKIM1; k=rsa; p=" + base64.StdEncoding.EncodeToString(acme)},
			"s1._domainkey.mail.acme.test":   {"v=DKIM1; k=rsa; p=" + base64.StdEncoding.EncodeToString(acme)},
			"_dmarc.acme.test":               {"v=DMARC1; p=none"},
			"_dmarc.strict.test":             {"v=DMARC1; p=reject; adkim=s; aspf=s"},
			"s1._domainkey.mail.strict.test": {"v=DKIM1; k=rsa; p=" + base64.StdEncoding.EncodeToString(acme)},
			"strict.test":                    {"v=spf1 ip4:192.0.2.1 -all"},
			"mail.strict.test":               {"v=spf1 ip4:192.0.2.1 -all"},
			"evil.test":                      {"v=spf1 ip4:203.0.113.9 -all"},
			"s1._domainkey.evil.test":        {"v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(evil)},
		},
		mx: map[string][]*net.MX{}, ip: map[string][]net.IPAddr{}, broken: map[string]bool{},
	}
}

const plain = "From: Ada <ada@acme.test>\r\nTo: help@desk.test\r\nSubject: Laptop\r\nDate: Mon, 23 Nov 2026 09:15:00 +0100\r\n\r\nIt is PF-1234.\r\n"

// signed returns a mail with a signature of the domain.
func signed(t *testing.T, mail, domain string, key crypto.Signer) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, dkim.Sign(&out, strings.NewReader(mail), &dkim.SignOptions{
		Domain: domain, Selector: "s1", Signer: key, HeaderCanonicalization: dkim.CanonicalizationRelaxed, BodyCanonicalization: dkim.CanonicalizationRelaxed,
		HeaderKeys: []string{"From", "To", "Subject", "Date"},
	}))
	return out.String()
}

var (
	ours  = Envelope{Client: netip.MustParseAddr("192.0.2.1"), Helo: "mx.acme.test", Sender: "ada@acme.test"}
	evils = Envelope{Client: netip.MustParseAddr("203.0.113.9"), Helo: "mx.evil.test", Sender: "eve@evil.test"}
)

// A mail counts as its author's if the domain vouches for it. A From that somebody else wrote never passes, whatever he signs and sends by.
func TestCheck(t *testing.T) {
	t.Parallel()
	good := signed(t, plain, "acme.test", acmeKey)
	for name, c := range map[string]struct {
		mail, from string
		envelope   Envelope
		by, says   string
	}{
		"signed by the domain":             {good, "ada@acme.test", evils, "dkim", "dkim: acme.test: pass"},
		"signed by a subdomain":            {signed(t, plain, "mail.acme.test", acmeKey), "ada@acme.test", evils, "dkim", "mail.acme.test"},
		"sent by the domain's server":      {plain, "ada@acme.test", ours, "spf", "spf: acme.test: pass"},
		"other case":                       {good, "Ada@ACME.test", evils, "dkim", ""},
		"bounce by the domain's server":    {plain, "ada@acme.test", Envelope{Client: ours.Client, Helo: "acme.test"}, "spf", "pass"},
		"forged, by the forger's server":   {plain, "ada@acme.test", evils, "", "spf: the envelope is not of acme.test"},
		"forged envelope too":              {plain, "ada@acme.test", Envelope{evils.Client, "mx.evil.test", "ada@acme.test"}, "", "spf: acme.test: fail"},
		"forged, signed by the forger":     {signed(t, plain, "evil.test", evilKey), "ada@acme.test", evils, "", "not of the author's domain"},
		"forged, in the domain's name":     {signed(t, plain, "acme.test", evilKey), "ada@acme.test", evils, "", "acme.test"},
		"forged by a top-level domain":     {signed(t, plain, "test", evilKey), "ada@acme.test", evils, "", "dkim: test"},
		"the text was changed":             {strings.Replace(good, "PF-1234", "PF-6666", 1), "ada@acme.test", evils, "", "body hash did not verify"},
		"words were added":                 {good + "Pay Eve.\r\n", "ada@acme.test", evils, "", "body hash did not verify"},
		"the author was changed":           {strings.Replace(good, "Ada <ada@acme.test>", "Bob <bob@acme.test>", 1), "bob@acme.test", evils, "", "signature did not verify"},
		"a second From above":              {"From: boss@acme.test\r\n" + good, "boss@acme.test", evils, "", "2 fields from"},
		"a second From in disguise":        {"From : boss@acme.test\r\n" + good, "boss@acme.test", evils, "", "2 fields from"},
		"a line that hides a From":         {"X: y\rFrom: boss@acme.test\r\n" + good, "ada@acme.test", evils, "", "different ways"},
		"a second subject":                 {"Subject: #1042\r\n" + good, "ada@acme.test", evils, "", "2 fields subject"},
		"another structure":                {"Content-Type: text/html\r\nContent-Type: text/plain\r\n" + good, "ada@acme.test", evils, "", "2 fields content-type"},
		"no field":                         {"boss\r\n" + good, "ada@acme.test", evils, "", "no field"},
		"no author":                        {good, "", ours, "", "no address"},
		"strict, signed by a subdomain":    {signed(t, strings.Replace(plain, "acme", "strict", 1), "mail.strict.test", acmeKey), "ada@strict.test", evils, "", "not of the author's domain"},
		"strict, sent by a subdomain":      {plain2("strict"), "ada@strict.test", Envelope{ours.Client, "x", "ada@mail.strict.test"}, "", "not of strict.test"},
		"strict, sent by the domain":       {plain2("strict"), "ada@strict.test", Envelope{ours.Client, "x", "ada@strict.test"}, "spf", "pass"},
		"passed on: the client is unknown": {plain, "ada@acme.test", Envelope{Sender: "ada@acme.test"}, "", "not known"},
		"a domain without any record":      {plain2("nothing"), "ada@nothing.test", Envelope{ours.Client, "x", "ada@nothing.test"}, "", "spf: nothing.test: none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := Checker{newZone()}.Check(t.Context(), []byte(c.mail), c.from, c.envelope)
			require.Equal(t, c.by != "", v.Aligned, "%+v", v)
			require.Equal(t, c.by, v.By, "%+v", v)
			require.False(t, v.Temporary, "%+v", v)
			require.Contains(t, strings.Join(v.Reasons, "\n"), c.says)
		})
	}
}

func plain2(domain string) string { return strings.Replace(plain, "acme", domain, 1) }

// What nobody answers is no refusal for good, and never a pass.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	mail := []byte(signed(t, plain, "acme.test", acmeKey))
	for _, name := range []string{"_dmarc.acme.test", "s1._domainkey.acme.test"} {
		z := newZone()
		z.broken[name] = true
		v := Checker{z}.Check(t.Context(), mail, "ada@acme.test", evils)
		require.False(t, v.Aligned, name)
		require.True(t, v.Temporary, name)
	}
	z := newZone()
	z.broken["acme.test"] = true
	v := Checker{z}.Check(t.Context(), []byte(plain), "ada@acme.test", ours)
	require.False(t, v.Aligned)
	require.True(t, v.Temporary, "%+v", v)
}

// A DNS that hangs, and records that lead to more of them, end by their bounds.
func TestBounds(t *testing.T) {
	t.Parallel()
	z := newZone()
	z.hang = true
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	v := Checker{z}.Check(ctx, []byte(plain), "ada@acme.test", ours)
	require.False(t, v.Aligned)
	require.True(t, v.Temporary)

	z = newZone() // includes within includes, without an end
	z.txt["acme.test"] = []string{"v=spf1 include:i0.acme.test -all"}
	for i := range 40 {
		z.txt[fmt.Sprintf("i%d.acme.test", i)] = []string{fmt.Sprintf("v=spf1 include:i%d.acme.test -all", i+1)}
	}
	v = Checker{z}.Check(t.Context(), []byte(plain), "ada@acme.test", ours)
	require.False(t, v.Aligned)
	require.Contains(t, strings.Join(v.Reasons, "\n"), "permerror")
	require.LessOrEqual(t, z.asked.Load(), int32(maxQueries))

	z = newZone() // servers of a domain: each is looked up, and RFC 7208 counts them once
	z.txt["acme.test"] = []string{"v=spf1 mx:a.acme.test mx:b.acme.test mx:c.acme.test mx:d.acme.test ip4:192.0.2.1 -all"}
	for _, d := range []string{"a", "b", "c", "d"} {
		for i := range 10 {
			host := fmt.Sprintf("%s%d.acme.test", d, i)
			z.mx[d+".acme.test"] = append(z.mx[d+".acme.test"], &net.MX{Host: host})
			z.ip[host] = []net.IPAddr{{IP: net.ParseIP("198.51.100.1")}}
		}
	}
	v = Checker{z}.Check(t.Context(), []byte(plain), "ada@acme.test", ours)
	require.False(t, v.Aligned, "%+v", v)
	require.LessOrEqual(t, z.asked.Load(), int32(maxQueries))

	z = newZone() // signatures without number
	mail := plain
	for range 10 {
		mail = signed(t, mail, "evil.test", evilKey)
	}
	Checker{z}.Check(t.Context(), []byte(signed(t, mail, "acme.test", acmeKey)), "ada@acme.test", evils)
	require.LessOrEqual(t, z.asked.Load(), int32(maxSignatures+2))
}

// A mail of ours comes back as it was sent, by a forwarder that changes nothing.
func TestForwarded(t *testing.T) {
	t.Parallel()
	mail := "Received: from a by b\r\nReturn-Path: <list@other.test>\r\n" + signed(t, plain, "acme.test", acmeKey)
	v := Checker{newZone()}.Check(t.Context(), []byte(mail), "ada@acme.test", Envelope{Client: netip.MustParseAddr("198.51.100.7"), Helo: "x", Sender: "list@other.test"})
	require.True(t, v.Aligned, "%+v", v)
}
