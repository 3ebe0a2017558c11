/** Reads coupons from a JSON file of the operator, for a provider without its own coupons for subscriptions. */
import { readFileSync } from 'node:fs'
import { z } from '#runtime/schema'
import type { Coupon } from './port.ts'

const money = z.string().regex(/^\d{1,12}(\.\d{1,2})?$/, 'must be an amount such as "50.00"')
const coupon = z
  .object({
    code: z.string().regex(/^\S{1,40}$/, 'must have 1 to 40 characters and no spaces'),
    percentOff: z.number().gt(0).max(100).nullable().default(null),
    amountOff: money.nullable().default(null),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'must be ISO 4217')
      .nullable()
      .default(null),
    durationCycles: z.number().int().min(1).nullable().default(null),
    planIds: z.array(z.string()).nullable().default(null),
    billingCycles: z
      .array(z.enum(['monthly', 'yearly']))
      .nullable()
      .default(null),
    startsAt: z.string().datetime().nullable().default(null),
    expiresAt: z.string().datetime().nullable().default(null),
    isExhausted: z.boolean().default(false),
  })
  .strict()
  .refine((each) => (each.percentOff === null) !== (each.amountOff === null), {
    message: 'must have percentOff or amountOff, and not both',
  })
  .refine((each) => (each.amountOff === null) === (each.currency === null), {
    message: 'must have a currency with amountOff, and only then',
  })

/** Builds a case-insensitive lookup by code. Throws an `Error` that names the file and what is wrong in it. */
export function readCouponsFile(path: string | null): (code: string) => Coupon | null {
  const byCode = new Map<string, Coupon>()
  for (const each of path === null ? [] : readCoupons(path)) {
    const code = each.code.toUpperCase()
    if (byCode.has(code)) throw new Error(`BILLING_COUPONS: ${path} has ${each.code} twice`)
    byCode.set(code, each)
  }
  return (code) => byCode.get(code.trim().toUpperCase()) ?? null
}

function readCoupons(path: string): Coupon[] {
  let content: unknown
  try {
    content = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new Error(`BILLING_COUPONS: ${path} cannot be read as JSON`, { cause: error })
  }
  const parsed = z.array(coupon).safeParse(content)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'it'}: ${issue.message}`)
  throw new Error(`BILLING_COUPONS: ${path}: ${faults.join('; ')}`)
}
