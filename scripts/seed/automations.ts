/** Automations of the demo: what Aurora's eight have sent in 400 days, the carts that were left, Borealis's one. */
import { cartRow } from '#operations/automations/carts/carts'
import { addDays, localDay } from '#operations/automations/deciding/clock-times'
import { defaultDefinition } from '#operations/automations/definitions/definition'
import { templates } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import type { Cart } from '#runtime/ports/ecommerce/port'
import { putObjects } from '#runtime/ports/ecommerce/sandbox-rows'
import { namedId } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import { auroraAutomations, automationRow, versionRows } from './automation-definitions.ts'
import type { PlannedMessage, PlannedRun } from './automation-plan.ts'
import { type Arrival, type AutomationRows, rowsOfRuns, totalOf } from './automation-rows.ts'
import { type OpenCart, planRuns } from './automation-runs.ts'
import { auroraTemplates } from './messaging.ts'
import type { Customer } from './order-plan.ts'
import { Random } from './random.ts'
import { insertRows, type SeedRow } from './rows.ts'
import type { DemoShop } from './shop.ts'
import type { DemoStore } from './store.ts'
import { hourMs, minuteMs } from './timeline.ts'

/** Of the 1,410 messages that left: 93 % arrived, 61 % were read, 40 were lost. */
const delivered = 1311
const read = 860
const undelivered = 28
const capped = 12

/**
 * Eight automations and 1,600 messages of theirs, 110 of which brought an order; 45 carts. After the opt-outs.
 * `templateIds`: by name.
 */
export async function seedAuroraAutomations(ctx: Context, store: DemoStore, shop: DemoShop): Promise<void> {
  const { timeline } = store
  const templateIds = new Map(
    auroraTemplates.map(({ name }) => [name, Number(store.names.get(`template:${name}`))]),
  )
  const { locale } = ctx.store
  const automations = auroraAutomations(store, locale, templateIds)
  const stopped = await ctx.db.selectFrom('opt_outs').select(['phone', 'created_at']).orderBy('id').execute()
  const { runs, carts } = planRuns({
    shop,
    timeline,
    random: new Random('aurora automations'),
    stopped: stopped.map(({ phone, created_at: at }) => ({ phone, at })),
    endedAt: {
      'review-request': automations['review-request'].endedAt!,
      birthday: automations.birthday.endedAt!,
    },
  })
  const rows = rowsOfRuns(runs, {
    automations,
    templates: await templatesByIds(ctx, [...templateIds.values()]),
    store: ctx.store,
    now: timeline.now,
    arrivals: arrivalsOf(runs, new Random('aurora automation arrivals')),
  })
  const today = localDay(timeline.now, ctx.store.timezone)
  const scanDay = timeline.localHour(timeline.now) < 10 ? addDays(today, -1) : today
  await ctx.transaction(async (tx) => {
    const all = Object.values(automations)
    await insertRows(
      tx.system,
      'automations',
      store.id,
      all.map((each) => automationRow(each, store, locale, scanDay)),
    )
    const versions = all.flatMap((each) => versionRows(each, store.people[each.by]!))
    await insertRows(tx.system, 'automation_flow_versions', store.id, versions)
    await seedCarts(tx, store, carts)
    await save(tx, store, rows)
  })
}

/** One, turned off: its three messages were long ago, one of them to a customer of Aurora. */
export async function seedBorealisAutomation(
  ctx: Context,
  store: DemoStore,
  known: Customer,
  customers: readonly Customer[],
): Promise<void> {
  const { timeline, people } = store
  const createdAt = timeline.ago(70)
  const id = namedId(`automation ${store.slug} abandoned-cart`, createdAt.getTime())
  const definition = defaultDefinition('abandoned-cart', ctx.store.locale)
  const automation: SeedRow<'automations'> = {
    id,
    type: 'abandoned-cart',
    name: 'Abandoned cart',
    is_active: false,
    activated_at: null,
    delay_minutes: definition.delayMinutes,
    message: definition.message,
    coupon: null,
    conditions: definition.conditions,
    skip_if_purchased: definition.skipIfPurchased,
    quiet_hours: definition.quietHours,
    settings: {},
    flow: null,
    flow_version: null,
    created_by: people.bruno!,
    deleted_at: null,
    scan_day: null,
    scan_cursor: null,
    executing_job_id: null,
    executing_left: null,
    created_at: createdAt,
    updated_at: timeline.ago(31),
  }
  const rows = [known, customers[0]!, customers[1]!].map((person, i) => {
    const at = timeline.localTime(60 - 9 * i, 15)
    return borealisRows(id, i, person, at)
  })
  await ctx.transaction(async (tx) => {
    await insertRows(tx.system, 'automations', store.id, [automation])
    await save(tx, store, {
      runs: rows.map((each) => each.run),
      executions: rows.map((each) => each.execution),
      steps: rows.map((each) => each.step),
      coupons: [],
      ledger: [],
      touches: [],
    })
  })
}

