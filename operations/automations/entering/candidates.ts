/** Lists whom the operation execute sends an automation to (rule 8), newest event first, in pages. */

import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { checkRoute, optOuts, templates } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { dayMs, minuteMs } from '#runtime/durations'
import { readPages } from '#runtime/ports/pagination'
import { addDays, getFirstInstant, localDay } from '../deciding/clock-times.ts'
import { kinds, type WinBackSettings } from '../kinds.ts'
import type { AutomationRow } from '../types.ts'
import { findCategories } from './categories.ts'
import type { Entry } from './enter.ts'
import { readBirthdayPage, selectLastOrders, toWinBackEntry } from './scan.ts'
import { readCarts, readOrders, toCartEntry, toOrderEntry } from './subjects.ts'

const pageSize = 500
const winBackDays = 365

/** Lists the entries that have no run yet, meet the automation's conditions, and have a phone that may get messages. */
export async function* listCandidates(ctx: Context, automation: AutomationRow): AsyncGenerator<Entry[]> {
  const reachesAll = await isUtility(ctx, automation)
  for await (const page of readEntryPages(ctx, automation)) {
    const withPhone = page.filter((entry) => entry.phoneKey !== null)
    const keys = withPhone.map((entry) => entry.key)
    const entered = await findEntered(ctx, automation.id, keys)
    const optedOut = reachesAll
      ? new Set<string>()
      : await optOuts.findOptedOut(
          ctx,
          withPhone.map((entry) => entry.phoneKey!),
        )
    yield withPhone.filter((entry) => !entered.has(entry.key) && !optedOut.has(entry.phoneKey!))
  }
}

/** Counts the candidates, up to `limit`. */
export async function countCandidates(
  ctx: Context,
  automation: AutomationRow,
  limit: number,
): Promise<number> {
  let found = 0
  for await (const page of listCandidates(ctx, automation)) {
    found += page.length
    if (found >= limit) return limit
  }
  return found
}

/** Whether the automation sends an approved utility template. It may also be sent to opted-out customers. */
async function isUtility(ctx: Context, { message }: AutomationRow): Promise<boolean> {
  const route = await checkRoute(ctx)
  if (!('connection' in route) || route.connection.type !== 'official') return false
  const id = message.officialapiTemplateId
  const template = id === null ? null : await templates.get(ctx, id)
  return template?.status === 'approved' && template.category === 'utility'
}

/**
 * Finds which keys have a run. Uses one index lookup per key, because `entry_key = any(…)` may scan all runs of the
 * automation.
 */
async function findEntered(ctx: Context, automationId: string, keys: string[]): Promise<Set<string>> {
  const rows = await ctx.db
    .selectFrom(sql<{ key: string }>`unnest(${keys}::text[])`.as<'k'>(sql`k(key)`))
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('automation_runs as r')
          .select('r.entry_key')
          .where('r.automation_id', '=', automationId)
          .whereRef('r.entry_key', '=', 'k.key')
          .limit(1)
          .as('entered'),
      (join) => join.onTrue(),
    )
    .select('entered.entry_key')
    .execute()
  return new Set(rows.map((row) => row.entry_key))
}

async function* readEntryPages(ctx: Context, automation: AutomationRow): AsyncGenerator<Entry[]> {
  switch (automation.type) {
    case 'abandoned-cart':
      return yield* readCartPages(ctx, automation)
    case 'win-back':
      return yield* readWinBackPages(ctx, automation)
    case 'birthday':
      return yield* readBirthdayPages(ctx, automation)
    default:
      return yield* readOrderPages(ctx, automation)
  }
}

/** Keyset cursor: the last row of the previous page. Pages are ordered newest first. */
interface PageCursor {
  at: Date
  id: string
}

/** Whether a row comes after the cursor: it is older, or of the same instant with a smaller id. */
const isBeyond = (at: string, id: string, place: PageCursor | null): Expression<SqlBool> =>
  place === null
    ? sql<boolean>`true`
    : sql<boolean>`(${sql.ref(at)}, ${sql.ref(id)}) < (${place.at}::timestamptz, ${place.id}::text)`

/** Selects runs by entry key. A query uses it in `not exists`, to exclude entries that have a run. */
const selectRunsByKey = (
  eb: ExpressionBuilder<TenantTables, never>,
  automationId: string,
  key: Expression<unknown>,
) =>
  eb
    .selectFrom('automation_runs as r')
    .select('r.id')
    .where('r.automation_id', '=', automationId)
    .where('r.entry_key', '=', sql<string>`${key}`)

