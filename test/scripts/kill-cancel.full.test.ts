/** kill -9 between the provider's answer and our commit (subscription, rule 4): reconciled, cancelled once. */
import { afterAll, expect, test } from 'vitest'
// biome-ignore lint/style/noRestrictedImports: the processes it starts go by the machine's clock
import { machineClock } from '#runtime/clock'
import { advance, call, prepareServer, type Running, start, until } from '#test/support/processes'
import { store } from '#test/support/store'
import { type BillingStandIn, billingStandIn } from '../ports/billing-stand-in.ts'

const account = { accessToken: 'APP_USR-1234', webhookSecret: 'webhook-secret' }
const provider: BillingStandIn = await billingStandIn(account, machineClock())
afterAll(() => provider.close())

const askedToCancel = () => provider.bodies.filter((body) => body.status === 'cancelled').length

async function deliver({ url }: Running): Promise<void> {
  for (const { headers, body } of provider.notifications()) {
    const response = await fetch(`${url}/hooks/billing/mercadopago`, { method: 'POST', headers, body })
    expect(response.status).toBe(200)
  }
}

test('a cancel survives kill -9 after the provider has applied it', async () => {
  let key = ''
  const { accessToken, webhookSecret } = account
  const BILLING_URL = `mercadopago://${accessToken}:${webhookSecret}@${new URL(provider.endpoint).host}?tls=off`
  const env = {
    BILLING_URL,
    ...(
      await prepareServer(async (app) => {
        ;({ key } = await store(app, { plan: null }))
      })
    ).env,
  }
  const first = await start('scripts/start.ts', env)
  const statusOf = async ({ url }: Running) => (await call(url, key, 'GET', '/v1/subscription')).body.status
  const post = ({ url }: Running, path: string, body: object = {}) =>
    call(url, key, 'POST', `/v1/subscription/${path}`, body)
  const { body: checkout } = await post(first, 'create-preapproval', { planId: 'starter' })
  provider.pay(new URL(checkout.checkoutUrl).searchParams.get('preapproval_id')!, 'good')
  await deliver(first)
  await until(async () => (await statusOf(first)) === 'active')

  provider.onDone((method) => {
    if (method !== 'PUT') return
    provider.loseAnswers(true)
    first.child.kill('SIGKILL')
  })
  await expect(post(first, 'cancel', { reason: 'switched' })).rejects.toThrow()
  await first.ended
  expect(askedToCancel()).toBe(1)

  provider.loseAnswers(false)
  provider.onDone(null)
  const second = await start('scripts/start.ts', env)
  expect(await statusOf(second)).toBe('active')
  // The first request may still be running for a minute.
  expect((await post(second, 'cancel')).status).toBe(409)
  await advance(second, 61)
  const cancelled = await until(async () => {
    const { body } = await call(second.url, key, 'GET', '/v1/subscription')
    return body.status === 'cancelled' && body
  })
  expect(cancelled).toMatchObject({ cancelReason: 'switched', endsAt: cancelled.currentPeriodEnd })
  expect((await post(second, 'cancel')).status).toBe(409)
  expect(askedToCancel()).toBe(1)
  second.child.kill('SIGTERM')
  expect(await second.ended).toBe(0)
})
