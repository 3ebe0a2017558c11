/** How long anything may take that somebody waits for: the one place that says it. */
export interface Deadlines {
  /** Of one statement of a request, counted by PostgreSQL. */
  statementMs: number
  /** Of a whole request, counted from the last byte that came of it. */
  requestMs: number
}

/** Two of them are settings; `settings.ts` says which. */
export const usualDeadlines: Deadlines = { statementMs: 15_000, requestMs: 30_000 }

/** Until a connection is there: what takes longer is away. */
export const connectMs = 5_000

/** The same by the socket of an embedded database: whoever is in a transaction there, up to half a minute, comes first. */
export const turnMs = 40_000

/** The same between the coordinator of a cluster and its nodes; Citus would wait for half a minute. */
export const nodeConnectMs = 5_000

/**
 * Of one statement of a job, a command or a migration, where the database still answers others; the longest job has as
 * long for all of them.
 */
export const longStatementMs = 3_600_000

/** Until `/readyz` has its answer: probes wait for a few seconds themselves. */
export const readyMs = 1_500

/** From SIGTERM to the end of the process, whatever hangs; the last moments are for what must be put away. */
export const stopMs = 10_000
export const finishMs = 7_000

/** What a job has to put away what it holds, once its time is over; then it is taken from it. */
export const jobGraceMs = 5_000

/**
 * How long a connection may say nothing while a statement is open. PostgreSQL ends what takes too long by itself: who
 * hears nothing for a third longer talks to nobody.
 */
export const silenceMs = ({ statementMs }: Pick<Deadlines, 'statementMs'>): number =>
  Math.ceil((statementMs * 4) / 3)

/** Of a statement that was not sent any more. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost'
}

/** The database, or the way to it, said nothing for too long. What was asked may have happened or not. */
export class DatabaseSilent extends Error {
  override name = 'DatabaseSilent'
}
