/** Messages of the demo's automations in 400 days, and abandoned carts. */

import { toCartRow } from '#operations/automations/carts/carts'
import { addDays, localDay } from '#operations/automations/deciding/clock-times'
import type { AutomationMessage, AutomationType, Flow } from '#operations/automations/types'
import { templates } from '#operations/messaging/index'
import type { Cart } from '#operations/store/ecommerce/port'
import { putObjects } from '#operations/store/ecommerce/sandbox-rows'
import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import type { PlannedMessage, PlannedRun } from './automation-plan.ts'
import { type Arrival, type AutomationRows, buildRows, type Given, sumTotal } from './automation-rows.ts'
import { type OpenCart, planRuns } from './automation-runs.ts'
import type { DemoStore } from './demo-store.ts'
import { Random } from './random.ts'
import { insertRows, recordSent } from './rows.ts'
import type { DemoShop } from './shop.ts'

/** 1,600 messages of eight automations, 110 of which led to an order; 45 carts. After the opt-outs. */
export async function seedAuroraAutomations(ctx: Context, store: DemoStore, shop: DemoShop): Promise<void> {
  const { timeline } = store
  const stopped = await ctx.db
    .selectFrom('opt_outs')
    .select(['phone', 'created_at as at'])
    .orderBy('id')
    .execute()
  const random = new Random('aurora automations')
  const { runs, carts } = planRuns({ shop, timeline, random, stopped })
  const automations = await readAutomations(ctx)
  const arrivals = planArrivals(runs, new Random('aurora automation arrivals'))
  const given = {
    automations,
    templates: await readTemplates(ctx, store),
    store: ctx.store,
    now: timeline.now,
    arrivals,
  }
  const rows = buildRows(runs, given)
  const names = new Map([...automations].map(([type, { id, name }]) => [id, { type, name }]))
  const today = localDay(timeline.now, ctx.store.timezone)
  await ctx.transaction(async (tx) => {
    // The last local day that was scanned for dates of customers.
    const scan_day = timeline.localHour(timeline.now) < 10 ? addDays(today, -1) : today
    await tx.db.updateTable('automations').set({ scan_day }).where('type', '=', 'win-back').execute()
    await seedCarts(tx, store, carts)
    await save(tx, store, rows)
    await recordSent(tx.system, store.id, rows.executions, ({ automation_id, coupon_code }) => ({
      source: 'automation',
      source_id: automation_id,
      touch: {
        source_name: names.get(automation_id)!.name,
        automation_type: names.get(automation_id)!.type,
        coupon_code: coupon_code ?? null,
      },
    }))
  })
}

async function readAutomations(ctx: Context): Promise<Given['automations']> {
  const rows = await ctx.db.selectFrom('automations').select(['id', 'type', 'name', 'message']).execute()
  const versions = await ctx.db
    .selectFrom('automation_flow_versions')
    .select(['automation_id', 'flow', 'created_at'])
    .orderBy('version')
    .execute()
  return new Map(
    rows.map(({ id, type, name, message }) => {
      const own = versions.filter((each) => each.automation_id === id)
      const flows = own.map(({ flow, created_at }) => ({ flow: flow as Flow, created_at }))
      return [type as AutomationType, { id, name, message: message as AutomationMessage, versions: flows }]
    }),
  )
}

async function readTemplates(ctx: Context, { names }: DemoStore): Promise<Map<number, templates.Template>> {
  const found = new Map<number, templates.Template>()
  for (const [name, id] of names) {
    if (name.startsWith('template:')) found.set(Number(id), (await templates.get(ctx, Number(id)))!)
  }
  return found
}

/**
 * 93 % of the 1,410 sent messages were delivered, 61 % read, 40 lost. Messages that led to an order were read; lost
 * ones are the last of their run.
 */
function planArrivals(runs: readonly PlannedRun[], random: Random): Map<PlannedMessage, Arrival> {
  const left = runs.flatMap(({ messages }) => messages.filter((each) => each.outcome === 'accepted'))
  const last = new Set(runs.map(({ messages }) => messages.at(-1)))
  const ordered = left.filter((each) => each.orderedAt)
  const others = random.shuffled(left.filter((each) => !each.orderedAt))
  const lost = others.filter((each) => last.has(each)).slice(0, 40)
  const arrived = [...ordered, ...others.filter((each) => !lost.includes(each))]
  return new Map<PlannedMessage, Arrival>([
    ...lost.map((each, n) => [each, n < 28 ? 'undelivered' : 'frequency-capped'] as const),
    ...arrived.map((each, n) => [each, n < 860 ? 'read' : n < 1311 ? 'delivered' : 'sent'] as const),
  ])
}

/** At the platform, and in our copy. */
async function seedCarts(tx: Context, store: DemoStore, open: readonly OpenCart[]): Promise<void> {
  const { domain, country, currency } = tx.store
  const carts = open.map(({ id, person, items, at, orderId }): Cart => {
    const { id: customerId, name, email, phone } = person
    const customer = { id: customerId, name, email, phone }
    const url = `https://${domain}/cart/${id}`
    return {
      id,
      customer,
      items,
      total: sumTotal(items),
      currency,
      url,
      orderId,
      lastActivityAt: at.toISOString(),
    }
  })
  const objects = carts.map((cart) => ({ id: cart.id, data: cart, updatedAt: cart.lastActivityAt }))
  await putObjects({ db: tx.system, clock: tx.clock, storeId: store.id }, 'cart', objects)
  const rows = carts.map((cart) => {
    const at = new Date(cart.lastActivityAt)
    const times = { last_activity_at: at, created_at: at, updated_at: new Date(at.getTime() + minuteMs) }
    return { ...toCartRow(cart, country), ...times }
  })
  await insertRows(tx.system, 'carts', store.id, rows)
}

async function save(tx: Context, { id }: DemoStore, rows: AutomationRows): Promise<void> {
  await insertRows(tx.system, 'automation_runs', id, rows.runs)
  await insertRows(tx.system, 'automation_executions', id, rows.executions)
  await insertRows(tx.system, 'automation_step_log', id, rows.steps)
  await insertRows(tx.system, 'automation_coupons', id, rows.coupons)
}
