package main_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var updateYear = flag.Bool("update-year", false, "write testdata/billing_year.golden anew")

// TestBillingYear runs two companies through the year 2096 with the development clock, and compares what the product reports with
// a file that a person can check by hand. Processes are killed while they change plans, and between the charge of a card and its
// record. The result is the same on both databases.
//
// Time goes on while the test runs. The moments are chosen so that one more minute rounds to the same cents.
func TestBillingYear(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		y := openYear(t, p)
		y.at("2096-01-31")
		y.company("golden", "Golden Ltd")
		y.company("late", "Late Ltd")
		y.say("Golden subscribes to Pro, and its card is charged.")
		y.ok("company", "payment-method", "--company", y.ids["golden"], "--customer", "cus_golden", "--method", "pm_1")
		y.change("golden", "pro")
		y.work()
		y.say("Late subscribes to Starter, and pays by bank transfer.")
		y.change("late", "starter")
		y.ok("invoice", "pay", "--company", y.ids["late"], "--invoice", y.invoices("late")[0].ID, "--reference", "SEPA 1")

		y.at("2096-02-15")
		y.say("Golden upgrades to Starter. The month from 31 January to 29 February has 29 days, and 14 are left:")
		y.say("(99.00 - 29.00) x 14 / 29 = 33.793, that is 33.79. The process is killed while it changes the plan.")
		y.killedChange("golden", "starter", false)
		y.work()

		y.at("2096-03-10")
		y.say("Golden has renewed on 29 February, for 99.00. It gets 15.00 for a disruption.")
		y.ok("credit", "issue", "--company", y.ids["golden"], "--amount", "1500", "--reason", "disruption", "--description", "Outage of 9 March")

		y.at("2096-03-16")
		y.say("Golden upgrades to Growth. The month from 29 February to 31 March has 31 days, and 15 are left:")
		y.say("(299.00 - 99.00) x 15 / 31 = 96.774, that is 96.77; the credit takes off 15.00, and 81.77 are due.")
		y.say("The card is refused. A day later the bank takes the money, and the process is killed before it hears of that.")
		y.bank.set(refuse)
		y.change("golden", "growth")
		y.work()
		y.bank.set(kill)
		y.later("24h")
		<-y.node.ended
		y.start()
		y.bank.set(take)
		y.later("11m")
		y.mails("golden", "Payment of invoice INV-000004 failed")

		y.at("2096-03-20")
		y.say("Late gets 40.00 as a promotion, and cancels on 21 March.")
		y.ok("credit", "issue", "--company", y.ids["late"], "--amount", "4000", "--reason", "promotion", "--description", "Spring")
		y.at("2096-03-21")
		y.cancel("late")

		y.at("2096-04-15")
		y.say("Golden downgrades to Starter. The month from 31 March to 30 April has 30 days, and 15 are left:")
		y.say("(299.00 - 99.00) x 15 / 30 = 100.00 come back as a credit.")
		y.work() // only what was paid comes back: the invoice of this month is made and charged
		y.killedChange("golden", "starter", true)

		y.at("2096-04-21")
		y.say("Late comes back on day 31: its 40.00 were lost on 20 April, and Pro costs 29.00 whole.")
		y.change("late", "pro")

		y.at("2096-07-10")
		y.say("Golden has renewed on 30 April (99.00 by the credit), 31 May (1.00 by the credit) and 30 June.")
		y.say("It gets 50.00, and cancels: nothing is given back for July.")
		y.ok("credit", "issue", "--company", y.ids["golden"], "--amount", "5000", "--reason", "adjustment", "--description", "Goodwill")
		y.cancel("golden")
		y.node.kill()
		y.start()

		y.at("2096-08-08")
		y.say("Golden comes back on day 29: its 50.00 are there, and pay for Pro. It renews on the 8th of each month.")
		y.change("golden", "pro")
		y.at("2097-01-31")
		y.work()

		y.documents()
		require.Equal(t, 1, y.bank.most(), "the bank took a payment more than once")
		path := filepath.Join("testdata", "billing_year.golden")
		got := y.story()
		if *updateYear {
			require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), got)
		requireHealthy(t, p)
	})
}

