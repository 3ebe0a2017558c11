/** Erasure removes a person from every table, and nobody else. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { outbox } from '#operations/messaging/index'
import { events, metering } from '#operations/store/index'
import { SystemContext } from '#runtime/context'
import { merchantTables, neutralColumns } from '#test/operations/store/platform/column-allowlists'
import {
  describeTables,
  findOccurrences,
  findPersonTables,
  type Person,
  personValue,
  seedPeople,
  type TableDescription,
} from '#test/operations/store/platform/person-rows'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

const app = await testApp()
let tables: ReadonlyMap<string, TableDescription>
let shop: Shop
let other: Shop

/** Tables with people who are not customers. */
const excludedTables: Readonly<Record<string, string>> = {
  chat_agent_bindings: 'the team: who may use the assistant',
  chat_agent_codes: 'the team',
  chat_agent_replies: "the assistant's conversations with the team, for 90 days",
  chat_agent_requests: "the assistant's conversations with the team, for 90 days",
  chat_agent_strangers: 'senders of wrong codes to the assistant: no store, for 90 days',
  exports: 'the member who requested it',
  invitations: 'the team',
  memberships: 'the team',
  messaging_connections: "the store's own number",
  notification_reads: 'the team',
  stores: 'the merchant',
  testimonials: 'written by the merchant',
  users: 'the team',
}
const isSandboxTable = (table: string): boolean => table.startsWith('sandbox_')

/** Data retained after an erasure, and why. */
const retained: Readonly<Record<string, string>> = {
  'opt_outs.phone': 'the opt-out must be kept to be respected',
  'opt_outs.phone_key': 'the same',
  'email_unsubscribes.email': 'the same for email',
  'shared_windows.phone_key': "belongs to the server's number, not to a store; a window of 24 hours",
}

