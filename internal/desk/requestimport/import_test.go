package requestimport_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/auditentry"
	entrequest "atrium/ent/request"
	entimport "atrium/ent/requestimport"
	"atrium/ent/user"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/desk/requestimport"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// jira is a table as another system writes it: its own headings, its own words, times without a zone.
const jira = "\ufeffIssue key;Summary;Description;Status;Priority;Reporter;Assignee;Created;Resolved;Labels;fields.model;fields.price;Votes\r\n" +
	"HD-7;Laptop is slow;\"It is slow;\r\nand loud.\";Done;Highest;%s;;2026-01-05 09:30;06.01.2026 12:00;vip;X1;0.1000000000000000055;3\r\n" +
	"HD-8;No sound;;In Progress;Low;;%s;05/Feb/26 3:04 PM;;;;;\r\n"

// The rows of a table become requests with their dates and their status there, filed by whoever brings them in. Nobody is told, nothing
// starts, and the keys of the other system stay as tags.
func TestRowsBecomeRequests(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		defer d.work()()
		member, agent := d.A.Users[principal.Member], d.A.Users[principal.Agent]
		in := requestimport.CreateInput{CSV: fmt.Sprintf(jira, strings.ToUpper(member.Email), agent.Email), Source: new("jira")}
		i := d.ended(d.bring(d.owner, in).ID)
		require.Equal(t, []any{completed, 2, 2, 2, 0, 0, ""}, []any{i.Status, i.Rows, i.Done, i.Imported, i.Known, i.Faulty, i.Csv})
		require.Equal(t, "title", i.Columns["Summary"])
		require.Equal(t, "", i.Columns["Votes"])

		all := d.requests()
		require.Len(t, all, 2)
		done, open := all[0], all[1]
		require.Equal(t, []any{"Laptop is slow", "It is slow;\nand loud.", entrequest.StatusCOMPLETED, entrequest.PriorityURGENT, member.ID, d.A.Owner.ID, int64(1)},
			[]any{done.Title, done.Description, done.Status, done.Priority, done.RequesterID, done.CreatedBy, done.Number})
		require.True(t, done.CreatedAt.Equal(time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC)))
		require.True(t, done.CompletedAt.Equal(time.Date(2026, 1, 6, 12, 0, 0, 0, time.UTC)))
		require.Equal(t, map[string]string{"import.id": "HD-7", "import.source": "jira", "vip": ""}, done.Tags)
		require.JSONEq(t, `{"model": "X1", "price": 0.1000000000000000055}`, string(done.Fields))
		require.Contains(t, string(done.Fields), "0.1000000000000000055", "numbers keep their digits")
		require.Equal(t, []any{entrequest.StatusIN_PROGRESS, entrequest.PriorityLOW, d.A.Owner.ID, agent.ID}, []any{open.Status, open.Priority, open.RequesterID, *open.AssigneeID})
		require.True(t, open.CreatedAt.Equal(time.Date(2026, 2, 5, 15, 4, 0, 0, time.UTC)))

		db := d.Store.Reader()
		events, err := db.Event.Query().Count(d.owner)
		require.NoError(t, err)
		require.Equal(t, 0, events-d.before("service.created", "offering.created"), "nobody is told")
		told, err := db.Notification.Query().Count(d.owner)
		require.NoError(t, err)
		require.Zero(t, told)
		entries, err := db.AuditEntry.Query().Where(auditentry.ResourceID(done.ID)).All(d.owner)
		require.NoError(t, err)
		require.Len(t, entries, 1)
		require.Equal(t, []string{"request.imported", d.A.Owner.ID}, []string{entries[0].Action, entries[0].ActorID})

		again := d.ended(d.bring(d.owner, in).ID)
		require.Equal(t, []int{0, 2}, []int{again.Imported, again.Known}, "a key of a source is brought in once")
		require.Len(t, d.requests(), 2)
		in.Source = new("zammad")
		require.Equal(t, 2, d.ended(d.bring(d.owner, in).ID).Imported, "another source has keys of its own")
	})
}

// before counts the events of some kinds, which are not the import's.
func (d *desk) before(kinds ...string) (n int) {
	d.t.Helper()
	all, err := d.Store.Reader().Event.Query().All(d.owner)
	require.NoError(d.t, err)
	for _, e := range all {
		for _, k := range kinds {
			if e.Type == k {
				n++
			}
		}
	}
	return n
}

