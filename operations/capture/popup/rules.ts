/** Validates popup settings as a whole (rule 1), in every part that is on. No database access. */
import { refuse } from '#runtime/errors'
import { hasVisible } from '#runtime/values/confusables'
import { findAmountIssue } from '#runtime/values/money'
import type { PopupCoupon, PopupSettings } from './schema.ts'

/** The first five issues as one error message; null if there are none. */
function findPopupIssues(settings: PopupSettings, currency: string): string | null {
  const faults = [
    ...(settings.coupon.enabled ? findCouponIssues('coupon', settings.coupon) : []),
    ...(settings.roulette.enabled ? findRouletteIssues(settings.roulette.prizes) : []),
    ...findFractions(settings, currency),
    ...findSharedCodeIssues(settings),
    ...(settings.isEnabled ? findDisplayIssues(settings) : []),
  ]
  return faults.length === 0 ? null : faults.slice(0, 5).join('; ')
}

/** Refuses invalid settings (400). */
export function refuseInvalidPopup(settings: PopupSettings, currency: string): void {
  const faults = findPopupIssues(settings, currency)
  if (faults) throw refuse('bad_request', faults)
}

function findCouponIssues(field: string, { mode, code, type, value }: PopupCoupon): string[] {
  const faults: string[] = []
  if (mode === 'shared' && code === null) faults.push(`${field}.code: is required for a shared coupon`)
  if (type === 'free-shipping') {
    if (value !== null) faults.push(`${field}.value: must be null for free shipping`)
  } else if (value === null || value <= 0) {
    faults.push(`${field}.value: must be more than 0`)
  } else if (type === 'percentage' && value > 100) {
    faults.push(`${field}.value: must be at most 100 for a percentage`)
  }
  return faults
}

/** Amounts with decimals that the currency has not, also in parts that are off. */
function findFractions({ coupon, roulette }: PopupSettings, currency: string): string[] {
  const coupons: [field: string, coupon: PopupCoupon | null][] = [
    ['coupon', coupon],
    ...roulette.prizes.map((prize, i): [string, PopupCoupon | null] => [
      `roulette.prizes.${i}.coupon`,
      prize.coupon,
    ]),
  ]
  return coupons.flatMap(([field, given]) => {
    const isAmount = given?.type === 'amount' && given.value !== null
    const issue = isAmount ? findAmountIssue(given.value!, currency) : null
    return issue ? [`${field}.value: ${issue}`] : []
  })
}

function findRouletteIssues(prizes: PopupSettings['roulette']['prizes']): string[] {
  const faults: string[] = []
  if (prizes.length < 2) faults.push('roulette.prizes: must have at least 2 prizes')
  for (const [i, { probability, coupon }] of prizes.entries()) {
    if (probability <= 0) faults.push(`roulette.prizes.${i}.probability: must be more than 0`)
    if (coupon) faults.push(...findCouponIssues(`roulette.prizes.${i}.coupon`, coupon))
  }
  // biome-ignore lint/plugin/cents: a chance in per cent, not money
  const sum = prizes.reduce((total, { probability }) => total + Math.round(probability * 100), 0)
  if (prizes.length >= 2 && sum !== 100_00) {
    faults.push(`roulette.prizes: probabilities must sum to 100 (now ${sum / 100})`)
  }
  if (prizes.length >= 2 && prizes.every(({ coupon }) => coupon === null)) {
    faults.push('roulette.prizes: at least one must have a coupon')
  }
  return faults
}

/** The coupons of the parts that are on, each with its field in the settings. */
export function listEnabledCoupons({
  coupon,
  roulette,
}: PopupSettings): [field: string, coupon: PopupCoupon][] {
  const { enabled, ...own } = coupon
  return [
    ...(enabled ? [['coupon', own] as [string, PopupCoupon]] : []),
    ...(roulette.enabled ? roulette.prizes : []).flatMap((prize, i) =>
      prize.coupon ? [[`roulette.prizes.${i}.coupon`, prize.coupon] as [string, PopupCoupon]] : [],
    ),
  ]
}

const toDiscountKey = ({ type, value, minimumAmount }: PopupCoupon): string =>
  JSON.stringify([type, value, minimumAmount])

function findSharedCodeIssues(settings: PopupSettings): string[] {
  const discounts = new Map<string, string>()
  const faults: string[] = []
  for (const [field, coupon] of listEnabledCoupons(settings)) {
    if (coupon.mode !== 'shared' || coupon.code === null) continue
    const known = discounts.get(coupon.code)
    discounts.set(coupon.code, known ?? toDiscountKey(coupon))
    if (known !== undefined && known !== toDiscountKey(coupon)) {
      faults.push(`${field}.code: ${coupon.code} is used for another discount already`)
    }
  }
  return faults
}

function findDisplayIssues({ fields, couponDelivery, display }: PopupSettings): string[] {
  const faults: string[] = []
  if (!fields.email.enabled && !fields.phone.enabled) {
    faults.push('fields: the email or the phone must be asked for')
  }
  for (const name of ['email', 'phone', 'name'] as const) {
    if (fields[name].required && !fields[name].enabled) {
      faults.push(`fields.${name}.required: must be false where the field is not enabled`)
    }
  }
  if (couponDelivery !== 'screen' && !(fields.email.enabled && fields.email.required)) {
    faults.push(`couponDelivery: ${couponDelivery} needs fields.email to be required`)
  }
  if (display.startsAt !== null && display.endsAt !== null && display.endsAt <= display.startsAt) {
    faults.push('display.endsAt: must be after display.startsAt')
  }
  if (display.pageMode !== 'all' && display.pagePatterns.length === 0) {
    faults.push('display.pagePatterns: must have at least one pattern')
  }
  const hasTeaser = display.teaserEnabled && hasVisible(display.teaserText ?? '')
  const appears =
    display.delaySeconds !== null ||
    display.scrollPercent !== null ||
    // A phone has no pointer that leaves the page.
    (display.exitIntent && display.devices !== 'mobile') ||
    hasTeaser
  if (!appears) {
    faults.push(
      'display: one of delaySeconds, scrollPercent, exitIntent (not for mobile alone) and teaserEnabled with a teaserText must be set, else nothing can open the popup',
    )
  }
  return faults
}
