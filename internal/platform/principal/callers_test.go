package principal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// bypasses lists by file every call of principal.System and AsSystem in product code: how many there are and why they may cross
// companies. A new call must be added here, with the reason why no principal will do.
var bypasses = map[string]struct {
	calls int
	why   string
}{
	"cmd/atrium/devclock.go":                     {1, "the development clock belongs to the installation"},
	"cmd/atrium/audit.go":                        {1, "the operator verifies the logs of all companies"},
	"internal/op/audit/merkle/edge.go":           {1, "a proof needs every leaf of a company's log; each query names the company"},
	"cmd/atrium/demo.go":                         {2, "whether any company exists is asked before one does"},
	"cmd/atrium/masterkey.go":                    {2, "whether anything was sealed is asked of all companies, before a key is made"},
	"cmd/atrium/setting.go":                      {3, "settings belong to the installation"},
	"internal/identity/access/end.go":            {1, "sign-ins belong to no company, and what one person has open to several"},
	"internal/identity/authn/authn.go":           {1, "a credential says which company it belongs to; before that there is none"},
	"internal/platform/ratelimit/daycounts.go":   {2, "daily counts of all credentials are kept together"},
	"internal/identity/authn/lastused.go":        {1, "last-used times of all keys are written in one transaction"},
	"internal/billing/renew.go":                  {1, "the accounts of all companies come due"},
	"internal/billing/charge.go":                 {1, "invoices of all companies come due"},
	"internal/billing/preview.go":                {1, "links in mails belong to no company"},
	"internal/billing/subscription.go":           {1, "a company and its sandbox are two companies, whose plan is one"},
	"internal/people/company/create.go":          {1, "a company that is being made has nobody who could act in it"},
	"cmd/atrium/demo/demo.go":                    {1, "whether the demo company is there is asked before its owner acts in it"},
	"cmd/atrium/demo/people.go":                  {1, "accounts of the demo company's people belong to no company"},
	"internal/people/company/retention.go":       {1, "a company and its sandbox are two companies, which keep as long"},
	"internal/people/erasure/entries.go":         {1, "companies whose audit entries have a time to live are looked up together"},
	"internal/people/erase.go":                   {1, "a person's rows stand in the sandbox and with the account, too"},
	"internal/people/company/settings.go":        {2, "a company and its sandbox are two companies, whose settings are one"},
	"cmd/atrium/backup.go":                       {1, "a backup is of all companies"},
	"cmd/atrium/doctor_running.go":               {1, "jobs belong to the installation"},
	"cmd/atrium/doctor_secrets.go":               {1, "the operator looks at the secrets' names of all companies"},
	"internal/desk/attachment/sweep.go":          {3, "files of all companies are swept together"},
	"internal/desk/search/write.go":              {1, "one indexer writes the documents of all companies"},
	"internal/desk/sla/timer/pass.go":            {1, "the clocks of all companies are kept together"},
	"internal/desk/sla/timer/sweep.go":           {1, "the clocks of all companies are kept together"},
	"internal/notify/feed/poller.go":             {1, "changes of all companies that are watched are read together"},
	"internal/webhook/inbound/door.go":           {1, "a webhook says which company its caller calls; before that there is none"},
	"internal/platform/jobs/clock.go":            {1, "jobs belong to the installation"},
	"internal/identity/account/account.go":       {1, "accounts and mailed links belong to no company, and an account's people to several"},
	"internal/identity/account/mails.go":         {2, "links in mails, and the accounts that are told something, belong to no company"},
	"internal/identity/keys.go":                  {1, "signing keys belong to the installation"},
	"internal/identity/origins.go":               {1, "which page asks is not known; any company's client may be its"},
	"internal/identity/provider/answer.go":       {1, "the request that a person answers and the sign-in that answers it belong to no company"},
	"internal/identity/provider/backchannel.go":  {1, "a job names a client, and only the client its company"},
	"internal/identity/provider/token.go":        {2, "the request that a code answers and the sign-in that gave it belong to no company; a sandbox's user is as good as the live one"},
	"internal/identity/rotate.go":                {1, "signing keys belong to the installation"},
	"internal/identity/provider/provider.go":     {1, "an authorization request names a client, and only the client its company"},
	"internal/platform/jobs/sweep.go":            {1, "expired rows of all companies are swept together"},
	"internal/platform/jobs/reaper.go":           {1, "jobs belong to the installation"},
	"internal/platform/jobs/working.go":          {1, "jobs belong to the installation"},
	"internal/identity/signin/reset.go":          {1, "an account's factors belong to no company: resetting them asks the account's other companies"},
	"internal/identity/throttle/throttle.go":     {1, "attempts are counted before anybody is anybody"},
	"internal/identity/signin/signins.go":        {1, "who signs in acts in no company yet; accounts, factors and sign-ins belong to none"},
	"internal/op/tx.go":                          {1, "hands the store's AsSystem on to operations, whose calls are counted themselves"},
	"internal/people/account.go":                 {1, "an invitation finds or makes an account, which belongs to no company"},
	"internal/people/viewer.go":                  {1, "whoever works in the sandbox is a person of the live company"},
	"internal/people/status.go":                  {1, "accounts belong to no company: a user who comes back shows the factors of its account"},
	"internal/people/serviceaccount.go":          {1, "the counterpart of a service account belongs to the sandbox, another company"},
	"internal/identity/client.go":                {2, "a token for the sandbox is of another company than the person whom the operator names; authorization requests are of no company"},
	"internal/notify/mailbox/fetch.go":           {1, "mail is fetched for all companies"},
	"internal/notify/mailbox/hook.go":            {1, "a call names a mailbox, and only the mailbox its company"},
	"internal/notify/mailbox/source.go":          {1, "an address at this server is one mailbox's, whosever it is"},
	"internal/notify/mailbox/take.go":            {4, "a mail says by its address whose it is; before that there is nobody"},
	"internal/notify/notice/digest.go":           {1, "the digests of all companies come due"},
	"internal/people/provision.go":               {1, "accounts belong to no company: whom an issuer vouches for gets one"},
	"internal/identity/issuer/directory.go":      {1, "a token of another issuer says which company it is for; before that there is none"},
	"internal/people/invite.go":                  {2, "accounts and mailed links belong to no company: an invitation finds or makes them"},
	"internal/identity/websession/subject.go":    {1, "a person who signs in is nobody yet"},
	"internal/identity/websession/create.go":     {1, "the browser's earlier session may be of another company"},
	"internal/identity/websession/logout.go":     {1, "a cookie says whose session it is; before that there is nobody"},
	"internal/identity/websession/operations.go": {1, "a session that works in the sandbox is the live company's"},
	"internal/people/transfer/export.go":         {1, "a company is read whole, with its sandbox"},
	"internal/people/transfer/import.go":         {1, "a company that comes has nobody yet who could act in it"},
	"internal/webhook/outcome.go":                {1, "the owners of a sandbox are those of its live company"},
	"internal/webhook/sweep.go":                  {1, "the history of all companies is swept together"},
	"internal/notify/mail/outbox.go":             {1, "a mail may be to an account, which belongs to no company"},
	"internal/platform/store/store.go":           {1, "AsSystem itself"},
	"internal/platform/store/analyze.go":         {1, "statistics are of whole tables"},
}

