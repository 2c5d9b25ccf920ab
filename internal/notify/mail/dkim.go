package mail

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/mail"
	"os"
	"regexp"
	"strings"

	"github.com/emersion/go-msgauth/dkim"
	gomail "github.com/wneessen/go-mail"
)

// DKIM signs mails for the domain of their sender (RFC 6376), so that receivers know that they come from it and were not changed.
type DKIM struct {
	Domain, Selector string
	key              crypto.Signer
}

// labels is what a selector looks like.
var labels = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`)

// ReadDKIM reads the private key, a PEM file of RSA (2,048 bits or more) or Ed25519, and returns the signer for the domain of from, which
// is written as in Options. Its errors contain nothing of the key.
func ReadDKIM(file, selector, from string) (*DKIM, error) {
	address, err := mail.ParseAddress(from)
	if err != nil {
		return nil, errors.New("a sender's address is needed to sign for its domain")
	}
	_, domain, _ := strings.Cut(address.Address, "@")
	if len(selector) > 63 || !labels.MatchString(selector) {
		return nil, errors.New("the selector is no name of DNS")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	key, err := parseKey(text)
	if err != nil {
		return nil, err
	}
	return &DKIM{Domain: strings.ToLower(domain), Selector: selector, key: key}, nil
}

func parseKey(text []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("the file has no key as PEM")
	}
	var key any
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		if key, err = x509.ParsePKCS1PrivateKey(block.Bytes); err != nil {
			return nil, errors.New("the file has no private key that can be read")
		}
	}
	switch key := key.(type) {
	case *rsa.PrivateKey:
		if key.N.BitLen() < 2048 {
			return nil, errors.New("the key has fewer than 2,048 bits")
		}
		return key, nil
	case ed25519.PrivateKey:
		return key, nil
	}
	return nil, errors.New("the key is neither of RSA nor of Ed25519")
}

// Record returns the name and the text of the TXT record by which receivers verify the signatures.
func (d *DKIM) Record() (name, text string) {
	kind, public := "ed25519", []byte(nil)
	switch key := d.key.Public().(type) {
	case ed25519.PublicKey:
		public = key
	case *rsa.PublicKey:
		kind = "rsa"
		public, _ = x509.MarshalPKIXPublicKey(key) // cannot fail for a key that was read
	}
	return d.Selector + "._domainkey." + d.Domain, "v=DKIM1; k=" + kind + "; p=" + base64.StdEncoding.EncodeToString(public)
}

// signed are the fields that a signature covers. Those that are named once more than they are there cannot be added on the way.
var signed = []string{
	"From", "From", "To", "To", "Subject", "Subject", "Date", "Message-ID", "Reply-To", "In-Reply-To", "References", "Auto-Submitted",
	"MIME-Version",
	"Content-Type", "Content-Type", "Content-Transfer-Encoding", "List-Unsubscribe", "List-Unsubscribe-Post",
}

// sign adds the signature to a message. go-mail writes a message the same each time, boundaries included.
func (d *DKIM) sign(m *gomail.Msg) error {
	var text bytes.Buffer
	if _, err := m.WriteTo(&text); err != nil {
		return fmt.Errorf("write the mail: %w", err)
	}
	signer, err := dkim.NewSigner(&dkim.SignOptions{
		Domain: d.Domain, Selector: d.Selector, Signer: d.key, HeaderKeys: signed,
		HeaderCanonicalization: dkim.CanonicalizationRelaxed, BodyCanonicalization: dkim.CanonicalizationRelaxed,
	})
	if err != nil {
		return fmt.Errorf("sign the mail: %w", err)
	}
	_, err = signer.Write(text.Bytes())
	if err = errors.Join(err, signer.Close()); err != nil {
		return fmt.Errorf("sign the mail: %w", err)
	}
	name, value, _ := strings.Cut(strings.TrimSuffix(signer.Signature(), "\r\n"), ": ")
	m.SetGenHeaderPreformatted(gomail.Header(name), value)
	return nil
}
