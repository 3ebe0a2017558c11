/**
 * Formats amounts, numbers and days for a locale. Creating one of JavaScript's formatters takes as long as using it
 * some thirty times, so formatters are cached: enough for stores of all locales and currencies.
 */

import { decimalsOf } from './money.ts'

type Maker<Options, Formatter> = new (locale: string, options: Options) => Formatter

const cachedAtMost = 1000

function memoizeFormatter<Options, Formatter>(Made: Maker<Options, Formatter>) {
  const kept = new Map<string, Formatter>()
  return (locale: string, options: Options): Formatter => {
    const key = `${locale} ${JSON.stringify(options)}`
    const known = kept.get(key)
    if (known) return known
    if (kept.size >= cachedAtMost) kept.clear()
    const made = new Made(locale, options)
    kept.set(key, made)
    return made
  }
}

const numbers = memoizeFormatter<Intl.NumberFormatOptions, Intl.NumberFormat>(Intl.NumberFormat)

/** `Intl` rounds amounts of some currencies to whole units, such as COP: their decimals are shown where an amount has any. */
class MoneyFormat {
  readonly #usual: Intl.NumberFormat
  readonly #exact: Intl.NumberFormat
  constructor(locale: string, currency: string) {
    const usual = numbers(locale, { style: 'currency', currency })
    const decimals = decimalsOf(currency)
    const isRounded = usual.resolvedOptions().maximumFractionDigits! < decimals
    this.#usual = usual
    this.#exact = isRounded
      ? numbers(locale, { style: 'currency', currency, minimumFractionDigits: decimals })
      : usual
  }
  format(amount: number): string {
    return (Number.isInteger(amount) ? this.#usual : this.#exact).format(amount)
  }
}

const prices = memoizeFormatter(MoneyFormat)
const instants = memoizeFormatter<Intl.DateTimeFormatOptions, Intl.DateTimeFormat>(Intl.DateTimeFormat)
const spans = memoizeFormatter<Intl.RelativeTimeFormatOptions, Intl.RelativeTimeFormat>(
  Intl.RelativeTimeFormat,
)

/** Formats money for a page: `R$ 1.234,50`, with the non-breaking spaces of the locale. */
export const formatMoneyForPage = (amount: number | string, currency: string, locale: string): string =>
  prices(locale, currency).format(Number(amount))

/** Like `formatMoneyForPage`, but with plain spaces: a phone can break lines there, and a search finds typed text. */
export const formatMoney = (amount: number | string, currency: string, locale: string): string =>
  formatMoneyForPage(amount, currency, locale).replace(/\s/gu, ' ')

export const formatNumber = (value: number, locale: string, options: Intl.NumberFormatOptions = {}): string =>
  numbers(locale, options).format(value)

export const formatInstant = (at: Date, locale: string, options: Intl.DateTimeFormatOptions): string =>
  instants(locale, options).format(at)

/** Formats a relative time: in German, -2 and `hour` become `vor 2 Stunden`. */
export const formatTimeSpan = (value: number, unit: Intl.RelativeTimeFormatUnit, locale: string): string =>
  spans(locale, {}).format(value, unit)

/** Splits texts into graphemes: what a reader sees as one character, in any language. */
export const graphemes = memoizeFormatter<Intl.SegmenterOptions, Intl.Segmenter>(Intl.Segmenter)('en', {
  granularity: 'grapheme',
})
