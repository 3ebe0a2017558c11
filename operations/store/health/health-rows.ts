/** Maps a connection's health to its row and back. A connection has a row only after it has failed once. */
import { type Kysely, sql } from 'kysely'
import type { Row, TenantTables } from '#db/tables'
import type { HealthColumns } from '#db/tables/store'
import type { ConnectionFailure } from '#runtime/ports/instrumentation'
import type { PortName } from '#runtime/ports/ports'
import type { ConnectionHealth, State } from './state-machine.ts'

type HealthRow = Pick<Row<'connection_health'>, keyof HealthColumns>

export const toHealth = (row: HealthRow): ConnectionHealth => ({
  state: row.state as State,
  since: row.since,
  code: row.code,
  message: row.message,
  remedy: row.remedy,
  failedAt: (row.failed_at as string[]).map((at) => new Date(at)),
  lastFailedAt: row.troubled_at,
  checkedAt: row.checked_at,
  isNotified: row.is_told,
  notifiedAt: row.told_at,
  notifiedCode: row.told_code,
  probes: row.probes,
  nextProbeAt: row.next_probe_at,
})

export const toHealthColumns = (health: ConnectionHealth, now: Date) => ({
  state: health.state,
  since: health.since,
  code: health.code,
  message: health.message,
  remedy: health.remedy,
  failed_at: JSON.stringify(health.failedAt),
  troubled_at: health.lastFailedAt,
  checked_at: health.checkedAt,
  is_told: health.isNotified,
  told_at: health.notifiedAt,
  told_code: health.notifiedCode,
  probes: health.probes,
  next_probe_at: health.nextProbeAt,
  updated_at: now,
})

/** The failure reported to callers; null if the connection is healthy. */
export function toConnectionFailure(
  health: ConnectionHealth | null,
  port: PortName,
  provider: string,
): ConnectionFailure | null {
  if (!health || health.state === 'connected') return null
  const { state, since, code, message, remedy } = health
  return { port, provider, state, since, code: code ?? '', message: message ?? '', remedy: remedy ?? '' }
}

/**
 * Whether a connection is unhealthy, so that its next success must be recorded. `of`: the alias of the connection's table,
 * which must have `connected_at`.
 */
export const isUnhealthySql = (db: Kysely<TenantTables>, port: string, part: string, of = 'c') =>
  sql<boolean>`exists (${selectHealth(db, port, part, of).where(
    sql<boolean>`(h.state <> 'connected' or h.failed_at <> '[]')`,
  )})`

/** Whether the access over a connection is lost. `of`: as for `isUnhealthySql`. */
export const isLostSql = (db: Kysely<TenantTables>, port: string, part: string, of = 'c') =>
  sql<boolean>`exists (${selectHealth(db, port, part, of).where('h.state', '=', sql.lit('lost'))})`

/** Text with a dot is a column such as `c.port`; other text is a literal. */
const textOrColumn = (text: string) => (text.includes('.') ? sql.ref<string>(text) : sql.lit(text))

const selectHealth = (db: Kysely<TenantTables>, port: string, part: string, of: string) =>
  db
    .selectFrom('connection_health as h')
    .select('h.port')
    .where('h.port', '=', textOrColumn(port))
    .where('h.part', '=', textOrColumn(part))
    // Ignores the health of an earlier connection.
    .where(sql<boolean>`h.connected_at is not distinct from ${sql.ref(`${of}.connected_at`)}`)
