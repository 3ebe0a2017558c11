import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { machineClock } from '#runtime/clock'
import { newId } from '#runtime/ids'
import { couponsFile } from '#runtime/ports/billing/coupons-file'
import { MercadoPagoBilling, mercadoPagoUrl } from '#runtime/ports/billing/mercado-pago'
import type { BillingPort, CheckoutRequest } from '#runtime/ports/billing/port'
import { SandboxBilling } from '#runtime/ports/billing/sandbox'
import { sandboxCoupon } from '#runtime/ports/billing/sandbox-coupons'
import { freshDatabase } from '#test/support/app'
import { billingContract, type Card, type Hook } from './billing.contract.ts'
import { billingStandIn } from './billing-stand-in.ts'

const start = Date.parse('2026-11-20T12:00:00.000Z')
const dayMs = 24 * 3_600_000

const { database } = await freshDatabase()
afterAll(() => database.close())

const numbers: Record<Card, string> = {
  good: '4242424242424242',
  declined: '4000000000000002',
  'declines-later': '4000000000000341',
  'charged-back': '4000000000000259',
}

function sandbox(at = start) {
  const clock = machineClock()
  clock.frozenAt = at
  const publicUrl = 'http://127.0.0.1:3000'
  const port = new SandboxBilling({ db: database.root, clock, secret: 'a secret', publicUrl })
  const storeId = newId(Date.now())
  const pay = (id: string, card: Card) =>
    port.pay(id, { cardNumber: numbers[card], holder: 'Ana', expMonth: '12', expYear: '2031' })
  const hooks = async (): Promise<Hook[]> => {
    const found: Hook[] = []
    for await (const hook of port.undelivered(storeId)) found.push(hook)
    return found
  }
  return { port, clock, storeId, pay, hooks }
}

billingContract('sandbox', async () => {
  const { port, clock, storeId, pay, hooks } = sandbox()
  const forward = (agreementId: string) =>
    database.root
      .selectFrom('sandbox_agreements')
      .select('next_try_at')
      .where('id', '=', agreementId)
      .executeTakeFirstOrThrow()
  return {
    port,
    storeId,
    now: () => clock.now(),
    async pay(id, card) {
      expect(await pay(id, card)).toMatchObject({ storeId })
      // The payer's own act is on the newest agreement.
      clock.frozenAt = clock.ms() + 1000
    },
    async charge(id) {
      clock.frozenAt = (await forward(id)).next_try_at!.getTime()
      // Other agreements of this suite may be due by then as well.
      await database.root
        .updateTable('sandbox_agreements')
        .set({ next_try_at: null })
        .where('id', '<>', id)
        .execute()
      expect(await port.runDue()).toBeGreaterThan(0)
    },
    async chargeBack() {
      clock.frozenAt = clock.ms() + dayMs
      await port.runDue()
    },
    async payerActs(_id, status) {
      expect(await port.payerActs(storeId, status)).toBe(true)
    },
    hooks,
    setMode: (mode) => port.setMode(storeId, mode),
    close: async () => {},
  }
})

const account = { accessToken: 'APP_USR-1234-abcd', webhookSecret: 'a webhook secret' }

