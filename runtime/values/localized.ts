/**
 * Amounts, numbers and days formatted for a locale. Creating one of JavaScript's formatters takes as long as some
 * thirty uses: they are cached, as many as a server with stores of all locales and currencies needs at once.
 */

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
const instants = memoizeFormatter<Intl.DateTimeFormatOptions, Intl.DateTimeFormat>(Intl.DateTimeFormat)
const spans = memoizeFormatter<Intl.RelativeTimeFormatOptions, Intl.RelativeTimeFormat>(
  Intl.RelativeTimeFormat,
)

/** `R$ 1.234,50`, with the non-breaking spaces of its locale: for pages. */
export const formatMoneyForPage = (amount: number | string, currency: string, locale: string): string =>
  numbers(locale, { style: 'currency', currency }).format(Number(amount))

/** The same with plain spaces: a phone may break lines anywhere, and a search finds typed text. */
export const formatMoney = (amount: number | string, currency: string, locale: string): string =>
  formatMoneyForPage(amount, currency, locale).replace(/\s/gu, ' ')

export const formatNumber = (value: number, locale: string, options: Intl.NumberFormatOptions = {}): string =>
  numbers(locale, options).format(value)

export const formatInstant = (at: Date, locale: string, options: Intl.DateTimeFormatOptions): string =>
  instants(locale, options).format(at)

/** `vor 2 Stunden` for -2 and `hour`. */
export const formatTimeSpan = (value: number, unit: Intl.RelativeTimeFormatUnit, locale: string): string =>
  spans(locale, {}).format(value, unit)
