package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime/debug"
	"time"

	"atrium/internal/agent"
	"atrium/internal/billing"
	"atrium/internal/billing/document"
	"atrium/internal/billing/stripe"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/run"
)

type serveCmd struct {
	dataFlags
	accountFlags
	issuerFlags
	billingFlags
	modelFlags
	Listen           string        `default:"127.0.0.1:8443" help:"Address of the API; HTTPS only."`
	AdminListen      string        `default:"127.0.0.1:9443" help:"Address for health, metrics and operators; plain HTTP, keep it on loopback."`
	BaseURL          string        `help:"Address that callers use (default: https:// and the listening address)."`
	AuthURL          string        `help:"Address of the identity provider (default: the base URL)."`
	Role             string        `default:"all" enum:"all,api,worker" help:"all, api or worker."`
	DatabaseReadURL  string        `help:"Streaming replica of that PostgreSQL, as postgres://…: it answers lists while it keeps up, with all that was committed before."`
	RedisURL         string        `help:"Redis that counts calls and streams for several nodes; without it, or while it is away, each node counts for itself."`
	NoDemo           bool          `help:"Make no demo company in an empty database."`
	NoAgents         bool          `help:"Work no runs of agents on this node, and do nothing that was approved; they wait."`
	Drain            time.Duration `default:"5s" help:"How long calls are still taken after the node was told to stop, and says that it is not ready."`
	AccessLog        string        `default:"errors" enum:"off,errors,all" help:"Calls that get a JSON line on stderr: off, errors (answers of 5xx, and those slower than a second) or all."`
	AuditCheckpoints string        `help:"Where signed checkpoints of the audit log are kept, hourly and at the end: a file that is appended to, or a URL that they are posted to."`

	DevClock bool `help:"Let POST /dev/clock on the admin listener move time forward. Never in production."`

	TLSCert       string   `help:"Certificate file, read again when it changes (default: one by the CA in the data folder)." type:"path"`
	TLSKey        string   `help:"Key file of the certificate." type:"path"`
	ACMEDomain    []string `help:"Get certificates for these names by ACME."`
	ACMEEmail     string   `help:"Contact for the ACME account."`
	ACMEDirectory string   `help:"The ACME directory (default: Let's Encrypt)."`

	ConsoleDir         string `name:"console-dir" help:"Serve the web console's files from this folder, read anew for every call: for development." type:"path" hidden:""`
	GraphQLTrustedOnly string `name:"graphql-trusted-only" help:"Manifest of GraphQL documents by the SHA-256 of their text, in JSON: callers with a session cookie run these, the web console's own, and no others." type:"path"`

	SMTPListen string `name:"smtp-listen" help:"Address of a listener that takes mail for the companies' mailboxes, such as :25; needs --mail-domain."`
	MailDomain string `help:"Domain of the mailboxes' addresses at this server; its MX record leads to --smtp-listen."`
	MailReturn bool   `name:"mail-return" help:"Send mails that can be answered from the address that answers go to, so that a mail which does not arrive is noted at its reader; the SPF record of the mailboxes' domains must name the server of --smtp-url."`

	Clamd string `help:"Virus scanner for attached files: clamd at host:port, or the path of its socket. Without one nothing is scanned."`

	WebhookRetries []time.Duration `default:"30s,2m,10m,1h,6h" help:"Waits before the retries of a webhook delivery."`
	EgressAllow    []netip.Prefix  `help:"Private networks that outbound calls may reach, as CIDR."`
	EgressCA       string          `help:"CAs that outbound calls trust besides the system's." type:"path"`
}

// servingLock is how long a write of the server waits for another process that holds SQLite's lock, such as an import. A call may
// first wait for the group of writes before its own and for the jobs' connection, and must be answered within 10 s.
const servingLock = 3 * time.Second

