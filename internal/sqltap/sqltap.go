package sqltap

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Statement is one that is about to be carried out.
type Statement struct {
	SQL string
	// Context is the one that it was called under; that of a COMMIT or a ROLLBACK
	// never ends.
	Context context.Context
	// Alone says that the connection holds no lock for writing: before this
	// statement, others can write.
	Alone bool
}

// Writes reports whether the statement changes what others see, or keeps them out.
func (s Statement) Writes() bool {
	verb, _, _ := strings.Cut(strings.ToUpper(s.SQL), " ")
	switch verb {
	case "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH":
		return true
	case "COMMIT":
		return !s.Alone
	}
	return false
}

// OldLook reports whether the database has refused a write because its transaction had
// read before, and others have written since.
func OldLook(err error) bool {
	var refused *sqlite.Error
	return errors.As(err, &refused) && refused.Code() == lib.SQLITE_BUSY_SNAPSHOT
}

// Open opens a database file, and makes it where it is missing. before is called for
// each statement, on the goroutine that carries it out; nil sees nothing. With an error
// it makes the statement fail; a COMMIT that fails rolls back. It may use other
// databases on the same file, but not this one. A writer waits up to a second for
// another one.
func Open(file string, before func(Statement) error) *sql.DB {
	if before == nil {
		before = func(Statement) error { return nil }
	}
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath(),
		RawQuery: "_pragma=busy_timeout(1000)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)"}
	return sql.OpenDB(&connector{dsn: dsn.String(), before: before})
}

type connector struct {
	dsn    string
	before func(Statement) error
	driver sqlite.Driver
}

func (c *connector) Driver() driver.Driver { return &c.driver }

func (c *connector) Connect(context.Context) (driver.Conn, error) {
	inner, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	full, ok := inner.(sqliteConn)
	if !ok {
		return nil, fmt.Errorf("sqltap: %T lacks a method: the driver has changed", inner)
	}
	return &conn{sqliteConn: full, before: c.before}, nil
}

// sqliteConn is what the driver's connections can do.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
}

// conn is one connection. database/sql uses it from one goroutine at a time.
type conn struct {
	sqliteConn
	before func(Statement) error
	inTx   bool
	wrote  bool // in this transaction
}

// see shows a statement that is about to be carried out.
func (c *conn) see(ctx context.Context, text string) error {
	return c.before(Statement{SQL: oneLine(text), Context: ctx, Alone: !c.inTx || !c.wrote})
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// done keeps in mind what a statement that was carried out does to the connection's
// locks, and gives its result on. One that was refused has done nothing.
func done[T any](c *conn, text string, result T, err error) (T, error) {
	if err == nil {
		c.did(oneLine(text))
	}
	return result, err
}

func (c *conn) did(text string) {
	word, rest, _ := strings.Cut(strings.ToUpper(text), " ")
	switch word {
	case "BEGIN":
		c.inTx = true
		c.wrote = strings.HasPrefix(rest, "IMMEDIATE") || strings.HasPrefix(rest, "EXCLUSIVE")
	case "COMMIT", "END", "ROLLBACK", "COMMIT;", "END;", "ROLLBACK;":
		c.inTx, c.wrote = false, false
	case "SELECT", "PRAGMA", "EXPLAIN", "VALUES":
	default:
		c.wrote = c.inTx
	}
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.see(ctx, query); err != nil {
		return nil, err
	}
	result, err := c.sqliteConn.ExecContext(ctx, query, args)
	return done(c, query, result, err)
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.see(ctx, query); err != nil {
		return nil, err
	}
	rows, err := c.sqliteConn.QueryContext(ctx, query, args)
	return done(c, query, rows, err)
}

func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if err := c.see(ctx, "BEGIN"); err != nil {
		return nil, err
	}
	inner, err := c.sqliteConn.BeginTx(ctx, o)
	if err != nil {
		return nil, err
	}
	c.did("BEGIN")
	return &tx{inner, c}, nil
}

func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	inner, err := c.sqliteConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	full, ok := inner.(sqliteStmt)
	if !ok {
		return nil, fmt.Errorf("sqltap: %T lacks a method: the driver has changed", inner)
	}
	return &stmt{full, c, query}, nil
}

type tx struct {
	driver.Tx
	c *conn
}

func (t *tx) Commit() error {
	if err := t.c.see(context.Background(), "COMMIT"); err != nil {
		return errors.Join(err, t.Rollback())
	}
	_, err := done(t.c, "COMMIT", struct{}{}, t.Tx.Commit())
	return err
}

func (t *tx) Rollback() error {
	err := t.c.see(context.Background(), "ROLLBACK")
	_, failed := done(t.c, "ROLLBACK", struct{}{}, t.Tx.Rollback())
	return errors.Join(err, failed)
}

type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type stmt struct {
	sqliteStmt
	c     *conn
	query string
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.c.see(ctx, s.query); err != nil {
		return nil, err
	}
	result, err := s.sqliteStmt.ExecContext(ctx, args)
	return done(s.c, s.query, result, err)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := s.c.see(ctx, s.query); err != nil {
		return nil, err
	}
	rows, err := s.sqliteStmt.QueryContext(ctx, args)
	return done(s.c, s.query, rows, err)
}
