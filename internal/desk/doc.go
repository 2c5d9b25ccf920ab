// Package desk has no code of its own. Its rooms are what a person at the service desk works with:
//
//	attachment   files at requests and comments
//	audience     for whom a saved view or reply is: its author, a team, the company
//	catalog      services and their offerings
//	finder       what a search box finds: requests, the catalogue, people
//	form         the forms of offerings, and the answers to them
//	lifecycle    which requests, tasks and executions are open
//	mention      whom texts mention, and by what names others read it
//	pack         starter packs: what a company needs to offer a service, installed from one file
//	participant  who may read a request because its workflow asks them
//	reportmail   reports about requests that people get by mail each week
//	request      requests and their comments: create.go, update.go, list.go, one file per verb
//	routing      the rules that give a new request to a team
//	requestimport  the requests of another system, brought in as a table
//	savedreply   texts that staff answer with
//	savedview    filters that people have saved
//	search       finding requests by words
//	sla          working hours, and when something is due; its room timer keeps the clocks of requests and tasks
package desk
