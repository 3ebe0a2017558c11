/** Every division of money: the parts sum to the whole, none is below 0, none is above it. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { calculateCashback } from '#operations/automations/deciding/coupon-codes'
import {
  computeAmount,
  computePriceDifference,
  computeUnitPrice,
} from '#operations/exchanges/requests/amounts'
import { calculateFeaturedCents } from '#operations/product-page/labels/featured-price'
import { buildOptions } from '#operations/promotions/installments/math'
import { spreadRefund } from '#operations/store/conversions/refunds'
import type { BundleDiscount, QuantityDiscount } from '#operations/store/ecommerce/discounts'
import {
  applyBundle,
  applyQuantity,
  sumDiscount as offOf,
  type Unit,
} from '#operations/store/ecommerce/quote-rules'
import { computeCouponDiscount } from '#operations/store/ecommerce/sandbox-coupons'
import { formatMoney } from '#runtime/values/localized'
import {
  applyPercentage,
  clampCount,
  decimalsOf,
  findAmountIssue,
  firstUnitsShare,
  formatDiscountValue,
  inCurrency,
  minCents,
  singleUnitShare,
  splitBy,
  splitEvenly,
  sumCents,
  unitsShare,
  wholeCurrencies,
} from '#runtime/values/money'
import { currencies } from '#test/support/currencies'
import { runs } from '#test/support/suite'

const { toMoney } = inCurrency('BRL')

/** Expects an amount, as text or number, that exists in the currency. */
const expectAmount = (amount: string | number, currency: string): void =>
  expect(findAmountIssue(Number(amount), currency), String(amount)).toBeNull()

const cents = fc.bigInt({ min: 0n, max: 99_999_999_999_999n })
const small = fc.bigInt({ min: 0n, max: 300_00n })
const percentage = fc.integer({ min: 0, max: 1_000_000 }).map((each) => each / 10_000)

/** A failure prints the seed. */
const expectProperty = <T extends [unknown, ...unknown[]]>(
  ...[values, check]: [{ [K in keyof T]: fc.Arbitrary<T[K]> }, (...each: T) => void]
): void => fc.assert(fc.property(...values, check), runs(300))

describe('amounts', () => {
  test('convert to cents and back, from text and from JSON, in every currency', () =>
    expectProperty(
      [fc.bigInt({ min: -99_999_999_999n, max: 99_999_999_999n }), currencies],
      (amount, currency) => {
        const { toCents, toMoney, toNumber } = inCurrency(currency)
        expect(toMoney(amount)).toMatch(/^-?\d+[.]\d\d$/)
        expect(toCents(toMoney(amount))).toBe(amount)
        expect(toCents(toNumber(amount))).toBe(amount)
        expectAmount(toMoney(amount), currency)
      },
    ))

  test('are written with the decimals of their currency', () => {
    // `Intl` writes all of them without decimals, and some others too.
    for (const currency of wholeCurrencies) {
      expect(formatMoney(1234, currency, 'en')).toMatch(/1,234$/)
    }
    expect(formatMoney(1234.5, 'JPY', 'ja')).toMatch(/1,235$/)
    expect(formatMoney('33333.33', 'COP', 'es-CO').replace(/\s/g, ' ')).toMatch(/33[.]333,33$/)
    expect(formatMoney(33333, 'COP', 'es-CO')).toMatch(/33[.]333$/)
    expect(formatMoney(1.5, 'KWD', 'en')).toMatch(/1[.]500$/)
  })

  test('fractions of a cent are rounded, invalid amounts refused', () => {
    const { toCents } = inCurrency('BRL')
    const given = ['0.005', '0.0049', '-0.005', '.5', '7.', '12.5']
    expect(given.map(toCents)).toEqual([1n, 0n, -1n, 50n, 700n, 1250n])
    // Stored before the store's currency was known to have no decimals.
    expect(given.map(inCurrency('JPY').toCents)).toEqual([0n, 0n, 0n, 1n, 7n, 13n])
    for (const wrong of ['abc', '1,5', '1e3', '--1']) expect(() => toCents(wrong)).toThrow(RangeError)
  })
})

