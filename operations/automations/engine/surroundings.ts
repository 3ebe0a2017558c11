/** What decides about a whole batch, asked once. */

import { sql } from 'kysely'
import { checkRoute, type Objection, optOuts, sending, templates } from '#operations/messaging/door'
import { isAmong, mayUse, recordset } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { dayMs, hourMs } from '#runtime/durations'
import type { Surroundings } from '../deciding/decide.ts'
import type { EngineRow } from '../deciding/rows.ts'
import type { AutomationMessage } from '../types.ts'
import { readMirrors } from './read-mirrors.ts'
import { reviewedOrders } from './reviewed.ts'

/** Asked before the transaction: providers say how fast their numbers are. */
export interface Means {
  mayLeave: boolean
  selected: Way | Objection
  official: Way | Objection
}

export interface Way {
  connection: sending.Connection
  isIdempotent: boolean
  perSecond: number
}

export const isWay = (found: Way | Objection): found is Way => 'connection' in found

export async function findMeans(ctx: Context): Promise<Means> {
  return {
    mayLeave: await mayUse(ctx, 'automations'),
    selected: await findWay(ctx),
    official: await findWay(ctx, 'official'),
  }
}

async function findWay(ctx: Context, via?: 'official'): Promise<Way | Objection> {
  const route = await checkRoute(ctx, via)
  if ('code' in route) return route
  const { connection, port } = route
  const perSecond = await sending.ratePerSecond(ctx, connection)
  return { connection, isIdempotent: port.capabilities.idempotentSend, perSecond }
}

/** What holds for these executions now. */
export async function surroundingsOf(
  ctx: Context,
  means: Means,
  rows: readonly EngineRow[],
): Promise<Surroundings> {
  const phones = [...new Set(rows.flatMap((row) => row.phone_key ?? []))]
  const connectionOf = (way: Way | Objection) => (isWay(way) ? way.connection : way)
  const isOfficial = [means.selected, means.official].some(
    (way) => isWay(way) && way.connection.type === 'official',
  )
  return {
    now: ctx.now(),
    store: ctx.store,
    mayLeave: means.mayLeave,
    selected: connectionOf(means.selected),
    official: connectionOf(means.official),
    templates: await templatesOf(ctx, rows),
    optedOut: await optOuts.among(ctx, phones),
    openWindows: isOfficial ? await openWindows(ctx, phones) : new Set(),
    cooling: await coolingOf(ctx, rows),
    mirrors: await readMirrors(ctx),
    reviewed: await reviewedOrders(
      ctx,
      rows.flatMap((row) => (row.type === 'review-request' && row.order_id !== null ? row.order_id : [])),
    ),
  }
}

async function templatesOf(
  ctx: Context,
  rows: readonly EngineRow[],
): Promise<Map<number, templates.Template>> {
  const messages = new Set<AutomationMessage>()
  for (const row of rows) {
    messages.add(row.message)
    for (const step of row.flow?.steps ?? []) if (step.type === 'message') messages.add(step.message)
  }
  const ids = new Set([...messages].flatMap((message) => message.officialapiTemplateId ?? []))
  const found = new Map<number, templates.Template>()
  for (const id of ids) {
    const template = await templates.get(ctx, id)
    if (template) found.set(id, template)
  }
  return found
}

async function openWindows(ctx: Context, phones: string[]): Promise<Set<string>> {
  const rows = await ctx.db
    .selectFrom('contact_windows')
    .select('phone_key')
    .where(isAmong('phone_key', phones))
    .where('last_inbound_at', '>', new Date(ctx.clock.ms() - dayMs))
    .execute()
  return new Set(rows.map((row) => row.phone_key))
}

const coolingTypes = { id: 'uuid', automation_id: 'uuid', phone_key: 'text', since: 'timestamptz' } as const

/** First messages whose phone got one of the same automation within its cooldown, or gets one now. */
async function coolingOf(ctx: Context, rows: readonly EngineRow[]): Promise<Set<string>> {
  const first = rows.filter((row) => row.sequence === 1 && row.cooldown_hours > 0 && row.phone_key !== null)
  if (first.length === 0) return new Set()
  const given = first.map((row) => ({
    id: row.id,
    automation_id: row.automation_id,
    phone_key: row.phone_key,
    since: new Date(ctx.clock.ms() - row.cooldown_hours * hourMs),
  }))
  const found = await ctx.db
    .selectFrom(recordset(coolingTypes, given))
    .select('r.id')
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('automation_executions as s')
          .select('s.id')
          .whereRef('s.phone_key', '=', 'r.phone_key')
          .whereRef('s.automation_id', '=', 'r.automation_id')
          .whereRef('s.id', '<>', 'r.id')
          .where(sql<boolean>`(s.sent_at > r.since or s.status = 'sending')`),
      ),
    )
    .execute()
  return new Set(found.map((row) => row.id))
}