async function* readOrderPages(ctx: Context, automation: AutomationRow): AsyncGenerator<Entry[]> {
  const { occurredAt, executeDays } = kinds[automation.type]
  const column = `o.${occurredAt}` as 'o.placed_at'
  const now = ctx.now()
  const from = new Date(now.getTime() - (executeDays ?? 0) * dayMs)
  // An order gets a payment reminder only once the automation's delay has passed.
  const until =
    automation.type === 'payment-reminder'
      ? new Date(now.getTime() - automation.delayMinutes * minuteMs)
      : now
  for (let place: PageCursor | null = null; ; ) {
    const rows: { id: string; at: Date }[] = await ctx.db
      .selectFrom('orders as o')
      .select(['o.id', `${column} as at`])
      .where(column, '>=', from)
      .where(column, '<=', until)
      .where('o.phone_key', 'is not', null)
      .where((eb) => eb.not(eb.exists(selectRunsByKey(eb as never, automation.id, sql`'order:' || o.id`))))
      .where(isBeyond(column, 'o.id', place))
      .orderBy(column, 'desc')
      .orderBy('o.id', 'desc')
      .limit(pageSize)
      .execute()
    const orders = await readOrders(
      ctx,
      rows.map((row) => row.id),
    )
    const categories = await findCategories(ctx, [automation], orders)
    const entries = new Map(
      orders.map((order) => [order.id, toOrderEntry(automation, order, categories, ctx.store)] as const),
    )
    yield rows.flatMap((row) => entries.get(row.id) ?? [])
    place = rows.at(-1) ?? null
    if (rows.length < pageSize) return
  }
}

async function* readCartPages(ctx: Context, automation: AutomationRow): AsyncGenerator<Entry[]> {
  const now = ctx.clock.ms()
  const from = new Date(now - kinds['abandoned-cart'].executeDays! * dayMs)
  const until = new Date(now - automation.delayMinutes * minuteMs)
  for (let place: PageCursor | null = null; ; ) {
    const rows: { id: string; at: Date }[] = await ctx.db
      .selectFrom('carts as c')
      .select(['c.id', 'c.last_activity_at as at'])
      .where('c.last_activity_at', '>=', from)
      .where('c.last_activity_at', '<=', until)
      .where('c.phone_key', 'is not', null)
      .where('c.order_id', 'is', null)
      .where((eb) => eb.not(eb.exists(selectRunsByKey(eb as never, automation.id, sql`'cart:' || c.id`))))
      .where(isBeyond('c.last_activity_at', 'c.id', place))
      .orderBy('c.last_activity_at', 'desc')
      .orderBy('c.id', 'desc')
      .limit(pageSize)
      .execute()
    const carts = await readCarts(
      ctx,
      rows.map((row) => row.id),
    )
    const categories = await findCategories(ctx, [automation], carts)
    const entries = new Map(
      carts.map((cart) => [cart.id, toCartEntry(automation, cart, categories, ctx.store)] as const),
    )
    yield rows.flatMap((row) => entries.get(row.id) ?? [])
    place = rows.at(-1) ?? null
    if (rows.length < pageSize) return
  }
}

async function* readWinBackPages(ctx: Context, automation: AutomationRow): AsyncGenerator<Entry[]> {
  const { inactiveDays } = automation.settings as unknown as WinBackSettings
  const { timezone } = ctx.store
  const last = addDays(localDay(ctx.now(), timezone), -inactiveDays)
  for (let place: PageCursor | null = null; ; ) {
    const rows: Awaited<ReturnType<ReturnType<typeof selectLastOrders>['execute']>> = await selectLastOrders(
      ctx,
    )
      .where('o.placed_at', '>=', getFirstInstant(addDays(last, -winBackDays), timezone))
      .where('o.placed_at', '<', getFirstInstant(addDays(last, 1), timezone))
      .where('o.phone_key', 'is not', null)
      .where(isBeyond('o.placed_at', 'o.id', place))
      .orderBy('o.placed_at', 'desc')
      .orderBy('o.id', 'desc')
      .limit(pageSize)
      .execute()
    const now = ctx.now()
    yield rows.map((row) => toWinBackEntry(row, now))
    const end = rows.at(-1)
    place = end ? { at: end.placed_at, id: end.id } : null
    if (rows.length < pageSize) return
  }
}

async function* readBirthdayPages(ctx: Context, automation: AutomationRow): AsyncGenerator<Entry[]> {
  const today = localDay(ctx.now(), ctx.store.timezone)
  const read = (cursor: string | null) => readBirthdayPage(ctx, automation, today, cursor)
  for await (const page of readPages(read, ({ next }) => next)) yield page.entries(ctx.now())
}
