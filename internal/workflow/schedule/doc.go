// Package schedule starts a workflow or files a request at planned times: every Monday at nine, on the last day of the month.
//
// rule.go reads cron expressions and simple repetitions, times.go computes when they come (both are pure), settings.go checks what a
// schedule is made of, schedule.go has the operations, run.go runs one, and work.go is the job.
//
// # Times
//
// Planned times are those of a clock on the wall in the schedule's zone. One that the clock leaps over, where daylight saving begins,
// comes at the end of the leap; one that the clock shows twice comes the first time. Between two times of an expression are five
// minutes at least. A day without working time in the schedule's calendar leaves its times out, or moves them to the next day that has
// some, 31 days at most. The day is that of the schedule's zone, whatever the calendar's is.
//
// # Exactly once
//
// The row holds the next planned time, and each of them has a job, inserted in the transaction that wrote it. The job's transaction
// locks the row, sees that this is still its next time, does what is planned, writes the run and the next time, inserts the next job and
// completes its own. So nodes that are killed, or that work beside each other, do it once. A job whose time is no longer the row's, since
// somebody has changed the schedule, does nothing. A planned time has one run at most, whatever clocks do: the database sees to it.
//
// A time is missed if another one has passed as well, or an hour. A schedule then runs once for all that it has missed, or the time is
// noted as skipped and the last of them runs if it is no hour old.
//
// # As whom
//
// A schedule runs as whoever saved it last, with the rights that they have by then, by the operation schedule.run, which people may call
// as well. Filing a request is the operation request.create. What is refused then, or would be however often it were tried, is noted as
// a failed run, the administrators are told of the first in a row, and the schedule goes on.
//
// A workflow gets no request; its expressions read the schedule's id and the planned time in webhook.body. The last 50 runs of a
// schedule are kept. A change of a calendar has the next times of its schedules computed anew (replan.go).
package schedule