const ana: Person = {
  email: 'rosalind.q@example.com',
  phone: '+5511987654321',
  name: 'Rosalind Quimby',
  customerId: '99007712',
  orderId: '7712001',
}
const searchWords = ({ email, phone, name, customerId }: Person): string[] => [
  email.split('@')[0]!,
  phone.slice(3),
  ...name.split(' '),
  customerId,
]
const bea: Person = {
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
const given = (who: Person) => ({
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

/** Outbox sources whose messages are in their table before they are claimed. */
const waitingStatus: Readonly<Record<string, string>> = {
  campaign_messages: 'pending',
  automation_executions: 'pending',
}

const personTables = (): string[] =>
  findPersonTables(tables).filter((table) => !(table in excludedTables) && !isSandboxTable(table))

async function redact(who: Person, at: Shop): Promise<void> {
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

/** Send states per outbox source: waiting, claimed without a provider call, and called. */
const sendStates = {
  waiting: { isCalled: false },
  claimed: { isCalled: false },
  called: { isCalled: true },
} as const

/** Tables filled from the platform. */
const platformTables = [
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
  tables = await describeTables(app)
  shop = await store(app)
  other = await store(app)
})

describe('a person in every table', () => {
  test('is erased everywhere except in retained columns; other people and other stores are untouched', async () => {
    const filled = await seedPeople(app, tables, personTables(), {
      storeId: shop.id,
      who: ana,
      given: given(ana),
      links,
    })
    await seedPeople(app, tables, personTables(), { storeId: shop.id, who: bea, given: given(bea), links })
    await seedPeople(app, tables, personTables(), { storeId: other.id, who: ana, given: given(ana), links })
    const before = await findOccurrences(app, tables, shop.id, searchWords(ana))
    expect([...filled].filter((place) => !before.has(place))).toEqual([])
    expect(before.size).toBeGreaterThan(100)
    const beas = await findOccurrences(app, tables, shop.id, searchWords(bea))
    const elsewhere = await findOccurrences(app, tables, other.id, searchWords(ana))

    await redact(ana, shop)

    const after = await findOccurrences(app, tables, shop.id, searchWords(ana))
    expect([...after].sort()).toEqual(Object.keys(retained).sort())
    expect([...(await findOccurrences(app, tables, shop.id, searchWords(bea)))].sort()).toEqual(
      [...beas].sort(),
    )
    expect([...(await findOccurrences(app, tables, other.id, searchWords(ana)))].sort()).toEqual(
      [...elsewhere].sort(),
    )
  })

  test('gets no more messages: waiting and claimed ones are cancelled, called ones count, units are exact', async () => {
    const sources = Object.values(app.services.extensions.senders).flatMap((each) =>
      each && 'table' in each ? [each as unknown as outbox.OutboxSource] : [],
    )
    expect(sources.length).toBeGreaterThan(5)
    for (const [sendState, { isCalled }] of Object.entries(sendStates)) {
      const at = await store(app)
      const ctx = await at.context()
      const begun: string[] = []
      const rows: Record<string, Record<string, unknown>> = {
        ...given(ana),
        automations: { type: 'welcome' },
      }
      for (const source of sources) {
        const waits = waitingStatus[source.table]
        if (sendState === 'waiting' && !waits) continue
        begun.push(source.table)
        const column = (field: string) =>
          (source.columns as unknown as Record<string, readonly [string] | null | undefined>)[field]?.[0] ??
          null
        const reservation = await metering.reserve(ctx, 1, source.messageSource)
        const called = column('calledAt')
        rows[source.table] = {
          ...rows[source.table],
          ...(column('status')
            ? { [column('status')!]: sendState === 'waiting' ? waits : source.inFlightStatuses[0] }
            : {}),
          reservation_id: reservation,
          ...(source.table === 'stock_subscriptions' ? { channel: 'phone', email: null } : {}),
          ...(source.table === 'exchange_notices' ? { channel: 'messaging', recipient: ana.phone } : {}),
          ...(source.table === 'review_messages' ? { channel: 'messaging', email: null } : {}),
          ...(called && isCalled ? { [called]: app.clock.now().toISOString() } : {}),
          ...(sendState === 'waiting' ? {} : { claimed_at: app.clock.now().toISOString() }),
        }
        if (!isCalled && called === 'claimed_at') delete rows[source.table]!.claimed_at
      }
      await seedPeople(app, tables, personTables(), { storeId: at.id, who: ana, given: rows, links })
      const before = await metering.readUsage(ctx)
      expect([sendState, before.reserved]).toEqual([sendState, begun.length])

      await redact(ana, at)

      const left = await ctx.db
        .selectFrom('usage_reservations')
        .select('source')
        .where('units', '>', 0)
        .execute()
      expect([sendState, left]).toEqual([sendState, []])
      const { used, reserved } = await metering.readUsage(ctx)
      expect([sendState, reserved, used]).toEqual([sendState, 0, isCalled ? begun.length : 0])
      expect([...(await findOccurrences(app, tables, at.id, searchWords(ana)))].sort()).toEqual(
        Object.keys(retained).sort(),
      )
      for (const { table } of sources) {
        const onTheWay = await app.database.query(
          `select 1 from ${table} where store_id = $1 and ${table === 'exchange_notices' || table === 'review_messages' ? 'state' : 'status'} in ('queued', 'sending', 'waiting', 'pending')`,
          [at.id],
        )
        expect([sendState, table, onTheWay.length]).toEqual([sendState, table, 0])
      }
      await app.drainJobs()
    }
  })

  test('every text column is checked or listed as free of shopper data', () => {
    const named = findPersonTables(tables)
    const undecided = [...tables]
      .filter(([table]) => !isSandboxTable(table) && !table.startsWith('kysely_'))
      .flatMap(([table, { columns }]) =>
        columns
          .filter(({ type }) => /text|json|tsvector|ARRAY|character/.test(type))
          .filter((column) =>
            personValue(ana, column) === undefined
              ? !neutralColumns.has(column.name)
              : !named.includes(table) && !merchantTables.has(table),
          )
          .map(({ name }) => `${table}.${name}`),
      )
    expect(
      undecided,
      'extend the erasure of its section (store, rule 21), and add the column in person-rows.ts to personColumn or ' +
        'textColumn; a column without personal data belongs to column-allowlists.ts',
    ).toEqual([])
  })

  test('every excluded table exists', () => {
    const all = findPersonTables(tables)
    expect(Object.keys(excludedTables).filter((table) => !all.includes(table))).toEqual([])
  })

  test('when a shop leaves, its platform data is erased and data given to the merchant stays', async () => {
    const at = await store(app)
    await seedPeople(app, tables, personTables(), { storeId: at.id, who: ana, given: given(ana), links })
    const elsewhere = await findOccurrences(app, tables, shop.id, searchWords(bea))
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
      [...(await findOccurrences(app, tables, at.id, searchWords(ana)))].map((place) => place.split('.')[0]),
    )
    for (const table of platformTables) expect([table, after.has(table)]).toEqual([table, false])
    for (const table of ['contacts', 'newsletter_subscribers', 'contact_form_submissions', 'opt_outs']) {
      expect([table, after.has(table)]).toEqual([table, true])
    }
    expect([...(await findOccurrences(app, tables, shop.id, searchWords(bea)))].sort()).toEqual(
      [...elsewhere].sort(),
    )
  })
})
