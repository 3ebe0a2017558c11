/** Who wants to be forgotten is forgotten in every table there is, whoever keeps it; nobody else is. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { outbox } from '#operations/messaging/door'
import { events, metering } from '#operations/store/door'
import { SystemContext } from '#runtime/context'
import { neutral, ofMerchants } from '#test/operations/store/platform/columns'
import {
  type Described,
  describedTables,
  placesOf,
  type Somebody,
  saidOf,
  seedPeople,
  tablesOfPeople,
} from '#test/operations/store/platform/everywhere'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

const app = await testApp()
let tables: ReadonlyMap<string, Described>
let shop: Shop
let other: Shop

/** Tables with people in them who are no customers, and with the outside world of tests. */
const noCustomers: Readonly<Record<string, string>> = {
  chat_agent_bindings: 'of the team: who may ask the assistant',
  chat_agent_codes: 'of the team',
  chat_agent_replies: "the assistant's talks with the team, for 90 days",
  chat_agent_requests: "the assistant's talks with the team, for 90 days",
  chat_agent_strangers: 'whoever typed wrong codes to the assistant: of no store, for 90 days',
  exports: 'the member who asked for it',
  invitations: 'of the team',
  memberships: 'of the team',
  messaging_connections: "the store's own number",
  notification_reads: 'of the team',
  stores: 'the merchant',
  testimonials: 'what the merchant wrote themselves',
  users: 'of the team',
}
const isOutside = (table: string): boolean => table.startsWith('sandbox_')

/** What stays of somebody, and why. */
const kept: Readonly<Record<string, string>> = {
  'opt_outs.phone': 'who wants no messages is written to by nobody: that has to be known',
  'opt_outs.phone_key': 'the same',
  'email_unsubscribes.email': 'the same, by email',
  'shared_windows.phone_key': "of the server's number, not of a store; opens a window of 24 hours",
}

const ana: Somebody = {
  email: 'rosalind.q@example.com',
  phone: '+5511987654321',
  name: 'Rosalind Quimby',
  customerId: '99007712',
  orderId: '7712001',
}
const wordsOf = ({ email, phone, name, customerId }: Somebody): string[] => [
  email.split('@')[0]!,
  phone.slice(3),
  ...name.split(' '),
  customerId,
]
const bea: Somebody = {
  email: 'beatriz.w@example.com',
  phone: '+5521976543210',
  name: 'Beatriz Wanderley',
  customerId: '88006601',
  orderId: '6601001',
}

const links = {
  campaign_messages: { campaign_id: 'campaigns' },
  automation_executions: { automation_id: 'automations' },
  exchange_notices: { request_id: 'exchange_requests' },
}
const given = (who: Somebody) => ({
  orders: { id: who.orderId },
  carts: { id: `cart-${who.orderId}` },
  number_recipients: { recipient: `n1 ${who.phone}`, number_id: 'n1' },
  exchange_history: { actor_type: 'customer' },
  automation_runs: {
    entity_type: 'customer',
    entity_id: who.customerId,
    entry_key: `customer:${who.customerId}:1`,
  },
  provider_events: { applied_at: '2026-11-20T12:00:00Z' },
  order_items: { name: 'Mug' },
  conversion_items: { name: 'Mug' },
  exchange_items: { name: 'Mug' },
})

/** Of lanes whose messages stand in their table before they are claimed. */
const waitingStatus: Readonly<Record<string, string>> = {
  campaign_messages: 'pending',
  automation_executions: 'pending',
}

const people = (): string[] =>
  tablesOfPeople(tables).filter((table) => !(table in noCustomers) && !isOutside(table))

async function redact(who: Somebody, at: Shop): Promise<void> {
  const { customerId, email, phone, orderId } = who
  const key = `redact:${at.id}`
  await events.accept(new SystemContext(app.services, app.services.log, 'test'), 'ecommerce', 'shopify', [
    {
      key,
      kind: 'customer.redacted',
      occurredAt: app.clock.now().toISOString(),
      storeRef: 'a.example',
      storeId: at.id,
      data: { customerId, email, phone, orderIds: [orderId] },
    },
  ])
  await app.drainJobs()
  const [event] = await app.database.query<{ failure: string | null; applied: boolean }>(
    'select failure, applied_at is not null as applied from provider_events where key = $1',
    [key],
  )
  expect(event).toEqual({ failure: null, applied: true })
}

/** Messages of each lane to somebody: one that waits, one that was never called, one that may have left. */
const standings = {
  waiting: { isCalled: false },
  claimed: { isCalled: false },
  called: { isCalled: true },
} as const

/** What a platform brings. */
const ofTheShop = [
  'automation_executions',
  'automation_runs',
  'carts',
  'conversions',
  'list_contacts',
  'orders',
  'review_dispatches',
  'review_messages',
  'review_tokens',
]

beforeAll(async () => {
  tables = await describedTables(app)
  shop = await store(app)
  other = await store(app)
})

