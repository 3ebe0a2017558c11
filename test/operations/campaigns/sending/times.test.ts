import { describe, expect, test } from 'vitest'
import {
  estimateFinish,
  findNextOpening,
  isOpen,
  parseScheduledAt,
} from '#operations/campaigns/sending/times'

const sp = 'America/Sao_Paulo'
const ny = 'America/New_York'
const now = new Date('2026-11-20T12:00:00Z')

describe('scheduled times', () => {
  test.each([
    ['2026-12-01T10:00', sp, '2026-12-01T13:00:00.000Z'],
    ['2026-12-01T10:00:30', sp, '2026-12-01T13:00:30.000Z'],
    ['2026-12-01T10:00Z', sp, '2026-12-01T10:00:00.000Z'],
    ['2026-12-01T10:00:00.5+02:00', sp, '2026-12-01T08:00:00.500Z'],
    ['2027-03-14T01:59', ny, '2027-03-14T06:59:00.000Z'],
    ['2027-03-14T03:00', ny, '2027-03-14T07:00:00.000Z'],
    // A time that occurs twice means the first.
    ['2027-11-07T01:30', ny, '2027-11-07T05:30:00.000Z'],
    ['2026-11-20T12:00:00.001Z', sp, '2026-11-20T12:00:00.001Z'],
    ['2027-11-20T12:00:00Z', sp, '2027-11-20T12:00:00.000Z'],
  ])('%s in %s', (text, zone, expected) => {
    expect(parseScheduledAt(text, zone, now).toISOString()).toBe(expected)
  })

  test.each([
    ['2027-03-14T02:30', ny, 'no such time in America/New_York'],
    ['2026-11-20T12:00:00Z', sp, 'after now'],
    ['2026-11-20T08:59', sp, 'after now'],
    ['2027-11-20T12:00:00.001Z', sp, '365 days'],
  ])('%s in %s is refused: %s', (text, zone, why) => {
    expect(() => parseScheduledAt(text, zone, now)).toThrow(new RegExp(`^scheduledAt: .*${why}`))
  })
})

describe('the send window', () => {
  const window = { start: '09:00', end: '18:00' }
  test.each([
    ['2026-11-20T11:59:59.999Z', false, '2026-11-20T12:00:00.000Z'],
    ['2026-11-20T12:00:00.000Z', true, '2026-11-21T12:00:00.000Z'],
    ['2026-11-20T20:59:59.999Z', true, '2026-11-21T12:00:00.000Z'],
    ['2026-11-20T21:00:00.000Z', false, '2026-11-21T12:00:00.000Z'],
    ['2026-11-21T02:59:00.000Z', false, '2026-11-21T12:00:00.000Z'],
  ])('at %s in São Paulo', (at, open, opens) => {
    expect(isOpen(window, sp, new Date(at))).toBe(open)
    expect(findNextOpening(window, sp, new Date(at)).toISOString()).toBe(opens)
  })
  test('is always open if there is none', () => {
    expect(isOpen(null, sp, now)).toBe(true)
  })

  test.each([
    [100, null, '2026-11-20T12:01:40.000Z'],
    [100, window, '2026-11-20T12:01:40.000Z'],
    [9 * 3600, window, '2026-11-20T21:00:00.000Z'],
    [9 * 3600 + 60, window, '2026-11-21T12:01:00.000Z'],
    [27 * 3600, window, '2026-11-22T21:00:00.000Z'],
    [27 * 3600 + 1, window, '2026-11-23T12:00:01.000Z'],
  ])('%i messages at 1 a second', (messages, within, expected) => {
    expect(estimateFinish(messages, 1, within, sp, now).toISOString()).toBe(expected)
  })
})
