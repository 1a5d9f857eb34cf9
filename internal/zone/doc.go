// Package zone decides everything about Zones and Records: which zone adopts a record, what the records of a zone make of it, which ones
// contradict one another, and how a zone's content is divided, hashed and numbered. It is pure: the gate asks it before an object exists,
// the controllers ask it before they publish, and the linter asks it without a cluster.
package zone
