/**
 * Amounts, numbers and days as a locale writes them. To make one of JavaScript's formatters takes as long as to use it some
 * thirty times: they are kept, as many as a server with stores of all locales and currencies has at once.
 */

type Maker<Options, Formatter> = new (locale: string, options: Options) => Formatter

const keptAtMost = 1000

function keeping<Options, Formatter>(Made: Maker<Options, Formatter>) {
  const kept = new Map<string, Formatter>()
  return (locale: string, options: Options): Formatter => {
    const key = `${locale} ${JSON.stringify(options)}`
    const known = kept.get(key)
    if (known) return known
    if (kept.size >= keptAtMost) kept.clear()
    const made = new Made(locale, options)
    kept.set(key, made)
    return made
  }
}

const numbers = keeping<Intl.NumberFormatOptions, Intl.NumberFormat>(Intl.NumberFormat)
const instants = keeping<Intl.DateTimeFormatOptions, Intl.DateTimeFormat>(Intl.DateTimeFormat)
const spans = keeping<Intl.RelativeTimeFormatOptions, Intl.RelativeTimeFormat>(Intl.RelativeTimeFormat)

/** `R$ 1.234,50`, with the spaces of its locale, at which no line is broken: for pages. */
export const moneyOnPage = (amount: number | string, currency: string, locale: string): string =>
  numbers(locale, { style: 'currency', currency }).format(Number(amount))

/** The same with plain spaces: a phone breaks lines as it likes, and a search finds what somebody types. */
export const moneyText = (amount: number | string, currency: string, locale: string): string =>
  moneyOnPage(amount, currency, locale).replace(/\s/gu, ' ')

export const numberText = (value: number, locale: string, options: Intl.NumberFormatOptions = {}): string =>
  numbers(locale, options).format(value)

export const dayText = (at: Date, locale: string, options: Intl.DateTimeFormatOptions): string =>
  instants(locale, options).format(at)

/** `vor 2 Stunden` of -2 and `hour`. */
export const spanText = (value: number, unit: Intl.RelativeTimeFormatUnit, locale: string): string =>
  spans(locale, {}).format(value, unit)