// year is a server with a development clock, and the owners of its companies.
type year struct {
	place
	node  *node
	bank  *bankServer
	now   time.Time
	text  strings.Builder
	ids   map[string]string
	email map[string]string
	owner map[string]string // access tokens of owners, issued since the server started
	keys  int
}

func openYear(t *testing.T, p place) *year {
	y := &year{place: p, ids: map[string]string{}, email: map[string]string{}, bank: &bankServer{intents: map[string]string{}, taken: map[string]int{}}}
	srv := httptest.NewServer(y.bank)
	t.Cleanup(srv.Close)
	y.bank.url = srv.URL
	y.start()
	return y
}

// start starts the server, also after a kill.
func (y *year) start() {
	y.node = y.serve("ATRIUM_STRIPE_KEY=sk_test_123", "ATRIUM_STRIPE_URL="+y.bank.url, "ATRIUM_STRIPE_WEBHOOK_SECRET=whsec_1", "--dev-clock", "--no-demo", "--invoice-from", "Seller Ltd")
	y.owner = map[string]string{} // none is valid for longer than a year
	y.bank.kills(y.node.kill)
	y.now = y.node.advance("1ns")
}

func (y *year) say(line string) { fmt.Fprintf(&y.text, "            %s\n", line) }

// at moves the clock to ten o'clock on a day.
func (y *year) at(day string) {
	y.t.Helper()
	at, err := time.Parse(time.DateOnly, day)
	require.NoError(y.t, err)
	_, _ = fmt.Fprintf(&y.text, "%s\n", day)
	y.later(at.Add(10 * time.Hour).Sub(y.node.advance("1ns")).String())
}

// later moves the clock and waits for the jobs that became due.
func (y *year) later(by string) {
	y.t.Helper()
	a, err := send(y.client(), "POST", y.node.admin+"/dev/clock", "", `{"advance":"`+by+`"}`)
	if err == nil { // otherwise the process was killed
		require.Equal(y.t, 200, a.status, a.body)
	}
}

// work makes the minutely job run.
func (y *year) work() { y.later("61s") }

func (y *year) company(as, name string) {
	y.email[as] = as + "@year.example"
	made := y.object("company", "create", "--name", name, "--plan", "free", "--owner-email", y.email[as])
	y.ids[as] = made["company"].(map[string]any)["id"].(string)
}

// token returns an access token of a company's owner.
func (y *year) token(as string) string {
	y.t.Helper()
	if y.owner[as] == "" {
		y.owner[as] = y.object("token", "create", "--company", y.ids[as], "--user", y.email[as], "--ttl", "8760h")["accessToken"].(string)
	}
	return y.owner[as]
}

// ask runs a GraphQL document as a company's owner. key is an idempotency key, or empty.
func (y *year) ask(as, key, document string, into any) {
	y.t.Helper()
	body, err := json.Marshal(map[string]any{"query": document})
	require.NoError(y.t, err)
	var header []string
	if key != "" {
		header = []string{"Idempotency-Key", key}
	}
	a := y.node.call(y.client(), 200, "POST", "/graphql", y.token(as), string(body), header...)
	var out struct {
		Data   json.RawMessage
		Errors []any
	}
	require.NoError(y.t, json.Unmarshal([]byte(a.body), &out), a.body)
	require.Empty(y.t, out.Errors)
	if into != nil {
		require.NoError(y.t, json.Unmarshal(out.Data, into))
	}
}

func changing(plan string) string {
	return `mutation { changePlan(input: {plan: ` + plan + `}) { company { plan } } }`
}

func (y *year) change(as, plan string) { y.ask(as, "", changing(plan), nil) }

func (y *year) cancel(as string) {
	y.ask(as, "", `mutation { cancelSubscription(input: {}) { company { plan } } }`, nil)
}

// killedChange kills the server while it changes a plan, or right after its answer, and repeats the call with the same
// idempotency key. Whether or not the change was committed, it happens once.
func (y *year) killedChange(as, plan string, answered bool) {
	y.keys++
	key, token, c := fmt.Sprintf("change-%d", y.keys), y.token(as), y.client()
	body, err := json.Marshal(map[string]any{"query": changing(plan)})
	require.NoError(y.t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = send(c, "POST", y.node.base+"/graphql", token, string(body), "Idempotency-Key", key) // the call may get no answer
	}()
	if answered {
		<-done
	}
	y.node.kill()
	<-done
	y.start()
	y.ask(as, key, changing(plan), nil)
}