describe('somebody in every table', () => {
  test('is found nowhere once forgotten, but where it is said why; others stay, and so does another store', async () => {
    const told = await seedPeople(app, tables, people(), {
      storeId: shop.id,
      who: ana,
      given: given(ana),
      links,
    })
    await seedPeople(app, tables, people(), { storeId: shop.id, who: bea, given: given(bea), links })
    await seedPeople(app, tables, people(), { storeId: other.id, who: ana, given: given(ana), links })
    const before = await placesOf(app, tables, shop.id, wordsOf(ana))
    expect([...told].filter((place) => !before.has(place))).toEqual([])
    expect(before.size).toBeGreaterThan(100)
    const beas = await placesOf(app, tables, shop.id, wordsOf(bea))
    const elsewhere = await placesOf(app, tables, other.id, wordsOf(ana))

    await redact(ana, shop)

    const after = await placesOf(app, tables, shop.id, wordsOf(ana))
    expect([...after].sort()).toEqual(Object.keys(kept).sort())
    expect([...(await placesOf(app, tables, shop.id, wordsOf(bea)))].sort()).toEqual([...beas].sort())
    expect([...(await placesOf(app, tables, other.id, wordsOf(ana)))].sort()).toEqual([...elsewhere].sort())
  })

  test('is written to no more: what waits and is claimed ends, what was called counts, units are exact', async () => {
    const lanes = Object.values(app.services.wired.senders).flatMap((each) =>
      each && 'table' in each ? [each as unknown as outbox.Lane] : [],
    )
    expect(lanes.length).toBeGreaterThan(5)
    for (const [standing, { isCalled }] of Object.entries(standings)) {
      const at = await store(app)
      const ctx = await at.context()
      const begun: string[] = []
      const rows: Record<string, Record<string, unknown>> = {
        ...given(ana),
        automations: { type: 'welcome' },
      }
      for (const lane of lanes) {
        const waits = waitingStatus[lane.table]
        if (standing === 'waiting' && !waits) continue
        begun.push(lane.table)
        const column = (field: string) =>
          (lane.columns as unknown as Record<string, readonly [string] | null | undefined>)[field]?.[0] ??
          null
        const reservation = await metering.reserve(ctx, 1, lane.source)
        const called = column('calledAt')
        rows[lane.table] = {
          ...rows[lane.table],
          ...(column('status')
            ? { [column('status')!]: standing === 'waiting' ? waits : lane.leaving[0] }
            : {}),
          reservation_id: reservation,
          ...(lane.table === 'stock_subscriptions' ? { channel: 'phone', email: null } : {}),
          ...(lane.table === 'exchange_notices' ? { channel: 'messaging', recipient: ana.phone } : {}),
          ...(lane.table === 'review_messages' ? { channel: 'messaging', email: null } : {}),
          ...(called && isCalled ? { [called]: app.clock.now().toISOString() } : {}),
          ...(standing === 'waiting' ? {} : { claimed_at: app.clock.now().toISOString() }),
        }
        if (!isCalled && called === 'claimed_at') delete rows[lane.table]!.claimed_at
      }
      await seedPeople(app, tables, people(), { storeId: at.id, who: ana, given: rows, links })
      const before = await metering.usage(ctx)
      expect([standing, before.reserved]).toEqual([standing, begun.length])

      await redact(ana, at)

      const left = await ctx.db
        .selectFrom('usage_reservations')
        .select('source')
        .where('units', '>', 0)
        .execute()
      expect([standing, left]).toEqual([standing, []])
      const { used, reserved } = await metering.usage(ctx)
      expect([standing, reserved, used]).toEqual([standing, 0, isCalled ? begun.length : 0])
      expect([...(await placesOf(app, tables, at.id, wordsOf(ana)))].sort()).toEqual(Object.keys(kept).sort())
      for (const { table } of lanes) {
        const onTheWay = await app.database.query(
          `select 1 from ${table} where store_id = $1 and ${table === 'exchange_notices' || table === 'review_messages' ? 'state' : 'status'} in ('queued', 'sending', 'waiting', 'pending')`,
          [at.id],
        )
        expect([standing, table, onTheWay.length]).toEqual([standing, table, 0])
      }
      await app.drainJobs()
    }
  })

  test('each text is looked at, or was decided to say nothing of a shopper', () => {
    const named = tablesOfPeople(tables)
    const undecided = [...tables]
      .filter(([table]) => !isOutside(table) && !table.startsWith('kysely_'))
      .flatMap(([table, { columns }]) =>
        columns
          .filter(({ type }) => /text|json|tsvector|ARRAY|character/.test(type))
          .filter((column) =>
            saidOf(ana, column) === undefined
              ? !neutral.has(column.name)
              : !named.includes(table) && !ofMerchants.has(table),
          )
          .map(({ name }) => `${table}.${name}`),
      )
    expect(
      undecided,
      'wire how its section forgets it (store, rule 21), and say in everywhere.ts by which column somebody is named (naming) ' +
        'and what tells of them (telling); what never does stands in columns.ts',
    ).toEqual([])
  })

  test('who is left out is in tables that there are', () => {
    const all = tablesOfPeople(tables)
    expect(Object.keys(noCustomers).filter((table) => !all.includes(table))).toEqual([])
  })

  test('of a shop that left what came from it is nobody’s; what people gave the merchant stays', async () => {
    const at = await store(app)
    await seedPeople(app, tables, people(), { storeId: at.id, who: ana, given: given(ana), links })
    const elsewhere = await placesOf(app, tables, shop.id, wordsOf(bea))
    await events.accept(new SystemContext(app.services, app.services.log, 'test'), 'ecommerce', 'shopify', [
      {
        key: `shop:${at.id}`,
        kind: 'shop.redacted',
        occurredAt: app.clock.now().toISOString(),
        storeRef: 'a.example',
        storeId: at.id,
        data: { id: '1' },
      },
    ])
    await app.drainJobs()
    const after = new Set(
      [...(await placesOf(app, tables, at.id, wordsOf(ana)))].map((place) => place.split('.')[0]),
    )
    for (const table of ofTheShop) expect([table, after.has(table)]).toEqual([table, false])
    for (const table of ['contacts', 'newsletter_subscribers', 'contact_form_submissions', 'opt_outs']) {
      expect([table, after.has(table)]).toEqual([table, true])
    }
    expect([...(await placesOf(app, tables, shop.id, wordsOf(bea)))].sort()).toEqual([...elsewhere].sort())
  })
})