// A table brings no files: a column that answers a question for them is refused.
func TestTablesBringNoFiles(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		table := "title,fields.proof,fields\nOne,a.pdf,\nTwo,,\"{\"\"proof\"\":[\"\"att_01k9ye4ryzf7stj6dqnm8x2v3b\"\"]}\"\nThree,,\n"
		i := d.bring(d.owner, requestimport.CreateInput{CSV: table, DryRun: new(true), ServiceID: &d.offering.ServiceID, OfferingID: &d.offering.ID})
		var said []string
		for _, f := range requestimport.FaultsOf(i) {
			said = append(said, fmt.Sprintf("%d %s: %s", f.Row, f.Column, f.Message))
		}
		require.Equal(t, []string{
			"2 fields.proof: Is a question for files, which a table does not bring: leave the column out.",
			"3 fields: Must not have an answer proof: it is a question for files, which a table does not bring.",
		}, said)
	})
}

// A dry run says what is wrong in which row and column, and brings nothing in. It is started without those rows, or the table is sent
// again without faults.
func TestFaultsAreListedByRow(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		table := "key,title,status,priority,requester,created,completed at,fields.price,team\n" +
			"1,Fine,Done,,,2026-01-01,,,\n" +
			"2,,Elsewhere,P9,nobody@a.test,soon,,cheap,Nobody's\n" +
			"1,Twice,,,,,,,\n" +
			"4,Late,Done,,,2026-01-02,2026-01-01,,\n" +
			"5,Tomorrow,,,,2099-01-01,,,\n"
		refused := apperr.From(d.refused(d.owner, requestimport.CreateInput{CSV: table, ServiceID: &d.offering.ServiceID, OfferingID: &d.offering.ID}))
		require.Equal(t, apperr.Validation, refused.Code)
		require.Contains(t, refused.Details, apperr.Detail{Field: "csv.3.status", Message: "Must be one of CANCELLED, COMPLETED, IN_PROGRESS, PENDING, or have its meaning given."})

		i := d.bring(d.owner, requestimport.CreateInput{CSV: table, DryRun: new(true)})
		require.Equal(t, []any{entimport.StatusCHECKED, 5, 0, 4}, []any{i.Status, i.Rows, i.Done, i.Faulty})
		var said []string
		for _, f := range requestimport.FaultsOf(i) {
			said = append(said, fmt.Sprintf("%d %s: %s", f.Row, f.Column, f.Message))
		}
		require.ElementsMatch(t, []string{
			"3 status: Must be one of CANCELLED, COMPLETED, IN_PROGRESS, PENDING, or have its meaning given.",
			"3 priority: Must be one of HIGH, LOW, MEDIUM, URGENT, or have its meaning given.",
			"3 title: Must have at least 1 character.", "3 requester: Must name a user of the company, by address, name or id.",
			"3 created: Must be a time, such as 2026-11-28 14:05 or 2026-11-28T14:05:00Z.", "3 fields.price: Must be a finite number.", "3 team: Must name one team, by its name or id.",
			"4 key: Must be one row's: row 2 has it, too.", "5 completed at: Must not be before the request was created.", "6 created: Must be between 1970 and now.",
		}, said)
		require.Empty(t, d.requests())

		testkit.Refused(t, d.World, d.owner, requestimport.Start, requestimport.StartInput{ByID: op.ByID{ID: i.ID}}, apperr.Conflict, "rows are left out only if somebody says so")
		defer d.work()()
		testkit.Run(t, d.World, d.owner, requestimport.Start, requestimport.StartInput{ByID: op.ByID{ID: i.ID}, SkipFaulty: new(true)})
		i = d.ended(i.ID)
		require.Equal(t, []any{completed, 1, 4}, []any{i.Status, i.Imported, i.Faulty})
		require.Equal(t, "Fine", d.requests()[0].Title)
	})
}

// What a heading and a word mean can be given; people whom the company does not have stay in a tag.
func TestMeaningsAreGiven(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		defer d.work()()
		in := requestimport.CreateInput{
			CSV: "Betrifft\tStatus\tWer\nA\tWartet auf Antwort\told@elsewhere.test\n", UnknownPeople: new("tag"),
			Columns: requestimport.Meanings{"Betrifft": "title", "Wer": "requester"}, Statuses: requestimport.Meanings{"Wartet auf Antwort": "IN_PROGRESS"},
		}
		i := d.ended(d.bring(d.owner, in).ID)
		require.Equal(t, 1, i.Imported)
		r := d.requests()[0]
		require.Equal(t, []any{entrequest.StatusIN_PROGRESS, d.A.Owner.ID, "old@elsewhere.test"}, []any{r.Status, r.RequesterID, r.Tags["import.requester"]})
	})
}