// mails asserts that a company's owner got a mail with the subject.
func (y *year) mails(as, subject string) {
	files, err := filepath.Glob(filepath.Join(y.data, "outbox", "*.eml"))
	require.NoError(y.t, err)
	for _, name := range files {
		b, err := os.ReadFile(name)
		require.NoError(y.t, err)
		if strings.Contains(string(b), subject) && strings.Contains(string(b), y.email[as]) {
			return
		}
	}
	require.Fail(y.t, "no mail says "+subject)
}

type yearInvoice struct {
	ID, Number, Status string
	Lines              []struct {
		Description string
		Amount      int64
	}
	Subtotal, CreditsApplied, AmountDue int64
	PeriodStart, PeriodEnd, CreatedAt   time.Time
	PdfURL                              string
}

type yearEntry struct {
	Date, Type, Description string
	Amount, Balance         int64
	InvoiceID               *string
}

// invoices returns a company's invoices, oldest first.
func (y *year) invoices(as string) []yearInvoice {
	y.t.Helper()
	var out struct {
		Invoices struct{ Edges []struct{ Node yearInvoice } }
	}
	y.ask(as, "", `{ invoices(first: 100) { edges { node {
		id number status lines { description amount } subtotal creditsApplied amountDue periodStart periodEnd createdAt pdfUrl } } } }`, &out)
	var all []yearInvoice
	for _, e := range out.Invoices.Edges {
		all = append(all, e.Node)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Number < all[j].Number })
	return all
}

// documents asserts that an invoice's file opens for callers who may read the invoice, with any kind of credential.
func (y *year) documents() {
	c, inv := y.client(), y.invoices("golden")[0]
	require.Equal(y.t, y.node.base+"/invoices/"+inv.ID+".pdf", inv.PdfURL)
	a := y.node.call(c, 200, "GET", "/invoices/"+inv.ID+".pdf", y.token("golden"), "")
	require.True(y.t, strings.HasPrefix(a.body, "%PDF-"))
	page := y.node.call(c, 200, "GET", "/invoices/"+inv.ID, y.token("golden"), "")
	require.Contains(y.t, page.body, "Golden Ltd")
	require.Contains(y.t, page.body, "Seller Ltd")
	y.node.call(c, 404, "GET", "/invoices/"+inv.ID+".pdf", y.token("late"), "")
	y.node.call(c, 401, "GET", "/invoices/"+inv.ID+".pdf", "", "")
	y.node.call(c, 400, "POST", "/stripe/webhook", "", `{"object": "event"}`)
	require.NotContains(y.t, y.node.err.String(), "Golden")
	require.NotContains(y.t, y.node.err.String(), "sk_test_123")
}

// story returns the text that the golden file holds: what happened, and what the product reports.
func (y *year) story() string {
	day := func(t time.Time) string { return t.UTC().Format(time.DateOnly) }
	var b strings.Builder
	b.WriteString(y.text.String())
	for _, as := range []string{"golden", "late"} {
		numbers := map[string]string{}
		_, _ = fmt.Fprintf(&b, "\nInvoices of %s\n%-10s  %-10s  %-10s  %-10s  %8s  %8s  %8s  %s\n", as, "number", "made", "from", "until", "subtotal", "credits", "due", "status")
		for _, inv := range y.invoices(as) {
			numbers[inv.ID] = inv.Number
			_, _ = fmt.Fprintf(&b, "%-10s  %-10s  %-10s  %-10s  %8s  %8s  %8s  %-4s  %s\n", inv.Number, day(inv.CreatedAt), day(inv.PeriodStart), day(inv.PeriodEnd),
				cents(inv.Subtotal), cents(inv.CreditsApplied), cents(inv.AmountDue), inv.Status, inv.Lines[0].Description)
		}
		var history struct {
			CreditHistory struct{ Edges []struct{ Node yearEntry } }
		}
		y.ask(as, "", `{ creditHistory(first: 100) { edges { node { date type amount description invoiceId balance } } } }`, &history)
		_, _ = fmt.Fprintf(&b, "\nCredits of %s\n%-10s  %-9s  %8s  %8s  %s\n", as, "date", "type", "amount", "balance", "description")
		edges := history.CreditHistory.Edges
		for i := len(edges) - 1; i >= 0; i-- {
			e, of := edges[i].Node, ""
			if e.InvoiceID != nil {
				of = " (" + numbers[*e.InvoiceID] + ")"
			}
			_, _ = fmt.Fprintf(&b, "%-10s  %-9s  %8s  %8s  %s%s\n", e.Date[:10], e.Type, cents(e.Amount), cents(e.Balance), e.Description, of)
		}
		_, _ = fmt.Fprintf(&b, "\nTrial balance of %s\n", as)
		var sum int64
		for _, row := range column(y.t, y.place, `SELECT account || ' ' || CAST(sum(amount) AS BIGINT) FROM journal_lines WHERE company_id = '`+y.ids[as]+`' GROUP BY account ORDER BY account`) {
			var account string
			var amount int64
			_, err := fmt.Sscan(row, &account, &amount)
			require.NoError(y.t, err)
			sum += amount
			_, _ = fmt.Fprintf(&b, "%-10s  %10s\n", account, cents(amount))
		}
		_, _ = fmt.Fprintf(&b, "%-10s  %10s\n", "sum", cents(sum))
	}
	_, _ = fmt.Fprintf(&b, "\nWhat the bank did for golden\n%s", y.bank.log())
	return b.String()
}

