import { expect, onTestFinished, test } from 'vitest'
import {
  formatInstant,
  formatMoney,
  formatMoneyForPage,
  formatNumber,
  formatTimeSpan,
} from '#runtime/values/localized'

test('money, numbers, days and spans', () => {
  expect(formatMoney('1234.5', 'BRL', 'pt-BR')).toBe('R$ 1.234,50')
  expect(formatMoneyForPage('1234.5', 'BRL', 'pt-BR')).toBe('R$\u00a01.234,50')
  expect(formatMoney(1234.5, 'EUR', 'fr-FR')).toBe('1 234,50 €')
  expect(formatMoney(-0.5, 'JPY', 'en')).toBe('-¥1')
  expect(formatNumber(12.345, 'de', { maximumFractionDigits: 2 })).toBe('12,35')
  expect(formatNumber(12.345, 'de')).toBe('12,345')
  const at = new Date('2026-03-01T01:00:00Z')
  const day = { day: '2-digit', month: '2-digit', year: 'numeric' } as const
  expect(formatInstant(at, 'pt-BR', { ...day, timeZone: 'America/Sao_Paulo' })).toBe('28/02/2026')
  expect(formatInstant(at, 'pt-BR', { ...day, timeZone: 'Asia/Tokyo' })).toBe('01/03/2026')
  expect(formatTimeSpan(-2, 'hour', 'de')).toBe('vor 2 Stunden')
})

test('formatters are cached, up to a limit', async () => {
  const real = Intl.NumberFormat
  let made = 0
  class Counted extends real {
    constructor(locale?: string, options?: Intl.NumberFormatOptions) {
      super(locale, options)
      made += 1
    }
  }
  Intl.NumberFormat = Counted as never
  onTestFinished(() => {
    Intl.NumberFormat = real
  })
  // Imported again, since it captures the constructors when it is loaded.
  const reloaded: typeof import('#runtime/values/localized') = await import(
    new URL('../../runtime/values/localized.ts?reloaded', import.meta.url).href
  )
  for (let i = 0; i < 100; i += 1) reloaded.formatMoney(i, i % 2 ? 'BRL' : 'USD', 'pt-BR')
  expect(made).toBe(2)
  const all = (of: number): void => {
    for (let i = 0; i < of; i += 1)
      reloaded.formatNumber(1, 'en', {
        minimumSignificantDigits: 1 + (i % 21),
        minimumIntegerDigits: 1 + (Math.floor(i / 21) % 21),
        maximumFractionDigits: 20 - (i % 3),
      })
  }
  all(900)
  const before = made
  all(900)
  expect(made).toBe(before)
  // Beyond the limit the cache starts again, with the same results.
  for (let i = 0; i < 1001; i += 1)
    reloaded.formatMoney(
      1,
      `A${String.fromCharCode(65 + (i % 26))}${String.fromCharCode(65 + (Math.floor(i / 26) % 26))}`,
      i < 676 ? 'en' : 'de',
    )
  reloaded.formatNumber(1, 'en', {
    minimumSignificantDigits: 1,
    minimumIntegerDigits: 1,
    maximumFractionDigits: 20,
  })
  expect(made).toBeGreaterThan(before + 1001)
})
