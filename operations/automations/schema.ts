/** The public fields of an automation and their limits. */
import { reference } from '#runtime/references'
import {
  count,
  currency,
  day,
  id,
  instant,
  line,
  money,
  moneyFromZero,
  named,
  object,
  otherAmount,
  setOf,
  text,
  z,
} from '#runtime/schema'
import { automationTypes } from './types.ts'

const maxMinutes = 129_600
const int4 = 2_147_483_647

export const automationType = z.enum(automationTypes)

const amount = moneyFromZero
const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 09:00')
const couponPrefix = z.string().regex(/^[A-Z0-9]{1,10}$/, 'must be 1 to 10 capital letters and digits')

const parameters = z.array(text(1, 500)).max(20)
const templateParameters = named(
  'TemplateParameters',
  object({ header: parameters, body: parameters, buttons: parameters }).describe(
    "In the order of the template's placeholders",
  ),
)
const message = named(
  'AutomationMessage',
  object({
    text: text(1, 4096)
      .nullable()
      .describe('At most 1024 characters with media. Knows {{name}}, or {{name|fallback}}'),
    mediaUrl: reference('file', text(1, 2000))
      .nullable()
      .describe("https address, or one of this server's storage"),
    mediaType: z.enum(['image', 'video', 'document']).nullable().describe('Required with mediaUrl'),
    officialapiTemplateId: reference('template', z.number().int().min(1).max(int4)).nullable(),
    templateParameters,
  }).describe('A text or a template at least'),
)
const templateParametersInput = named('TemplateParametersInput', templateParameters.partial())
export const messageInput = named(
  'AutomationMessageInput',
  message.extend({ templateParameters: templateParametersInput }).partial(),
)

const couponSpec = named(
  'AutomationCoupon',
  object({
    type: z.enum(['percentage', 'amount', 'free-shipping']),
    value: otherAmount(z.number().min(0, 'must not be negative'))
      .nullable()
      .describe('Over 0, of a percentage at most 100; null for free-shipping'),
    prefix: couponPrefix.describe('What its codes begin with'),
    minimumAmount: amount.nullable(),
    validDays: z.number().int().min(1).max(365),
  }),
)
export const couponInput = named('AutomationCouponInput', couponSpec.partial())

const ids = (kind: 'product' | 'category') => setOf(reference(kind, z.string().min(1).max(64)), 200)
export const conditions = object({
  minAmount: amount
    .nullable()
    .describe("In the store's currency: an order or cart in another one does not meet it"),
  maxAmount: amount.nullable().describe('Likewise'),
  productIds: ids('product').describe('Any line has one of them'),
  excludedProductIds: ids('product').describe('No line has one of them'),
  categoryIds: ids('category').describe('Any line has one of them'),
  paymentMethods: setOf(
    z.enum(['pix', 'boleto', 'credit-card', 'debit-card', 'transfer', 'cash', 'other']),
    7,
  ),
  customers: z.enum(['all', 'first-order', 'returning']),
  cooldownHours: z.number().int().min(0).max(8760),
})
const quietHours = object({
  isEnabled: z.boolean(),
  start: timeOfDay,
  end: timeOfDay.describe('May be before start: then it crosses midnight'),
}).describe(
  "In the store's time zone; nothing leaves while clocks show a time from start until end, also in an hour that a clock change repeats",
)

const settings = object({
  inactiveDays: z.number().int().min(7).max(730).describe('Of win-back'),
  sendAt: timeOfDay.describe(
    'Of win-back and birthday; if clocks skip it, right after; if they repeat it, the first',
  ),
  daysBefore: z.number().int().min(0).max(30).describe('Of birthday'),
  percent: z.number().gt(0, 'must be more than 0').max(100).describe('Of cashback'),
  maxAmount: amount.nullable().describe('Of cashback'),
  minimumAmount: amount.nullable().describe('Of cashback'),
  validDays: z.number().int().min(1).max(365).describe('Of cashback'),
  prefix: couponPrefix.describe('Of cashback'),
})
  .partial()
  .strict()