async function mercadoPago() {
  const clock = machineClock()
  clock.frozenAt = start
  const standIn = await billingStandIn(account, clock)
  const port = new MercadoPagoBilling({
    http: { endpoint: standIn.endpoint, accessToken: account.accessToken, timeoutMs: 100, retryDelayMs: 1 },
    webhookSecret: account.webhookSecret,
    clock,
    findCoupon: sandboxCoupon,
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

const checkout = (storeId: string, change: Partial<CheckoutRequest> = {}): CheckoutRequest => ({
  storeId,
  checkoutId: newId(start),
  kind: 'subscribe',
  planId: 'starter',
  billingCycle: 'monthly',
  firstAmount: '99.00',
  amount: '99.00',
  currency: 'BRL',
  payerEmail: 'owner@example.com',
  returnUrl: 'https://api.example.com/billing/return?from=mail',
  idempotencyKey: crypto.randomUUID(),
  ...change,
})

describe('sandbox billing', () => {
  const opened = async (port: SandboxBilling, storeId: string, change: Partial<CheckoutRequest> = {}) =>
    (await port.createCheckout(checkout(storeId, change))).providerCheckoutId
  const attempts = async (port: SandboxBilling, id: string) =>
    (await port.listPayments(id, { since: new Date(0) })).map(({ status, attempt, dueAt, createdAt }) => [
      status,
      attempt,
      dueAt?.slice(0, 10) ?? null,
      createdAt.slice(0, 10),
    ])
  async function runAll(port: SandboxBilling): Promise<void> {
    while ((await port.runDue()) > 0);
  }
  beforeEach(async () => {
    await database.root.updateTable('sandbox_agreements').set({ next_try_at: null }).execute()
    await database.root.updateTable('sandbox_payments').set({ charge_back_at: null }).execute()
  })

  test('charges the months from the anchor, the day cut to the month, at the instants they are due', async () => {
    const { port, clock, storeId, pay } = sandbox(Date.parse('2027-01-31T15:00:00.000Z'))
    const id = await opened(port, storeId)
    await pay(id, 'good')
    for (const due of ['2027-02-28T15:00:00.000Z', '2027-03-31T15:00:00.000Z', '2027-04-30T15:00:00.000Z']) {
      expect((await port.getAgreement(id)).nextPaymentAt).toBe(due)
      clock.frozenAt = Date.parse(due) - 1
      expect(await port.runDue()).toBe(0)
      clock.frozenAt = Date.parse(due)
      expect(await port.runDue()).toBe(1)
      expect(await port.runDue()).toBe(0)
    }
    expect(await attempts(port, id)).toEqual([
      ['approved', 1, null, '2027-01-31'],
      ['approved', 1, '2027-02-28', '2027-02-28'],
      ['approved', 1, '2027-03-31', '2027-03-31'],
      ['approved', 1, '2027-04-30', '2027-04-30'],
    ])
  })

  test('tries again 1, 3 and 5 days later, then leaves it until the next month; a jump of the clock catches up', async () => {
    const { port, clock, storeId, pay, hooks } = sandbox()
    const id = await opened(port, storeId)
    await pay(id, 'declines-later')
    await hooks()
    clock.frozenAt = Date.parse('2026-12-31T00:00:00.000Z')
    await Promise.all([runAll(port), runAll(port)])
    expect((await attempts(port, id)).slice(1)).toEqual([
      ['rejected', 1, '2026-12-20', '2026-12-20'],
      ['rejected', 2, '2026-12-20', '2026-12-21'],
      ['rejected', 3, '2026-12-20', '2026-12-23'],
      ['rejected', 4, '2026-12-20', '2026-12-25'],
    ])
    expect((await port.getAgreement(id)).nextPaymentAt).toBe('2027-01-20T12:00:00.000Z')
    const [hook] = await hooks()
    expect(port.parseWebhook(hook!.headers, hook!.body)).toHaveLength(4)
  })

  test('a card update shows what is owed, pays it at once, and closes the page before', async () => {
    const { port, clock, storeId, pay } = sandbox()
    const id = await opened(port, storeId)
    await pay(id, 'declines-later')
    const first = await port.createCardUpdate(id, { checkoutId: newId(start), returnUrl: 'http://x/back' })
    expect(await port.checkout(first.providerCheckoutId)).toMatchObject({ isOpen: true, firstAmount: '0.00' })
    clock.frozenAt = start + 31 * dayMs
    await port.runDue()
    const second = await port.createCardUpdate(id, { checkoutId: newId(start), returnUrl: 'http://x/back' })
    expect((await port.checkout(first.providerCheckoutId))!.isOpen).toBe(false)
    expect(await port.checkout(second.providerCheckoutId)).toMatchObject({
      isOpen: true,
      firstAmount: '99.00',
    })
    await pay(second.providerCheckoutId, 'good')
    expect(await attempts(port, id)).toEqual([
      ['approved', 1, null, '2026-11-20'],
      ['rejected', 1, '2026-12-20', '2026-12-20'],
      ['approved', 2, '2026-12-20', '2026-12-21'],
    ])
    expect((await port.getAgreement(id)).nextPaymentAt).toBe('2027-01-20T12:00:00.000Z')
    expect(await port.eventsOf(second.providerCheckoutId, { since: new Date(0) })).toHaveLength(1)
    const third = await port.createCardUpdate(id, { checkoutId: newId(start), returnUrl: 'http://x/back' })
    await pay(third.providerCheckoutId, 'declined')
    expect((await port.getAgreement(id)).paymentMethod?.last4).toBe('4242')
    await port.cancelAgreement(id)
    const late = port.createCardUpdate(id, { checkoutId: newId(start), returnUrl: 'http://x/back' })
    await expect(late).rejects.toMatchObject({ code: 'agreement-not-active' })
  })

  test('of two payers at one checkout one pays; an expired or cancelled one is closed', async () => {
    const { port, clock, storeId, pay } = sandbox()
    const id = await opened(port, storeId)
    const both = await Promise.all([pay(id, 'good'), pay(id, 'good')])
    expect(both.filter((each) => 'closed' in each)).toHaveLength(1)
    expect(await port.listPayments(id, { since: new Date(0) })).toHaveLength(1)
    const [expiring, cancelled] = [await opened(port, storeId), await opened(port, storeId)]
    await port.cancelCheckout(cancelled)
    expect(await pay(cancelled, 'good')).toEqual({ closed: true })
    clock.frozenAt = start + dayMs
    expect(await pay(expiring, 'good')).toEqual({ closed: true })
    expect((await port.getAgreement(expiring)).status).toBe('cancelled')
    expect(await pay('unknown', 'good')).toEqual({ closed: true })
  })

  test('a charge whose answer was lost is made once under its key', async () => {
    const { port, storeId, pay } = sandbox()
    const id = await opened(port, storeId)
    await pay(id, 'good')
    const charge = { amount: '10.00', currency: 'BRL', reason: 'Upgrade', idempotencyKey: 'a' }
    await port.setMode(storeId, 'timeout')
    await expect(port.chargeNow(id, charge)).rejects.toMatchObject({ accepted: 'unknown' })
    await port.setMode(storeId, 'up')
    expect(await port.listPayments(id, { since: new Date(0) })).toMatchObject([{}, { idempotencyKey: 'a' }])
    await port.chargeNow(id, charge)
    expect(await port.listPayments(id, { since: new Date(0) })).toHaveLength(2)
    const other = port.chargeNow(id, { ...charge, amount: '11.00' })
    await expect(other).rejects.toMatchObject({ code: 'idempotency-mismatch' })
    const foreign = port.chargeNow(id, { ...charge, currency: 'USD', idempotencyKey: 'b' })
    await expect(foreign).rejects.toMatchObject({ code: 'currency-mismatch' })
  })

  test('an outage is one of a store: its charges wait, those of others go on', async () => {
    const [one, other] = [sandbox(), sandbox()]
    const ids: string[] = []
    for (const { port, storeId, pay } of [one, other]) {
      const id = await opened(port, storeId)
      await pay(id, 'good')
      ids.push(id)
    }
    await one.port.setMode(one.storeId, 'down')
    one.clock.frozenAt = start + 31 * dayMs
    await runAll(one.port)
    expect(await other.port.listPayments(ids[1]!, { since: new Date(0) })).toHaveLength(2)
    await one.port.setMode(one.storeId, 'up')
    expect(await one.port.listPayments(ids[0]!, { since: new Date(0) })).toHaveLength(1)
    await runAll(one.port)
    expect(await one.port.listPayments(ids[0]!, { since: new Date(0) })).toHaveLength(2)
  })

  test('the same idempotency key of two stores is two checkouts', async () => {
    const [one, other] = [sandbox(), sandbox()]
    const key = { idempotencyKey: 'the same' }
    expect(await opened(one.port, one.storeId, key)).not.toBe(await opened(other.port, other.storeId, key))
  })

  test.each([
    [{ cardNumber: '4111111111111111' }, ['cardNumber']],
    [{ cardNumber: '' }, ['cardNumber']],
    [{ holder: '  ' }, ['holder']],
    [{ expMonth: '13' }, ['expMonth']],
    [{ expYear: '203' }, ['expYear']],
    [{ expMonth: '10', expYear: '2026' }, ['expYear']],
    [
      { cardNumber: 'x', holder: '', expMonth: '', expYear: '' },
      ['cardNumber', 'holder', 'expMonth', 'expYear'],
    ],
  ])('a form with %o names what is wrong and leaves the checkout open', async (change, expected) => {
    const { port, storeId } = sandbox()
    const id = await opened(port, storeId)
    const form = { cardNumber: numbers.good, holder: 'Ana', expMonth: '11', expYear: '2026', ...change }
    const answer = await port.pay(id, form)
    expect(Object.keys((answer as { faults: object }).faults)).toEqual(expected)
    expect((await port.checkout(id))!.isOpen).toBe(true)
  })

  test('a card is good to the end of its month, with spaces and a short year too', async () => {
    const { port, storeId } = sandbox()
    const id = await opened(port, storeId)
    const form = { cardNumber: '4242 4242 4242 4242', holder: 'Ana', expMonth: '11', expYear: '26' }
    const paid = await port.pay(id, form)
    expect(paid).toMatchObject({
      returnUrl: `https://api.example.com/billing/return?from=mail&provider=sandbox&ref=${id}`,
    })
    expect(port.checkoutOfReturn(new URL((paid as { returnUrl: string }).returnUrl).searchParams)).toBe(id)
    expect((await port.getAgreement(id)).paymentMethod).toEqual({
      brand: 'visa',
      last4: '4242',
      expMonth: 11,
      expYear: 2026,
    })
  })

  test('coupons are those of the page', async () => {
    expect(sandboxCoupon('scale20')).toMatchObject({
      percentOff: 20,
      durationCycles: null,
      planIds: ['scale'],
    })
    expect(sandboxCoupon('FIRST50')).toMatchObject({
      amountOff: '50.00',
      currency: 'BRL',
      durationCycles: 1,
      billingCycles: ['yearly'],
    })
    expect(sandboxCoupon('USEDUP')?.isExhausted).toBe(true)
    expect(Date.parse(sandboxCoupon('EXPIRED')!.expiresAt!)).toBeLessThan(start)
  })
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
  const failing = (port: BillingPort, storeId: string) => port.createCheckout(checkout(storeId))

  test('is asked as its reference says', async () => {
    const { port, standIn, storeId } = await opened()
    const asked = checkout(storeId, { billingCycle: 'yearly', firstAmount: '940.00', amount: '990.00' })
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
    expect(port.checkoutOfReturn(new URLSearchParams({ preapproval_id: id }))).toBe(id)
    expect(port.checkoutOfReturn(new URLSearchParams({ preapproval_id: '../users/me' }))).toBeNull()
  })

  test('cannot charge now and begin later, and says so; free for a cycle begins with the next', async () => {
    const { port, standIn, storeId } = await opened()
    const both = port.createCheckout(checkout(storeId, { startsAt: '2026-12-01T00:00:00.000Z' }))
    await expect(both).rejects.toMatchObject({ code: 'unsupported-start' })
    expect(standIn.requests).toEqual([])
    await port.createCheckout(checkout(storeId, { firstAmount: '0.00' }))
    expect(standIn.bodies[0]).toMatchObject({
      external_reference: expect.stringMatching(/:later$/),
      auto_recurring: { transaction_amount: 99, start_date: '2026-12-20T12:00:00.000Z' },
    })
  })

  test('too many requests: when to come back, and not asked again before', async () => {
    const { port, standIn, storeId } = await opened()
    standIn.fail({ status: 429, headers: { 'retry-after': '7' } })
    await expect(failing(port, storeId)).rejects.toMatchObject({ name: 'Throttled', retryAfterMs: 7000 })
    standIn.fail({ status: 429, headers: { 'retry-after': 'soon' } })
    await expect(port.getAgreement('a')).rejects.toMatchObject({ name: 'Throttled', retryAfterMs: 1000 })
    expect(standIn.requests).toHaveLength(2)
  })

  test('its refusal is told in its words', async () => {
    const { port, storeId } = await opened()
    const refused = port.createCheckout(checkout(storeId, { payerEmail: 'nobody' }))
    await expect(refused).rejects.toMatchObject({
      name: 'Refused',
      code: 'bad-request',
      message: 'The payment provider refused this: payer_email must be a valid email',
    })
  })

  test('bad credentials are an outage that says nothing of them', async () => {
    const { standIn, clock, storeId } = await opened()
    const http = { endpoint: standIn.endpoint, accessToken: 'APP_USR-wrong', timeoutMs: 100, retryDelayMs: 1 }
    const port = new MercadoPagoBilling({ http, webhookSecret: 'x', clock, findCoupon: () => null })
    const error = await failing(port, storeId).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'Unavailable', accepted: 'no' })
    expect(String((error as Error).stack)).not.toContain('APP_USR')
    expect(standIn.requests).toHaveLength(1)
  })

  test('what is safe is asked again, what is not is not', async () => {
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

  test('silence, closed doors and answers of another form are Unavailable', async () => {
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

  test('pages of invoices are all turned', async () => {
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

  test('notifications of what is not ours bring nothing', async () => {
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
    expect(await port.eventsOf(id, { since: new Date(0) })).toEqual([])
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

  test('a provider that cannot be asked about a notification is Unavailable, so that it comes again', async () => {
    const { port, standIn } = await opened()
    const { headers, body } = standIn.sign({ type: 'payment', data: { id: '1' } })
    standIn.fail({ status: 500 })
    await expect(port.parseWebhook(headers, body)).rejects.toMatchObject({ name: 'Unavailable' })
  })

  test('its address holds token and secret, and faults show none of them', () => {
    expect(mercadoPagoUrl('mercadopago://APP_USR-1%2F2:s%40cret@api.mercadopago.com')).toEqual({
      endpoint: 'https://api.mercadopago.com',
      accessToken: 'APP_USR-1/2',
      webhookSecret: 's@cret',
    })
    expect(mercadoPagoUrl('mercadopago://a:b@127.0.0.1:80?tls=off').endpoint).toBe('http://127.0.0.1:80')
    expect(() => mercadoPagoUrl('mercadopago://APP_USR-1@api.mercadopago.com')).toThrow(
      /^BILLING_URL lacks the secret of the webhooks, between colon and @$/,
    )
    expect(() => mercadoPagoUrl('mercadopago://api.mercadopago.com')).toThrow(/lacks the access token/)
    expect(() => mercadoPagoUrl('mercadopago:')).toThrow(/BILLING_URL must be/)
  })
})

describe('a file of coupons', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coupons-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const file = (content: string): string => {
    const path = join(folder, 'coupons.json')
    writeFileSync(path, content)
    return path
  }

  test('is read once, and found in without case', () => {
    const find = couponsFile(file('[{"code":"Spring","percentOff":15,"planIds":["growth"]}]'))
    expect(find(' SPRING ')).toMatchObject({
      code: 'Spring',
      percentOff: 15,
      amountOff: null,
      planIds: ['growth'],
    })
    expect(find('autumn')).toBeNull()
    expect(couponsFile(null)('SPRING')).toBeNull()
  })

  test.each([
    ['no JSON', '{', /cannot be read as JSON/],
    ['a field that is unknown', '[{"code":"A","percentOff":1,"percent":2}]', /Unrecognized key/],
    ['neither percent nor amount', '[{"code":"A"}]', /must have percentOff or amountOff/],
    ['both', '[{"code":"A","percentOff":1,"amountOff":"1.00","currency":"BRL"}]', /and not both/],
    ['an amount without currency', '[{"code":"A","amountOff":"1.00"}]', /must have a currency/],
    ['a code twice', '[{"code":"A","percentOff":1},{"code":"a","percentOff":2}]', /has a twice/],
  ])('with %s stops the start', (_, content, message) => {
    const path = file(content)
    expect(() => couponsFile(path)).toThrow(message)
  })
})
