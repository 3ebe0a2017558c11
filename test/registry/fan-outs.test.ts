/** Every scheduled fan-out job: the stores it selects, the stores it skips, and the payload. */
import { expect, test } from 'vitest'
import { SystemContext } from '#runtime/context'
import { fanOutName } from '#runtime/jobs/fan-out'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()
const system = new SystemContext(app.services, app.services.log, 'test')
const now = app.clock.now()
const before = new Date(now.getTime() - 60_000)
const later = new Date(now.getTime() + 60_000)
const id = '00000000-0000-7000-8000-000000000001'

interface Case {
  table: string
  /** A store with any one of these rows is selected. */
  due: object[]
  /** A store with all of these rows is skipped. */
  not: object[]
  payload?: object
  /** A row of `connections` that all of these stores have. */
  connection?: object
}

const connected = { port: 'ecommerce', provider: 'sandbox', connected_at: before }
const unconnected = [
  { port: 'ecommerce', connected_at: null },
  { port: 'mailingList', connected_at: before },
]
const ago = (minutes: number): Date => new Date(now.getTime() - minutes * 60_000)
const synced = (settings: object) => ({ ...connected, settings: JSON.stringify(settings) })
const scanned = {
  type: 'birthday',
  is_active: true,
  activated_at: new Date(now.getTime() - 3 * 86_400_000),
  settings: '{"sendAt":"00:00"}',
}
const cases: Readonly<Record<string, Case>> = {
  'automation-scan': {
    table: 'automations',
    due: [scanned, { ...scanned, type: 'win-back' }],
    not: [
      { ...scanned, name: 'a', is_active: false },
      { ...scanned, name: 'b', deleted_at: before },
      { ...scanned, name: 'c', type: 'welcome' },
      { ...scanned, name: 'd', activated_at: null },
      // Today is done, or yesterday if its time has not come yet.
      { ...scanned, name: 'e', scan_day: later.toISOString().slice(0, 10) },
      { ...scanned, name: 'f', scan_day: later.toISOString().slice(0, 10), settings: '{"sendAt":"23:59"}' },
    ],
    payload: { automationId: id },
  },
  'billing-reconcile': {
    table: 'billing_intents',
    due: [{ status: 'open' }],
    not: [{ status: 'done' }],
  },
  'carts-sync': {
    table: 'connections',
    due: [
      connected,
      synced({ cartsSyncedAt: ago(56) }),
      synced({ cartsSyncedAt: later }),
      synced({ cartsSyncedAt: ago(5), cartsMissedAt: ago(110) }),
    ],
    not: [synced({ cartsSyncedAt: ago(50), cartsMissedAt: ago(130), ordersMissedAt: ago(1) })],
  },
  'discounts-sync': {
    table: 'discounts',
    due: [{ kind: 'promotion' }],
    not: [],
    connection: connected,
  },
  'mailprovider-pull': {
    table: 'connections',
    due: [{ port: 'mailingList', provider: 'sandbox', connected_at: before }],
    not: [
      { port: 'mailingList', connected_at: null },
      { port: 'ecommerce', connected_at: before },
    ],
  },
  'official-revalidate': {
    table: 'messaging_connections',
    due: [{ type: 'official', credentials: 'sealed' }],
    not: [
      { type: 'official', credentials: null },
      { type: 'qr', credentials: 'sealed' },
    ],
  },
  'orders-sync': {
    table: 'connections',
    due: [
      connected,
      synced({ ordersReconciledAt: ago(56) }),
      synced({ ordersReconciledAt: ago(5), ordersMissedAt: ago(110) }),
    ],
    not: [synced({ ordersReconciledAt: ago(50), ordersSyncedAt: ago(90) })],
    payload: { checkWebhooks: true },
  },
  'product-snapshots-refresh': { table: 'connections', due: [connected], not: unconnected },
  'review-dispatch-plan': {
    table: 'review_settings',
    due: [{ requests_since: before }],
    not: [{ requests_since: null }],
  },
  'review-dispatch-send': {
    table: 'review_dispatches',
    due: [
      { status: 'scheduled', scheduled_at: before },
      { status: 'sent', next_reminder_at: before },
    ],
    not: [
      { order_id: 'a', status: 'scheduled', scheduled_at: later },
      { order_id: 'b', status: 'sent', next_reminder_at: later },
      { order_id: 'c', status: 'sent', scheduled_at: before },
    ],
  },
  'stock-reconcile': {
    table: 'stock_subscriptions',
    due: [{ status: 'waiting' }, { status: 'sending' }],
    not: [
      { variant_id: 'a', status: 'sent' },
      { variant_id: 'b', status: 'waiting', deleted_at: before },
    ],
  },
  'template-sync': {
    table: 'messaging_connections',
    due: [{ type: 'official', status: 'connected' }],
    not: [
      { type: 'official', status: 'error' },
      { type: 'qr', status: 'connected' },
    ],
  },
}

