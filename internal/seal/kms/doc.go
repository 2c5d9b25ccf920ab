// Package kms connects to the key management services that may hold the master key. `atrium` passes Connect to package seal, which
// knows none of them: their clients are a tenth of the binary, and everything else that seals needs no network.
package kms
