/** Whom execute would write to (rule 8): newest first, page after page. */

import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { checkRoute, optOuts, templates } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { dayMs, minuteMs } from '#runtime/durations'
import { pagesOf } from '#runtime/ports/pages'
import { addDays, firstInstantOn, localDay } from '../deciding/clock-times.ts'
import { kinds, type WinBackSettings } from '../kinds.ts'
import type { AutomationRow } from '../types.ts'
import { categoriesFor } from './categories.ts'
import type { Entry } from './enter.ts'
import { birthdayPage, lastOrders, winBackEntry } from './scan.ts'
import { cartEntry, orderEntry, readCarts, readOrders } from './subjects.ts'

const atOnce = 500
const winBackDays = 365

/** Entries without a run under their key, whose conditions hold, with a phone that may be written to. */
export async function* candidates(ctx: Context, automation: AutomationRow): AsyncGenerator<Entry[]> {
  const reachesAll = await isUtility(ctx, automation)
  for await (const page of entryPages(ctx, automation)) {
    const withPhone = page.filter((entry) => entry.phoneKey !== null)
    const keys = withPhone.map((entry) => entry.key)
    const entered = await enteredAmong(ctx, automation.id, keys)
    const optedOut = reachesAll
      ? new Set<string>()
      : await optOuts.among(
          ctx,
          withPhone.map((entry) => entry.phoneKey!),
        )
    yield withPhone.filter((entry) => !entered.has(entry.key) && !optedOut.has(entry.phoneKey!))
  }
}

/** How many there are, `limit` at most. */
export async function countCandidates(
  ctx: Context,
  automation: AutomationRow,
  limit: number,
): Promise<number> {
  let found = 0
  for await (const page of candidates(ctx, automation)) {
    found += page.length
    if (found >= limit) return limit
  }
  return found
}

/** An approved template of utility goes to everybody. */
async function isUtility(ctx: Context, { message }: AutomationRow): Promise<boolean> {
  const route = await checkRoute(ctx)
  if (!('connection' in route) || route.connection.type !== 'official') return false
  const id = message.officialapiTemplateId
  const template = id === null ? null : await templates.get(ctx, id)
  return template?.status === 'approved' && template.category === 'utility'
}

