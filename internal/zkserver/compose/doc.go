// Package compose finds the servers of docker-compose.yml while they run.
//
// They are told from anybody else's by a label that only our compose file gives,
// zklab.profile, and never by the port: what listens on 2181 may be somebody's
// production server. The engine is asked directly, in its HTTP interface, so that
// neither a client library nor the docker command is needed.
package compose