describe('amounts of a platform', () => {
  test('prices with three decimals are rounded once per line', () =>
    expectProperty(
      [fc.nat(999_999_999), fc.nat(1_000_000), fc.array(fc.nat(99_999), { maxLength: 3 }), currencies],
      (price, units, off, currency) => {
        const { priceAfterDiscounts } = inCurrency(currency)
        const text = (thousandths: number) =>
          `${Math.floor(thousandths / 1000)}.${String(thousandths % 1000).padStart(3, '0')}`
        const exactly = BigInt(price) * BigInt(units) - off.reduce((sum, each) => sum + BigInt(each), 0n)
        const found = priceAfterDiscounts(text(price), units, off.map(text))
        // Thousandths to cents: half up.
        const scale = decimalsOf(currency) === 0 ? 1000n : 10n
        expect(found).toBe(exactly > 0n ? (exactly + scale / 2n) / scale : 0n)
      },
    ))

  test('are rounded to the cent and clamped to the bound', () => {
    const most = '999999999999.99'
    const said = ['1.005', most, '999999999999.995', '1000000000000', '-10000000000000', 1e12, -1e21, 19.999]
    expect(said.map(inCurrency('BRL').clampAmount)).toEqual([
      ...['1.01', most, most, most, `-${most}`, most, `-${most}`, '20.00'],
    ])
    const whole = '999999999999.00'
    expect(said.map(inCurrency('CLP').clampAmount)).toEqual([
      ...['1.00', whole, whole, whole, `-${whole}`, whole, `-${whole}`, '20.00'],
    ])
    expect([3, 2_999_999_997, -5e12, 1.9].map(clampCount)).toEqual([3, 2_147_483_647, -2_147_483_647, 1])
  })
})

describe('units of a line', () => {
  test('sum to the line, however they are grouped', () =>
    expectProperty([cents, fc.integer({ min: 1, max: 40 }), fc.array(fc.nat())], (total, of, cuts) => {
      const shares = Array.from({ length: of }, (_none, unit) => singleUnitShare(total, unit, of))
      expect(sumCents(shares)).toBe(total)
      expect(shares.every((share) => share >= 0n && share <= total)).toBe(true)
      const some = cuts.map((cut) => cut % of)
      expect(unitsShare(total, some, of)).toBe(sumCents(some.map((unit) => shares[unit]!)))
      const run = Array.from({ length: of }, (_none, unit) => unit).filter((unit) => !some.includes(unit))
      expect(unitsShare(total, run, of)).toBe(sumCents(run.map((unit) => shares[unit]!)))
      const at = [...new Set([0, ...cuts.map((cut) => cut % of), of])].sort((a, b) => a - b)
      const parts = at
        .slice(1)
        .map((to, i) => firstUnitsShare(total, to, of) - firstUnitsShare(total, at[i]!, of))
      expect(sumCents(parts)).toBe(total)
    }))

  test('three of 209.69, unit by unit', () => {
    const shares = [0, 1, 2].map((unit) => toMoney(singleUnitShare(20969n, unit, 3)))
    expect(shares).toEqual(['69.90', '69.89', '69.90'])
  })
})

describe('an amount over weights', () => {
  test('sums to it, and no share is above its weight', () =>
    expectProperty([fc.array(small, { minLength: 1, maxLength: 12 }), percentage], (weights, share) => {
      const whole = sumCents(weights)
      const amount = applyPercentage(whole, share)
      const parts = splitBy(amount, weights)
      expect(sumCents(parts)).toBe(amount)
      for (const [at, part] of parts.entries()) {
        expect(part >= 0n && part <= weights[at]!).toBe(true)
      }
    }))

  test('the remainder goes to the largest fractions, the earlier first', () => {
    expect(splitBy(1000n, [5990n, 5990n, 3515n])).toEqual([387n, 386n, 227n])
    expect(splitBy(0n, [1n, 2n])).toEqual([0n, 0n])
    expect(splitBy(5n, [0n, 0n])).toEqual([0n, 0n])
  })

  test('a larger amount never has less of the same weights than a smaller one', () =>
    expectProperty([fc.array(small, { minLength: 1 }), cents, cents], (weights, one, other) => {
      const [less, more] = one < other ? [one, other] : [other, one]
      expect(sumCents(splitBy(less, weights)) <= sumCents(splitBy(more, weights))).toBe(true)
    }))
})

test('equal parts sum to the amount, the first is the largest', () =>
  expectProperty([cents, fc.integer({ min: 1, max: 36 })], (amount, parts) => {
    const { first, others } = splitEvenly(amount, parts)
    expect(first + others * BigInt(parts - 1)).toBe(amount)
    expect(first >= others && others >= 0n).toBe(true)
  }))

test('a percentage is never more than its amount, and grows with it', () =>
  expectProperty([cents, cents, percentage], (one, other, share) => {
    const [less, more] = one < other ? [one, other] : [other, one]
    expect(applyPercentage(more, share) <= more).toBe(true)
    expect(applyPercentage(less, share) <= applyPercentage(more, share)).toBe(true)
    expect(applyPercentage(more, 100)).toBe(more)
  }))

