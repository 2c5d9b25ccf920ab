package workflow

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/calendar"
	"atrium/ent/predicate"
	"atrium/ent/secret"
	"atrium/ent/team"
	"atrium/ent/user"
	"atrium/ent/workflow"
	"atrium/ent/workflowversion"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/text"
	"atrium/internal/workflow/definition"
)

// checkReferences returns a validation error with everything in a definition that is no row of the company, has no effect, or sends a
// secret to a host that its list lacks. It takes one statement for each kind of row that the definition names. It locks the rows, so that
// none is deleted before the definition is published.
func checkReferences(ctx context.Context, tx *op.Tx, d Definition) error {
	refs, hosts := d.names, map[string]egress.Hosts{}
	known := map[string]func(context.Context, []string) ([]string, error){
		"secret": func(ctx context.Context, names []string) ([]string, error) {
			rows, err := op.Lock(tx, tx.Secret.Query().Where(secret.NameIn(names...)).Order(secret.ByID())).Select(secret.FieldName, secret.FieldAllowedHosts).All(ctx)
			found := make([]string, len(rows))
			for i, s := range rows {
				found[i], hosts[s.Name] = s.Name, s.AllowedHosts
			}
			return found, err
		},
		"user": func(ctx context.Context, ids []string) ([]string, error) {
			return op.Share(tx, tx.User.Query().Where(user.IDIn(ids...)).Order(user.ByID())).IDs(ctx)
		},
		"team": func(ctx context.Context, ids []string) ([]string, error) {
			return op.Lock(tx, tx.Team.Query().Where(team.IDIn(ids...)).Order(team.ByID())).IDs(ctx)
		},
		"agent": func(ctx context.Context, ids []string) ([]string, error) {
			return op.Lock(tx, tx.Agent.Query().Where(agent.IDIn(ids...)).Order(agent.ByID())).IDs(ctx)
		},
		"calendar": func(ctx context.Context, ids []string) ([]string, error) {
			return op.Lock(tx, tx.Calendar.Query().Where(calendar.IDIn(ids...)).Order(calendar.ByID())).IDs(ctx)
		},
		"workflow": func(ctx context.Context, ids []string) ([]string, error) {
			return op.Lock(tx, tx.Workflow.Query().Where(workflow.IDIn(ids...)).Order(workflow.ByID())).IDs(ctx)
		},
	}
	var faults op.Refs
	for _, k := range refs.Kinds() {
		if len(k.References) == 0 {
			continue
		}
		rows, err := known[k.Noun](ctx, distinct(k.References))
		if err != nil {
			return fmt.Errorf("look the %ss of the definition up: %w", k.Noun, err)
		}
		for _, ref := range k.References {
			if !slices.Contains(rows, ref.ID) {
				faults.Fault(ref.Field, fmt.Sprintf("%q is no %s of this company.", short(ref.ID), k.Noun))
			}
		}
	}
	var sends []definition.Send
	if d.parsed != nil { // of one with faults, it is not known what its calls send
		sends = d.parsed.Sends()
	}
	for _, s := range sends {
		if list, known := hosts[s.Secret]; known && s.Host != "" && !list.Allow(s.Host) {
			faults.Fault(s.Field, fmt.Sprintf("The secret %s may not be sent to %s, which its allowed hosts do not name.", s.Secret, short(s.Host)))
		}
	}
	if len(refs.Agents) > 0 {
		intake, err := tx.Agent.Query().Where(agent.IDIn(distinct(refs.Agents)...), agent.TypeEQ(agent.TypeQUEUE_INTAKE)).IDs(ctx)
		if err != nil {
			return fmt.Errorf("look the agents of phases up: %w", err)
		}
		for _, ref := range refs.Agents {
			if slices.Contains(intake, ref.ID) {
				faults.Fault(ref.Field, fmt.Sprintf("%q is a QUEUE_INTAKE agent, which works no phases.", short(ref.ID)))
			}
		}
	}
	if len(refs.Informed) > 0 {
		managed, err := tx.Agent.Query().Where(agent.IDIn(distinct(refs.Informed)...), agent.SourceEQ(agent.SourceMANAGED)).IDs(ctx)
		if err != nil {
			return fmt.Errorf("look the informed agents up: %w", err)
		}
		for _, ref := range refs.Informed {
			if slices.Contains(managed, ref.ID) {
				faults.Fault(ref.Field, fmt.Sprintf("%q is a MANAGED agent, which being informed has no effect on.", short(ref.ID)))
			}
		}
	}
	for _, ref := range refs.Idle {
		faults.Fault(ref.Field, fmt.Sprintf("%q has no effect here: only PROCESS, and DATA that asks for corrections, open a task.", ref.ID))
	}
	return faults.Err()
}

// Unused returns conflict when the published version of a workflow names the row. kind and id are spelled as in a definition
// ("secret", "TOKEN"; "team", "team_…").
func Unused(ctx context.Context, tx *op.Tx, kind, id string) error {
	return op.InUse(ctx, tx, tx.Workflow.Query().Where(workflow.VersionGT(0), publishedWith(kind, id)).Order(workflow.ByName(), workflow.ByID()), func(w *ent.Workflow) error {
		if w == nil {
			return apperr.New(apperr.Conflict, "A published workflow uses the %s.", kind)
		}
		return apperr.New(apperr.Conflict, "The published workflow %q (%s) uses the %s.", short(w.Name), w.ID, kind)
	})
}

// Calling matches the workflows whose last version calls another one.
func Calling(id string) predicate.Workflow { return publishedWith("workflow", id) }

// publishedWith matches workflows whose last version names a row. Versions published before this was recorded match if
// the text of the definition contains the id.
func publishedWith(kind, id string) predicate.Workflow {
	return func(s *sql.Selector) {
		d := sql.Dialect(s.Dialect())
		v := d.Table(workflowversion.Table)
		uses, text := v.C(workflowversion.FieldUses), v.C(workflowversion.FieldDefinition)
		named := sql.P(func(b *sql.Builder) {
			if s.Dialect() == dialect.Postgres {
				b.WriteString("CASE WHEN ").Ident(uses).WriteString(" IS NULL THEN strpos(").Ident(text).WriteString("::text, ").Arg(id).
					WriteString("::text) > 0 ELSE ").Ident(uses).WriteString(" @> jsonb_build_array(").Arg(kind + ":" + id).WriteString("::text) END")
				return
			}
			b.WriteString("CASE WHEN ").Ident(uses).WriteString(" IS NULL THEN instr(").Ident(text).WriteString(", ").Arg(id).
				WriteString(") > 0 ELSE EXISTS (SELECT 1 FROM json_each(").Ident(uses).WriteString(") WHERE value = ").Arg(kind + ":" + id).WriteString(") END")
		})
		s.Where(sql.Exists(d.Select().AppendSelectExpr(sql.Raw("1")).From(v).Where(sql.And(
			sql.ColumnsEQ(v.C(workflowversion.FieldCompanyID), s.C(workflow.FieldCompanyID)),
			sql.ColumnsEQ(v.C(workflowversion.FieldWorkflowID), s.C(workflow.FieldID)),
			sql.ColumnsEQ(v.C(workflowversion.FieldVersion), s.C(workflow.FieldVersion)),
			named,
		))))
	}
}

// distinct returns the ids of the references, each once.
func distinct(refs []definition.Reference) []string {
	seen := make(map[string]bool, len(refs))
	var ids []string
	for _, r := range refs {
		if !seen[r.ID] {
			seen[r.ID] = true
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// short cuts a caller's text, which should be an id, to a length that fits a message.
func short(s string) string { return text.Short(s, 80) }
