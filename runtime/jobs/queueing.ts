// biome-ignore-all lint/plugin/clock: pg-boss dates its jobs by the database's own clock
/** How jobs come into pg-boss's tables: many in one statement, and of a key that waits already none. */
import { CompiledQuery, type Transaction } from 'kysely'
import type { Database } from '#db/database'
import type { Tables } from '#db/tables'
import { enqueue } from './statements.ts'

/** A job as it is queued. */
export interface Row {
  id: string
  name: string
  /** What its handler is told, an envelope. */
  data: object
  /** From now on, of real time. */
  delaySeconds: number
  key: string | null
  priority: number
  /** That it is kept when it is done; null: as its queue says. */
  deletionSeconds: number | null
}

type Ask = <R>(text: string, parameters: unknown[]) => Promise<R[]>

/** In the transaction where there is one, else each statement by itself. */
export const asking =
  (database: Database, transaction: Transaction<Tables> | null): Ask =>
  async (text, parameters) =>
    transaction
      ? (await transaction.executeQuery<never>(CompiledQuery.raw(text, parameters))).rows
      : database.query(text, parameters)

/** The ids of those that are queued now: of a key one waits. */
export async function insert(ask: Ask, rows: readonly Row[]): Promise<Set<string>> {
  const startAfter = ({ delaySeconds }: Row): string | null =>
    // biome-ignore lint/nursery/noJsRestrictedProperties: pg-boss dates its jobs by the database's own clock
    delaySeconds > 0 ? new Date(Date.now() + delaySeconds * 1000).toISOString() : null
  const queued = await ask<{ id: string }>(enqueue, [
    rows.map(({ id }) => id),
    rows.map(({ name }) => name),
    rows.map(({ data }) => JSON.stringify(data)),
    rows.map(startAfter),
    rows.map(({ key }) => key),
    rows.map(({ priority }) => priority),
    rows.map(({ deletionSeconds }) => deletionSeconds),
  ])
  return new Set(queued.map(({ id }) => id))
}

/** Their ids, or of those that wait already instead of them. */
export async function insertOrJoin(ask: Ask, rows: readonly Row[]): Promise<string[]> {
  const queued = await insert(ask, rows)
  const ids: string[] = []
  for (const row of rows) ids.push(queued.has(row.id) ? row.id : await oneThatWaits(ask, row))
  return ids
}

async function oneThatWaits(ask: Ask, row: Row): Promise<string> {
  // It may be taken up by a worker between the two looks: then there is room for another.
  for (let looks = 0; looks < 3; looks += 1) {
    const waiting = await joined(ask, row)
    if (waiting) return waiting
    if ((await insert(ask, [row])).size > 0) return row.id
  }
  throw new Error(`${row.name} was not queued: the queue refused it`)
}

/** Those of these keys that wait for later are due now. */
export async function hasten(ask: Ask, name: string, keys: readonly string[]): Promise<void> {
  await ask(
    `update pgboss.job set start_after = now()
     where name = $1 and singleton_key = any($2::text[]) and state = 'created' and start_after > now()`,
    [name, keys],
  )
}

/** The one that waits, no longer than this one would: who asked for it sooner is not held up. */
async function joined(ask: Ask, { name, key, delaySeconds }: Row): Promise<string | undefined> {
  // Locked, so that nobody takes it up before what it is asked for with is there to be seen.
  const [waiting] = await ask<{ id: string }>(
    `select id from pgboss.job where name = $1 and singleton_key = $2 and state < 'active'
     order by state = 'created' desc, created_on limit 1 for key share`,
    [name, key ?? ''],
  )
  if (!waiting) return undefined
  // What failed keeps its pause between two tries. What the clock queued has somebody now who waits for it.
  await ask(
    `update pgboss.job set priority = case when priority < 0 then 0 else priority end,
       start_after = case when state = 'created' and start_after > now() + $3::float8 * interval '1 second'
         then now() + $3::float8 * interval '1 second' else start_after end
     where name = $1 and id = $2 and state < 'active' and (priority < 0
       or state = 'created' and start_after > now() + ($3::float8 + 1) * interval '1 second')`,
    [name, waiting.id, Math.max(delaySeconds, 0)],
  )
  return waiting.id
}