describe('uses of the divisions', () => {
  test('refunds over lines: never more than a line, and the whole refund if the lines cover it', () =>
    expectProperty(
      [
        fc.array(fc.tuple(small, fc.bigInt({ min: 0n, max: 400_00n })), { minLength: 1, maxLength: 8 }),
        small,
        currencies,
      ],
      (lines, unnamed, currency) => {
        const { toCents, toMoney } = inCurrency(currency)
        const named = sumCents(lines.map(([, refunded]) => refunded))
        const whole = sumCents(lines.map(([total]) => total))
        const within = lines.every(([total, refunded]) => refunded <= total)
        const parts = spreadRefund(
          lines.map(([total, refunded]) => ({ total: toMoney(total), refundedTotal: toMoney(refunded) })),
          toMoney(named + unnamed),
          currency,
        ).map((part) => {
          expectAmount(part, currency)
          return toCents(part)
        })
        for (const [at, part] of parts.entries()) {
          const [total, refunded] = lines[at]!
          expect(part <= total).toBe(true)
          expect(part >= minCents(refunded, total)).toBe(true)
        }
        if (within) expect(sumCents(parts)).toBe(minCents(named + unnamed, whole))
      },
    ))

  test('installments sum to their total, interest-free ones to the price', () =>
    expectProperty(
      [
        fc.bigInt({ min: 1n, max: 9_999_999n }),
        fc.integer({ min: 1, max: 24 }),
        fc.integer({ min: 0, max: 24 }),
        fc.integer({ min: 1, max: 200_000 }),
        currencies,
      ],
      (price, most, free, rate, currency) => {
        const { toCents, toMoney } = inCurrency(currency)
        const rule = {
          id: 'r',
          minAmount: '0.00',
          maxAmount: null,
          maxInstallments: most,
          interestFreeInstallments: free,
          monthlyInterestRate: (rate / 10_000).toFixed(4),
          minInstallmentAmount: '0.00',
        }
        for (const { installments, ...option } of buildOptions(toMoney(price), rule, currency)) {
          for (const amount of [option.amount, option.firstAmount, option.total, option.interestTotal]) {
            expectAmount(amount, currency)
          }
          const [first, other, total] = [option.firstAmount, option.amount, option.total].map(toCents) as [
            bigint,
            bigint,
            bigint,
          ]
          expect(first + other * BigInt(installments - 1)).toBe(total)
          expect(toCents(option.interestTotal)).toBe(total - price)
          expect(total >= price).toBe(true)
          if (option.isInterestFree) expect(total).toBe(price)
        }
      },
    ))

  test('cashback is never more than the price of kept goods', () =>
    expectProperty(
      [small, small, small, percentage, fc.option(small), currencies],
      (total, shipping, refunded, percent, most, currency) => {
        const { toCents, toMoney, toNumber } = inCurrency(currency)
        const order = {
          currency,
          total: toMoney(total),
          shipping: toMoney(shipping),
          refunded_total: toMoney(refunded),
        }
        const terms = { percent, maxAmount: most === null ? null : toNumber(most) }
        const announced = calculateCashback(currency, order, terms)
        expectAmount(announced, currency)
        // The coupon takes off what was announced.
        expect(Number(formatDiscountValue('amount', announced, currency))).toBe(announced)
        expect(calculateCashback(currency === 'BRL' ? 'USD' : 'BRL', order, terms)).toBe(0)
        const amount = toCents(announced)
        const kept = total - shipping - refunded
        expect(amount >= 0n && amount <= (kept > 0n ? kept : 0n)).toBe(true)
        if (most !== null) expect(amount <= most).toBe(true)
      },
    ))

  test('a featured price is between nothing and the price', () =>
    expectProperty([cents, percentage, currencies], (price, discountPercentage, currency) => {
      const { toMoney, toNumber } = inCurrency(currency)
      const settings = {
        isEnabled: true,
        excludedProductIds: [],
        applyToSalePrice: true,
        minAmount: 0,
        discountPercentage,
      } as unknown as Parameters<typeof calculateFeaturedCents>[0]
      const product = { exists: true, productId: 'p', price: toMoney(price), variants: [], currency }
      const featured = calculateFeaturedCents(
        settings,
        product as unknown as Parameters<typeof calculateFeaturedCents>[1],
        currency,
      )
      expect(featured !== null && featured >= 0n && featured <= price).toBe(true)
      expectAmount(toNumber(featured!), currency)
    }))

  test('a coupon never exceeds the amount', () =>
    expectProperty(
      [cents, cents, percentage, fc.constantFrom('percentage', 'amount', 'free-shipping'), currencies],
      (amount, value, percent, type, currency) => {
        const { toMoney } = inCurrency(currency)
        const off = computeCouponDiscount(
          { type, value: type === 'percentage' ? percent.toFixed(4) : toMoney(value) },
          amount,
          currency,
        )
        expect(off >= 0n && off <= amount).toBe(true)
      },
    ))
})

