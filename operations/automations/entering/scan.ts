/**
 * The daily scan that starts win-back and birthday runs (rule 1). Each automation is scanned once per local day; missed
 * days are scanned later.
 */
import { type InferResult, sql } from 'kysely'
import type { PlatformCustomer } from '#operations/store/index'
import { connections, isCountedOrder, mayUse } from '#operations/store/index'
import type { Context, SystemContext } from '#runtime/context'
import { parsePhone, phoneKey } from '#runtime/values/phone'
import { toAutomation } from '../automations.ts'
import { addDays, getFirstInstant, listBirthdays, listDaysToScan } from '../deciding/clock-times.ts'
import { type BirthdaySettings, entryKeys, type WinBackSettings } from '../kinds.ts'
import type { AutomationRow, AutomationType } from '../types.ts'
import { type Entry, enterRuns } from './enter.ts'

const pageSize = 500

/**
 * Selects automations that may have a day to scan: the latest due day is later than the last scanned day. The query
 * allows three hours of tolerance for clock changes; `hasDayToScan` then decides exactly.
 */
export const selectAutomationsToScan = (system: SystemContext) =>
  system.root
    .selectFrom('automations as a')
    .innerJoin('stores as s', 's.id', 'a.store_id')
    .select([
      'a.store_id',
      'a.id',
      'a.activated_at',
      's.timezone',
      sql<string>`a.settings ->> 'sendAt'`.as('send_at'),
      sql<string | null>`a.scan_day::text`.as('scan_day'),
    ])
    .where('a.type', 'in', ['win-back', 'birthday'] satisfies AutomationType[])
    .where('a.is_active', '=', true)
    .where('a.deleted_at', 'is', null)
    .where('a.activated_at', 'is not', null)
    .where(
      sql<boolean>`(a.scan_day is null or a.scan_day < ((${system.now()}::timestamptz at time zone s.timezone)
        + interval '3 hours' - (a.settings ->> 'sendAt')::interval)::date
        or a.scan_day > (${system.now()}::timestamptz at time zone s.timezone)::date)`,
    )
type ScanRow = InferResult<ReturnType<typeof selectAutomationsToScan>>[number]

export const hasDayToScan = (row: ScanRow, now: Date): boolean =>
  listDaysToScan({ sendAt: row.send_at, zone: row.timezone, now }, row.scan_day, row.activated_at!).length > 0

interface ScanCursor {
  day: string
  cursor: string | null
}

/** Scans all due days, page by page. A retry continues at the saved cursor. */
export async function scan(ctx: Context, automationId: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const state = await readScanState(ctx, automationId)
    if (!state) return
    const { automation, day, cursor } = state
    const page = (await mayUse(ctx, 'automations'))
      ? await readScanPage(ctx, automation, day, cursor)
      : emptyPage
    await ctx.transaction(async (tx) => {
      const now = tx.now()
      await enterRuns(tx, automation, page.entries(now))
      const isDone = page.next === null
      await tx.db
        .updateTable('automations')
        .set({
          ...(isDone ? { scan_day: day } : {}),
          scan_cursor: isDone ? null : JSON.stringify({ day, cursor: page.next } satisfies ScanCursor),
        })
        .where('id', '=', automationId)
        .execute()
    })
  }
}

async function readScanState(
  ctx: Context,
  id: string,
): Promise<{ automation: AutomationRow; day: string; cursor: string | null } | null> {
  const row = await ctx.db
    .selectFrom('automations')
    .selectAll()
    .select(sql<string | null>`scan_day::text`.as('done'))
    .where('id', '=', id)
    .where('is_active', '=', true)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (!row?.activated_at) return null
  const automation = toAutomation(row)
  const { sendAt } = automation.settings as unknown as WinBackSettings
  const days = listDaysToScan(
    { sendAt, zone: ctx.store.timezone, now: ctx.now() },
    row.done,
    row.activated_at,
  )
  const day = days[0]
  if (day === undefined) return null
  const saved = row.scan_cursor === null ? null : (JSON.parse(row.scan_cursor) as ScanCursor)
  return { automation, day, cursor: saved?.day === day ? saved.cursor : null }
}

interface Page {
  /** Builds the page's entries. `occurredAt` is the instant of the scan. */
  entries(occurredAt: Date): Entry[]
  next: string | null
}
const emptyPage: Page = { entries: () => [], next: null }

