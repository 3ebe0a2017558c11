/** What the demo's popup has to win. */
import type { PopupCoupon, Prize } from '#operations/capture/popup/schema'
import { namedId } from '#runtime/values/ids'

const coupon = (type: PopupCoupon['type'], value: number | null): PopupCoupon => ({
  mode: 'unique',
  code: null,
  prefix: null,
  type,
  value,
  minimumAmount: null,
  validDays: 30,
})

const prize = (
  label: string,
  color: string,
  probability: number,
  won: PopupCoupon | null,
  stock: number | null = null,
): Prize => ({
  id: namedId(`prize ${label}`, 0),
  label,
  color,
  probability,
  stock,
  coupon: won,
  won: 0,
})

export const demoPrizes: readonly Prize[] = [
  prize('10% de desconto', '#6366f1', 40, coupon('percentage', 10)),
  prize('Frete grátis', '#10b981', 25, coupon('free-shipping', null)),
  prize('Não foi desta vez', '#9ca3af', 20, null),
  prize('15% de desconto', '#f59e0b', 10, coupon('percentage', 15)),
  prize('20% de desconto', '#ef4444', 5, coupon('percentage', 20), 20),
]