// Run serves until the process is told to stop.
func (m *serveCmd) Run(ctx context.Context) (err error) {
	run.TuneGC()
	if (m.TLSCert == "") != (m.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key go together")
	}
	if m.Drain < 0 {
		return errors.New("--drain must not be negative")
	}
	if m.FilesDir == "" && m.FilesURL == "" && (m.RedisURL != "" || m.Role != "all") {
		return errors.New("several nodes need --files-dir, a folder that all of them share, or --files-url")
	}
	if m.SMTPListen != "" && m.MailDomain == "" {
		return errors.New("--smtp-listen needs --mail-domain")
	}
	if m.InvoiceFont != nil {
		if err := document.CheckFont(m.InvoiceFont); err != nil {
			return fmt.Errorf("--invoice-font: %w", err)
		}
	}
	outside, err := egress.New(egress.Options{Allow: m.EgressAllow, CAFile: m.EgressCA})
	if err != nil {
		return fmt.Errorf("--egress-ca: %w", err)
	}
	m.readURL, m.lockTime = m.DatabaseReadURL, servingLock
	c, err := m.open(ctx, outside)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	stopTracing, err := startTracing(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopTracing()) }()
	s := &server{serveCmd: m, core: c, told: ctx.Done(), outside: outside, metrics: newMetrics()}
	models, err := s.models()
	if err != nil {
		return err
	}
	s.door = agent.NewDoor(c.engine, models)
	c.engine.Agents, c.engine.NoAgents = s.door, m.NoAgents // a node with an API executes approved actions
	if err := s.build(ctx); err != nil {
		return err
	}
	debug.FreeOSMemory() // returns the memory used to read policies, schemas and migrations
	drained, cancel := run.Drained(ctx, c.log, m.Drain)
	defer cancel()
	return run.All(drained, c.log, s.parts...)
}

// accountFlags configure signing in and mails.
type accountFlags struct {
	SMTPURL           string `name:"smtp-url" help:"Mail server: smtp://user:password@host (STARTTLS) or smtps://…; without one, mails are files in the data folder's outbox."`
	MailFrom          string `help:"Sender of mails, \"Name <address>\"; needed with --smtp-url."`
	DKIMKeyFile       string `name:"dkim-key-file" help:"Private key (PEM, RSA or Ed25519) that mails sent by --smtp-url are signed with, for the domain of --mail-from; the start logs the DNS record to publish." type:"path"`
	DKIMSelector      string `name:"dkim-selector" default:"atrium" help:"Name of the key's DNS record: SELECTOR._domainkey.DOMAIN."`
	SMSURL            string `name:"sms-url" help:"Address that text messages are posted to, as {\"to\", \"text\"}; \"console\" logs them instead, for development. Without it telephones cannot be enrolled."`
	SMSToken          string `name:"sms-token" help:"Bearer token for --sms-url."`
	SMSPerDay         int    `name:"sms-per-day" default:"1000" help:"Text messages that the installation sends in a day for signing in; half as many are sent for enrolling telephones."`
	SignUp            bool   `name:"signup" help:"Let anybody open a company at /signup."`
	BreachedPasswords string `help:"File of breached passwords' SHA-1 hashes, sorted, as Have I Been Pwned publishes them: they are refused." type:"path"`
}

// billingFlags configure payments.
type billingFlags struct {
	InvoiceFrom         []string `help:"Lines of the seller on invoices: name, address, tax number."`
	InvoiceFont         []byte   `help:"TrueType font (.ttf) of invoices as PDF files, for names beyond Latin, Greek and Cyrillic letters." type:"filecontent"`
	StripeKey           string   `help:"Secret key of Stripe, which then charges what credits leave of invoices. Without it, payments are noted by the operator."`
	StripeWebhookSecret string   `help:"Signing secret of Stripe's webhooks to /stripe/webhook, which make slow payments known at once."`
	StripeURL           string   `name:"stripe-url" help:"Another address of Stripe's API, for tests." hidden:""`
}

// charges returns the payment provider; nil if the operator records payments.
func (f billingFlags) charges() billing.Provider {
	if f.StripeKey == "" {
		return nil
	}
	return stripe.New(f.StripeKey, f.StripeURL)
}
