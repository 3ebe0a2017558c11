import { expect, test } from 'vitest'
import listProblems from '#operations/product-page/looks/api/list-problems'
import revalidate from '#operations/product-page/looks/api/revalidate-look'
import saveLook from '#operations/product-page/looks/api/save-look'
import { revalidateLook } from '#operations/product-page/looks/looks'
import type { EcommercePort } from '#operations/store/ecommerce/port'
import { changeSandboxProduct } from '#operations/store/ecommerce/sandbox-product-change'
import { productSnapshotsRefresh } from '#operations/storefront/handles'
import { Throttled } from '#runtime/ports/errors'
import { testApp } from '#test/support/app'
import { copyRow } from '#test/support/copies'
import { discountStore, replaceMethod } from '#test/support/discounts'
import { readRows } from '#test/support/rows'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()

/** Concurrent callers: when one of them is refused, the calls of the others may be in flight. */
const workers = 4
type Method = 'getProducts' | 'listCategories' | 'searchProducts'

/** Answers a number of calls, then none until it has paused; counts calls during the pause. */
function throttled(calls: number, pauseMs: number) {
  const counts = { throttled: 0, early: 0, answered: 0 }
  let used = 0
  const resume = (): void => {
    used = 0
  }
  const admit = (): void => {
    used += 1
    if (used <= calls) return
    counts.throttled += 1
    if (used === calls + 1) setTimeout(resume, pauseMs)
    else if (used > calls + workers) counts.early += 1
    // Its own pause begins and ends earlier.
    throw new Throttled(pauseMs + 5)
  }
  const putBack = (['getProducts', 'listCategories', 'searchProducts'] as const).map((method: Method) => {
    const real = app.services.adapters.ecommerce.sandbox as EcommercePort
    const answer = real[method].bind(real) as (...parameters: unknown[]) => Promise<never>
    return replaceMethod(app, method, (async (...parameters: unknown[]) => {
      admit()
      try {
        return await answer(...parameters)
      } finally {
        counts.answered += 1
      }
    }) as never)
  })
  const end = (): void => {
    for (const put of putBack) put()
  }
  return { told: counts, end }
}

const looksInAll = 150

test.runIf(isFullSuite)(
  'many looks against a throttling platform: all are checked, and its limits are respected',
  async () => {
    const shop = await discountStore(app)
    await changeSandboxProduct(shop.platform, '1003', { name: 'Bandeja', price: 80, stock: 10 })
    const { body: look } = await shop.call(saveLook, {
      body: {
        name: 'Sala',
        imageUrl: 'https://cdn.example.com/look.jpg',
        items: [{ productId: '1001' }, { productId: '1002' }, { productId: '1003' }],
      },
    })
    await copyRow(app, 'looks', look.id, {
      count: looksInAll - 1,
      json: ['content'],
      change: (at) => ({ name: `Sala ${at}` }),
    })
    const ids = await readRows(shop, 'looks', ['id'])

    await app.advance(60_000)
    await changeSandboxProduct(shop.platform, '1003', { stock: 0 })
    const platform = throttled(60, 20)
    const waiting = ids.map(({ id }) => id)
    const ctx = await shop.context()
    await Promise.all(
      Array.from({ length: workers }, async () => {
        for (let id = waiting.pop(); id; id = waiting.pop()) await revalidateLook(ctx, id)
      }),
    )
    platform.end()
    expect(platform.told.throttled).toBeGreaterThan(0)
    expect(platform.told.early).toBe(0)
    expect(platform.told.answered).toBe(2 * looksInAll)
    const { body } = await shop.call(listProblems, { query: { limit: 1 } })
    expect(body.summary).toEqual({ healthy: 0, degraded: looksInAll, broken: 0 })
  },
  120_000,
)

test('a full refresh waits as requested, and calls once per page of the catalog', async () => {
  const shop = await discountStore(app)
  const platform = throttled(1, 20)
  await (await shop.context()).queue(productSnapshotsRefresh, {})
  await app.drainJobs()
  platform.end()
  expect(platform.told.throttled).toBeGreaterThan(0)
  expect(platform.told.answered).toBe(2)
})

test('a call that would wait too long fails with 503 and may be retried', async () => {
  const shop = await discountStore(app)
  const items = [{ productId: '1001' }, { productId: '1002' }]
  const imageUrl = 'https://cdn.example.com/look.jpg'
  const { body: look } = await shop.call(saveLook, { body: { name: 'Sala', imageUrl, items } })
  const putBack = replaceMethod(app, 'getProducts', async () => {
    throw new Throttled(60_000)
  })
  expect((await shop.call(revalidate, { params: { id: look.id } })).status).toBe(503)
  putBack()
})
