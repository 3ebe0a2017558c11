import { beforeAll, describe, expect, test } from 'vitest'
import changeRule from '#operations/promotions/installments/api/change-rule'
import createRule from '#operations/promotions/installments/api/create-rule'
import deleteRule from '#operations/promotions/installments/api/delete-rule'
import getInstallments from '#operations/promotions/installments/api/get-installments'
import saveSettings from '#operations/promotions/installments/api/save-settings'
import { buildOptions } from '#operations/promotions/installments/math'
import { type TestApp, testApp } from '#test/support/app'
import { refused } from '#test/support/refused'
import { store } from '#test/support/store'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})

const terms = (change: object = {}) => ({
  id: 'rule',
  minAmount: '0.00',
  maxAmount: null,
  maxInstallments: 6,
  interestFreeInstallments: 3,
  monthlyInterestRate: '2.9900',
  minInstallmentAmount: '0.00',
  ...change,
})

describe('installments of an amount', () => {
  test('500.00 in 6 installments, 3 interest-free, at 2.99 %', () => {
    const options = buildOptions('500.00', terms(), 'BRL')
    const of = (n: number) => options.find((each) => each.installments === n)
    expect(of(3)).toEqual({
      installments: 3,
      amount: 166.66,
      firstAmount: 166.68,
      total: 500,
      interestTotal: 0,
      isInterestFree: true,
    })
    expect(of(4)).toMatchObject({ amount: 134.48, total: 537.92, isInterestFree: false })
    expect(of(6)).toMatchObject({ amount: 92.27, firstAmount: 92.27, total: 553.62, interestTotal: 53.62 })
    expect(options.map(({ installments }) => installments)).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('too small installments are omitted, a single payment never', () => {
    const many = terms({ minInstallmentAmount: '50.00' })
    expect(buildOptions('120.00', many, 'BRL').map((each) => each.installments)).toEqual([1, 2])
    expect(buildOptions('10.00', many, 'BRL').map((each) => each.installments)).toEqual([1])
    const free = terms({ maxInstallments: 12, interestFreeInstallments: 12, monthlyInterestRate: '0' })
    expect(
      buildOptions('0.05', free, 'BRL').map(({ installments, amount, firstAmount }) => [
        installments,
        amount,
        firstAmount,
      ]),
    ).toEqual([
      [1, 0.05, 0.05],
      [2, 0.02, 0.03],
      [3, 0.01, 0.03],
      [4, 0.01, 0.02],
      [5, 0.01, 0.01],
    ])
    expect(buildOptions('99.90', null, 'BRL')).toMatchObject([{ installments: 1, total: 99.9 }])
  })

  test('every interest-free option sums to the amount', () => {
    const free = terms({ maxInstallments: 36, interestFreeInstallments: 36, monthlyInterestRate: '0' })
    for (const amount of ['0.37', '99.99', '1234.56', '999999999.99']) {
      for (const { installments, amount: each, firstAmount, total } of buildOptions(amount, free, 'BRL')) {
        const cents = Math.round(firstAmount * 100) + (installments - 1) * Math.round(each * 100)
        expect(cents).toBe(Math.round(Number(amount) * 100))
        expect(total).toBe(Number(amount))
      }
    }
  })
})

describe('rules', () => {
  const card = { name: 'Card', maxInstallments: 3 }

  test('active ranges do not overlap; an amount uses the rule whose range contains it', async () => {
    const shop = await store(app)
    const first = await shop.call(createRule, { body: { ...card, minAmount: 0, maxAmount: 100 } })
    const second = await shop.call(createRule, { body: { ...card, name: 'More', minAmount: 100 } })
    expect([first.status, second.status]).toEqual([201, 201])
    expect(first.body).toMatchObject({ interestFreeInstallments: 3, monthlyInterestRate: 0, isActive: true })
    const between = { ...card, name: 'Between', minAmount: 50, maxAmount: 150 }
    const overlapping = await shop.call(createRule, { body: between })
    expect(overlapping).toMatchObject(refused(409, 'Card'))
    const inactive = await shop.call(createRule, { body: { ...between, isActive: false } })
    expect(inactive.status).toBe(201)
    const active = await shop.call(changeRule, { body: { id: inactive.body.id, isActive: true } })
    expect(active.status).toBe(409)

    const { body } = await shop.call(getInstallments, { query: { amount: '100' } })
    expect(body.data.map((each: { name: string }) => each.name)).toEqual(['Card', 'Between', 'More'])
    expect(body.simulation).toMatchObject({ amount: 100, currency: 'BRL', ruleId: second.body.id })
    expect(body.simulation.options[2]).toMatchObject({ installments: 3, amount: 33.33, firstAmount: 33.34 })
    const below = await shop.call(getInstallments, { query: { amount: '99.99' } })
    expect(below.body.simulation.ruleId).toBe(first.body.id)
    expect((await shop.call(getInstallments)).body.simulation).toBeNull()
    expect((await shop.call(deleteRule, { params: { id: first.body.id } })).status).toBe(204)
    const none = await shop.call(getInstallments, { query: { amount: '20' } })
    expect(none.body.simulation).toMatchObject({ ruleId: null, options: [{ installments: 1, amount: 20 }] })
  })

  test('an inconsistent rule is refused by its field', async () => {
    const shop = await store(app)
    for (const [change, message] of [
      [{ maxInstallments: 6, interestFreeInstallments: 3 }, /^monthlyInterestRate: must be above 0/],
      [{ monthlyInterestRate: 1 }, /^monthlyInterestRate: must be 0/],
      [{ interestFreeInstallments: 4 }, /^interestFreeInstallments: /],
      [{ minAmount: 100, maxAmount: 100 }, /^maxAmount: /],
      [{ monthlyInterestRate: 1.00001 }, /^monthlyInterestRate: /],
    ] as [object, RegExp][]) {
      expect(await shop.call(createRule, { body: { ...card, ...change } }), String(message)).toMatchObject(
        refused(400, message),
      )
    }
    for (const amount of ['0', '-5', '1.234', 'ten']) {
      expect((await shop.call(getInstallments, { query: { amount } })).status).toBe(400)
    }
  })

  test('two overlapping concurrent rules create one; 51 rules create fifty', async () => {
    const shop = await store(app)
    const both = await Promise.all([1, 2].map(() => shop.call(createRule, { body: card })))
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
    for (let n = 1; n < 50; n += 1) {
      expect((await shop.call(createRule, { body: { ...card, isActive: false } })).status).toBe(201)
    }
    const another = await shop.call(createRule, { body: { ...card, isActive: false } })
    expect(another).toMatchObject(refused(409, '50'))
  })

  test('a rule can be sent back unchanged', async () => {
    const shop = await store(app)
    const { body } = await shop.call(createRule, {
      body: {
        ...card,
        maxInstallments: 12,
        interestFreeInstallments: 6,
        monthlyInterestRate: 2.4999,
        minInstallmentAmount: 50,
      },
    })
    await app.advance(5)
    expect((await shop.call(changeRule, { body })).body).toEqual(body)
    const changed = await shop.call(changeRule, { body: { id: body.id, maxAmount: 500 } })
    expect(changed.body).toMatchObject({ maxAmount: 500, monthlyInterestRate: 2.4999 })
    expect(changed.body.updatedAt).not.toBe(body.updatedAt)
    expect((await shop.call(changeRule, { body: { id: 'nothing', name: 'Mine' } })).status).toBe(404)
  })

  test('settings have defaults, and refuse an unknown variable', async () => {
    const shop = await store(app)
    expect((await shop.call(getInstallments)).body.settings).toMatchObject({
      isEnabled: true,
      showInProductList: false,
      display: 'max-interest-free',
      interestText: '{{installments}}x of {{amount}}',
      updatedAt: null,
    })
    const unknown = await shop.call(saveSettings, { body: { interestText: '{{name}}' } })
    expect(unknown).toMatchObject(refused(400, /^interestText: /))
  })
})