const readScanPage = (
  ctx: Context,
  automation: AutomationRow,
  day: string,
  cursor: string | null,
): Promise<Page> =>
  automation.type === 'birthday'
    ? readBirthdayPage(ctx, automation, day, cursor)
    : readWinBackPage(ctx, automation, day, cursor)

async function readWinBackPage(
  ctx: Context,
  automation: AutomationRow,
  day: string,
  cursor: string | null,
): Promise<Page> {
  const { inactiveDays } = automation.settings as unknown as WinBackSettings
  const ordered = addDays(day, -inactiveDays)
  const { timezone } = ctx.store
  const rows = await selectLastOrders(ctx)
    .where('o.placed_at', '>=', getFirstInstant(ordered, timezone))
    .where('o.placed_at', '<', getFirstInstant(addDays(ordered, 1), timezone))
    .$if(cursor !== null, (query) => query.where('o.id', '>', cursor!))
    .orderBy('o.id')
    .limit(pageSize)
    .execute()
  return {
    entries: (occurredAt) => rows.map((row) => toWinBackEntry(row, occurredAt)),
    next: rows.length === pageSize ? rows.at(-1)!.id : null,
  }
}

/** Selects each customer's last order: one that counts as a purchase and is followed only by cancelled orders. */
export const selectLastOrders = (ctx: Context) =>
  ctx.db
    .selectFrom('orders as o')
    .select([
      'o.id',
      'o.placed_at',
      'o.customer_id',
      'o.customer_name',
      'o.customer_email',
      'o.customer_phone',
      'o.phone_key',
      sql<string>`coalesce(o.customer_id, o.phone_key)`.as('person'),
    ])
    .where(isCountedOrder('o'))
    .where(sql<boolean>`coalesce(o.customer_id, o.phone_key) is not null`)
    .where((eb) => {
      const newer = eb
        .selectFrom('orders as p')
        .select('p.id')
        .where('p.status', '<>', 'cancelled')
        .where(sql<boolean>`(p.placed_at, p.id) > (o.placed_at, o.id)`)
      return eb.not(
        eb.or([
          eb.exists(newer.where(sql<boolean>`p.customer_id = o.customer_id`)),
          eb.exists(newer.where(sql<boolean>`p.phone_key = o.phone_key`)),
        ]),
      )
    })

type LastOrder = Awaited<ReturnType<ReturnType<typeof selectLastOrders>['execute']>>[number]

export const toWinBackEntry = (order: LastOrder, occurredAt: Date): Entry => ({
  key: entryKeys.winBack(order.person, order.id),
  entityId: order.person,
  occurredAt,
  cartId: null,
  orderId: order.id,
  customerId: order.customer_id,
  phone: order.customer_phone,
  phoneKey: order.phone_key,
  email: order.customer_email,
  name: order.customer_name,
})

/** Reads customers from the platform whose birthday is celebrated `daysBefore` days after `day`. */
export async function readBirthdayPage(
  ctx: Context,
  automation: AutomationRow,
  day: string,
  cursor: string | null,
): Promise<Page> {
  const platform = await connections.findEcommerce(ctx)
  if (!platform) return emptyPage
  const { daysBefore } = automation.settings as unknown as BirthdaySettings
  const birthday = addDays(day, daysBefore)
  const { customers, next } = await platform.port.listCustomers(platform.store, {
    birthdays: listBirthdays(birthday),
    limit: pageSize,
    ...(cursor === null ? {} : { cursor }),
  })
  const year = Number(birthday.slice(0, 4))
  return {
    entries: (occurredAt) => customers.map((each) => toBirthdayEntry(ctx, each, year, occurredAt)),
    next,
  }
}

function toBirthdayEntry(ctx: Context, customer: PlatformCustomer, year: number, occurredAt: Date): Entry {
  const phone = customer.phone && parsePhone(customer.phone, ctx.store.country)
  return {
    key: entryKeys.birthday(customer.id, year),
    entityId: customer.id,
    occurredAt,
    cartId: null,
    orderId: null,
    customerId: customer.id,
    phone: phone || null,
    phoneKey: phone ? phoneKey(phone) : null,
    email: customer.email,
    name: customer.name,
  }
}