/** Emptied before the message was due. */
function borealisRows(automationId: string, n: number, person: Customer, at: Date) {
  const occurredAt = new Date(at.getTime() - hourMs)
  const runId = namedId(`automation run ${automationId} ${n}`, occurredAt.getTime())
  const common = { automation_id: automationId, created_at: occurredAt, updated_at: at }
  const run: SeedRow<'automation_runs'> = {
    ...common,
    id: runId,
    entry_key: `cart:C10000${n}`,
    origin: 'event',
    flow_version: null,
    event: 'cart-abandoned',
    entity_type: 'cart',
    entity_id: `C10000${n}`,
    occurred_at: occurredAt,
    cart_id: `C10000${n}`,
    order_id: null,
    customer_id: null,
    phone: person.phone,
    phone_key: phoneKey(person.phone),
    email: person.email,
    contact_name: person.name,
    created_by: null,
    entered_at: occurredAt,
    ended_at: at,
  }
  const execution: SeedRow<'automation_executions'> = {
    ...common,
    ...neverSent,
    id: namedId(`automation message ${runId}`, occurredAt.getTime()),
    run_id: runId,
    phone: person.phone,
    phone_key: phoneKey(person.phone),
    scheduled_at: at,
    ended_at: at,
  }
  const step: SeedRow<'automation_step_log'> = {
    run_id: runId,
    step_id: '',
    automation_id: automationId,
    flow_version: null,
    type: 'message',
    outcome: null,
    entered_at: occurredAt,
    left_at: at,
  }
  return { run, execution, step }
}

const neverSent = {
  sequence: 1,
  step_id: null,
  status: 'skipped',
  hold_reason: null,
  held_since: null,
  held_ms: 0,
  hold_tries: 0,
  is_forced: false,
  passed_purchase_check: false,
  message: null,
  text: null,
  officialapi_template_id: null,
  coupon_code: null,
  reservation_id: null,
  claim_id: null,
  claimed_at: null,
  called_at: null,
  attempts: 0,
  provider_message_id: null,
  failure_code: null,
  skip_reason: 'not-eligible',
  failure_reason: 'What the message is about has changed: it no longer calls for it',
  sent_at: null,
  delivered_at: null,
  read_at: null,
  failed_at: null,
  converted_at: null,
}

async function templatesByIds(
  ctx: Context,
  ids: readonly number[],
): Promise<Map<number, templates.Template>> {
  const found = new Map<number, templates.Template>()
  for (const id of ids) found.set(id, (await templates.get(ctx, id))!)
  return found
}

/** Those that brought an order were read; what was lost came last in its run. The newest are still on their way. */
function arrivalsOf(runs: readonly PlannedRun[], random: Random): Map<PlannedMessage, Arrival> {
  const left = runs.flatMap((run) => run.messages.filter((each) => each.fate === 'accepted'))
  const arrivals = new Map<PlannedMessage, Arrival>()
  const others: PlannedMessage[] = []
  for (const each of left) {
    if (each.orderedAt) arrivals.set(each, 'read')
    else others.push(each)
  }
  const shuffled = random.shuffled(others)
  const lost = shuffled.filter(({ isLast }) => isLast).slice(0, undelivered + capped)
  for (const [n, each] of lost.entries()) {
    arrivals.set(each, { lost: n < undelivered ? 'undelivered' : 'frequency-capped' })
  }
  let [toRead, toDeliver] = [read - left.filter((each) => each.orderedAt).length, delivered - read]
  for (const each of shuffled) {
    if (arrivals.has(each)) continue
    arrivals.set(each, toRead > 0 ? 'read' : toDeliver > 0 ? 'delivered' : 'sent')
    if (toRead > 0) toRead -= 1
    else toDeliver -= 1
  }
  return arrivals
}

/** At the platform, and in our mirror. */
async function seedCarts(tx: Context, store: DemoStore, open: readonly OpenCart[]): Promise<void> {
  const { domain, country, currency } = tx.store
  const shop = { db: tx.system, clock: tx.clock, storeId: store.id }
  const carts = open.map(
    ({ id, person, items, at, orderId }): Cart => ({
      id,
      customer: { id: person.id, name: person.name, email: person.email, phone: person.phone },
      items,
      total: totalOf(items),
      currency,
      url: `https://${domain}/cart/${id}`,
      orderId,
      lastActivityAt: at.toISOString(),
    }),
  )
  await putObjects(
    shop,
    'cart',
    carts.map((cart) => ({ id: cart.id, data: cart, updatedAt: cart.lastActivityAt })),
  )
  await insertRows(
    tx.system,
    'carts',
    store.id,
    carts.map((cart) => {
      const at = new Date(cart.lastActivityAt)
      const row = cartRow(cart, country)
      return { ...row, last_activity_at: at, created_at: at, updated_at: new Date(at.getTime() + minuteMs) }
    }),
  )
}

async function save(tx: Context, { id }: DemoStore, rows: AutomationRows): Promise<void> {
  await insertRows(tx.system, 'automation_runs', id, rows.runs)
  await insertRows(tx.system, 'automation_executions', id, rows.executions)
  await insertRows(tx.system, 'automation_step_log', id, rows.steps)
  if (rows.coupons.length === 0) return
  await insertRows(tx.system, 'automation_coupons', id, rows.coupons)
  await insertRows(tx.system, 'message_ledger', id, rows.ledger)
  await insertRows(tx.system, 'attribution_touches', id, rows.touches)
}