// What is wrong with a table as a whole refuses it, and names why.
func TestUnreadableTables(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		for want, in := range map[string]requestimport.CreateInput{
			"csv: Must have a line of headings.":                                  {CSV: "\n"},
			"csv: Must have a row below the headings.":                            {CSV: "title\n"},
			"csv: Must be text in UTF-8.":                                         {CSV: "title\nM\xfcller\n"},
			"csv: Must have no more cells in a row than headings: row 2 has 2.":   {CSV: "title\na,b\n"},
			"columns: Must say which column is the title: none is called so.":     {CSV: "what\na\n"},
			"columns.x: Is no heading of the table.":                              {CSV: "title\na\n", Columns: requestimport.Meanings{"x": "title"}},
			"columns.b: Must not be title, which another column is.":              {CSV: "a,b\n1,2\n", Columns: requestimport.Meanings{"a": "title", "b": "title"}},
			"statuses.x: Must be one of those that requests have.":                {CSV: "title\na\n", Statuses: requestimport.Meanings{"x": "GONE"}},
			"csv: Must have at most 5000 rows: bring in a larger table in parts.": {CSV: "title\n" + strings.Repeat("a\n", 5001)},
		} {
			e := apperr.From(d.refused(d.owner, in))
			require.NotEmpty(t, e.Details, want)
			require.Equal(t, want, e.Details[0].Field+": "+e.Details[0].Message)
		}
		e := apperr.From(d.refused(d.owner, requestimport.CreateInput{CSV: "title\n\"a\n"}))
		require.Contains(t, e.Details[0].Message, "line 2 cannot be read")
	})
}

// What the access policies refuse for a row is a fault of that row; the others are brought in. Only owners and admins bring tables in.
func TestPoliciesHoldForEachRow(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		defer d.work()()
		when := policy.NewCondition([]byte(`{"resource.priority": "URGENT", "principal.role": "admin"}`))
		testkit.Run(t, d.World, d.owner, policy.Create, policy.CreateInput{Name: "No urgent ones by admins", Effect: "Deny", Resource: "Request", Action: "create", Condition: &when})
		admin := d.As(d.A, principal.Admin)
		i := d.ended(d.bring(admin, requestimport.CreateInput{CSV: "title,priority\nA,Low\nB,Urgent\nC,High\n"}).ID)
		require.Equal(t, []any{completed, 2, 1}, []any{i.Status, i.Imported, i.Faulty})
		require.Equal(t, 3, requestimport.FaultsOf(i)[0].Row)
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(d.refused(d.As(d.A, principal.Agent), requestimport.CreateInput{CSV: "title\nA\n"})))
	})
}

// Another company's services, people and imports are as if there were none.
func TestImportsAreACompanysOwn(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		theirs := d.As(d.B, principal.Owner)
		s := testkit.Run(t, d.World, theirs, catalog.CreateService, catalog.CreateServiceInput{Name: "Theirs"})
		o := testkit.Run(t, d.World, theirs, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Theirs"})
		table := fmt.Sprintf("title,service,offering,requester\nA,%s,%s,%s\nB,Theirs,Theirs,%s\n", s.ID, o.ID, d.B.Owner.ID, d.B.Owner.Email)
		i := testkit.Run(t, d.World, d.owner, requestimport.Create, requestimport.CreateInput{CSV: table, DryRun: new(true)})
		require.Equal(t, 2, i.Faulty)
		testkit.Refused(t, d.World, theirs, requestimport.Stop, op.ByID{ID: i.ID}, apperr.NotFound)
		i = testkit.Run(t, d.World, d.owner, requestimport.Stop, op.ByID{ID: i.ID})
		require.Equal(t, []any{entimport.StatusSTOPPED, ""}, []any{i.Status, i.Csv})
	})
}

// Rows are named in any case and Unicode form, as elsewhere. What is called exactly so comes first.
func TestNamesInAnyCase(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		service := testkit.Run(t, d.World, d.owner, catalog.CreateService, catalog.CreateServiceInput{Name: "Stra\u00dfe"})
		testkit.Run(t, d.World, d.owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: service.ID}, Name: "Caf\u00e9"})
		testkit.Run(t, d.World, d.owner, people.CreateTeam, people.CreateTeamInput{Name: "\u0394\u0395\u03a3\u039a"})
		testkit.Run(t, d.World, d.owner, people.CreateTeam, people.CreateTeamInput{Name: "Ops"})
		testkit.Run(t, d.World, d.owner, people.CreateTeam, people.CreateTeamInput{Name: "OPS", Slug: new("other")})
		agent := d.A.Users[principal.Agent]
		called := strings.ToUpper(agent.Email[:1]) + agent.Email[1:] // an address is its owner's, whoever is called so, and is found by its index
		testkit.Run(t, d.World, d.owner, people.UpdateUser, people.UpdateUserInput{ByID: op.ByID{ID: d.A.Users[principal.Member].ID}, Name: op.SetTo(called)})
		table := "title,service,offering,requester,team\n" +
			"A,STRASSE,cafe\u0301," + strings.ToUpper(agent.Name) + ",\u03b4\u03b5\u03c3\u03ba\n" +
			"B,stra\u00dfe,CAF\u00c9," + strings.ToUpper(agent.Email) + ",Ops\n" +
			"C,stra\u00dfe,cafe," + agent.Email + ",ops\n"
		i := testkit.Run(t, d.World, d.owner, requestimport.Create, requestimport.CreateInput{CSV: table, DryRun: new(true)})
		var said []string
		for _, f := range requestimport.FaultsOf(i) {
			said = append(said, fmt.Sprint(f.Row, " ", f.Column))
		}
		require.Equal(t, []string{"4 offering", "4 team"}, said, "an accent tells names apart, and two teams are called ops")
	})
}

