package notice_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/desk/request"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/people/company"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// signed returns the context of a person who calls by a method; one of a session has its id.
func (d *desk) signed(u *ent.User, method principal.Method) context.Context {
	who, _ := principal.From(d.AsUser(u))
	by := *who
	by.Method = method
	if method == principal.MethodSession {
		by.SessionID = "ses_1"
	}
	return principal.With(context.Background(), &by)
}

// receives files a request and returns what its requester is mailed of it.
func (d *desk) receives(as context.Context, of *ent.User, in request.CreateInput) []string {
	d.t.Helper()
	before := len(d.mails.of(of))
	in.ServiceID, in.OfferingID, in.Title = d.offering.ServiceID, d.offering.ID, "Laptop"
	testkit.Run(d.t, d.World, as, request.Create, in)
	d.idle()
	return d.mails.of(of)[before:]
}

// Whoever signs in and submits a request gets one mail with what they have submitted, which is no news to them in the list.
func TestReceipts(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who, staff := d.A.Users[principal.Member], d.A.Users[principal.Agent]
		testkit.Run(t, d.World, d.As(d.A, principal.Owner), catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: d.offering.ID}, Form: op.SetTo(form.Definition{Fields: []form.Field{
			{Key: "model", Label: "Which model?", Type: form.Select, Options: []string{"14 inch", "16 inch"}},
			{Key: "memory", Type: form.Number}, {Key: "boss", Type: form.User}, {Key: "bag", Type: form.Boolean}, {Key: "more", Type: form.Text},
			{Key: "plugs", Label: "Plugs", Type: form.MultiSelect, Options: []string{"EU", "UK", "US"}},
		}})})
		full := request.CreateInput{
			Description: new("The old one <b>broke</b>."),
			Fields:      map[string]any{"model": "14 inch", "memory": 32.5, "boss": staff.ID, "bag": true, "plugs": []any{"EU", "UK"}},
		}
		got := d.receives(d.signed(who, principal.MethodSession), who, full)
		all := d.told(d.AsUser(who), new(false))
		require.Len(t, all, 1)
		require.Equal(t, []string{"Received: #1 Laptop", "progress"}, []string{all[0].Subject, string(all[0].Kind)})
		require.Equal(t, []string{"receipt: #1 Laptop\nWe have received your request.\nWhich model?: 14 inch\nmemory: 32.5\nbag: ✓\nPlugs: EU, UK\nThe old one <b>broke</b>.\n/requests/" +
			*all[0].RequestID}, got)
		require.Len(t, d.receives(d.signed(who, principal.MethodBearer), who, request.CreateInput{}), 1, "by an application")
		require.Empty(t, d.receives(d.signed(who, principal.MethodAPIKey), who, request.CreateInput{}), "by a key")
		require.Empty(t, d.receives(d.AsUser(who), who, request.CreateInput{}), "by what goes on in their name, as a schedule does")
		filed := d.receives(d.signed(staff, principal.MethodSession), who, request.CreateInput{RequesterID: &who.ID})
		require.Len(t, filed, 1, "by staff, for them")
		require.Contains(t, filed[0], staff.Name+" submitted this request for you.")
		require.Empty(t, d.told(d.AsUser(staff), nil))
	})
}

// Members get receipts and staff do not, unless they choose otherwise.
func TestWhoGetsReceipts(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who, staff := d.A.Users[principal.Member], d.A.Users[principal.Agent]
		gets := func(member, agent bool) {
			t.Helper()
			for u, want := range map[*ent.User]bool{who: member, staff: agent} {
				require.Equal(t, want, len(d.receives(d.signed(u, principal.MethodSession), u, request.CreateInput{})) == 1, u.Role)
				setting := testkit.Run(t, d.World, d.AsUser(u), notice.GetSettings, struct{}{})[2]
				require.Equal(t, []any{notice.Receipt, want}, []any{setting.Kind, setting.Channel == "now"})
			}
		}
		gets(true, false)
		require.Empty(t, d.told(d.AsUser(staff), nil), "it would be no news")
		testkit.Run(t, d.World, d.AsUser(staff), notice.UpdateSettings, notice.Setting{Kind: notice.Receipt, Channel: "now"})
		gets(true, true)
		require.NoError(t, d.Store.Write(principal.System(t.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
			return notice.SwitchOff(ctx, tx, who.ID, notice.Receipt)
		}))
		gets(false, true)
		_, _, err := op.Run(d.AsUser(who), d.Engine, notice.UpdateSettings, notice.Setting{Kind: notice.Receipt, Channel: "digest"}, nil)
		require.Equal(t, "channel", apperr.From(err).Details[0].Field, "a day later it would be of no use")
	})
}

// A company says who gets receipts: members, everybody or nobody. A person's own choice comes first. The default of those who have chosen
// nothing holds for what came by mail only where the company wants no receipts at all.
func TestReceiptsOfACompany(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who, staff := d.A.Users[principal.Member], d.A.Users[principal.Agent]
		gets := func(member, agent, agentByMail bool) {
			t.Helper()
			for u, want := range map[*ent.User]bool{who: member, staff: agent} {
				require.Equal(t, want, len(d.receives(d.signed(u, principal.MethodSession), u, request.CreateInput{})) == 1, u.Role)
				setting := testkit.Run(t, d.World, d.AsUser(u), notice.GetSettings, struct{}{})[2]
				require.Equal(t, []any{notice.Receipt, want}, []any{setting.Kind, setting.Channel == "now"})
			}
			require.Equal(t, agentByMail, len(d.comes(staff)) == 1, "by mail")
		}
		choose := func(receipts string) {
			testkit.Run(t, d.World, d.As(d.A, principal.Admin), company.Update, company.UpdateInput{Receipts: op.SetTo(receipts)})
		}
		gets(true, false, true)
		choose("everyone")
		gets(true, true, true)
		choose("none")
		gets(false, false, false)
		testkit.Run(t, d.World, d.AsUser(who), notice.UpdateSettings, notice.Setting{Kind: notice.Receipt, Channel: "now"})
		gets(true, false, false)
		choose("everyone")
		testkit.Run(t, d.World, d.AsUser(staff), notice.UpdateSettings, notice.Setting{Kind: notice.Receipt, Channel: "never"})
		gets(true, false, false)
	})
}

// A request that came by mail is answered by mail, also to staff, unless they want no receipts.
func TestReceiptsByMail(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		staff := d.A.Users[principal.Agent]
		got := d.comes(staff)
		require.Len(t, got, 1)
		require.Contains(t, got[0], "receipt: #1 Laptop\nWe have received your request. To add something, answer this mail.\n")
		testkit.Run(t, d.World, d.AsUser(staff), notice.UpdateSettings, notice.Setting{Kind: notice.Receipt, Channel: "never"})
		require.Empty(t, d.comes(staff))
	})
}

// comes files a request of a person's by mail, and returns what they are mailed of it.
func (d *desk) comes(of *ent.User) []string {
	d.t.Helper()
	before := len(d.mails.of(of))
	in := request.CreateInput{ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: "Laptop"}
	r := testkit.Run(d.t, d.World, d.AsUser(of), request.Create, in)
	d.insert(notice.ProgressArgs{Company: r.CompanyID, Request: r.ID, Receipt: true})
	d.idle()
	return d.mails.of(of)[before:]
}

// insert adds a job.
func (d *desk) insert(args notice.ProgressArgs) {
	d.t.Helper()
	require.NoError(d.t, d.Store.Write(principal.System(d.t.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
		return d.Queue.InsertTx(ctx, tx, args, d.Clock.Now())
	}))
}
