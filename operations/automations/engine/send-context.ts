/** Reads the send context and the decision context of a batch of executions. */

import { sql } from 'kysely'
import { checkRoute, type FailedPrecondition, optOuts, sending, templates } from '#operations/messaging/index'
import { isAmong, mayUse, recordset } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { dayMs, hourMs } from '#runtime/durations'
import type { DecisionContext } from '../deciding/decide.ts'
import type { EngineRow } from '../deciding/rows.ts'
import type { AutomationMessage } from '../types.ts'
import { readCacheProgress } from './cache-progress.ts'
import { findReviewedOrders } from './reviewed.ts'

/**
 * Through which connections the store can send. It is read before the transaction, because reading it calls providers
 * for their numbers' rates.
 */
export interface SendContext {
  canSend: boolean
  selected: SendRoute | FailedPrecondition
  official: SendRoute | FailedPrecondition
}

export interface SendRoute {
  connection: sending.Connection
  isIdempotent: boolean
  perSecond: number
}

export const isRoute = (found: SendRoute | FailedPrecondition): found is SendRoute => 'connection' in found

export async function findSendContext(ctx: Context): Promise<SendContext> {
  return {
    canSend: await mayUse(ctx, 'automations'),
    selected: await findRoute(ctx),
    official: await findRoute(ctx, 'official'),
  }
}

async function findRoute(ctx: Context, via?: 'official'): Promise<SendRoute | FailedPrecondition> {
  const route = await checkRoute(ctx, via)
  if ('code' in route) return route
  const { connection, port } = route
  const perSecond = await sending.readRatePerSecond(ctx, connection)
  return { connection, isIdempotent: port.capabilities.idempotentSend, perSecond }
}

/** Reads the facts that decisions about these executions need. */
export async function readDecisionContext(
  ctx: Context,
  sendContext: SendContext,
  rows: readonly EngineRow[],
): Promise<DecisionContext> {
  const phones = [...new Set(rows.flatMap((row) => row.phone_key ?? []))]
  const toConnection = (route: SendRoute | FailedPrecondition) => (isRoute(route) ? route.connection : route)
  const isOfficial = [sendContext.selected, sendContext.official].some(
    (route) => isRoute(route) && route.connection.type === 'official',
  )
  return {
    now: ctx.now(),
    store: ctx.store,
    canSend: sendContext.canSend,
    selected: toConnection(sendContext.selected),
    official: toConnection(sendContext.official),
    templates: await readTemplates(ctx, rows),
    optedOut: await optOuts.findOptedOut(ctx, phones),
    openWindows: isOfficial ? await findOpenWindows(ctx, phones) : new Set(),
    cooling: await findCooling(ctx, rows),
    cacheProgress: await readCacheProgress(ctx),
    reviewed: await findReviewedOrders(
      ctx,
      rows.flatMap((row) => (row.type === 'review-request' && row.order_id !== null ? row.order_id : [])),
    ),
  }
}

async function readTemplates(
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

async function findOpenWindows(ctx: Context, phones: string[]): Promise<Set<string>> {
  const rows = await ctx.db
    .selectFrom('contact_windows')
    .select('phone_key')
    .where(isAmong('phone_key', phones))
    .where('last_inbound_at', '>', new Date(ctx.clock.ms() - dayMs))
    .execute()
  return new Set(rows.map((row) => row.phone_key))
}

const coolingTypes = { id: 'uuid', automation_id: 'uuid', phone_key: 'text', since: 'timestamptz' } as const

/**
 * Finds first messages whose phone got a message of the same automation within its cooldown, or is being sent one now.
 */
async function findCooling(ctx: Context, rows: readonly EngineRow[]): Promise<Set<string>> {
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
