import { expect, test } from 'vitest'
import {
  type AmountLine,
  computeAmount,
  computePriceDifference,
  computeUnitPrice as unitPrice,
} from '#operations/exchanges/requests/amounts'

const amountWithin = (lines: readonly AmountLine[], atMost: string) => computeAmount(lines, atMost, 'BRL')
const differenceOf = (lines: readonly AmountLine[], amount: string) =>
  computePriceDifference(lines, amount, 'BRL')
const computeUnitPrice = (total: string, ordered: number) => unitPrice(total, ordered, 'BRL')
const plenty = '999999999999.99'
const amountOf = (lines: readonly AmountLine[]) => amountWithin(lines, plenty)
const priceDifferenceOf = (lines: readonly AmountLine[]) => differenceOf(lines, amountOf(lines))

const line = (
  lineTotal: string,
  ordered: number,
  quantity: number,
  exchangeUnitPrice: string | null = null,
) => ({
  lineTotal,
  ordered,
  units: Array.from({ length: quantity }, (_none, at) => at),
  exchangeUnitPrice,
})

test('the units of a line sum to the line, some have their share rounded half up', () => {
  expect(amountOf([line('100.00', 3, 3)])).toBe('100.00')
  expect(amountOf([line('100.00', 3, 1)])).toBe('33.33')
  expect(amountOf([line('100.00', 3, 2)])).toBe('66.67')
  expect(amountOf([line('0.01', 2, 1)])).toBe('0.01')
  expect(amountOf([line('0.05', 10, 1)])).toBe('0.01')
  expect(amountOf([line('0.04', 10, 1)])).toBe('0.00')
})

test('each line is rounded separately, then summed', () => {
  expect(amountOf([line('100.00', 3, 1), line('100.00', 3, 1), line('100.00', 3, 1)])).toBe('99.99')
  expect(amountOf([])).toBe('0.00')
  expect(amountOf([line('999999999999.99', 1, 1)])).toBe('999999999999.99')
})

test('the price of a unit is to the cent', () => {
  expect(computeUnitPrice('100.00', 3)).toBe('33.33')
  expect(computeUnitPrice('200.00', 3)).toBe('66.67')
  expect(computeUnitPrice('179.80', 2)).toBe('89.90')
  expect(computeUnitPrice('0.00', 4)).toBe('0.00')
})

test('two shirts paid 89.90 for two at 99.90', () => {
  const shirts = [line('179.80', 2, 2, '99.90')]
  expect(amountOf(shirts)).toBe('179.80')
  expect(priceDifferenceOf(shirts)).toBe('20.00')
})

test('a cheaper variant gives a negative difference per unit', () => {
  expect(priceDifferenceOf([line('179.80', 2, 1, '79.90')])).toBe('-10.00')
  expect(priceDifferenceOf([line('179.80', 2, 2, '79.90'), line('50.00', 1, 1, '60.01')])).toBe('-9.99')
  expect(priceDifferenceOf([line('179.80', 2, 0, '99.90')])).toBe('0.00')
})

test('the amount never exceeds the remaining payment; the difference is relative to the amount', () => {
  expect(amountWithin([line('100.00', 3, 3)], '70.00')).toBe('70.00')
  expect(amountWithin([line('100.00', 3, 3)], '-0.01')).toBe('0.00')
  expect(differenceOf([line('100.00', 3, 3, '40.00')], '70.00')).toBe('50.00')
  // 3 × 69.90 would credit a cent more than the 209.69 that were paid.
  const line3 = [line('209.69', 3, 3, '69.90')]
  expect([amountOf(line3), priceDifferenceOf(line3)]).toEqual(['209.69', '0.01'])
})

test('units requested one by one sum to the line', () => {
  const each = [0, 1, 2].map((unit) => amountOf([{ ...line('209.69', 3, 1), units: [unit] }]))
  expect(each).toEqual(['69.90', '69.89', '69.90'])
})
