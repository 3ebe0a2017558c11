/** Builds the values of the variables in automations' texts (rule 2). No database, no clock. */

import type { StoreFacts } from '#db/access'
import { epochDay } from '#runtime/values/days'
import { formatInstant, formatMoney, formatNumber } from '#runtime/values/localized'
import { getGivenName } from '#runtime/values/public-name'
import type { Values } from '#runtime/values/variables'
import { localDay } from './clock-times.ts'
import type { CartFacts, IssuedCoupon, Line, OrderFacts, Person } from './facts.ts'

export interface Subject {
  person: Person
  order: OrderFacts | null
  cart: CartFacts | null
  coupon: IssuedCoupon | null
  /** The order's cashback coupon, even if the run has issued a newer coupon. */
  cashback: IssuedCoupon | null
}

type Store = Pick<StoreFacts, 'name' | 'domain' | 'locale' | 'timezone' | 'currency'>

const maxLinesShown = 5

/** The value of every variable; null if it has none. */
export function buildValues(
  { person, order, cart, coupon, cashback }: Subject,
  store: Store,
  now: Date,
): Values {
  const { name, phone, email } = person
  const money = (amount: string | number, currency: string): string =>
    formatMoney(amount, currency, store.locale)
  return {
    name,
    customerName: name,
    firstName: getGivenName(name),
    phone,
    email,
    storeName: store.name,
    storeUrl: `https://${store.domain}`,
    ...(cart && {
      cartUrl: cart.url,
      cartTotal: money(cart.total, cart.currency),
      cartItems: formatItems(cart.items),
      productName: findMostExpensive(cart.items),
    }),
    ...(order && {
      orderNumber: order.number,
      orderTotal: money(order.total, order.currency),
      orderItems: formatItems(order.items),
      orderUrl: order.status_url,
      productName: findMostExpensive(order.items),
      paymentMethod: order.payment_method,
      paymentUrl: order.payment_url,
      trackingCode: order.tracking_code,
      trackingUrl: order.tracking_url,
      daysSinceOrder: String(countDaysBetween(order.placed_at, now, store.timezone)),
    }),
    ...(coupon && {
      couponCode: coupon.code,
      couponValue: formatCoupon(coupon, store),
      couponExpiresAt: formatDay(coupon.endsAt, store),
    }),
    ...(cashback?.value != null && { cashbackAmount: money(cashback.value, store.currency) }),
  }
}

const formatDay = (at: Date, { locale, timezone }: Store): string =>
  formatInstant(at, locale, { day: '2-digit', month: '2-digit', year: 'numeric', timeZone: timezone })

const freeShipping: Readonly<Record<string, string>> = {
  pt: 'frete grátis',
  es: 'envío gratis',
  en: 'free shipping',
}

function formatCoupon({ type, value }: IssuedCoupon, { locale, currency }: Store): string | null {
  if (type === 'free-shipping') return freeShipping[locale.slice(0, 2)] ?? freeShipping.en!
  if (value === null) return null
  return type === 'percentage'
    ? `${formatNumber(value, locale, { maximumFractionDigits: 2 })}%`
    : formatMoney(value, currency, locale)
}

/** Formats the first five lines and the number of further lines, such as `2× Mug, 1× Lamp, +3`. */
export function formatItems(items: readonly Line[]): string {
  const shown = items.slice(0, maxLinesShown).map(({ quantity, name }) => `${quantity}× ${name}`)
  const more = items.length - shown.length
  return [...shown, ...(more > 0 ? [`+${more}`] : [])].join(', ')
}

function findMostExpensive(items: readonly Line[]): string | null {
  let found: Line | null = null
  for (const item of items) if (!found || Number(item.total) > Number(found.total)) found = item
  return found?.name ?? null
}

const countDaysBetween = (from: Date, to: Date, zone: string): number =>
  epochDay(localDay(to, zone)) - epochDay(localDay(from, zone))