func cents(n int64) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%02d", sign, n/100, n%100)
}

// What the bank does with the next new charge.
const (
	take   = "takes"
	refuse = "refuses"
	kill   = "takes, and nobody hears of it"
)

// bankServer implements the part of Stripe's protocol that the product uses, and records the charges that it accepted.
type bankServer struct {
	url     string
	mu      sync.Mutex
	does    string
	killing func()
	order   []string          // the payment intents as JSON, oldest first
	intents map[string]string // by idempotency key
	taken   map[string]int    // number of charges by invoice
	lines   []string
}

func (b *bankServer) set(does string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.does = does
}

func (b *bankServer) kills(fn func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.killing = fn
}

func (b *bankServer) most() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, times := range b.taken {
		n = max(n, times)
	}
	return n
}

func (b *bankServer) log() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	lines := slices.Clone(b.lines)
	slices.SortStableFunc(lines, func(x, y string) int { return strings.Compare(x[:18], y[:18]) }) // several invoices are charged at the same time
	return strings.Join(lines, "")
}

func (b *bankServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method == http.MethodGet:
		var out []string
		for i := len(b.order) - 1; i >= 0; i-- {
			out = append(out, b.order[i])
		}
		_, _ = fmt.Fprintf(w, `{"object":"list","has_more":false,"data":[%s]}`, strings.Join(out, ","))
	case strings.HasSuffix(r.URL.Path, "/cancel"):
		_, _ = fmt.Fprint(w, `{"id":"pi","object":"payment_intent","status":"canceled"}`)
	default:
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body))
		key := r.Header.Get("Idempotency-Key")
		if intent, ok := b.intents[key]; ok {
			_, _ = fmt.Fprint(w, intent)
			return
		}
		does, status := b.does, "succeeded"
		if does == refuse {
			status = "requires_payment_method"
		}
		intent := fmt.Sprintf(`{"id":"pi_%d","object":"payment_intent","status":%q,"metadata":{"payment":%q}}`, len(b.order)+1, status, form.Get("metadata[payment]"))
		b.order, b.intents[key] = append(b.order, intent), intent
		if does == "" {
			does = take
		}
		var amount int64
		_, _ = fmt.Sscan(form.Get("amount"), &amount)
		b.lines = append(b.lines, fmt.Sprintf("%-18s  %8s  %s\n", form.Get("description"), cents(amount), does))
		if does == refuse {
			w.WriteHeader(http.StatusPaymentRequired)
			_, _ = fmt.Fprintf(w, `{"error":{"type":"card_error","code":"card_declined","message":"No.","payment_intent":%s}}`, intent)
			return
		}
		b.taken[form.Get("metadata[invoice]")]++
		if does == kill {
			b.killing()
			panic(http.ErrAbortHandler)
		}
		_, _ = fmt.Fprint(w, intent)
	}
}