// Every bypass of the tenancy guards is listed with its reason.
func TestBypassesAreKnown(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	found := map[string]int{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch rel = filepath.ToSlash(rel); {
			case rel != "." && strings.HasPrefix(d.Name(), "."), d.Name() == "node_modules",
				rel == "internal/test": // only for tests
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if n := calls(f); n > 0 {
			found[filepath.ToSlash(rel)] += n
		}
		return nil
	})
	require.NoError(t, err)
	for file, n := range found {
		require.Equal(t, bypasses[file].calls, n, "%s calls principal.System or AsSystem: is that needed? List it with its reason", file)
	}
	for file, b := range bypasses {
		require.NotEmpty(t, b.why, file)
		require.Positive(t, found[file], "%s crosses companies no more: strike it off the list", file)
	}
}

// calls counts the uses of System of package principal, under whatever name it is imported, and of any AsSystem. A mention
// without a call (a function value) counts as well. The reasons are not checked: an empty one fails closed, and one that is
// not constant text cannot be read from the syntax tree.
func calls(f *ast.File) int {
	name := ""
	for _, imp := range f.Imports {
		if path, err := strconv.Unquote(imp.Path.Value); err == nil && path == "atrium/internal/platform/principal" {
			if name = "principal"; imp.Name != nil {
				name = imp.Name.Name
			}
		}
	}
	if name == "." {
		panic(fmt.Sprintf("%s imports principal into its own names: its calls cannot be counted", f.Name))
	}
	n := 0
	ast.Inspect(f, func(node ast.Node) bool {
		sel, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && name != "" && x.Name == name && sel.Sel.Name == "System" || sel.Sel.Name == "AsSystem" {
			n++
		}
		return true
	})
	return n
}
