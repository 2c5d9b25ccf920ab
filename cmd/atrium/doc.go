// Command atrium is the server and its command line. main.go lists the commands; a file holds the commands of one noun.
//
// wire.go calls every constructor by hand, in the order in which things are built. open builds what all commands need; the
// operations' engine comes last; serve adds only Agents and NoAgents to it. build adds what serve runs; wire_api.go builds the
// part that only a node with an API has, and wire_audit.go the audit log's sealer and checkpoints. The running parts are a list:
// package run starts them in that order and stops them in reverse. listen.go, data.go, masterkey.go and setting.go determine what
// a server or a command needs before it can build something: addresses, folders, keys, and the installation's settings.
//
// The package holds no rule of the product. A command runs an operation as the operator (principal.Operator) within a company, so
// access decisions and the audit log treat it like any other caller.
package main
