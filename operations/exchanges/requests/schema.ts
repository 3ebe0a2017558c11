/** Schemas of a request and of the inputs of its operations. */
import {
  count,
  currency,
  day,
  httpsUrl,
  id,
  instant,
  money,
  named,
  object,
  otherAmount,
  paging,
  queryFlag,
  queryList,
  searchText,
  text,
  writeBody,
  z,
} from '#runtime/schema'
import { address, addressInput, refundMethod, requestType, returnMethod } from '../settings/schema.ts'
import { statuses } from './transitions.ts'

const requestStatus = z.enum(statuses)
const platformText = z.string().nullable()

const exchangeFor = object({
  productId: z.string(),
  variantId: z.string(),
  name: z.string(),
  variantName: platformText,
  unitPrice: money,
})

const item = named(
  'ExchangeItem',
  object({
    id,
    orderItemId: z.string(),
    productId: platformText,
    variantId: platformText,
    sku: platformText,
    name: z.string(),
    variantName: platformText,
    imageUrl: platformText,
    quantity: count,
    approvedQuantity: count.nullable().describe('null until decided'),
    receivedQuantity: count.nullable(),
    unitPrice: money.describe('What one unit of the order line was paid with'),
    reason: z.string().describe('Key of a reason'),
    reasonLabel: z.string().describe('As it was when requested'),
    comment: platformText,
    exchangeFor: exchangeFor.nullable().describe('Always null on a return'),
  }),
)

const historyEntry = object({
  at: instant,
  event: z.string(),
  fromStatus: requestStatus.nullable(),
  toStatus: requestStatus.nullable(),
  actor: object({ type: z.enum(['customer', 'member', 'system']), name: platformText }),
  note: platformText,
})

const fields = {
  id,
  number: z.string().describe('EX-1001 and up, never used again'),
  type: requestType,
  status: requestStatus,
  orderId: z.string(),
  orderNumber: z.string(),
  orderPlacedAt: instant,
  orderDeliveredAt: instant.nullable(),
  customer: object({
    customerId: platformText,
    name: platformText,
    email: platformText,
    phone: platformText,
  }),
  customerAddress: address.nullable().describe('Where the order was delivered'),
  items: z.array(item),
  comment: platformText.describe("The shopper's"),
  amount: money.describe(
    'What the units are worth: those asked for, once decided those approved; at most what the order had left at the last step',
  ),
  amountReason: platformText.describe(
    'Why the amount is less than the units are worth, such as refunds at the platform; null when it is not',
  ),
  priceDifference: money.nullable().describe('What the wanted variants cost more; null on a return'),
  currency,
  outsideWindow: z.boolean(),
  returnMethod,
  returnAddress: address.nullable(),
  returnCode: platformText.describe('Posting or RMA code of the carrier'),
  labelUrl: platformText,
  carrier: platformText,
  trackingCode: platformText,
  refundMethod: refundMethod.nullable(),
  refundAmount: money.nullable(),
  exchangeOrderId: platformText.describe('The order that replaces it, as given at confirm'),
  rejectionCode: platformText,
  rejectionReason: platformText,
  expiresAt: instant.nullable().describe('Until when the items must be sent, while approved'),
  approvedAt: instant.nullable(),
  rejectedAt: instant.nullable(),
  inTransitAt: instant.nullable(),
  receivedAt: instant.nullable(),
  completedAt: instant.nullable(),
  cancelledAt: instant.nullable(),
  expiredAt: instant.nullable(),
  createdAt: instant,
  updatedAt: instant,
}
const photo = object({
  id,
  url: z.string().describe('Signed for an hour'),
  contentType: z.string(),
  size: count,
})
const whole = { ...fields, photos: z.array(photo), history: z.array(historyEntry).describe('Oldest first') }

export const exchangeRequest = named('ExchangeRequest', object(whole), {
  volatileFields: ['history', 'updatedAt'],
})
export const exchangeRequestEntry = named('ExchangeRequestEntry', object({ ...fields, photoCount: count }))

const filters = {
  status: queryList(requestStatus).optional().describe('Only requests with one of these states'),
  type: requestType.optional().describe('Only exchanges or only returns'),
  reason: queryList(z.string().min(1).max(30)).optional().describe('Keys of reasons; any of them'),
  outsideWindow: queryFlag
    .optional()
    .describe('true: only requests made after the time allowed; false: only the others'),
  search: searchText(
    "In number, order number, the customer's name, email and phone, and items' names and SKUs",
    100,
  ),
  startDate: day.optional().describe('Of createdAt'),
  endDate: day.optional(),
}
export const requestListQuery = object({ ...paging, ...filters })
export const requestExportQuery = object(filters)
export type RequestFilters = z.infer<typeof requestExportQuery>

const units = z.number().int().min(0).max(1_000_000)
const decided = <F extends string>(field: F) =>
  z
    .array(object({ id, [field]: units } as { id: typeof id } & Record<F, typeof units>))
    .min(1)
    .max(50)
    .optional()
const note = text(1, 1000).optional().describe('For the history; the shopper does not read it')
const brief = (max: number) => z.string().trim().min(1, 'must not be empty').max(max).nullable().optional()

export const approvalBody = object({
  items: decided('approvedQuantity').describe('Items left out keep their full quantity'),
  returnMethod: returnMethod.optional().describe('One that is enabled in the settings'),
  returnAddress: addressInput.optional(),
  returnCode: brief(60),
  labelUrl: httpsUrl.nullable().optional(),
  carrier: brief(60),
  refundMethod: refundMethod.optional().describe('Returns only'),
  note,
})
export type Approval = z.infer<typeof approvalBody>

export const confirmBody = object({
  stage: z.enum(['received', 'completed']).default('completed'),
  items: decided('receivedQuantity').describe('Left out: as given before, else all that was approved'),
  refundMethod: refundMethod.optional().describe('Returns only'),
  refundAmount: otherAmount(z.number().min(0, 'must not be less than 0'))
    .optional()
    .describe(
      'Returns only; at most the amount, and what the order has left. Left out: the value of what was received, as far as it is left. 0: nothing more is refunded',
    ),
  exchangeOrderId: z.string().trim().min(1).max(100).optional().describe('Exchanges only'),
  note,
})
export type Confirmation = z.infer<typeof confirmBody>

const rejectionCode = z.enum(['outside-window', 'final-sale', 'not-eligible', 'failed-inspection', 'other'])
export const rejectBody = object({
  reason: z.string().trim().min(1, 'must not be empty').max(1000).describe('The shopper reads it'),
  code: rejectionCode.default('other'),
})
export type Rejection = z.infer<typeof rejectBody>

/** Ignores the other fields of a request, so that a client may send the whole request back. */
export const addressBody = writeBody(
  { returnAddress: addressInput.nullable() },
  Object.keys(whole).filter((key) => key !== 'returnAddress'),
  ['returnAddress'],
)