const stepId = z.string().regex(/^[a-z0-9_-]{1,40}$/, 'must be 1 to 40 lower-case letters, digits, _ and -')
const next = stepId.nullable()
const wait = { id: stepId, type: z.literal('wait'), minutes: z.number().int().min(1).max(maxMinutes) }
const check = { id: stepId, type: z.literal('purchase-check') }
const coupon = { id: stepId, type: z.literal('coupon') }
const followUp = { id: stepId, type: z.literal('message') }
const step = z.discriminatedUnion('type', [
  named('WaitStep', object({ ...wait, next })),
  named('PurchaseCheckStep', object({ ...check, paidOnly: z.boolean(), ifPurchased: next, ifNot: next })),
  named('CouponStep', object({ ...coupon, coupon: couponSpec, next })),
  named('MessageStep', object({ ...followUp, message, next })),
])
const stepInput = z.discriminatedUnion('type', [
  named('WaitStepInput', object({ ...wait, next: next.optional() })),
  named(
    'PurchaseCheckStepInput',
    object({
      ...check,
      paidOnly: z.boolean().optional(),
      ifPurchased: next.optional(),
      ifNot: next.optional(),
    }),
  ),
  named('CouponStepInput', object({ ...coupon, coupon: couponInput, next: next.optional() })),
  named('MessageStepInput', object({ ...followUp, message: messageInput, next: next.optional() })),
])
export type StepInput = z.infer<typeof stepInput>

const flow = named(
  'Flow',
  object({ start: stepId, steps: z.array(step).max(20) }).describe(
    'The steps after the first message: waits, purchase checks, coupons, messages; each names the next step',
  ),
)
const flowInput = named(
  'FlowInput',
  object({ start: stepId, steps: z.array(stepInput).max(20) })
    .partial()
    .strict(),
)

const person = object({ userId: id, name: z.string() }).nullable()

export const automation = named(
  'Automation',
  object({
    id,
    type: automationType.describe('Fixed after creation'),
    name: line(1, 120).describe("Unique in the store without case; the type's title where none is given"),
    isActive: z.boolean(),
    activatedAt: instant.nullable().describe('When it was last turned on; null while it is off'),
    delayMinutes: z.number().int().min(0).max(maxMinutes).describe('From what happened to the first message'),
    message,
    coupon: couponSpec.nullable().describe('Made before the first message; of cashback always null'),
    conditions,
    skipIfPurchased: z.boolean(),
    quietHours,
    settings: settings.describe('Those of its type'),
    flow: flow.nullable(),
    flowVersion: z.number().int().nullable(),
    warnings: z
      .array(
        z.enum([
          'inactive',
          'not-connected',
          'template-missing',
          'template-not-approved',
          'text-missing',
          'review-requests-on',
        ]),
      )
      .describe('Why it would not send now'),
    stats: object({
      sent: count,
      delivered: count,
      failed: count,
      skipped: count,
      converted: count,
      revenue: money,
      currency,
      pending: count.describe('Now'),
    }).describe('Of the messages of the last 30 days, and of the orders that they brought by now'),
    createdBy: person,
    createdAt: instant,
    updatedAt: instant,
  }),
  { volatileFields: ['warnings', 'stats', 'updatedAt'] },
)

/** The writable fields. Omitted fields keep their value, at every depth; lists are replaced. */
export const automationInput = {
  type: automationType,
  name: automation.shape.name,
  isActive: z.boolean(),
  delayMinutes: automation.shape.delayMinutes,
  message: messageInput,
  coupon: couponInput.nullable(),
  conditions: conditions.partial(),
  skipIfPurchased: z.boolean(),
  quietHours: quietHours.partial(),
  settings,
  flow: flowInput.nullable(),
}
export const automationReadOnly = Object.keys(automation.shape).filter((key) => !(key in automationInput))
type Input = typeof automationInput
export type AutomationChange = { [K in keyof Input]?: z.infer<Input[K]> | undefined }

export const flowVersion = named(
  'FlowVersion',
  object({
    version: z.number().int(),
    flow: flow.nullable(),
    stepCount: count,
    messageCount: count,
    isCurrent: z.boolean(),
    createdAt: instant,
    createdBy: person,
  }),
)

/** Query parameters of a report: its first and last day. */
export const reportDays = {
  startDate: day.optional().describe('By default 29 days before endDate'),
  endDate: day.optional().describe('By default today; at most 365 days'),
}
