import { afterEach, describe, expect, test } from 'vitest'
import { MercadoPagoBilling } from '#operations/subscription/provider/mercado-pago'
import { readMercadoPagoUrl } from '#operations/subscription/provider/mercado-pago-url'
import type { BillingPort } from '#operations/subscription/provider/port'
import { findSandboxCoupon } from '#operations/subscription/provider/sandbox-coupons'
import { newId } from '#runtime/values/ids'
import { frozenClock } from '#test/support/test-clock'
import { aCheckout, billingContract, type Hook } from './billing.contract.ts'
import { billingStandIn } from './billing-stand-in.ts'

const start = Date.parse('2026-11-20T12:00:00.000Z')

const account = { accessToken: 'APP_USR-1234-abcd', webhookSecret: 'a webhook secret' }

async function mercadoPago() {
  const clock = frozenClock()
  const standIn = await billingStandIn(account, clock)
  const port = new MercadoPagoBilling({
    http: { endpoint: standIn.endpoint, accessToken: account.accessToken, timeoutMs: 1500, retryDelayMs: 1 },
    webhookSecret: account.webhookSecret,
    clock,
    findCoupon: findSandboxCoupon,
  })
  return { port, standIn, clock, storeId: newId(start) }
}

billingContract('Mercado Pago', async () => {
  const { port, standIn, clock, storeId } = await mercadoPago()
  return {
    port,
    storeId,
    now: () => clock.now(),
    pay: async (id, card) => standIn.pay(id, card),
    charge: async (id) => standIn.charge(id),
    chargeBack: async (id) => standIn.chargeBack(id),
    payerActs: async (id, status) => standIn.setStatus(id, status),
    hooks: async () => standIn.notifications(),
    async setMode(mode) {
      standIn.fail(mode === 'down' ? { status: 502, body: '<html>Bad gateway</html>' } : null)
      standIn.loseAnswers(mode === 'timeout')
    },
    close: () => standIn.close(),
  }
})

