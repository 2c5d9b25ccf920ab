// Package share divides the places of a process among companies, so that one that asks for many leaves some to others. Operations,
// streams and the engine of workflows take a place for work that costs much; jobs, which must not wait in a worker, do so by
// jobs.Places, or are in a queue whose workers companies share (jobs.SharedQueue).
// It counts places of one process only: places of all nodes are ratelimit.Seats.
//
// # Every place of the process
//
// A test holds that each file that bounds work stands here, with the share of one company or the reason why none is needed.
//
//	file                                    places                            of one company
//	internal/gate/large.go                  large bodies: GOMAXPROCS          half
//	authz/set.go                            compiling policies: half          1
//	internal/op/prepare.go                  costly work: half of GOMAXPROCS   1
//	internal/op/bound.go                    slow policies: half of GOMAXPROCS 1
//	internal/op/auditlog/prove.go           verifications 2, exports 2        1 each
//	internal/secret/company.go              opening secrets: half             1
//	internal/desk/search/turn.go            searches: GOMAXPROCS, at least 2  half
//	internal/desk/request/export.go         tables 4                          1
//	internal/desk/request/report.go         reports: half, at least 2         1
//	internal/desk/request/reportread.go     reports' statements: GOMAXPROCS   those of one report; a report has 2 readers
//	internal/desk/attachment/depot.go       uploads 64, previews 2, scans 4   8, 1 and 2; an upload's caller 4
//	internal/desk/requestimport/work.go     imports 2                         1
//	internal/desk/reportmail/work.go        mailed reports 2                  1
//	internal/desk/sla/timer/sweep.go        derived service levels 2          1
//	                                        sweeps 2                          100 rows before others' (pass.go)
//	internal/people/handover.go             handing over 2                    1
//	internal/workflow/execution/calling.go  calls of phases 64                32
//	internal/workflow/execution/step.go     outcomes and large steps: half    half of these, and 1; other steps end within milliseconds
//	internal/workflow/trial/send.go         calls of trials 16                2
//	internal/notify/mailbox/take.go         hooks 4, messages 4, fetches 4    2, 2 and 1
//	internal/notify/mailbox/work.go         the queues of these               as above
//	internal/notify/notice/digest.go        digests 4                         1
//	internal/notify/mail/outbox.go          mails 4                           100 a minute before others' mails, the rest after them
//	internal/webhook/limit.go               deliveries 2,048                  512; a receiver 16
//	internal/webhook/dispatcher.go          the queue of these                as above
//	internal/identity/provider/backchannel.go  calls to clients 4             2
//	internal/identity/signin/server.go      proofs of sign-ins 128            64 of a network, because no company is known yet
//	internal/identity/password/turn.go      hashes: GOMAXPROCS − 1            all but one of a network, and ¾ of the queue
//	internal/agent/wire.go                  runs 4, ends 2, models and pushes 16  models, evaluations and pushes 4 (agent/worker); a run's
//	                                                                          own step and its end take milliseconds
//	graph/stream_limits.go                  streams that read 8               4; open streams by plan
//	internal/platform/jobs/jobs.go          jobs without a queue 10, and      5
//	                                        jobs that tell people 8           2
//	internal/billing/charge.go              charges 8                         none: a company has one open invoice that is due at a time
//	internal/op/audit/merkle/keep.go        logs that are kept outside 4      none: a company has one log
//	internal/platform/jobs/options.go       makes the queues
//	internal/platform/jobs/places.go        makes the places of jobs
//	internal/platform/jobs/shared.go        shares the workers of a queue
//
// The writer of SQLite takes companies in turn (platform/store), and connections to PostgreSQL are bounded by what is above and by the
// limits of calls (platform/ratelimit).
package share
