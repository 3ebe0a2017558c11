import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { BillingEvent, BillingPort, CheckoutRequest } from '#operations/subscription/provider/port'
import { newId } from '#runtime/values/ids'

/** How the payer's card behaves; a chargeback comes a day later. */
export type Card = 'good' | 'declined' | 'declines-later' | 'charged-back'

export interface Hook {
  headers: Headers
  body: Uint8Array
}

export interface BillingSetting {
  port: BillingPort
  storeId: string
  now(): Date
  /** Pays an open checkout. */
  pay(providerCheckoutId: string, card: Card): Promise<void>
  /** Makes the provider's next recurring charge, or retries a failed one. */
  charge(agreementId: string): Promise<void>
  chargeBack(paymentId: string): Promise<void>
  /** The payer pauses or cancels at the provider. */
  payerActs(agreementId: string, status: 'paused' | 'cancelled'): Promise<void>
  /** The hooks that the provider has sent since the last call. */
  hooks(): Promise<Hook[]>
  /** `timeout`: processed, but the answer is lost. */
  setMode(mode: 'up' | 'down' | 'timeout'): Promise<void>
  close(): Promise<void>
}

/** A checkout of a plan, for the tests of one adapter. */
export const aCheckout = (storeId: string, change: Partial<CheckoutRequest> = {}): CheckoutRequest => ({
  storeId,
  checkoutId: newId(Date.parse('2026-11-20T12:00:00.000Z')),
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

/** The contract of every billing adapter. It knows the coupon WELCOME10. */
export function billingContract(name: string, open: () => Promise<BillingSetting>): void {
  describe(`billing port: ${name}`, () => {
    let setting: BillingSetting
    let port: BillingPort
    beforeAll(async () => {
      setting = await open()
      port = setting.port
    })
    beforeEach(() => setting.hooks())
    afterAll(() => setting.close())

    const request = (change: Partial<CheckoutRequest> = {}): CheckoutRequest =>
      aCheckout(setting.storeId, {
        checkoutId: newId(setting.now().getTime()),
        planId: 'growth',
        firstAmount: '249.00',
        amount: '249.00',
        ...change,
      })

    /** A paid agreement whose hooks have been read. */
    async function paid(card: Card = 'good', change: Partial<CheckoutRequest> = {}) {
      const asked = request(change)
      const { providerCheckoutId: id } = await port.createCheckout(asked)
      await setting.pay(id, card)
      const events = await readNewEvents()
      return { id, asked, events }
    }

    /** New events of the hooks, each once. */
    const seen = new Set<string>()
    async function readNewEvents(): Promise<BillingEvent[]> {
      const events: BillingEvent[] = []
      for (const { headers, body } of await setting.hooks()) {
        for (const event of await port.parseWebhook(headers, body)) {
          if (!seen.has(event.key)) events.push(event)
          seen.add(event.key)
        }
      }
      return events
    }

    test('a check of a working account finds nothing', async () => {
      const findings = await port.check()
      expect(findings.length).toBeGreaterThan(0)
      expect(findings.filter(({ isFine }) => !isFine)).toEqual([])
    })

    const refused = (code: string) => ({ name: 'Refused', code })

    describe('checkout', () => {
      test('a checkout is a pending agreement with a page to pay on', async () => {
        const asked = request({
          planId: 'scale',
          billingCycle: 'yearly',
          firstAmount: '7990.00',
          amount: '7990.00',
        })
        const { providerCheckoutId: id, url, expiresAt } = await port.createCheckout(asked)
        expect(url).toMatch(/^https?:\/\//)
        expect(expiresAt.getTime() - setting.now().getTime()).toBe(24 * 3_600_000)
        const agreement = await port.getAgreement(id)
        // Not every provider reports it again.
        expect(['owner@example.com', null]).toContain(agreement.payerEmail)
        expect(agreement).toMatchObject({
          id,
          status: 'pending',
          reason: 'Scale, yearly',
          amount: '7990.00',
          currency: 'BRL',
          frequency: 12,
          frequencyType: 'months',
          paymentMethod: null,
          checkoutUrl: url,
        })
        expect(await port.listEvents(id, { since: new Date(0) })).toEqual([])
        expect(await port.listPayments(id, { since: new Date(0) })).toEqual([])
      })

      test('one idempotency key is one checkout', async () => {
        const asked = request()
        const [first, second] = [await port.createCheckout(asked), await port.createCheckout(asked)]
        expect(second.providerCheckoutId).toBe(first.providerCheckoutId)
        expect((await port.createCheckout(request())).providerCheckoutId).not.toBe(first.providerCheckoutId)
      })

      test('a paid checkout is reported once, with the agreement and its first payment', async () => {
        const { id, asked, events } = await paid()
        expect(events).toHaveLength(1)
        const [event] = events
        expect(event).toMatchObject({
          kind: 'checkout',
          storeRef: setting.storeId,
          data: {
            agreementId: id,
            checkoutId: asked.checkoutId,
            outcome: 'approved',
            failureReason: null,
            payment: {
              agreementId: id,
              checkoutId: asked.checkoutId,
              status: 'approved',
              amount: '249.00',
              currency: 'BRL',
              dueAt: null,
              attempt: 1,
              paymentMethod: { brand: 'visa', last4: '4242' },
            },
            agreement: { id, status: 'authorized', amount: '249.00', checkoutUrl: null },
          },
        })
        expect(event!.data.paymentId).toBe(event!.data.payment!.id)
        const known = await port.listEvents(id, { since: new Date(0) })
        expect(known.map(({ key }) => key)).toEqual([event!.key])
        expect(await port.listPayments(id, { since: new Date(0) })).toMatchObject([
          { id: event!.data.paymentId, status: 'approved', amount: '249.00' },
        ])
        const later = new Date(setting.now().getTime() + 1000)
        expect(await port.listPayments(id, { since: later })).toEqual([])
        expect(await port.listEvents(id, { since: later })).toEqual([])
        expect((await port.getAgreement(id)).paymentMethod).toMatchObject({ brand: 'visa', last4: '4242' })
      })

      test('a declined checkout reports the failed payment, and ends once it is cancelled', async () => {
        const { id, asked, events } = await paid('declined')
        expect(events).toMatchObject([
          {
            kind: 'checkout',
            data: {
              checkoutId: asked.checkoutId,
              outcome: 'rejected',
              payment: {
                status: 'rejected',
                amount: '249.00',
                failureReason: expect.stringMatching(/^[a-z-]+$/),
              },
            },
          },
        ])
        await port.cancelCheckout(id)
        expect((await port.getAgreement(id)).status).toBe('cancelled')
      })

      test('a checkout with nothing due now starts on its later day', async () => {
        const startsAt = new Date(setting.now().getTime() + 20 * 24 * 3_600_000).toISOString()
        const { id, events } = await paid('good', { firstAmount: '0.00', amount: '99.00', startsAt })
        expect(events).toMatchObject([
          {
            kind: 'checkout',
            data: { outcome: 'approved', payment: null, agreement: { status: 'authorized' } },
          },
        ])
        expect(await port.getAgreement(id)).toMatchObject({
          amount: '99.00',
          nextPaymentAt: startsAt,
          startsAt,
        })
        expect(await port.listPayments(id, { since: new Date(0) })).toEqual([])
      })

      test('a checkout with an amount due now and a later day is paid now, or refused', async () => {
        const startsAt = new Date(setting.now().getTime() + 20 * 24 * 3_600_000).toISOString()
        const change = { firstAmount: '100.00', amount: '249.00', startsAt }
        if (!port.capabilities.startsLater) {
          const refusal = { name: 'Refused', code: 'unsupported-start' }
          await expect(port.createCheckout(request(change))).rejects.toMatchObject(refusal)
          return
        }
        const { id, events } = await paid('good', change)
        expect(events).toMatchObject([{ data: { outcome: 'approved', payment: { amount: '100.00' } } }])
        expect(await port.getAgreement(id)).toMatchObject({ amount: '249.00', nextPaymentAt: startsAt })
      })

      test('a checkout can be cancelled repeatedly, but not once it is paid', async () => {
        const { providerCheckoutId: id } = await port.createCheckout(request())
        await port.cancelCheckout(id)
        await port.cancelCheckout(id)
        expect(await port.getAgreement(id)).toMatchObject({ status: 'cancelled', checkoutUrl: null })
        const other = await paid()
        await port.cancelCheckout(other.id)
        expect((await port.getAgreement(other.id)).status).toBe('authorized')
      })

      test('a checkout is found by the address that the payer returns to', () => {
        expect(port.parseReturn(new URLSearchParams())).toBeNull()
        expect(port.parseReturn(new URLSearchParams('ref=&preapproval_id='))).toBeNull()
      })
    })

    describe('agreement', () => {
      test('an agreement changes its amount and description, not its frequency', async () => {
        const { id } = await paid()
        const change = {
          amount: '224.10',
          reason: 'Growth, with a coupon',
          idempotencyKey: crypto.randomUUID(),
        }
        const expected = {
          amount: '224.10',
          reason: 'Growth, with a coupon',
          frequency: 1,
          status: 'authorized',
        }
        expect(await port.updateAgreement(id, change)).toMatchObject(expected)
        expect(await port.updateAgreement(id, change)).toMatchObject(expected)
        expect(await port.getAgreement(id)).toMatchObject(expected)
      })

      test('an agreement is paused and cancelled, repeatedly too', async () => {
        const { id } = await paid()
        await port.pauseAgreement(id)
        await port.pauseAgreement(id)
        expect(await port.getAgreement(id)).toMatchObject({ status: 'paused', nextPaymentAt: null })
        await port.cancelAgreement(id)
        await port.cancelAgreement(id)
        expect((await port.getAgreement(id)).status).toBe('cancelled')
        const change = { amount: '1.00', reason: 'x', idempotencyKey: crypto.randomUUID() }
        await expect(port.updateAgreement(id, change)).rejects.toMatchObject({ name: 'Refused' })
      })

      test.each(['paused', 'cancelled'] as const)(
        'a payer has %s an agreement: it is reported',
        async (status) => {
          const { id } = await paid()
          await setting.payerActs(id, status)
          expect(await readNewEvents()).toMatchObject([
            {
              kind: 'agreement',
              storeRef: setting.storeId,
              data: { agreementId: id, agreement: { id, status } },
            },
          ])
        },
      )

      test('an unknown agreement is refused', async () => {
        const id = 'no-such-agreement'
        const unknown = refused('not-found')
        await expect(port.getAgreement(id)).rejects.toMatchObject(unknown)
        await expect(port.pauseAgreement(id)).rejects.toMatchObject(unknown)
        await expect(port.cancelAgreement(id)).rejects.toMatchObject(unknown)
        await expect(port.cancelCheckout(id)).rejects.toMatchObject(unknown)
        await expect(port.listEvents(id, { since: new Date(0) })).rejects.toMatchObject(unknown)
        await expect(port.listPayments(id, { since: new Date(0) })).rejects.toMatchObject(unknown)
        await expect(port.refund('404', { idempotencyKey: 'a' })).rejects.toMatchObject(unknown)
      })
    })

    describe('payments', () => {
      test('a renewal is a payment of its own, with the amount agreed by then', async () => {
        const { id } = await paid()
        await port.updateAgreement(id, {
          amount: '99.00',
          reason: 'Starter',
          idempotencyKey: crypto.randomUUID(),
        })
        await setting.charge(id)
        const [event, ...rest] = (await readNewEvents()).filter(({ kind }) => kind === 'payment')
        expect(rest).toEqual([])
        const expected = {
          status: 'approved',
          amount: '99.00',
          attempt: 1,
          checkoutId: null,
          agreementId: id,
        }
        expect(event!.data.payment).toMatchObject(expected)
        expect(event!.data.payment!.dueAt).toMatch(/^\d{4}-.*Z$/)
        expect(await port.listPayments(id, { since: new Date(0) })).toMatchObject([
          { amount: '249.00' },
          expected,
        ])
      })

      test('a failed charge is retried under the same due date', async () => {
        const { id } = await paid('declines-later')
        await setting.charge(id)
        const [first] = await readNewEvents()
        await setting.charge(id)
        const [second] = await readNewEvents()
        const failed = { status: 'rejected', failureReason: expect.stringMatching(/^[a-z-]+$/) }
        expect(first!.data.payment).toMatchObject({ ...failed, attempt: 1 })
        expect(second!.data.payment).toMatchObject({
          ...failed,
          attempt: 2,
          dueAt: first!.data.payment!.dueAt,
        })
        expect(second!.data.paymentId).not.toBe(first!.data.paymentId)
      })

      test('a chargeback is reported, after the approval', async () => {
        const { id, events } = await paid('charged-back')
        const paymentId = events[0]!.data.paymentId!
        await setting.chargeBack(paymentId)
        const [event, ...rest] = await readNewEvents()
        expect(rest).toEqual([])
        expect(event).toMatchObject({
          kind: 'payment',
          data: { paymentId, payment: { status: 'charged-back' } },
        })
        const all = await port.listEvents(id, { since: new Date(0) })
        expect(all.map(({ data }) => data.payment?.status)).toEqual(['approved', 'charged-back'])
        await expect(port.refund(paymentId, { idempotencyKey: 'a' })).rejects.toMatchObject(
          refused('not-refundable'),
        )
      })

      test('a refund is made once', async () => {
        const { id, events } = await paid()
        const paymentId = events[0]!.data.paymentId!
        const key = { idempotencyKey: crypto.randomUUID() }
        await port.refund(paymentId, key)
        await port.refund(paymentId, key)
        await port.refund(paymentId, { idempotencyKey: crypto.randomUUID() })
        expect(await readNewEvents()).toMatchObject([
          { kind: 'payment', data: { payment: { status: 'refunded' } } },
        ])
        expect(await port.listPayments(id, { since: new Date(0) })).toMatchObject([{ status: 'refunded' }])
      })

      test('a declined payment is not refunded', async () => {
        const { events } = await paid('declined')
        const refund = port.refund(events[0]!.data.paymentId!, { idempotencyKey: 'a' })
        await expect(refund).rejects.toMatchObject(refused('not-refundable'))
      })

      test('an off-schedule charge is made once per key, or refused', async () => {
        const { id } = await paid()
        const charge = {
          amount: '100.00',
          currency: 'BRL',
          reason: 'Upgrade',
          idempotencyKey: crypto.randomUUID(),
        }
        if (!port.capabilities.chargeNow) {
          await expect(port.chargeNow(id, charge)).rejects.toMatchObject(refused('unsupported'))
          return
        }
        const [first, second] = await Promise.all([port.chargeNow(id, charge), port.chargeNow(id, charge)])
        expect(first).toMatchObject({ status: 'approved', failureReason: null })
        expect(second).toEqual(first)
        const [event, ...rest] = await readNewEvents()
        expect(rest).toEqual([])
        expect(event!.data.payment).toMatchObject({
          id: first.paymentId,
          amount: '100.00',
          idempotencyKey: charge.idempotencyKey,
          dueAt: null,
        })
        const declining = await paid('declines-later')
        expect(await port.chargeNow(declining.id, charge)).toMatchObject({ status: 'rejected' })
      })

      test('a card is changed on a page, or the change is refused', async () => {
        const { id } = await paid('declines-later')
        const update = {
          checkoutId: newId(setting.now().getTime()),
          returnUrl: 'https://api.example.com/back',
        }
        if (!port.capabilities.cardUpdate) {
          await expect(port.createCardUpdate(id, update)).rejects.toMatchObject(refused('unsupported'))
          return
        }
        await setting.charge(id)
        const [failed] = await readNewEvents()
        const page = await port.createCardUpdate(id, update)
        expect(page.url).toMatch(/^https?:\/\//)
        await setting.pay(page.providerCheckoutId, 'good')
        expect(await readNewEvents()).toMatchObject([
          {
            kind: 'checkout',
            data: {
              agreementId: id,
              checkoutId: update.checkoutId,
              outcome: 'approved',
              payment: { status: 'approved', attempt: 2, dueAt: failed!.data.payment!.dueAt },
              agreement: { paymentMethod: { last4: '4242' } },
            },
          },
        ])
      })
    })

    describe('hooks', () => {
      test('a repeated hook has the same keys', async () => {
        const { providerCheckoutId: id } = await port.createCheckout(request())
        await setting.pay(id, 'good')
        const [hook] = await setting.hooks()
        const keys = async () => (await port.parseWebhook(hook!.headers, hook!.body)).map(({ key }) => key)
        const first = await keys()
        expect(first).toHaveLength(1)
        expect(await keys()).toEqual(first)
      })

      test('a missing or wrong signature is refused before any request', async () => {
        const { id } = await paid()
        await setting.payerActs(id, 'cancelled')
        const [hook] = await setting.hooks()
        const wrong = refused('bad-signature')
        const parse = async (headers: Headers, body: Uint8Array) => port.parseWebhook(headers, body)
        await expect(parse(new Headers(), hook!.body)).rejects.toMatchObject(wrong)
        const changed = Buffer.from(
          Buffer.from(hook!.body)
            .toString()
            .replaceAll(id, `${id.slice(0, -1)}x`),
        )
        expect(changed.equals(hook!.body)).toBe(false)
        await expect(parse(hook!.headers, changed)).rejects.toMatchObject(wrong)
        await expect(parse(hook!.headers, Buffer.from('{'))).rejects.toMatchObject(wrong)
        const garbled = new Headers(
          [...hook!.headers].map(([name, value]) => [name, `${value.slice(0, -4)}0000`]),
        )
        await expect(parse(garbled, hook!.body)).rejects.toMatchObject(wrong)
        const kinds = (await parse(hook!.headers, hook!.body)).map(({ kind }) => kind)
        expect(kinds).toContain('agreement')
      })
    })

    describe('failures', () => {
      test('an unavailable provider changes nothing, and works again', async () => {
        const { id } = await paid()
        await setting.setMode('down')
        await expect(port.getAgreement(id)).rejects.toMatchObject({ name: 'Unavailable', accepted: 'no' })
        await expect(port.cancelAgreement(id)).rejects.toMatchObject({ name: 'Unavailable' })
        await expect(port.createCheckout(request())).rejects.toMatchObject({ name: 'Unavailable' })
        await setting.setMode('up')
        expect((await port.getAgreement(id)).status).toBe('authorized')
      })

      test('after a lost answer the result is unknown; a retry applies it once', async () => {
        const asked = request()
        await setting.setMode('timeout')
        await expect(port.createCheckout(asked)).rejects.toMatchObject({
          name: 'Unavailable',
          accepted: 'unknown',
        })
        await setting.setMode('up')
        const first = await port.createCheckout(asked)
        expect((await port.createCheckout(asked)).providerCheckoutId).toBe(first.providerCheckoutId)
      })
    })

    test('coupons are found ignoring case', async () => {
      expect(await port.findCoupon(' welcome10')).toMatchObject({
        code: 'WELCOME10',
        percentOff: 10,
        durationCycles: 3,
        isExhausted: false,
      })
      expect(await port.findCoupon('NOBODY-KNOWS')).toBeNull()
    })
  })
}