describe('Mercado Pago', () => {
  const closing: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })
  async function opened() {
    const found = await mercadoPago()
    closing.push(() => found.standIn.close())
    return found
  }
  const failing = (port: BillingPort, storeId: string) => port.createCheckout(aCheckout(storeId))

  test('requests are as the reference documents them', async () => {
    const { port, standIn, storeId } = await opened()
    const asked = aCheckout(storeId, { billingCycle: 'yearly', firstAmount: '940.00', amount: '990.00' })
    const { providerCheckoutId: id } = await port.createCheckout(asked)
    expect(standIn.bodies[0]).toEqual({
      reason: 'Starter, yearly',
      external_reference: `${storeId}:${asked.checkoutId}`,
      payer_email: 'owner@example.com',
      back_url: 'https://api.example.com/billing/return?from=mail&provider=mercadopago',
      status: 'pending',
      auto_recurring: {
        frequency: 12,
        frequency_type: 'months',
        transaction_amount: 940,
        currency_id: 'BRL',
      },
    })
    expect(standIn.keys[0]).toBe(asked.idempotencyKey)
    await port.updateAgreement(id, { amount: '990.00', reason: 'Starter', idempotencyKey: 'k' })
    await port.pauseAgreement(id)
    expect(standIn.bodies.slice(1)).toEqual([
      { reason: 'Starter', auto_recurring: { transaction_amount: 990, currency_id: 'BRL' } },
      { status: 'paused' },
    ])
    expect(port.parseReturn(new URLSearchParams({ preapproval_id: id }))).toBe(id)
    expect(port.parseReturn(new URLSearchParams({ preapproval_id: '../users/me' }))).toBeNull()
  })

  test('charging now and starting later is refused with a reason; a free cycle starts with the next one', async () => {
    const { port, standIn, storeId } = await opened()
    const both = port.createCheckout(aCheckout(storeId, { startsAt: '2026-12-01T00:00:00.000Z' }))
    await expect(both).rejects.toMatchObject({ code: 'unsupported-start' })
    expect(standIn.requests).toEqual([])
    await port.createCheckout(aCheckout(storeId, { firstAmount: '0.00' }))
    expect(standIn.bodies[0]).toMatchObject({
      external_reference: expect.stringMatching(/:later$/),
      auto_recurring: { transaction_amount: 99, start_date: '2026-12-20T12:00:00.000Z' },
    })
  })

  test('after too many requests it reports when to retry, and sends nothing before', async () => {
    const { port, standIn, storeId } = await opened()
    standIn.fail({ status: 429, headers: { 'retry-after': '7' } })
    await expect(failing(port, storeId)).rejects.toMatchObject({ name: 'Throttled', retryAfterMs: 7000 })
    standIn.fail({ status: 429, headers: { 'retry-after': 'soon' } })
    await expect(port.getAgreement('a')).rejects.toMatchObject({ name: 'Throttled', retryAfterMs: 1000 })
    // The provider's clock differs from ours.
    const date = 'Mon, 30 Nov 2026 12:00:00 GMT'
    const waitUntil = (seconds: string) => ({ date, 'retry-after': `Mon, 30 Nov 2026 12:00:${seconds} GMT` })
    standIn.fail({ status: 429, headers: waitUntil('09') })
    await expect(port.getAgreement('a')).rejects.toMatchObject({ name: 'Throttled', retryAfterMs: 9000 })
    standIn.fail({ status: 429, headers: waitUntil('00') })
    await expect(port.getAgreement('a')).rejects.toMatchObject({ name: 'Throttled', retryAfterMs: 1000 })
    expect(standIn.requests).toHaveLength(4)
  })

  test("a refusal is passed on in the provider's words", async () => {
    const { port, storeId } = await opened()
    const refused = port.createCheckout(aCheckout(storeId, { payerEmail: 'nobody' }))
    await expect(refused).rejects.toMatchObject({
      name: 'Refused',
      code: 'bad-request',
      message: 'The payment provider refused this: payer_email must be a valid email',
    })
  })

  test('bad credentials are an outage, and not shown', async () => {
    const { standIn, clock, storeId } = await opened()
    const http = { endpoint: standIn.endpoint, accessToken: 'APP_USR-wrong', retryDelayMs: 1 }
    const port = new MercadoPagoBilling({ http, webhookSecret: 'x', clock, findCoupon: () => null })
    const error = await failing(port, storeId).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      name: 'AccessLost',
      accepted: 'no',
      code: 'billing-key-refused',
      remedy: expect.stringContaining('BILLING_URL'),
    })
    expect(String((error as Error).stack)).not.toContain('APP_USR')
    expect(standIn.requests).toHaveLength(1)
  })

  test('only safe requests are retried', async () => {
    const { port, standIn, storeId } = await opened()
    const { providerCheckoutId: id } = await failing(port, storeId)
    standIn.requests.length = 0
    standIn.failOnce({ status: 500 }, 'drop')
    expect((await port.getAgreement(id)).status).toBe('pending')
    expect(standIn.requests).toHaveLength(3)

    standIn.pay(id, 'good')
    const [payment] = await port.listPayments(id, { since: new Date(0) })
    standIn.requests.length = 0
    standIn.failOnce(null, { status: 500 })
    await port.refund(payment!.id, { idempotencyKey: 'once' })
    const path = `/v1/payments/${payment!.id}`
    expect(standIn.requests).toEqual([`GET ${path}`, `POST ${path}/refunds`, `POST ${path}/refunds`])
    expect(standIn.keys.at(-1)).toBe('once')

    standIn.requests.length = 0
    standIn.failOnce({ status: 503 })
    const created = failing(port, storeId)
    await expect(created).rejects.toMatchObject({ name: 'Unavailable', accepted: 'unknown' })
    expect(standIn.requests).toEqual(['POST /preapproval'])
  })

  test('no answer, refused connections and malformed answers are Unavailable', async () => {
    const { port, standIn, clock, storeId } = await opened()
    standIn.fail('silence')
    await expect(failing(port, storeId)).rejects.toMatchObject({ name: 'Unavailable', accepted: 'unknown' })
    await expect(port.getAgreement('a')).rejects.toMatchObject({ name: 'Unavailable', accepted: 'no' })
    for (const body of ['<html>', '{}', '{"id":"a","status":"pending"}', 'null']) {
      standIn.fail({ status: 200, body })
      await expect(port.getAgreement('a')).rejects.toMatchObject({ name: 'Unavailable' })
    }
    const gone = await billingStandIn(account, clock)
    await gone.close()
    const http = { endpoint: gone.endpoint, accessToken: 'a', retryDelayMs: 1 }
    const nobody = new MercadoPagoBilling({ http, webhookSecret: 'x', clock, findCoupon: () => null })
    await expect(failing(nobody, storeId)).rejects.toMatchObject({ name: 'Unavailable', accepted: 'no' })
  })

  test('all pages of invoices are read', async () => {
    const { port, standIn, storeId } = await opened()
    const { providerCheckoutId: id } = await failing(port, storeId)
    standIn.pay(id, 'good')
    for (let month = 0; month < 4; month += 1) standIn.charge(id)
    const payments = await port.listPayments(id, { since: new Date(0) })
    expect(payments.map(({ dueAt }) => dueAt?.slice(0, 7) ?? null)).toEqual([
      null,
      '2026-12',
      '2027-01',
      '2027-02',
      '2027-03',
    ])
    const since = new Date(Date.parse(payments[3]!.createdAt))
    standIn.requests.length = 0
    expect(await port.listPayments(id, { since })).toHaveLength(2)
    expect(standIn.requests.filter((each) => each.includes('/v1/payments/'))).toHaveLength(2)
  })

  test('partial refunds are reported one by one, though the invoice is old and unchanged', async () => {
    const { port, standIn, storeId } = await opened()
    const { providerCheckoutId: id } = await failing(port, storeId)
    standIn.pay(id, 'good')
    const [payment] = await port.listPayments(id, { since: new Date(0) })
    standIn.notifications()
    for (const amount of [30, 12.5]) {
      standIn.refundPart(payment!.id, amount)
      const [{ headers, body }] = standIn.notifications() as [Hook]
      const events = await port.parseWebhook(headers, body)
      const back = amount === 30 ? '30.00' : '42.50'
      expect(events.map(({ kind, key }) => [kind, key])).toEqual([
        ['payment', `${payment!.id}:refunded:${back}`],
      ])
      expect(events[0]!.data.payment).toMatchObject({ status: 'approved', refundedAmount: back })
    }
    const all = await port.listEvents(id, { since: new Date(0) })
    expect(all.map(({ kind, data }) => [kind, data.outcome, data.payment?.refundedAmount])).toEqual([
      ['checkout', 'approved', '0.00'],
      ['payment', null, '42.50'],
    ])
  })

  test.each(['payment', 'topic_chargebacks_wh'] as const)(
    'a chargeback that was won is reported once, by a notification of %s',
    async (topic) => {
      const { port, standIn, storeId } = await opened()
      const { providerCheckoutId: id } = await failing(port, storeId)
      standIn.pay(id, 'good')
      const [payment] = await port.listPayments(id, { since: new Date(0) })
      const states = async () => {
        const found: unknown[] = []
        for (const { headers, body } of standIn.notifications())
          found.push(...(await port.parseWebhook(headers, body)).map(({ key }) => key))
        return [...new Set(found)]
      }
      await states()
      standIn.chargeBack(payment!.id)
      const charged = `${payment!.id}:charged-back`
      expect(await states()).toContain(charged)
      standIn.decideDispute(payment!.id, 'settled', topic)
      expect(await states()).toContain(charged)
      standIn.decideDispute(payment!.id, 'reimbursed', topic)
      const won = await states()
      expect(won).toContain(`${payment!.id}:dispute-won`)
      expect(won).not.toContain(charged)
      expect(await port.listPayments(id, { since: new Date(0) })).toMatchObject([
        { status: 'approved', refundedAmount: '0.00', isDisputeWon: true },
      ])
    },
  )

  test('notifications about foreign objects bring nothing', async () => {
    const { port, standIn } = await opened()
    const parse = ({ headers, body }: Hook) => port.parseWebhook(headers, body)
    const about = (type: string, id: string) => standIn.sign({ type, data: { id } })
    expect(await parse(about('payment', '404'))).toEqual([])
    expect(await parse(about('subscription_preapproval', '404'))).toEqual([])
    expect(await parse(about('subscription_authorized_payment', '404'))).toEqual([])
    expect(await parse(about('topic_chargebacks_wh', '1'))).toEqual([])
    const another = await fetch(`${standIn.endpoint}/preapproval`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.accessToken}` },
      body: JSON.stringify({
        payer_email: 'somebody@example.com',
        external_reference: 'a shop of another kind',
        auto_recurring: { frequency: 1, transaction_amount: 5, currency_id: 'BRL' },
      }),
    })
    const { id } = (await another.json()) as { id: string }
    standIn.pay(id, 'good')
    const [notification, ...others] = standIn.notifications()
    expect(others).toHaveLength(2)
    for (const each of [notification!, ...others]) expect(await parse(each)).toEqual([])
    expect(await port.listEvents(id, { since: new Date(0) })).toEqual([])
  })

  test('a subscription of another kind is ignored, whatever its form', async () => {
    const { port, standIn } = await opened()
    for (const answer of [
      { id: '9', status: 'authorized', auto_recurring: { free_trial: {} } },
      { id: '9', external_reference: { of: 'a plan' }, auto_recurring: null },
      { id: '9', external_reference: 'x:y', auto_recurring: { transaction_amount: 'none' } },
    ]) {
      const fault = { status: 200, body: JSON.stringify(answer) }
      standIn.failOnce(fault, fault)
      const { headers, body } = standIn.sign({ type: 'subscription_preapproval', data: { id: '9' } })
      expect(await port.parseWebhook(headers, body)).toEqual([])
    }
    const strange = { id: '9', auto_recurring: { transaction_amount: 'none' } }
    standIn.failOnce({ status: 200, body: JSON.stringify(strange) })
    await expect(port.getAgreement('9')).rejects.toMatchObject({ name: 'Unavailable' })
  })

  test('a forbidden object belongs to someone else, as long as our own key is accepted', async () => {
    const { port, standIn, clock } = await opened()
    for (const type of ['subscription_preapproval', 'subscription_authorized_payment']) {
      standIn.others.add('777')
      const { headers, body } = standIn.sign({ type, data: { id: '777' } })
      expect(await port.parseWebhook(headers, body)).toEqual([])
    }
    const http = { endpoint: standIn.endpoint, accessToken: 'revoked', retryDelayMs: 1 }
    const revoked = new MercadoPagoBilling({
      http,
      webhookSecret: account.webhookSecret,
      clock,
      findCoupon: () => null,
    })
    const { headers, body } = standIn.sign({ type: 'subscription_preapproval', data: { id: '777' } })
    await expect(revoked.parseWebhook(headers, body)).rejects.toMatchObject({ name: 'AccessLost' })
  })

  test('a notification reads only what has changed, not the whole history', async () => {
    const { port, standIn, storeId, clock } = await opened()
    const { providerCheckoutId: id } = await failing(port, storeId)
    standIn.pay(id, 'good')
    for (let month = 0; month < 17; month += 1) standIn.charge(id)
    const hooks = standIn.notifications().slice(-2)
    const payment = JSON.parse(new TextDecoder().decode(hooks[1]!.body))
    const invoice = JSON.parse(new TextDecoder().decode(hooks[0]!.body))
    expect(payment).toMatchObject({ type: 'payment', date_created: expect.any(String) })
    expect(invoice).toMatchObject({
      entity: 'authorized_payment',
      date: expect.any(String),
      application_id: expect.any(String),
    })
    expect(invoice).not.toHaveProperty('date_created')
    const read = async (hook: Hook) => {
      standIn.requests.length = 0
      const events = await port.parseWebhook(hook.headers, hook.body)
      expect(events.map(({ data }) => data.payment?.id)).toContain(payment.data.id)
      return standIn.requests.filter((request) => request.startsWith('GET /v1/payments/'))
    }
    for (const hook of hooks) expect(await read(hook)).toHaveLength(1)
    // With a date years ago, or none, the signed time counts, in seconds or milliseconds.
    const { date: _, ...undated } = invoice
    for (const body of [undated, { ...invoice, date: '2021-11-01T02:02:02Z' }]) {
      for (const ts of [String(Math.floor(clock.ms() / 1000)), String(clock.ms())]) {
        expect((await read(standIn.sign(body, { ts }))).length).toBeLessThanOrEqual(2)
      }
    }
  })

  test('the payment page is the documented one; a missing email is null', async () => {
    const { port, storeId } = await opened()
    const { url, providerCheckoutId: id } = await failing(port, storeId)
    expect(url).toBe(`https://www.mercadopago.com.br/subscriptions/checkout?preapproval_id=${id}`)
    expect(await port.getAgreement(id)).toMatchObject({ checkoutUrl: url, payerEmail: null })
  })

  test('a payer who is the seller is refused before the redirect', async () => {
    const { port, standIn, storeId } = await opened()
    const own = port.createCheckout(aCheckout(storeId, { payerEmail: standIn.seller.email }))
    await expect(own).rejects.toMatchObject({
      name: 'Refused',
      message: expect.stringContaining('cannot be the same user'),
    })
  })

  test('a boleto has its slip as receipt, a card none', async () => {
    const { port, standIn, storeId } = await opened()
    const { providerCheckoutId: id } = await failing(port, storeId)
    standIn.pay(id, 'good')
    const receipts = async () =>
      (await port.listPayments(id, { since: new Date(0) })).map(({ receiptUrl }) => receiptUrl)
    expect(await receipts()).toEqual([null])
    const [payment] = await port.listPayments(id, { since: new Date(0) })
    for (const [address, expected] of [
      ['https://www.mercadopago.com/payments/1/ticket', 'https://www.mercadopago.com/payments/1/ticket'],
      ['javascript:alert(1)', null],
    ]) {
      standIn.paperOf(payment!.id, address!)
      expect(await receipts()).toEqual([expected])
    }
  })

  test('a check names what is wrong, and changes nothing', async () => {
    const { standIn, clock } = await opened()
    const at = (publicUrl: string, accessToken = account.accessToken) =>
      new MercadoPagoBilling({
        http: { endpoint: standIn.endpoint, accessToken, retryDelayMs: 1 },
        webhookSecret: 'x',
        clock,
        findCoupon: () => null,
        publicUrl,
      })
    const faults = async (port: BillingPort) =>
      (await port.check()).filter(({ isFine }) => !isFine).map(({ code, remedy }) => [code, typeof remedy])
    expect(await faults(at('https://api.example.com'))).toEqual([])
    expect(await faults(at('http://127.0.0.1:3000'))).toEqual([['address', 'string']])
    expect(await faults(at('https://api.example.com', 'wrong'))).toEqual([['billing-key-refused', 'string']])
    Object.assign(standIn.seller, { site_id: 'MLA', tags: ['test_user'] })
    expect(await faults(at('https://api.example.com'))).toEqual([
      ['country', 'string'],
      ['seller', 'string'],
    ])
    expect(new Set(standIn.requests)).toEqual(new Set(['GET /users/me']))
  })

  test('a signature covers the id, the request and the instant', async () => {
    const { port, standIn } = await opened()
    const parse = ({ headers, body }: Hook) => port.parseWebhook(headers, body)
    const body = { type: 'payment', data: { id: 'ABC' } }
    expect(await parse(standIn.sign(body))).toEqual([])
    const wrong = { name: 'Refused', code: 'bad-signature' }
    await expect(parse(standIn.sign(body, { secret: 'another' }))).rejects.toMatchObject(wrong)
    for (const [name, value] of [
      ['x-request-id', 'another'],
      ['x-signature', standIn.sign(body, { ts: '1' }).headers.get('x-signature')!.replace('ts=1', 'ts=2')],
    ] as const) {
      const signed = standIn.sign(body)
      signed.headers.set(name, value)
      await expect(parse(signed)).rejects.toMatchObject(wrong)
    }
    const path = standIn.sign({ type: 'payment', data: { id: '1/../../users' } })
    await expect(parse(path)).rejects.toMatchObject({ code: 'bad-body' })
    const untyped = standIn.sign({ data: { id: '1' } })
    await expect(parse(untyped)).rejects.toMatchObject({ code: 'bad-body' })
  })

  test('if the provider cannot be reached about a notification it is Unavailable, so that it is redelivered', async () => {
    const { port, standIn } = await opened()
    const { headers, body } = standIn.sign({ type: 'payment', data: { id: '1' } })
    standIn.fail({ status: 500 })
    await expect(port.parseWebhook(headers, body)).rejects.toMatchObject({ name: 'Unavailable' })
  })

  test('the address holds token and secret, and errors show neither', () => {
    expect(readMercadoPagoUrl('mercadopago://APP_USR-1%2F2:s%40cret@api.mercadopago.com')).toEqual({
      endpoint: 'https://api.mercadopago.com',
      accessToken: 'APP_USR-1/2',
      webhookSecret: 's@cret',
    })
    expect(readMercadoPagoUrl('mercadopago://a:b@127.0.0.1:80?tls=off').endpoint).toBe('http://127.0.0.1:80')
    expect(() => readMercadoPagoUrl('mercadopago://APP_USR-1@api.mercadopago.com')).toThrow(
      /^BILLING_URL: lacks the secret of the webhooks, between colon and @$/,
    )
    expect(() => readMercadoPagoUrl('mercadopago://api.mercadopago.com')).toThrow(/lacks the access token/)
    expect(() => readMercadoPagoUrl('mercadopago:')).toThrow(/BILLING_URL: must be/)
  })
})
