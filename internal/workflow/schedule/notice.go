package schedule

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/schedulerun"
	"atrium/ent/user"
	"atrium/internal/notify/mail"
	"atrium/internal/notify/notice"
	"atrium/internal/platform/locale"
)

// toTell returns the administrators who are told of a run, if it is the first to fail after one that did not, and who may read the
// schedule.
func (t *turn) toTell(ctx context.Context, as schedulerun.Status) ([]*ent.User, error) {
	if as != schedulerun.StatusFAILED {
		return nil, nil
	}
	ctx = t.engine.Reading(ctx, t.row.CompanyID, worker)
	db := t.engine.Store.Reader()
	last, err := db.ScheduleRun.Query().Where(schedulerun.ScheduleID(t.row.ID)).Order(ent.Desc(schedulerun.FieldCreatedAt, schedulerun.FieldID)).First(ctx)
	if err != nil && !ent.IsNotFound(err) {
		return nil, fmt.Errorf("look for the run before: %w", err)
	}
	if last != nil && last.Status == schedulerun.StatusFAILED {
		return nil, nil
	}
	people, err := db.User.Query().Where(user.RoleIn(user.RoleOwner, user.RoleAdmin), user.StatusEQ(user.StatusActive)).
		Order(user.ByID()).Limit(notice.MaxTold).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look up whom to tell: %w", err)
	}
	return notice.ReadersOutside(ctx, t.engine, t.row.CompanyID, worker, people, Get.Info(), t.row, false)
}

// failed tells of a run that failed.
func failed(s *ent.Schedule, reason string) notice.Note {
	name := mail.Plain(s.Name, 100)
	return notice.Note{Kind: notice.Incident, Subject: locale.Say("Schedule failed: %s", name), Text: []locale.Text{
		locale.Say("A schedule could not run. It will run again at its next time. You will be notified of further errors only after a successful run."),
		locale.Say("Schedule: %s\nWhy: %s", name, mail.Plain(reason, maxSaid)),
	}}
}
