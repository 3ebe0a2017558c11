/** Schemas of the exchange settings: read and write. */
import { reference } from '#runtime/references'
import { country, instant, line, named, object, setOf, text, writeBody, z } from '#runtime/schema'

export const requestType = z.enum(['exchange', 'return'])
export const returnMethod = z.enum(['customer-ships', 'prepaid-label', 'drop-off', 'pickup', 'in-store'])
export const refundMethod = z.enum(['original-payment', 'store-credit', 'bank-transfer'])

export const events = [
  'requested',
  'approved',
  'addressChanged',
  'received',
  'completed',
  'rejected',
  'expired',
] as const
export type ExchangeEvent = (typeof events)[number]

const forEvents = <T extends z.ZodTypeAny>(schema: T) =>
  Object.fromEntries(events.map((event) => [event, schema])) as Record<ExchangeEvent, T>

const addressFields = {
  recipient: line(1, 120),
  street: line(1, 200),
  number: line(0, 20).nullable(),
  complement: line(0, 120).nullable(),
  district: line(0, 120).nullable(),
  city: line(1, 120),
  state: line(0, 60).nullable(),
  postalCode: line(1, 20),
  country,
  phone: z.string().max(40).nullable(),
  instructions: text(0, 500).nullable(),
}
export const address = named('ExchangeAddress', object(addressFields))
export const addressInput = object(addressFields).partial()

const key = z.string().regex(/^[a-z0-9-]{1,30}$/, 'must be 1 to 30 of a-z, 0-9 and -')
const reasonFields = { key, label: line(1, 80) }
const types = setOf(requestType, 2, 1)
const reason = object({
  ...reasonFields,
  types,
  requiresPhoto: z.boolean(),
  requiresComment: z.boolean(),
  isActive: z.boolean(),
})
const reasonInput = object({
  ...reasonFields,
  types: types.default(['exchange', 'return']),
  requiresPhoto: z.boolean().default(false),
  requiresComment: z.boolean().default(false),
  isActive: z.boolean().default(true),
})
const methodFields = { method: returnMethod, label: line(1, 80) }
const instructions = text(0, 1000).nullable()
const method = object({ ...methodFields, instructions, isEnabled: z.boolean() })
const methodInput = object({
  ...methodFields,
  instructions: instructions.default(null),
  isEnabled: z.boolean().default(true),
})
const mail = named(
  'ExchangeEmail',
  object({ isEnabled: z.boolean(), subject: line(1, 200), body: text(1, 5000) }),
)
const message = named(
  'ExchangeMessage',
  object({
    text: text(1, 1024).nullable(),
    officialapiTemplateId: reference('template', z.number().int().min(1).max(2_147_483_647)).nullable(),
  }),
)
const texts = {
  pageTitle: line(1, 120),
  intro: text(0, 1000).nullable(),
  policy: text(0, 10_000).nullable(),
  successMessage: text(1, 500),
  outsideWindowMessage: text(1, 500),
  buttonText: line(1, 60),
}

const days = (max: number) => z.number().int().min(1).max(max)
const platformIds = (kind: 'product' | 'category') => setOf(reference(kind, z.string().min(1).max(100)), 500)
const plain = {
  isEnabled: z.boolean().describe('The storefront page is reachable'),
  windowDays: days(365),
  returnWindowDays: days(365).nullable().describe('null: as windowDays'),
  windowFrom: z.enum(['delivered', 'shipped', 'placed']),
  allowOutsideWindow: z.boolean().describe('Late requests come in marked, never approved by themselves'),
  types,
  exchangeScope: z.enum(['same-product', 'any-product']),
  conditions: z.array(line(1, 300)).max(20).describe('The shopper accepts them'),
  excludedProductIds: platformIds('product'),
  excludedCategoryIds: platformIds('category'),
  excludeDiscountedItems: z.boolean(),
  oneOpenRequestPerOrder: z.boolean(),
  autoApprove: z.boolean(),
  maxPhotos: z.number().int().min(0).max(10),
  refundMethods: setOf(refundMethod, 3, 1),
  shippingDeadlineDays: days(90).nullable().describe('After approval; null: never expires'),
}

const content = object({
  ...plain,
  reasons: z.array(reason),
  returnMethods: z.array(method),
  returnAddress: address.nullable(),
  texts: object(texts),
  emails: object(forEvents(mail)),
  messaging: object({ isEnabled: z.boolean(), ...forEvents(message) }),
})
export type ExchangeContent = z.infer<typeof content>

export const exchangeSettings = named('ExchangeSettings', content.extend({ updatedAt: instant.nullable() }))

const mailInput = named('ExchangeEmailInput', mail.partial())
const messageInput = named('ExchangeMessageInput', message.partial())
export const exchangeSettingsInput = writeBody(
  {
    ...plain,
    reasons: z.array(reasonInput).min(1).max(30),
    returnMethods: z.array(methodInput).min(1).max(5),
    returnAddress: addressInput.nullable(),
    texts: object(texts).partial(),
    emails: object(forEvents(mailInput)).partial(),
    messaging: object({ isEnabled: z.boolean(), ...forEvents(messageInput) }).partial(),
  },
  ['updatedAt'],
)
export type ExchangeSettingsInput = z.infer<typeof exchangeSettingsInput>
