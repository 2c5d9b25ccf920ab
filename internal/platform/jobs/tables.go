package jobs

import "fmt"

// This file holds all SQL on River's tables, because River has no API for it: to move the times of many jobs (clock.go, for development
// clocks), to count what is due on all nodes, to read jobs in a transaction of somebody else's (move.go), and to give away the jobs of
// a node that has died within seconds (reaper.go), and to keep those that a node still works (working.go). River's own rescue waits until they have been running for too long.

// The jobs of a clock that moves forward come due earlier: $1 and ? are how much.
const (
	advancePostgres = `UPDATE river_job SET scheduled_at = scheduled_at - make_interval(secs => $1)
		WHERE state IN ('scheduled', 'retryable', 'available')`
	advanceSQLite = `UPDATE river_job SET scheduled_at = datetime(scheduled_at, ?, 'subsec')
		WHERE state IN ('scheduled', 'retryable', 'available')`
)

// releaseDue ends before the present moment: River looks for due jobs every few seconds, and this makes them available at once. Unique
// jobs are left to River, which knows what else is queued.
const releaseDue = `UPDATE river_job SET state = 'available' WHERE state IN ('scheduled', 'retryable') AND unique_key IS NULL AND scheduled_at <= `

// countDue counts the jobs that are due or running; %[1]s is the present moment, %[2]s the one since which a running job counts.
// ifWorked counts none when no node works jobs.
const (
	countDue = "SELECT count(*) FROM river_job WHERE (state = 'running' AND attempted_at > %[2]s OR state IN ('available', 'scheduled', 'retryable') AND scheduled_at <= %[1]s)"
	ifWorked = " AND EXISTS (SELECT 1 FROM river_leader WHERE expires_at > %[1]s)"
)

// refresh makes a running job count as just begun; %[1]s is the present moment, %[2]s the job's id.
const refresh = "UPDATE river_job SET attempted_at = %[1]s WHERE state = 'running' AND id = %[2]s"

// selectUnfinished selects the unfinished jobs of two companies; %s is the column of arguments as text.
const selectUnfinished = "SELECT kind, queue, priority, max_attempts, scheduled_at, %s FROM river_job WHERE finalized_at IS NULL AND args->>'company' IN (?, ?) ORDER BY id"

// deadNodes selects the nodes that have running jobs and no lock. pg_locks shows the key of a lock in two halves.
var deadNodes = fmt.Sprintf(`SELECT DISTINCT node FROM (SELECT attempted_by[array_upper(attempted_by, 1)] AS node FROM river_job WHERE state = 'running') AS running
	WHERE node LIKE $1 AND NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted
		AND ((classid::bigint << 32) | objid::bigint) = hashtextextended(node, %d))`, nodeSeed)

// Running jobs of a node that has died become available, each with an error: on PostgreSQL those of node $1 with error $2, on SQLite
// those of the process that had the database before.
const (
	reapPostgres = `UPDATE river_job SET state = 'available', scheduled_at = now(),
		errors = array_append(errors, jsonb_build_object('at', attempted_at, 'attempt', attempt, 'error', $2::text, 'trace', ''))
		WHERE state = 'running' AND attempted_by[array_upper(attempted_by, 1)] = $1`
	reapSQLite = `UPDATE river_job SET state = 'available', scheduled_at = datetime('now', 'subsec'),
		errors = jsonb(json_insert(json(coalesce(errors, jsonb('[]'))), '$[#]',
			json_object('at', strftime('%Y-%m-%dT%H:%M:%fZ', attempted_at), 'attempt', attempt, 'error', @error, 'trace', '')))
		WHERE state = 'running'`
)
