/** All deadlines and timeouts of work that somebody waits for. */
export interface Deadlines {
  /** The timeout of a request's statement, enforced by PostgreSQL. */
  statementMs: number
  /** The deadline of a request, counted from its last received byte. */
  requestMs: number
}

/** Both are settings; see `settings.ts`. */
export const defaultDeadlines: Deadlines = { statementMs: 15_000, requestMs: 30_000 }

/** The timeout of opening a connection. */
export const connectMs = 5_000

/**
 * The timeout of connecting through an embedded database's socket: a transaction of another process, up to half a
 * minute, comes first.
 */
export const embeddedTurnMs = 40_000

/** The timeout between the coordinator of a cluster and its nodes; Citus would wait for half a minute. */
export const nodeConnectMs = 5_000

/**
 * The timeout of a statement of a job, a command or a migration, while the database answers others; the longest job
 * has as long for all its statements.
 */
export const longStatementMs = 3_600_000

/** The deadline of `/readyz`: probes wait for a few seconds themselves. */
export const readyMs = 1_500

/** The time from SIGTERM to the end of the process, whatever hangs; the rest after `finishMs` is for cleaning up. */
export const stopMs = 10_000
export const finishMs = 7_000

/** The time that a job has for stopping after its timeout; then its lease is revoked. */
export const jobGraceMs = 5_000

/**
 * How long a connection may be silent while a statement is open. PostgreSQL ends slow statements itself: if it is
 * silent for a third longer, the connection is dead.
 */
export const toSilenceMs = ({ statementMs }: Pick<Deadlines, 'statementMs'>): number =>
  Math.ceil((statementMs * 4) / 3)

/** The statement was not sent. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost'
}

/** The database, or the network, did not answer in time. The statement may have been executed or not. */
export class DatabaseUnresponsive extends Error {
  override name = 'DatabaseUnresponsive'
}
