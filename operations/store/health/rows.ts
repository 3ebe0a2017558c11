/** How connections stand, as it is kept: a row is there once one was in trouble. */
import { type Kysely, sql } from 'kysely'
import type { Row, TenantTables } from '#db/tables'
import type { HealthColumns } from '#db/tables/store'
import type { Trouble } from '#runtime/ports/heard'
import type { PortName } from '#runtime/ports/ports'
import type { Standing, State } from './machine.ts'

type HealthRow = Pick<Row<'connection_health'>, keyof HealthColumns>

export const standingOf = (row: HealthRow): Standing => ({
  state: row.state as State,
  since: row.since,
  code: row.code,
  message: row.message,
  remedy: row.remedy,
  failedAt: (row.failed_at as string[]).map((at) => new Date(at)),
  troubledAt: row.troubled_at,
  checkedAt: row.checked_at,
  isTold: row.is_told,
  toldAt: row.told_at,
  toldCode: row.told_code,
  probes: row.probes,
  nextProbeAt: row.next_probe_at,
})

export const columnsOf = (standing: Standing, now: Date) => ({
  state: standing.state,
  since: standing.since,
  code: standing.code,
  message: standing.message,
  remedy: standing.remedy,
  failed_at: JSON.stringify(standing.failedAt),
  troubled_at: standing.troubledAt,
  checked_at: standing.checkedAt,
  is_told: standing.isTold,
  told_at: standing.toldAt,
  told_code: standing.toldCode,
  probes: standing.probes,
  next_probe_at: standing.nextProbeAt,
  updated_at: now,
})

/** What a caller is told of a connection that is not well; null where it is. */
export function troubleIn(standing: Standing | null, port: PortName, provider: string): Trouble | null {
  if (!standing || standing.state === 'connected') return null
  const { state, since, code, message, remedy } = standing
  return { port, provider, state, since, code: code ?? '', message: message ?? '', remedy: remedy ?? '' }
}

/** Whether something is wrong with the connection of a row `c`, which has its `connected_at`: an answer is then news. */
export const isTroubledSql = (db: Kysely<TenantTables>, port: string, part: string, of = 'c') =>
  sql<boolean>`exists (${healthOf(db, port, part, of).where(
    sql<boolean>`(h.state <> 'connected' or h.failed_at <> '[]')`,
  )})`

/** Whether our access by the connection of a row `c` is gone. */
export const isLostSql = (db: Kysely<TenantTables>, port: string, part: string, of = 'c') =>
  sql<boolean>`exists (${healthOf(db, port, part, of).where('h.state', '=', sql.lit('lost'))})`

/** A column, as `c.port`, or the word itself. */
const textOf = (text: string) => (text.includes('.') ? sql.ref<string>(text) : sql.lit(text))

const healthOf = (db: Kysely<TenantTables>, port: string, part: string, of: string) =>
  db
    .selectFrom('connection_health as h')
    .select('h.port')
    .where('h.port', '=', textOf(port))
    .where('h.part', '=', textOf(part))
    // Of a connection before it says nothing of this one.
    .where(sql<boolean>`h.connected_at is not distinct from ${sql.ref(`${of}.connected_at`)}`)
