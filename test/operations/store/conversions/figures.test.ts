import { describe, expect, test } from 'vitest'
import { changeHours, findHoursAt, withDefaultHours } from '#operations/store/conversions/attribution-hours'
import { spreadRefund as spread } from '#operations/store/conversions/refunds'
import { toPercent } from '#runtime/values/money'

const spreadRefund = (lines: Parameters<typeof spread>[0], refunded: string) => spread(lines, refunded, 'BRL')
const lines = (...totals: string[]) => totals.map((total) => ({ total, refundedTotal: '0.00' }))

describe('refunds by line', () => {
  test('cents are never lost: equal remainders go to the first lines', () => {
    expect(spreadRefund(lines('10.00', '10.00', '10.00'), '0.01')).toEqual(['0.01', '0.00', '0.00'])
    expect(spreadRefund(lines('10.00', '10.00', '10.00'), '20.00')).toEqual(['6.67', '6.67', '6.66'])
  })
  test('a full refund including shipping refunds the lines only up to their totals', () => {
    expect(spreadRefund(lines('120.00', '60.00'), '200.00')).toEqual(['120.00', '60.00'])
  })
  test('amounts that the platform assigned to lines stay, and only the rest is spread', () => {
    const some = [
      { total: '120.00', refundedTotal: '120.00' },
      { total: '60.00', refundedTotal: '0.00' },
    ]
    expect(spreadRefund(some, '120.00')).toEqual(['120.00', '0.00'])
    expect(spreadRefund(some, '150.00')).toEqual(['120.00', '30.00'])
  })
  test('free lines and large amounts are handled', () => {
    expect(spreadRefund(lines('0.00', '0.00'), '5.00')).toEqual(['0.00', '0.00'])
    expect(spreadRefund(lines('999999999999.99', '0.01'), '999999999999.99')).toEqual([
      '999999999999.98',
      '0.01',
    ])
    expect(spreadRefund([], '5.00')).toEqual([])
  })
})

test('percentages round halves away from zero and are null over nothing', () => {
  expect(toPercent(1n, 3n, 1)).toBe(33.3)
  expect(toPercent(1n, 8n, 2)).toBe(12.5)
  expect(toPercent(125n, 100_000n, 2)).toBe(0.13)
  expect(toPercent(-125n, 100_000n, 2)).toBe(-0.13)
  expect(toPercent(1n, 0n, 1)).toBeNull()
})

describe('attribution hours', () => {
  const now = new Date('2026-11-20T12:00:00.000Z')
  test('new hours apply to orders placed later', () => {
    const stored = changeHours({}, { automationHours: 24 }, now)
    const hours = (at: string) => findHoursAt(stored, new Date(at)).automationHours
    expect(hours('2026-11-20T12:00:00.000Z')).toBe(120)
    expect(hours('2026-11-20T12:00:00.001Z')).toBe(24)
    const again = changeHours(stored, { automationHours: 48 }, new Date('2026-11-21T12:00:00.000Z'))
    expect(findHoursAt(again, new Date('2026-11-01T00:00:00.000Z')).automationHours).toBe(120)
    expect(findHoursAt(again, new Date('2026-11-21T00:00:00.000Z')).automationHours).toBe(24)
    expect(withDefaultHours(again)).toEqual({
      automationHours: 48,
      messagingCampaignHours: 120,
      newsletterHours: 168,
      stockNotificationHours: 168,
    })
  })
  test('the same hours sent back change nothing', () => {
    const stored = { automationHours: 24 }
    expect(changeHours(stored, { automationHours: 24, newsletterHours: 168 }, now)).toBe(stored)
  })
})
