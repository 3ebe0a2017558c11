/** Pages of payments while more are inserted. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import listPayments from '#operations/subscription/reads/api/list-payments'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { type CallInput, type Shop, store } from '#test/support/store'

const app = await testApp()
const noon = '2026-11-20T12:00:00.000Z'
await app.setClock(noon)

/** A payment at this many microseconds after noon. */
async function paid(shop: Shop, microseconds: number, status = 'approved'): Promise<string> {
  const id = newId(Date.parse(noon))
  await sql`insert into payments (store_id, id, provider, provider_payment_id, status, kind, amount, currency, plan_id,
      billing_cycle, provider_updated_at, created_at, updated_at)
    values (${shop.id}::uuid, ${id}::uuid, 'sandbox', ${id}, ${status}, 'subscription', 799, 'BRL', 'scale', 'monthly',
      ${noon}::timestamptz, ${noon}::timestamptz + ${microseconds}::int * interval '1 microsecond', ${noon}::timestamptz)`.execute(
    app.database.root,
  )
  return id
}
const list = async (shop: Shop, query: CallInput['query']) =>
  (await shop.call(listPayments, { query: query ?? {} })).body

test.each([[{}], [{ status: 'approved,rejected' }]])(
  'with %j, each existing payment is listed exactly once',
  async (filters) => {
    const shop = await store(app)
    const there: string[] = []
    // Two per microsecond: a cursor truncated to milliseconds would skip rows.
    for (let n = 0; n < 22; n += 1) there.push(await paid(shop, Math.floor(n / 2)))
    const met: string[] = []
    let cursor: string | null = null
    let pages = 0
    do {
      const answer = await list(shop, { ...filters, limit: 5, ...(cursor ? { cursor } : {}) })
      expect(answer).toMatchObject({ page: cursor ? null : 1, total: 22 + pages })
      met.push(...answer.data.map((each: { id: string }) => each.id))
      pages += 1
      await paid(shop, 1000 + pages)
      cursor = answer.nextCursor
    } while (cursor)
    expect(pages).toBe(5)
    expect(met).toHaveLength(22)
    expect(new Set(met)).toEqual(new Set(there))
  },
)