test('values of exchanges are amounts of the order, and its units sum to its lines', () =>
  expectProperty(
    [small, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), currencies],
    (total, ordered, asked, currency) => {
      const { toMoney, toCents } = inCurrency(currency)
      const all = Array.from({ length: ordered }, (_none, unit) => unit)
      const line = (units: readonly number[]) => ({
        ...{ lineTotal: toMoney(total), ordered, units, exchangeUnitPrice: toMoney(total) },
      })
      const [some, rest] = [all.slice(0, asked), all.slice(asked)]
      const worth = [some, rest].map((units) => computeAmount([line(units)], toMoney(total), currency))
      for (const amount of [...worth, computeUnitPrice(toMoney(total), ordered, currency)]) {
        expectAmount(amount, currency)
      }
      expect(sumCents(worth.map(toCents))).toBe(total)
      expectAmount(computePriceDifference([line(some)], worth[0]!, currency), currency)
    },
  ))

describe('discounts of a cart', () => {
  const common = {
    reference: 'r',
    revision: 1,
    title: 't',
    startsAt: null,
    endsAt: null,
    combinesWith: { promotions: true, coupons: true },
  }
  const unitsOf = (prices: readonly bigint[]): Unit[] =>
    prices.map((price, at) => ({
      line: at,
      productId: `p${at % 3}`,
      variantId: `v${at % 4}`,
      categoryIds: [],
      cents: price,
    }))
  const prices = fc.array(small, { minLength: 1, maxLength: 24 })
  const refuseTooMuch = (units: readonly Unit[], off: ReadonlyMap<Unit, bigint>): void => {
    for (const [unit, less] of off)
      expect(units.includes(unit) && less >= 0n && less <= unit.cents).toBe(true)
  }

  test('neither one promotion nor two together exceed the price of a unit', () =>
    expectProperty(
      [
        prices,
        percentage,
        percentage,
        fc.integer({ min: 2, max: 5 }),
        fc.constantFrom('any', 'same-product', 'same-variant'),
      ],
      (given, one, two, buyQuantity, mixing) => {
        const units = unitsOf(given)
        const spec = (discountPercentage: number): QuantityDiscount => ({
          ...common,
          kind: 'quantity',
          buyQuantity,
          payQuantity: buyQuantity - 1,
          discountPercentage,
          mixing,
          maxSetsPerOrder: null,
          scope: 'all',
          categoryIds: [],
          productIds: [],
          excludedProductIds: [],
        })
        const first = applyQuantity(spec(one), units)
        refuseTooMuch(units, first?.off ?? new Map())
        const left = (unit: Unit) => unit.cents - (first?.off.get(unit) ?? 0n)
        const second = applyQuantity(spec(two), units, left)
        for (const unit of units) {
          expect((first?.off.get(unit) ?? 0n) + (second?.off.get(unit) ?? 0n) <= unit.cents).toBe(true)
        }
      },
    ))

  test("a bundle's discount is distributed over its units, to the cent", () =>
    expectProperty(
      [prices, small, percentage, fc.constantFrom('percentage', 'fixed', 'price'), currencies],
      (given, value, percent, discountType, currency) => {
        const { toMoney } = inCurrency(currency)
        const units = unitsOf(given)
        const spec: BundleDiscount = {
          ...common,
          kind: 'bundle',
          items: [
            { productId: 'p0', variantId: null, quantity: 2 },
            { productId: 'p1', variantId: null, quantity: 1 },
          ],
          discountType,
          value: discountType === 'percentage' ? percent.toFixed(4) : toMoney(value),
          maxPerOrder: 1,
        }
        const applied = applyBundle(spec, units, currency)
        if (!applied) return
        expect(offOf(applied.off) > 0n).toBe(true)
        refuseTooMuch(units, applied.off)
        const regular = sumCents([...applied.units].map((unit) => unit.cents))
        const due =
          discountType === 'percentage'
            ? applyPercentage(regular, percent)
            : discountType === 'fixed'
              ? minCents(value, regular)
              : regular - minCents(value, regular)
        expect(offOf(applied.off)).toBe(due)
      },
    ))
})