/** One look into the index for each key: among many runs `entry_key = any(…)` may read all of them. */
async function enteredAmong(ctx: Context, automationId: string, keys: string[]): Promise<Set<string>> {
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

async function* entryPages(ctx: Context, automation: AutomationRow): AsyncGenerator<Entry[]> {
  switch (automation.type) {
    case 'abandoned-cart':
      return yield* cartPages(ctx, automation)
    case 'win-back':
      return yield* winBackPages(ctx, automation)
    case 'birthday':
      return yield* birthdayPages(ctx, automation)
    default:
      return yield* orderPages(ctx, automation)
  }
}

/** Where a walk from the newest on stands. */
interface Place {
  at: Date
  id: string
}

/** Older than the place, or of its instant with a smaller id. */
const beyond = (at: string, id: string, place: Place | null): Expression<SqlBool> =>
  place === null
    ? sql<boolean>`true`
    : sql<boolean>`(${sql.ref(at)}, ${sql.ref(id)}) < (${place.at}::timestamptz, ${place.id}::text)`

/** Runs under a key: what has one is passed over by the database. */
const runsUnder = (
  eb: ExpressionBuilder<TenantTables, never>,
  automationId: string,
  key: Expression<unknown>,
) =>
  eb
    .selectFrom('automation_runs as r')
    .select('r.id')
    .where('r.automation_id', '=', automationId)
    .where('r.entry_key', '=', sql<string>`${key}`)

async function* orderPages(ctx: Context, automation: AutomationRow): AsyncGenerator<Entry[]> {
  const { occurredAt, executeDays } = kinds[automation.type]
  const column = `o.${occurredAt}` as 'o.placed_at'
  const now = ctx.now()
  const from = new Date(now.getTime() - (executeDays ?? 0) * dayMs)
  // A reminder is not for who ordered a moment ago.
  const until =
    automation.type === 'payment-reminder'
      ? new Date(now.getTime() - automation.delayMinutes * minuteMs)
      : now
  for (let place: Place | null = null; ; ) {
    const rows: { id: string; at: Date }[] = await ctx.db
      .selectFrom('orders as o')
      .select(['o.id', `${column} as at`])
      .where(column, '>=', from)
      .where(column, '<=', until)
      .where('o.phone_key', 'is not', null)
      .where((eb) => eb.not(eb.exists(runsUnder(eb as never, automation.id, sql`'order:' || o.id`))))
      .where(beyond(column, 'o.id', place))
      .orderBy(column, 'desc')
      .orderBy('o.id', 'desc')
      .limit(atOnce)
      .execute()
    const orders = await readOrders(
      ctx,
      rows.map((row) => row.id),
    )
    const categories = await categoriesFor(ctx, [automation], orders)
    const entries = new Map(
      orders.map((order) => [order.id, orderEntry(automation, order, categories, ctx.store)] as const),
    )
    yield rows.flatMap((row) => entries.get(row.id) ?? [])
    place = rows.at(-1) ?? null
    if (rows.length < atOnce) return
  }
}

async function* cartPages(ctx: Context, automation: AutomationRow): AsyncGenerator<Entry[]> {
  const now = ctx.clock.ms()
  const from = new Date(now - kinds['abandoned-cart'].executeDays! * dayMs)
  const until = new Date(now - automation.delayMinutes * minuteMs)
  for (let place: Place | null = null; ; ) {
    const rows: { id: string; at: Date }[] = await ctx.db
      .selectFrom('carts as c')
      .select(['c.id', 'c.last_activity_at as at'])
      .where('c.last_activity_at', '>=', from)
      .where('c.last_activity_at', '<=', until)
      .where('c.phone_key', 'is not', null)
      .where('c.order_id', 'is', null)
      .where((eb) => eb.not(eb.exists(runsUnder(eb as never, automation.id, sql`'cart:' || c.id`))))
      .where(beyond('c.last_activity_at', 'c.id', place))
      .orderBy('c.last_activity_at', 'desc')
      .orderBy('c.id', 'desc')
      .limit(atOnce)
      .execute()
    const carts = await readCarts(
      ctx,
      rows.map((row) => row.id),
    )
    const categories = await categoriesFor(ctx, [automation], carts)
    const entries = new Map(carts.map((cart) => [cart.id, cartEntry(automation, cart, categories)] as const))
    yield rows.flatMap((row) => entries.get(row.id) ?? [])
    place = rows.at(-1) ?? null
    if (rows.length < atOnce) return
  }
}

async function* winBackPages(ctx: Context, automation: AutomationRow): AsyncGenerator<Entry[]> {
  const { inactiveDays } = automation.settings as unknown as WinBackSettings
  const { timezone } = ctx.store
  const last = addDays(localDay(ctx.now(), timezone), -inactiveDays)
  for (let place: Place | null = null; ; ) {
    const rows: Awaited<ReturnType<ReturnType<typeof lastOrders>['execute']>> = await lastOrders(ctx)
      .where('o.placed_at', '>=', firstInstantOn(addDays(last, -winBackDays), timezone))
      .where('o.placed_at', '<', firstInstantOn(addDays(last, 1), timezone))
      .where('o.phone_key', 'is not', null)
      .where(beyond('o.placed_at', 'o.id', place))
      .orderBy('o.placed_at', 'desc')
      .orderBy('o.id', 'desc')
      .limit(atOnce)
      .execute()
    const now = ctx.now()
    yield rows.map((row) => winBackEntry(row, now))
    const end = rows.at(-1)
    place = end ? { at: end.placed_at, id: end.id } : null
    if (rows.length < atOnce) return
  }
}

async function* birthdayPages(ctx: Context, automation: AutomationRow): AsyncGenerator<Entry[]> {
  const today = localDay(ctx.now(), ctx.store.timezone)
  const read = (cursor: string | null) => birthdayPage(ctx, automation, today, cursor)
  for await (const page of pagesOf(read, ({ next }) => next)) yield page.entries(ctx.now())
}
