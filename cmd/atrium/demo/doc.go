// Package demo fills a company with content for a first start: people in teams, what two starter packs and pack.yaml describe, requests,
// and an agent that has learned from them. `atrium serve` calls Fill for the company that it makes in an empty database. It runs the
// operations that people use, and makes no company itself.
package demo
