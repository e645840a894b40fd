package curatorlike

// ExampleServers is the connect string of the server that TestMain started.
var ExampleServers string
