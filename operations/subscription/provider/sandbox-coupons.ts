/** The coupons of the sandbox. */
import type { Coupon } from './port.ts'

const plain: Omit<Coupon, 'code'> = {
  percentOff: null,
  amountOff: null,
  currency: null,
  durationCycles: null,
  planIds: null,
  billingCycles: null,
  startsAt: null,
  expiresAt: null,
  isExhausted: false,
}

const coupons: readonly Coupon[] = [
  { ...plain, code: 'WELCOME10', percentOff: 10, durationCycles: 3 },
  { ...plain, code: 'SCALE20', percentOff: 20, planIds: ['scale'] },
  {
    ...plain,
    code: 'FIRST50',
    amountOff: '50.00',
    currency: 'BRL',
    durationCycles: 1,
    billingCycles: ['yearly'],
  },
  { ...plain, code: 'USEDUP', percentOff: 10, durationCycles: 1, isExhausted: true },
  { ...plain, code: 'NOTYET', percentOff: 10, durationCycles: 1, startsAt: '2040-01-01T00:00:00.000Z' },
  { ...plain, code: 'EXPIRED', percentOff: 10, durationCycles: 1, expiresAt: '2020-01-01T00:00:00.000Z' },
]

/** Finds a coupon by its code, ignoring case; null when there is none. */
export const findSandboxCoupon = (code: string): Coupon | null =>
  coupons.find((coupon) => coupon.code === code.trim().toUpperCase()) ?? null
