// Package history is the engine history: it decides about a new request by the company's finished ones. It computes and reads, and
// writes nothing; package plans asks it.
//
// It uses the newest 500 finished requests, TF-IDF over their words, service and offering, and naive Bayes. The confidence of a
// value is the mean of its Bayes probability and its share among the ten nearest requests. Below 0.5 nothing is proposed. For an
// offering only the written words count, and the confidence must be 0.8. A move is proposed alone, because what follows depends on
// the offering, and only if the request's answers fit the offering's form. The engine is deterministic, reads only the company's
// own rows, and needs no model: tests and new companies use it. The finished requests are read in one statement that carries the row
// filters of the agent and of its requester.
//
// At 50 requests a second, in a company with 500 finished ones, a proposal comes after 50 to 70 ms (p50) and 90 to 540 ms (p95) on SQLite,
// and after 35 to 50 and 90 to 120 ms on PostgreSQL (BenchmarkProposal; 2026-11, two busy cores). Deciding takes 3.3 ms of it.
package history
