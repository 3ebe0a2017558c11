import { beforeAll, describe, expect, test } from 'vitest'
import { advanceCursor, toCartRow, upsertCarts } from '#operations/automations/carts/carts'
import type { Cart } from '#operations/store/ecommerce/port'
import { type TestApp, testApp } from '#test/support/app'
import { ana, automationShop, never } from '#test/support/automations'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
const noon = '2026-11-20T15:00:00.000Z'

const cart = (given: Partial<Cart> = {}): Cart => ({
  id: 'c1',
  customer: { id: '5001', name: 'Ana', email: ' ana@example.com ', phone: '(11) 8888-7777' },
  items: [],
  total: '100.00',
  currency: 'BRL',
  url: 'https://shop/cart/c1',
  orderId: null,
  lastActivityAt: noon,
  ...given,
})

describe('the cart cache', () => {
  test('normalizes phones, and drops invalid ones', () => {
    expect(toCartRow(cart(), 'BR')).toMatchObject({
      customer_email: 'ana@example.com',
      customer_phone: '+551188887777',
      phone_key: '+5511988887777',
    })
    const none = cart({ customer: { id: null, name: null, email: null, phone: '12' } })
    expect(toCartRow(none, 'BR')).toMatchObject({ customer_phone: null, phone_key: null })
  })

  test('ignores an older version except for its order; an equal one changes nothing', async () => {
    await app.setClock(noon)
    const shop = await automationShop(app)
    const ctx = await shop.context()
    const upsert = (...carts: Cart[]) => ctx.transaction((tx) => upsertCarts(tx, carts))
    expect(await upsert(cart())).toEqual(['c1'])
    expect(await upsert(cart())).toEqual([])
    expect(await upsert(cart({ total: '50.00', lastActivityAt: '2026-11-20T14:59:59.999Z' }))).toEqual([])
    expect(await upsert(cart({ total: '120.00', lastActivityAt: '2026-11-20T15:00:01.000Z' }))).toEqual([
      'c1',
    ])
    expect(await upsert(cart({ total: '120.00', orderId: '9001' }))).toEqual(['c1'])
    expect(await upsert(cart({ total: '120.00', lastActivityAt: '2026-11-20T15:00:01.000Z' }))).toEqual([])
    const [row] = await ctx.db.selectFrom('carts').selectAll().execute()
    expect(row).toMatchObject({
      total: '120.00',
      order_id: '9001',
      last_activity_at: new Date('2026-11-20T15:00:01.000Z'),
    })
  })

  test('the cursor advances by pages, then restarts a little before the sync began', () => {
    const begun = { since: '2026-11-20T00:00:00.000Z', cursor: null, startedAt: null }
    const middle = advanceCursor(begun, 'p2', new Date(noon))
    expect(middle).toEqual({ since: begun.since, cursor: 'p2', startedAt: noon })
    expect(advanceCursor(middle, null, new Date('2026-11-20T15:09:00Z'))).toEqual({
      since: '2026-11-20T14:55:00.000Z',
      cursor: null,
      startedAt: null,
    })
  })

  test('a lost webhook is found within the hour, and the next one within five minutes', async () => {
    await app.setClock(noon)
    const shop = await automationShop(app)
    const ctx = await shop.context()
    const { putSandboxCart } = await import('#operations/store/ecommerce/sandbox-carts')
    const putSilently = async (carts: number): Promise<void> => {
      for (let i = 0; i < carts; i += 1)
        await putSandboxCart(shop.platform, { customer: {}, items: [{ variantId: '2003', quantity: 1 }] })
    }
    const countAfter = async (minutes: number): Promise<number> => {
      await app.advance(minutes * 60_000)
      await app.drainJobs()
      return (await ctx.db.selectFrom('carts').select('id').execute()).length
    }
    expect(await countAfter(60)).toBe(0)
    await putSilently(150)
    expect(await countAfter(30)).toBe(0)
    expect(await countAfter(30)).toBe(150)
    await putSilently(1)
    expect(await countAfter(5)).toBe(151)
    // For two hours after the last one that was missed.
    expect(await countAfter(120)).toBe(151)
    await putSilently(1)
    expect(await countAfter(30)).toBe(151)
    expect(await countAfter(30)).toBe(152)
  })
})

describe('carts and their automation', () => {
  test('a cart without a phone waits until it has one; an emptied one is skipped', async () => {
    await app.setClock(noon)
    const shop = await automationShop(app)
    const automation = await shop.automation({ type: 'abandoned-cart', quietHours: never })
    await shop.cart({ id: 'a', customer: { email: 'ana@example.com' } })
    expect(await shop.executions(automation.id)).toEqual([])
    await app.advance(60_000)
    await shop.cart({ id: 'a', customer: ana })
    expect(await shop.executions(automation.id)).toMatchObject([
      { status: 'pending', scheduled_at: new Date('2026-11-20T16:01:00.000Z') },
    ])
    await app.advance(60_000)
    await shop.cart({ id: 'a', customer: ana, items: [] })
    expect(await shop.executions(automation.id)).toMatchObject([
      { status: 'skipped', skip_reason: 'not-eligible' },
    ])
  })

  test('an earlier cart, or an inactive automation, starts no run; conditions match categories', async () => {
    await app.setClock(noon)
    const shop = await automationShop(app)
    await shop.cart({ id: 'old' })
    await app.advance(60_000)
    const off = await shop.automation({ type: 'abandoned-cart', isActive: false, name: 'Off' })
    const on = await shop.automation({ type: 'abandoned-cart', quietHours: never, name: 'On' })
    const only = await shop.automation({
      type: 'abandoned-cart',
      name: 'Mugs',
      conditions: { productIds: ['1001'] },
    })
    const { putCategory, putProduct } = await import('#operations/store/ecommerce/sandbox-catalog')
    await putCategory(shop.platform, { id: '301', name: 'Casa' })
    await putProduct(shop.platform, {
      id: '1003',
      name: 'Vaso',
      categoryIds: ['301'],
      variants: [{ id: '2009', price: 80 }],
    })
    const home = await shop.automation({
      type: 'abandoned-cart',
      name: 'Home',
      conditions: { categoryIds: ['301'] },
    })
    await shop.cart({ id: 'old', lastActivityAt: noon, customer: { ...ana, name: 'Other' } })
    await shop.cart({ id: 'new' })
    await shop.cart({
      id: 'vase',
      customer: { phone: '+5511955554444' },
      items: [{ variantId: '2009', quantity: 1 }],
    })
    const of = async (id: string) => {
      const ctx = await shop.context()
      const rows = await ctx.db
        .selectFrom('automation_runs')
        .select('cart_id')
        .where('automation_id', '=', id)
        .orderBy('cart_id')
        .execute()
      return rows.map((row) => row.cart_id)
    }
    expect(await of(off.id)).toEqual([])
    expect(await of(on.id)).toEqual(['new', 'vase'])
    expect(await of(only.id)).toEqual([])
    expect(await of(home.id)).toEqual(['vase'])
  })
})
