/** The schema of an execution: one message of one run. */
import { messageReason } from '#operations/messaging/index'
import { count, currency, id, instant, money, named, object, z } from '#runtime/schema'
import { automationType } from '../schema.ts'

export const executionStatus = z.enum([
  'pending',
  'sending',
  'sent',
  'delivered',
  'read',
  'failed',
  'skipped',
  'cancelled',
])

export const execution = named(
  'Execution',
  object({
    id,
    runId: id,
    automationId: id,
    automationName: z.string(),
    automationType,
    origin: z.enum(['event', 'manual']).describe('manual: sent by a member from the inbox'),
    sequence: z.number().int().describe('1 is the first message of its run'),
    flowVersion: z.number().int().nullable(),
    stepId: z
      .string()
      .nullable()
      .describe('Null for the first message; of a pending one where its run stands'),
    status: executionStatus,
    phone: z.string().nullable(),
    contactName: z.string().nullable(),
    trigger: object({
      event: z.string(),
      entityType: z.enum(['cart', 'order', 'customer']),
      entityId: z.string(),
      occurredAt: instant,
    }),
    cartId: z.string().nullable(),
    orderId: z.string().nullable(),
    customerId: z.string().nullable(),
    scheduledAt: instant.describe('When it is due; moves while it is held'),
    holdReason: z
      .enum(['quiet-hours', 'not-connected', 'template-pending', 'number-limit', 'provider-unavailable'])
      .nullable(),
    text: z.string().nullable().describe('As rendered; null before'),
    officialapiTemplateId: z.number().int().nullable(),
    couponCode: z.string().nullable(),
    messageId: id.nullable(),
    failureCode: messageReason.nullable(),
    skipReason: messageReason.nullable(),
    failureReason: z.string().nullable().describe('Why it did not leave, or failed, in one sentence'),
    attempts: count,
    sentAt: instant.nullable(),
    deliveredAt: instant.nullable(),
    readAt: instant.nullable(),
    failedAt: instant.nullable(),
    endedAt: instant.nullable().describe('When it was skipped or cancelled'),
    convertedAt: instant.nullable(),
    conversion: object({ orderId: z.string(), revenue: money, currency }).nullable(),
    createdAt: instant,
    updatedAt: instant,
  }),
)
