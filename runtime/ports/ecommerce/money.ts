/** Decimal text as whole cents and back: amounts are added without floating point. */
import type { Money } from './port.ts'

/** `12.5` as 1250; takes numbers with at most two decimals too. */
export const toCents = (amount: Money | number): number => Math.round(Number(amount) * 100)

/** 1250 as `12.50`. */
export const toMoney = (cents: number): Money => (cents / 100).toFixed(2)
