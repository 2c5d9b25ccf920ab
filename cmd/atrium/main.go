package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"atrium/internal/platform/apperr"
)

// cli is the command line. Every flag also has an ATRIUM_… variable.
type cli struct {
	Serve   serveCmd   `cmd:"" help:"Run the server: the API and the workers."`
	Migrate migrateCmd `cmd:"" help:"Bring the database to this version."`
	Doctor  doctorCmd  `cmd:"" help:"Check data folder, database and certificate, and say what is wrong."`
	Version versionCmd `cmd:"" help:"Print the version."`
	Backup  backupCmd  `cmd:"" help:"Write an installation on SQLite into one file, while it serves."`
	Restore restoreCmd `cmd:"" help:"Make an installation of a backup, in a folder that has none."`
	Company struct {
		Create        companyCreateCmd    `cmd:"" help:"Make a company with its sandbox, owner and keys."`
		Limits        companyLimitsCmd    `cmd:"" help:"Give a company limits of its own."`
		Retention     companyRetentionCmd `cmd:"" help:"Say how long a company keeps what its audit entries tell."`
		Export        companyExportCmd    `cmd:"" help:"Write a company into one encrypted file, to move it to another installation."`
		Import        companyImportCmd    `cmd:"" help:"Make the company of such a file here."`
		PaymentMethod paymentMethodCmd    `cmd:"" help:"Set what the payment provider charges for a company."`
	} `cmd:"" help:"Companies."`
	Key struct {
		Create keyCreateCmd `cmd:"" help:"Issue an API key."`
		Rotate keyRotateCmd `cmd:"" help:"Replace a key's value; the old one stops at once."`
		Revoke keyRevokeCmd `cmd:"" help:"Revoke a key, at once and for good."`
	} `cmd:"" help:"API keys."`
	User struct {
		Invite userInviteCmd `cmd:"" help:"Invite a person into a company."`
	} `cmd:"" help:"People."`
	Client struct {
		Create clientCreateCmd `cmd:"" help:"Register an OAuth client."`
	} `cmd:"" help:"OAuth clients."`
	Mail struct {
		Deliver mailDeliverCmd `cmd:"" help:"Take a message from a file as the mail listener would: for tests."`
	} `cmd:"" help:"Mail of mailboxes."`
	Token struct {
		Create tokenCreateCmd `cmd:"" help:"Issue an access token for a person; audited."`
	} `cmd:"" help:"Access tokens."`
	Credit struct {
		Issue creditIssueCmd `cmd:"" help:"Issue billing credit to a company."`
	} `cmd:"" help:"Billing credits."`
	Invoice struct {
		Draft    invoiceDraftCmd    `cmd:"" help:"Draft an invoice for what was agreed on."`
		Issue    invoiceIssueCmd    `cmd:"" help:"Issue a draft: it gets its number, and credits are applied."`
		Pay      invoicePayCmd      `cmd:"" help:"Note that an invoice was paid."`
		Credit   invoiceCreditCmd   `cmd:"" help:"Correct an invoice by a credit note."`
		Void     invoiceVoidCmd     `cmd:"" help:"Void an invoice that should not have been made, or discard a draft."`
		WriteOff invoiceWriteOffCmd `cmd:"" help:"Give up on an invoice: it is uncollectible."`
	} `cmd:"" help:"Invoices."`
	Audit struct {
		Verify auditVerifyCmd `cmd:"" help:"Compute the audit log anew and compare: every entry, its place, and kept checkpoints."`
		Key    auditKeyCmd    `cmd:"" help:"Print the public key that checkpoints of the audit log are signed with."`
	} `cmd:"" help:"The audit log."`
	Search struct {
		Reindex searchReindexCmd `cmd:"" help:"Write the index of the search anew."`
	} `cmd:"" help:"Finding requests by words."`
	MasterKey struct {
		Rotate masterKeyRotateCmd `cmd:"" help:"Put a new key into the file of the master key; nodes use it from their next start."`
	} `cmd:"" help:"The key that secrets are sealed under."`
}

const description = `Work management for companies: services, requests, workflows, over a REST API.

Every flag can be given as a variable instead: --data as ATRIUM_DATA, --database-url as ATRIUM_DATABASE_URL, and so
on, the same for every command. A flag wins over its variable. Commands find data folder and database as serve does,
and work while it runs.`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	err := execute(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "atrium: "+explain(err))
		os.Exit(1)
	}
}

func execute(ctx context.Context, args []string) error {
	var c cli
	parser, err := kong.New(&c, kong.Name("atrium"), kong.DefaultEnvars("ATRIUM"), kong.Description(description),
		kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		return fmt.Errorf("build the command line: %w", err)
	}
	k, err := parser.Parse(args)
	if err != nil {
		return fmt.Errorf("%w (see atrium --help)", err)
	}
	return k.Run(&c)
}

// explain formats an error for the terminal: a refusal with its public message and details, any other error in full.
func explain(err error) string {
	e, ok := errors.AsType[*apperr.Error](err)
	if !ok || e.Code == apperr.Internal {
		return err.Error()
	}
	out := e.Message
	for _, d := range e.Details {
		out += "\n  " + d.Field + ": " + d.Message
	}
	return out
}
