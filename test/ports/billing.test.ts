import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { CheckoutRequest } from '#operations/subscription/provider/port'
import { SandboxBilling } from '#operations/subscription/provider/sandbox'
import { findSandboxCoupon } from '#operations/subscription/provider/sandbox-coupons'
import { dayMs } from '#runtime/durations'
import { newId } from '#runtime/values/ids'
import { freshDatabase } from '#test/support/app'
import { frozenClock, testsBeginAt } from '#test/support/test-clock'
import { aCheckout, billingContract, type Card, type Hook } from './billing.contract.ts'

const start = Date.parse('2026-11-20T12:00:00.000Z')

const { database } = await freshDatabase()
afterAll(() => database.close())

const numbers: Record<Card, string> = {
  good: '4242424242424242',
  declined: '4000000000000002',
  'declines-later': '4000000000000341',
  'charged-back': '4000000000000259',
}

function sandbox(at = start) {
  const clock = frozenClock()
  clock.frozenAt = at
  const publicUrl = 'http://127.0.0.1:3000'
  const port = new SandboxBilling({ db: database.root, clock, secret: 'a secret', publicUrl })
  const storeId = newId(testsBeginAt.getTime())
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
      // The payer acts on the newest agreement.
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
      expect(await port.changeByPayer(storeId, status)).toBe(true)
    },
    hooks,
    setMode: (mode) => port.setMode(storeId, mode),
    close: async () => {},
  }
})

describe('sandbox billing', () => {
  const opened = async (port: SandboxBilling, storeId: string, change: Partial<CheckoutRequest> = {}) =>
    (await port.createCheckout(aCheckout(storeId, change))).providerCheckoutId
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

  test('months are charged from the anchor, with the day clamped to the month, when they are due', async () => {
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

  test('failed charges are retried 1, 3 and 5 days later, then not until the next month; a clock jump catches up', async () => {
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

  test('a card update shows what is owed, charges it at once, and closes the previous page', async () => {
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
    expect(await port.listEvents(second.providerCheckoutId, { since: new Date(0) })).toHaveLength(1)
    const third = await port.createCardUpdate(id, { checkoutId: newId(start), returnUrl: 'http://x/back' })
    await pay(third.providerCheckoutId, 'declined')
    expect((await port.getAgreement(id)).paymentMethod?.last4).toBe('4242')
    await port.cancelAgreement(id)
    const late = port.createCardUpdate(id, { checkoutId: newId(start), returnUrl: 'http://x/back' })
    await expect(late).rejects.toMatchObject({ code: 'agreement-not-active' })
  })

  test('if two payers open one checkout only one pays; an expired or cancelled one is closed', async () => {
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

  test('an outage affects one store: its charges wait, others continue', async () => {
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
  ])('a form with %o names the error and leaves the checkout open', async (change, expected) => {
    const { port, storeId } = sandbox()
    const id = await opened(port, storeId)
    const form = { cardNumber: numbers.good, holder: 'Ana', expMonth: '11', expYear: '2026', ...change }
    const answer = await port.pay(id, form)
    expect(Object.keys((answer as { faults: object }).faults)).toEqual(expected)
    expect((await port.checkout(id))!.isOpen).toBe(true)
  })

  test('a card is valid until the end of its month, with spaces and a two-digit year too', async () => {
    const { port, storeId } = sandbox()
    const id = await opened(port, storeId)
    const form = { cardNumber: '4242 4242 4242 4242', holder: 'Ana', expMonth: '11', expYear: '26' }
    const paid = await port.pay(id, form)
    expect(paid).toMatchObject({
      returnUrl: `https://api.example.com/billing/return?from=mail&provider=sandbox&ref=${id}`,
    })
    expect(port.parseReturn(new URL((paid as { returnUrl: string }).returnUrl).searchParams)).toBe(id)
    expect((await port.getAgreement(id)).paymentMethod).toEqual({
      brand: 'visa',
      last4: '4242',
      expMonth: 11,
      expYear: 2026,
    })
  })

  test('coupons have terms: plan, cycle, usage limit, expiry', async () => {
    expect(findSandboxCoupon('scale20')).toMatchObject({
      percentOff: 20,
      durationCycles: null,
      planIds: ['scale'],
    })
    expect(findSandboxCoupon('FIRST50')).toMatchObject({
      amountOff: '50.00',
      currency: 'BRL',
      durationCycles: 1,
      billingCycles: ['yearly'],
    })
    expect(findSandboxCoupon('USEDUP')?.isExhausted).toBe(true)
    expect(Date.parse(findSandboxCoupon('EXPIRED')!.expiresAt!)).toBeLessThan(start)
  })
})
