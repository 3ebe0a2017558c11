import { beforeAll, describe, expect, test } from 'vitest'
import { signatureHeader, signHook } from '#operations/subscription/provider/sandbox-hooks'
import { deriveKey } from '#runtime/secrets'
import { type TestApp, testApp } from '#test/support/app'
import { billingEvents, goodCard, openCheckout, pay, sandboxBillingOfShop } from '#test/support/billing'
import { type Shop, store } from '#test/support/store'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
  await app.setClock('2026-11-20T12:00:00.000Z')
})

const post = async (path: string, body: string | Buffer<ArrayBuffer>, headers?: Headers) =>
  app.fetch(
    new Request(`http://localhost${path}`, { method: 'POST', body, ...(headers ? { headers } : {}) }),
    {
      ip: '127.0.0.1',
    },
  )
const postJson = async (path: string, body: unknown) => {
  const answer = await post(path, JSON.stringify(body))
  return { status: answer.status, body: await answer.json() }
}

/** An undelivered hook of the sandbox, for a paid checkout. */
async function undelivered(shop: Shop) {
  const { providerCheckoutId } = await openCheckout(shop)
  const card = { cardNumber: goodCard, holder: 'Ana', expMonth: '12', expYear: '2031' }
  await sandboxBillingOfShop(shop).pay(providerCheckoutId, card)
  for await (const hook of sandboxBillingOfShop(shop).undelivered(shop.id)) return hook
  throw new Error('The sandbox has nothing to tell')
}

describe('POST /hooks/billing/:provider', () => {
  test('a signed body is stored, and its job applies it', async () => {
    const shop = await store(app, { plan: null })
    const { headers, body } = await undelivered(shop)
    const answer = await post('/hooks/billing/sandbox', Buffer.from(body), headers)
    expect([answer.status, await answer.json()]).toEqual([200, { received: 1 }])
    expect(await billingEvents(shop)).toMatchObject([{ kind: 'checkout', applied_at: null }])
    await app.drainJobs()
    expect((await billingEvents(shop))[0]!.applied_at).not.toBeNull()
  })

  test('a missing or wrong signature is 401, and nothing is stored', async () => {
    const shop = await store(app, { plan: null })
    const { headers, body } = await undelivered(shop)
    const wrong = new Headers(headers)
    wrong.set(signatureHeader, '00'.repeat(32))
    const changed = Buffer.from(Buffer.from(body).toString().replace('approved', 'rejected'))
    for (const [sent, signed] of [
      [Buffer.from(body), undefined],
      [Buffer.from(body), wrong],
      [changed, headers],
    ] as const) {
      const answer = await post('/hooks/billing/sandbox', sent, signed)
      expect([answer.status, await answer.json()]).toMatchObject([401, { error: { code: 'unauthorized' } }])
    }
    await app.drainJobs()
    expect(await billingEvents(shop)).toEqual([])
  })

  test('a malformed signed body is 400, an unknown provider 404', async () => {
    const secret = deriveKey(app.services.settings.secretKey, 'sandbox-billing').toString('hex')
    const { headers, body } = signHook(secret, [{ key: 'a', kind: 'party' } as never])
    expect((await post('/hooks/billing/sandbox', Buffer.from(body), headers)).status).toBe(400)
    expect((await post('/hooks/billing/nobody', Buffer.from(body), headers)).status).toBe(404)
    expect((await post('/hooks/billing/constructor', Buffer.from(body), headers)).status).toBe(404)
  })
})

describe('the sandbox endpoints', () => {
  test('the payer cancels at the provider, which sends its hook', async () => {
    const shop = await store(app, { plan: null })
    const path = `/sandbox/api/billing/${shop.slug}/agreement`
    expect((await postJson(path, { status: 'paused' })).status).toBe(409)
    const { providerCheckoutId: id, path: page } = await openCheckout(shop)
    await pay(shop, page)
    expect(await postJson(path, { status: 'paused' })).toEqual({ status: 200, body: { status: 'paused' } })
    expect((await postJson(path, { status: 'paused' })).status).toBe(409)
    expect((await postJson(path, { status: 'cancelled' })).status).toBe(200)
    expect((await sandboxBillingOfShop(shop).getAgreement(id)).status).toBe('cancelled')
    expect((await postJson(path, { status: 'authorized' })).status).toBe(400)
    expect((await postJson('/sandbox/api/billing/nobody/agreement', { status: 'paused' })).status).toBe(404)
  })

  test('an outage lasts until it is switched off', async () => {
    const shop = await store(app, { plan: null })
    const { providerCheckoutId: id } = await openCheckout(shop)
    const path = `/sandbox/api/billing/${shop.id}/outage`
    expect(await postJson(path, { mode: 'down' })).toEqual({ status: 200, body: { mode: 'down' } })
    await expect(sandboxBillingOfShop(shop).getAgreement(id)).rejects.toMatchObject({ name: 'Unavailable' })
    expect((await postJson(path, { mode: 'up' })).status).toBe(200)
    expect((await sandboxBillingOfShop(shop).getAgreement(id)).status).toBe('pending')
    expect((await postJson(path, { mode: 'sideways' })).status).toBe(400)
  })
})
