package execution_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/incident"
	sealed "atrium/ent/secret"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
)

// A call whose host a request fills in sends its secret to hosts of the secret's list alone: elsewhere it is an incident, and nothing is
// sent. The list of that moment counts, also for what was published before, and a secret from before there were lists goes everywhere.
func TestCallsSendSecretsWhereTheyMayGo(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		there := receiver.New(t, nil)
		host, port, _ := strings.Cut(strings.TrimPrefix(there.URL, "https://"), ":")
		owner := w.As(w.A, principal.Owner)
		token := testkit.Run(t, w, owner, secret.CreateSecret, secret.CreateSecretInput{Name: "TOKEN", Value: canary, AllowedHosts: []string{host}})
		allow := func(hosts ...string) {
			testkit.Run(t, w, owner, secret.UpdateSecret, secret.UpdateSecretInput{ByID: op.ByID{ID: token.ID}, AllowedHosts: op.SetTo(hosts)})
		}
		made := "https://${request.fields.host}:" + port
		s := open(t, w, line([]body{
			phase("start", "START", nil),
			phase("call", "API_CALL", body{"method": "GET", "url": made + "/${request.id}", "headers": body{"Authorization": "${secrets.TOKEN}"}, "retries": body{"max": 0}}),
			phase("tell", "WEBHOOK_CALLOUT", body{"url": "https://${request.fields.hook}:" + port + "/hook", "signingSecret": "${secrets.TOKEN}"}),
			phase("done", "END", nil),
		}))
		s.work()
		messageOf := func(r *ent.Request) string {
			rows, err := s.Store.Reader().Incident.Query().Where(incident.ExecutionID(*r.ExecutionID)).All(s.ctx)
			require.NoError(t, err)
			if len(rows) == 0 {
				return ""
			}
			return rows[0].Message
		}
		said := func(host string) string {
			return "The secret TOKEN may not be sent to " + host + ", which its allowed hosts do not name."
		}

		s.at(s.file(body{"host": host, "hook": host}), "COMPLETED", "done")
		require.Len(t, there.Got(), 2)
		for _, elsewhere := range []string{"localhost", "attacker.test", host + ".attacker.test", "LOCALHOST."} {
			s.stuck(s.file(body{"host": elsewhere, "hook": host}), "secret_host", said(elsewhere))
		}
		hidden := s.file(body{"host": canary + ".attacker.test", "hook": host})
		s.stuck(hidden, "secret_host", said("***.attacker.test"))
		require.Len(t, there.Got(), 2, "nothing is sent elsewhere")
		signed := s.file(body{"host": host, "hook": "localhost"})
		s.at(signed, "WAITING", "tell")
		require.Eventually(t, func() bool { return messageOf(signed) == said("localhost") }, patience, tick)
		require.Len(t, there.Got(), 3, "neither is what the secret signs")

		allow("api.example.com")
		s.stuck(s.file(body{"host": host, "hook": host}), "secret_host", said(host))
		allow("*")
		s.at(s.file(body{"host": host, "hook": host}), "COMPLETED", "done")
		allow("api.example.com")
		require.NoError(t, w.Store.Write(owner, func(ctx context.Context, tx *store.Tx) error {
			return tx.Secret.Update().Where(sealed.ID(token.ID)).ClearAllowedHosts().Exec(ctx)
		}))
		s.at(s.file(body{"host": host, "hook": host}), "COMPLETED", "done")
	})
}
