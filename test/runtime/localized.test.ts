import { expect, onTestFinished, test } from 'vitest'
import { dayText, moneyOnPage, moneyText, numberText, spanText } from '#runtime/values/localized'

test('money, numbers, days and spans', () => {
  expect(moneyText('1234.5', 'BRL', 'pt-BR')).toBe('R$ 1.234,50')
  expect(moneyOnPage('1234.5', 'BRL', 'pt-BR')).toBe('R$\u00a01.234,50')
  expect(moneyText(1234.5, 'EUR', 'fr-FR')).toBe('1 234,50 €')
  expect(moneyText(-0.5, 'JPY', 'en')).toBe('-¥1')
  expect(numberText(12.345, 'de', { maximumFractionDigits: 2 })).toBe('12,35')
  expect(numberText(12.345, 'de')).toBe('12,345')
  const at = new Date('2026-03-01T01:00:00Z')
  const day = { day: '2-digit', month: '2-digit', year: 'numeric' } as const
  expect(dayText(at, 'pt-BR', { ...day, timeZone: 'America/Sao_Paulo' })).toBe('28/02/2026')
  expect(dayText(at, 'pt-BR', { ...day, timeZone: 'Asia/Tokyo' })).toBe('01/03/2026')
  expect(spanText(-2, 'hour', 'de')).toBe('vor 2 Stunden')
})

test('one that is known is not made again, and not all are kept for ever', async () => {
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
  // Read anew, as it takes what is there as it is read.
  const anew: typeof import('#runtime/values/localized') = await import(
    new URL('../../runtime/values/localized.ts?anew', import.meta.url).href
  )
  for (let i = 0; i < 100; i += 1) anew.moneyText(i, i % 2 ? 'BRL' : 'USD', 'pt-BR')
  expect(made).toBe(2)
  const all = (of: number): void => {
    for (let i = 0; i < of; i += 1)
      anew.numberText(1, 'en', {
        minimumSignificantDigits: 1 + (i % 21),
        minimumIntegerDigits: 1 + (Math.floor(i / 21) % 21),
        maximumFractionDigits: 20 - (i % 3),
      })
  }
  all(900)
  const before = made
  all(900)
  expect(made).toBe(before)
  // Beyond what is kept all begins anew, and answers as before.
  for (let i = 0; i < 1001; i += 1)
    anew.moneyText(
      1,
      `A${String.fromCharCode(65 + (i % 26))}${String.fromCharCode(65 + (Math.floor(i / 26) % 26))}`,
      i < 676 ? 'en' : 'de',
    )
  anew.numberText(1, 'en', {
    minimumSignificantDigits: 1,
    minimumIntegerDigits: 1,
    maximumFractionDigits: 20,
  })
  expect(made).toBeGreaterThan(before + 1001)
})