// What the product takes out, it takes in again.
func TestOurOwnTableIsTakenIn(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		defer d.work()()
		testkit.Run(t, d.World, d.owner, request.Create, request.CreateInput{
			ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: "=1+1", Fields: map[string]any{"model": "X1"}, Tags: map[string]string{"site": "berlin"},
		})
		table, err := request.OpenTable(d.owner, d.Engine, request.ExportInput{})
		require.NoError(t, err)
		var lines []string
		require.NoError(t, table.Rows(d.owner, func(line []string) error {
			for n := range line {
				line[n] = `"` + strings.ReplaceAll(line[n], `"`, `""`) + `"`
			}
			lines = append(lines, strings.Join(line, ","))
			return nil
		}, func() error { return nil }))
		table.Close()
		i := d.ended(testkit.Run(t, d.World, d.owner, requestimport.Create, requestimport.CreateInput{CSV: strings.Join(lines, "\n"), Source: new("us")}).ID)
		require.Equal(t, 1, i.Imported, "%v", requestimport.FaultsOf(i))
		all := d.requests()
		require.Equal(t, all[0].Title, all[1].Title)
		require.JSONEq(t, string(all[0].Fields), string(all[1].Fields))
		require.Equal(t, "berlin", all[1].Tags["site"])
	})
}

// Whoever was deactivated since a table was read gets no open work of it. What is done may be theirs.
func TestOpenRequestsOfSomebodyWhoHasLeft(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		left := d.A.Users[principal.Agent]
		require.NoError(t, d.Store.Write(d.owner, func(ctx context.Context, tx *store.Tx) error {
			return tx.User.UpdateOneID(left.ID).SetStatus(user.StatusDeactivated).Exec(ctx)
		}))
		in := request.ImportInput{
			Title: "Laptop", Format: "plain", Status: "PENDING", Priority: "LOW", ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID,
			RequesterID: d.A.Owner.ID, AssigneeID: &left.ID, Tags: map[string]string{}, CreatedAt: time.Now(),
		}
		_, _, err := op.Run(d.owner, d.Engine, request.Import, in, nil)
		require.Equal(t, apperr.Validation, apperr.CodeOf(err))
		require.Equal(t, "assigneeId", apperr.From(err).Details[0].Field)
		in.Status, in.AcceptedAt, in.EndedAt = "COMPLETED", new(time.Now()), new(time.Now())
		testkit.Run(t, d.World, d.owner, request.Import, in)
	})
}

// Times are read as the systems write them that people come from; those without an offset are in the company's zone, UTC here.
func TestTimesOfOtherSystems(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.work()
		var table strings.Builder
		table.WriteString("key,title,created\n")
		want := map[string]string{}
		for text, moment := range map[string]string{
			"2026-01-05T09:30:00.250+0100": "2026-01-05T08:30:00.25Z", "2026-01-05 09:30:00 UTC": "2026-01-05T09:30:00Z", "2026-01-05 09:30 UTC": "2026-01-05T09:30:00Z",
			"2026-01-05 09:30:00 +0100": "2026-01-05T08:30:00Z", "Mon, 05 Jan 2026 09:30:00 +0000": "2026-01-05T09:30:00Z", "2026-01-05T09:30:00Z": "2026-01-05T09:30:00Z",
			"2026-01-05 09:30:00+01:00": "2026-01-05T08:30:00Z", "05/Jan/26 9:30 AM": "2026-01-05T09:30:00Z", "05.01.2026 09:30": "2026-01-05T09:30:00Z",
		} {
			fmt.Fprintf(&table, "k%d,%[2]q,%[2]q\n", len(want), text)
			want[text] = moment
		}
		i := d.ended(d.bring(d.owner, requestimport.CreateInput{CSV: table.String()}).ID)
		require.Equal(t, len(want), i.Imported, requestimport.FaultsOf(i))
		got := map[string]string{}
		for _, r := range d.requests() {
			got[r.Title] = r.CreatedAt.UTC().Format(time.RFC3339Nano)
		}
		require.Equal(t, want, got)
	})
}
