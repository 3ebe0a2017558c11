/** Reads the status of the inbox: whether it is on, its counters, and its runs. */
import { type Kysely, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { prepared } from '#runtime/database/query'
import { JsonText } from '#runtime/operation'
import { count, instant, named, object, z } from '#runtime/schema'
import type { RunKind } from './runs.ts'

const run = object({
  status: z.enum(['idle', 'queued', 'running', 'failed']),
  startedAt: instant.nullable(),
  finishedAt: instant.nullable(),
  processed: count,
  changed: count,
  error: z.string().nullable(),
})

export const inboxStatus = named(
  'InboxStatus',
  object({
    isEnabled: z.boolean().describe('Turned on, with an official number that is connected now'),
    canEnable: z.boolean().describe('An official number is connected'),
    provider: z.enum(['official', 'qr', 'shared']).nullable(),
    phone: z.string().nullable(),
    enabledAt: instant.nullable(),
    lastInboundAt: instant.nullable(),
    openConversations: count,
    unreadConversations: count.describe('Open ones'),
    unassignedConversations: count.describe('Open ones'),
    reconcile: run.describe('The last run'),
    segments: run.describe('The last run'),
  }),
)

const idle = {
  status: 'idle',
  startedAt: null,
  finishedAt: null,
  processed: 0,
  changed: 0,
  error: null,
}

const runJson = (db: Kysely<TenantTables>, kind: RunKind) =>
  sql`coalesce((${db
    .selectFrom('inbox_runs as r')
    .select(
      jsonObject({
        status: 'r.status',
        startedAt: isoInstant('r.started_at'),
        finishedAt: isoInstant('r.finished_at'),
        processed: 'r.processed',
        changed: 'r.changed',
        error: 'r.error',
      }).as('json'),
    )
    .where('r.kind', '=', kind)}), ${sql.lit(JSON.stringify(idle))}::json)`

const status = prepared((db) => {
  const open = (condition: string) =>
    sql`(${db
      .selectFrom('conversations as c')
      .select((eb) => eb.fn.countAll().as('n'))
      .where('c.status', '=', sql.lit('open'))
      .where(sql<boolean>`${sql.raw(condition)}`)})`
  // Shows the official number, even if another connection is selected.
  const connection = db
    .selectFrom('messaging_connections as m')
    .innerJoin('stores as s', (join) => join.onTrue())
    .select([
      'm.type',
      'm.phone',
      sql<boolean>`m.type = 'official' and m.status = 'connected'`.as('official'),
    ])
    .where((eb) =>
      eb.or([
        sql<boolean>`m.type = s.messaging_connection_type and (m.type <> 'official' or m.status = 'connected')`,
        sql<boolean>`m.type = 'official' and m.status = 'connected'`,
      ]),
    )
    .orderBy(sql`m.type = 'official'`, 'desc')
    .limit(1)
  return db
    .selectFrom('stores as own')
    .leftJoin('inbox_settings as i', (join) => join.onTrue())
    .leftJoin(connection.as('m'), (join) => join.onTrue())
    .select(
      sql<string>`${jsonObject({
        isEnabled: sql`coalesce(i.is_enabled and m.official, false)`,
        canEnable: sql`coalesce(m.official, false)`,
        provider: 'm.type',
        phone: 'm.phone',
        enabledAt: isoInstant('i.enabled_at'),
        lastInboundAt: isoInstant('i.last_inbound_at'),
        openConversations: open('true'),
        unreadConversations: open('c.unread_count > 0'),
        unassignedConversations: open('c.assignee_id is null'),
        reconcile: runJson(db, 'reconcile'),
        segments: runJson(db, 'segments'),
      })}::text`.as('text'),
    )
})

export async function readStatus(ctx: Context): Promise<JsonText> {
  const [row] = await status(ctx, {})
  return new JsonText(row!.text)
}
