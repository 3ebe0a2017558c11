/** All deadlines and timeouts of work that somebody waits for. */
export interface Deadlines {
  /** The timeout of a request's statement, enforced by PostgreSQL. */
  statementMs: number
  /** The deadline of a request, counted from its last received byte. */
  requestMs: number
}

/** The defaults of both settings (`runtime/server/settings.ts`). */
export const defaultDeadlines: Deadlines = { statementMs: 15_000, requestMs: 30_000 }

/** The timeout of opening a connection. */
export const connectMs = 5_000

/**
 * The timeout of connecting through the socket of an embedded database: a transaction of another process may have to
 * end first, which takes up to half a minute.
 */
export const embeddedTurnMs = 40_000

/** The timeout of connections from a cluster's coordinator to its nodes; the default of Citus is half a minute. */
export const nodeConnectMs = 5_000

/**
 * The timeout of a statement of a job, a command or a migration, as long as the database answers other statements. It
 * is also the time that the longest job has in total.
 */
export const longStatementMs = 3_600_000

/** The deadline of `/readyz`. It is short, since probes themselves wait for a few seconds only. */
export const readyMs = 1_500

/**
 * The time from SIGTERM to the end of the process, whatever hangs. Work may finish within `finishMs`; then it cleans
 * up.
 */
export const stopMs = 10_000
export const finishMs = 7_000

/** The time that a job has to stop after its timeout, before its lease is revoked. */
export const jobGraceMs = 5_000

/**
 * How long a connection may be silent while a statement is open. PostgreSQL itself ends slow statements at the timeout,
 * so a connection that is silent for a third longer is dead.
 */
export const toSilenceMs = ({ statementMs }: Pick<Deadlines, 'statementMs'>): number =>
  Math.ceil((statementMs * 4) / 3)

/** The connection to the database was lost. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost'
}

/** The database, or the network, did not answer in time. The statement may have been executed or not. */
export class DatabaseUnresponsive extends Error {
  override name = 'DatabaseUnresponsive'
}

/** The statement was not sent. */
export class NoConnectionFree extends DatabaseUnresponsive {
  override message = 'No connection to the database became free in time'
}
