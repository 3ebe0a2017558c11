/** Schemas of the section's API resources. */
import { plans, type SubscriptionStatus } from '#operations/store/index'
import { count, currency, email, instant, money, named, object, percent, z } from '#runtime/schema'

const paid = ['starter', 'growth', 'scale'] as const
export const planId = z.enum(paid)

/** Features and prices of every plan, for operation descriptions, because no operation returns them. */
export const planSummary: string = paid
  .map((id, i) => {
    const { features, messagesPerCycle, prices } = plans[id]!
    const before = paid[i - 1]
    const own = features.filter((feature) => !before || !plans[before]!.features.includes(feature))
    const costs = Object.entries(prices!).map(
      ([code, { monthly, yearly }]) => `${code} ${monthly} a month or ${yearly} a year`,
    )
    return `${id}: ${messagesPerCycle} messages a cycle, ${costs.join(', ')}, with ${before ? `all of ${before} and ` : ''}${own.join(', ')}.`
  })
  .join(' ')
export const billingCycle = z.enum(['monthly', 'yearly'])
export const couponCode = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(40, 'must have at most 40 characters')

const statuses = [
  'trialing',
  'active',
  'past-due',
  'paused',
  'cancelled',
  'ended',
] as const satisfies readonly SubscriptionStatus[]
const anyPlan = z.enum(['trial', 'starter', 'growth', 'scale'])
const paymentMethod = object({
  brand: z.string(),
  last4: z.string(),
  expMonth: z.number().int().min(1).max(12),
  expYear: z.number().int(),
}).nullable()
const timestamps = { createdAt: instant, updatedAt: instant }

export const subscription = named(
  'Subscription',
  object({
    id: z.string(),
    planId: anyPlan,
    planName: z.string(),
    status: z.enum(statuses).describe('As it is now, even if a job is late'),
    canWrite: z.boolean(),
    billingCycle: billingCycle.nullable(),
    price: money.nullable().describe('Agreed to; kept when list prices change'),
    currency: currency.nullable(),
    provider: z.string().nullable(),
    currentPeriodStart: instant,
    currentPeriodEnd: instant,
    nextChargeAt: instant.nullable(),
    nextChargeAmount: money.nullable().describe('After coupon and credit; null when nothing will be charged'),
    trialEndsAt: instant.nullable(),
    graceEndsAt: instant.nullable(),
    cancelledAt: instant.nullable(),
    endsAt: instant.nullable(),
    pausedAt: instant
      .nullable()
      .describe('May be to come: paused by the payer, it holds to the end of the period'),
    cancelReason: z.string().nullable(),
    pauseReason: z.enum(['payment-failed', 'provider', 'chargeback']).nullable(),
    scheduledChange: object({
      planId,
      billingCycle,
      price: money.nullable(),
      effectiveAt: instant,
    }).nullable(),
    coupon: object({
      code: z.string(),
      percentOff: percent.nullable(),
      amountOff: money.nullable(),
      remainingCycles: count.nullable().describe('Charges it still holds for; null: for ever'),
    }).nullable(),
    creditBalance: money.describe('Taken off the next charges'),
    paymentMethod,
    messagesPerCycle: count,
    features: z.array(z.string()),
    ...timestamps,
  }),
  {
    volatileFields: [
      'status',
      'canWrite',
      'planName',
      'price',
      'currentPeriodStart',
      'currentPeriodEnd',
      'nextChargeAt',
      'nextChargeAmount',
      'graceEndsAt',
      'coupon.remainingCycles',
      'creditBalance',
      'messagesPerCycle',
      'features',
      'updatedAt',
    ],
  },
)
export type SubscriptionView = z.infer<typeof subscription>

export const paymentStatus = z.enum(['pending', 'approved', 'rejected', 'refunded'])
export const payment = named(
  'Payment',
  object({
    id: z.string(),
    status: paymentStatus,
    kind: z.enum(['subscription', 'proration']),
    amount: money,
    discount: money.describe('What a coupon took off'),
    creditApplied: money.describe(
      'What unused paid time and the credit balance paid; a payment made wholly so has an amount of 0',
    ),
    balanceChange: money.describe(
      'What this payment, and refunds of it, added to the credit balance: all together sum to the balance; 0 for older payments',
    ),
    currency,
    planId: anyPlan.describe('trial of a payment that came in a trial for what nobody remembers'),
    billingCycle,
    periodStart: instant.nullable(),
    periodEnd: instant.nullable(),
    attempt: z.number().int().min(1),
    failureReason: z.string().nullable(),
    paymentMethod: object({ brand: z.string(), last4: z.string() }).nullable(),
    receiptUrl: z.string().nullable(),
    paidAt: instant.nullable(),
    ...timestamps,
  }),
)