const fanned = app.registry.jobs.filter(({ spec }) => spec.every)

test('every fan-out has a case', () => {
  expect(
    fanned.map(({ name }) => name).sort(),
    'write a case above: a store that is selected, and one that is skipped',
  ).toEqual(Object.keys(cases).sort())
})

/** Payloads of the jobs queued by one run, in order. */
async function listQueued(name: string): Promise<{ storeId: string }[]> {
  const all = app.registry.jobs.find((each) => each.name === `${name}-all`)!
  await app.database.query(`delete from pgboss.job where data->>'job' = $1`, [name])
  await all.spec.run(system as never, {}, attempt)
  const rows = await app.database.query<{ data: { storeId: string } }>(
    `select data - 'job' as data from pgboss.job where data->>'job' = $1 order by created_on, id`,
    [name],
  )
  return rows.map(({ data }) => data)
}

test('new stores and finished stores are skipped', async () => {
  const { id: begun } = await store(app)
  const { id: done } = await store(app)
  for (const { table, not } of Object.values(cases)) await replaceRows(table, done, not)
  // Each fan-out depends on one of the two connections.
  const gone = ['ecommerce', 'mailingList'].map((port) => ({ port, connected_at: null }))
  await replaceRows('connections', done, gone)
  for (const { name } of fanned) {
    const stores = (await listQueued(name)).map(({ storeId }) => storeId)
    expect(stores, `${name}-all`).not.toContain(begun)
    expect(stores, `${name}-all`).not.toContain(done)
  }
})

test.each(Object.entries(cases))('%s: selects only stores with work', async (name, given) => {
  const job = fanned.find((each) => each.name === name)!
  const all = app.registry.jobs.find((each) => each.name === fanOutName(job))!
  expect(all.spec.everySeconds).toBe(job.spec.every!.seconds)
  const expected: unknown[] = []
  for (const row of given.due) {
    const { id: storeId } = await store(app)
    await replaceRows(given.table, storeId, [row])
    if (given.connection) await replaceRows('connections', storeId, [given.connection])
    expected.push({ storeId, userId: null, requestId: 'test', payload: given.payload ?? {} })
  }
  const idle = await store(app)
  await replaceRows(given.table, idle.id, given.not)
  if (given.connection) await replaceRows('connections', idle.id, [given.connection])
  const queued = await listQueued(name)
  const byStore = (a: { storeId: string }, b: { storeId: string }) => (a.storeId < b.storeId ? -1 : 1)
  expect(queued.sort(byStore)).toEqual((expected as { storeId: string }[]).sort(byStore))
})

const attempt = { jobId: '', number: 1, isLast: true, signal: new AbortController().signal }

/** Replaces the store's rows in a table; required columns that are not given get filler values. */
async function replaceRows(table: string, storeId: string, rows: object[]): Promise<void> {
  await app.database.query(`delete from ${table} where store_id = $1`, [storeId])
  const columns = await app.database.query<{ name: string; type: string }>(
    `select column_name as name, data_type as type from information_schema.columns
     where table_name = $1 and is_nullable = 'NO' and column_default is null and is_generated = 'NEVER'`,
    [table],
  )
  const ofNoMatter: Readonly<Record<string, unknown>> = {
    uuid: id,
    jsonb: '{}',
    boolean: false,
    integer: 0,
    smallint: 0,
    numeric: 0,
    'timestamp with time zone': now,
  }
  const base = Object.fromEntries(columns.map(({ name, type }) => [name, ofNoMatter[type] ?? 'x']))
  for (const [at, row] of rows.entries()) {
    const own = rows.length > 1 ? { id: `${id.slice(0, -2)}${10 + at}` } : {}
    const values = { ...base, ...('id' in base ? own : {}), ...row, store_id: storeId }
    await app.database.root
      .insertInto(table as never)
      .values(values as never)
      .execute()
  }
}