const checkoutFields = {
  id: z.string(),
  kind: z.enum(['subscribe', 'update-plan', 'resume', 'card-update']),
  checkoutUrl: z.string().nullable().describe('Where the merchant pays; null once it is closed'),
  planId: anyPlan,
  billingCycle,
  amount: money.describe('Due now'),
  currency,
  couponCode: z.string().nullable(),
  failureReason: z.string().nullable(),
  expiresAt: instant,
  completedAt: instant.nullable(),
  ...timestamps,
}
const checkoutStatuses = ['open', 'approved', 'rejected', 'expired', 'cancelled'] as const
export const checkout = named('Checkout', object({ ...checkoutFields, status: z.enum(checkoutStatuses) }))
export type CheckoutView = z.infer<typeof checkout>

const nullable = <T extends z.ZodRawShape>(shape: T) =>
  Object.fromEntries(Object.entries(shape).map(([key, schema]) => [key, schema.nullable()])) as {
    [K in keyof T]: z.ZodNullable<T[K]>
  }
/** The last checkout; before the first checkout, `status` is `none` and the other fields are null. */
export const checkoutResult = object({
  ...nullable(checkoutFields),
  status: z.enum([...checkoutStatuses, 'none']),
})

export const trial = named(
  'Trial',
  object({
    isTrial: z.boolean(),
    startedAt: instant.nullable(),
    endsAt: instant.nullable(),
    daysLeft: count.describe('Whole days, rounded up; 0 when it is over'),
    isExpired: z.boolean().describe('It is over and nothing was ever paid'),
    paymentFailedRecently: z.boolean().describe('Within seven days, and none approved since'),
    lastFailedPayment: object({
      failedAt: instant,
      amount: money,
      currency,
      reason: z.string().nullable(),
    }).nullable(),
  }),
)

export const usage = named(
  'Usage',
  object({
    cycleStart: instant,
    cycleEnd: instant,
    limit: count,
    used: count,
    reserved: count.describe('Held for messages that are on their way'),
    remaining: count,
    percentUsed: z.number().min(0),
    bySource: z.array(object({ source: z.string(), used: count })),
    daily: z.array(object({ date: z.string(), used: count })),
  }),
)

export const preApproval = named(
  'PreApproval',
  object({
    id: z.string().describe("The provider's own"),
    provider: z.string(),
    status: z.enum(['pending', 'authorized', 'paused', 'cancelled']),
    reason: z.string(),
    payerEmail: email,
    amount: money,
    currency,
    frequency: z.number().int(),
    frequencyType: z.literal('months'),
    startsAt: instant.nullable(),
    nextPaymentAt: instant.nullable(),
    paymentMethod,
    checkoutUrl: z.string().nullable(),
    ...timestamps,
  }),
)

export const couponAnswer = object({
  code: z.string(),
  isValid: z.boolean(),
  reason: z
    .enum(['not-found', 'not-started', 'expired', 'exhausted', 'not-for-plan', 'already-used'])
    .nullable(),
  percentOff: percent.nullable(),
  amountOff: money.nullable(),
  durationCycles: count.nullable().describe('Charges it holds for; null: for ever'),
  planIds: z.array(z.string()).nullable().describe('null: every plan'),
  originalAmount: money.nullable(),
  discountedAmount: money.nullable(),
  currency,
})

export const planChange = object({
  outcome: z.enum(['applied', 'scheduled', 'unscheduled', 'checkout-required']),
  isPreview: z.boolean(),
  proration: object({
    credit: money.describe('Unused time of the current period'),
    charge: money.describe('Of the new plan, for the time it covers'),
    amountDue: money,
    currency,
  }),
  effectiveAt: instant.nullable().describe('null: once the checkout is paid'),
  checkout: checkout.nullable(),
  subscription,
})
