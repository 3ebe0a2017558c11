import { messageReasonAmong } from '#operations/messaging/index'
import { reference } from '#runtime/references'
import { count, currency, id, instant, line, money, named, object, text, z } from '#runtime/schema'
import { findVariableIssue } from '#runtime/values/variables'

export const campaignStatus = z.enum([
  'draft',
  'scheduled',
  'sending',
  'paused',
  'sent',
  'cancelled',
  'failed',
])
export type CampaignStatus = z.infer<typeof campaignStatus>

const pauseReason = z.enum([
  'manual',
  'connection-lost',
  'template-unavailable',
  'number-limit',
  'provider-unavailable',
  'high-failure-rate',
  'subscription-inactive',
])
export type PauseReason = z.infer<typeof pauseReason>

export const failureReason = z.enum([
  'empty-audience',
  'missed-schedule',
  'list-busy',
  'connection-lost',
  'template-unavailable',
  'quota-exceeded',
  'subscription-inactive',
  'content-unfit',
])
export type FailureReason = z.infer<typeof failureReason>

export const messageStatus = z.enum([
  'pending',
  'sending',
  'sent',
  'delivered',
  'read',
  'failed',
  'skipped',
  'cancelled',
])
const skipReason = messageReasonAmong(['opted-out', 'missing-variable', 'too-long'])
export type SkipReason = z.infer<typeof skipReason>

export const failureCode = messageReasonAmong([
  'not-on-network',
  'undelivered',
  'window-closed',
  'template-refused',
  'media-refused',
  'frequency-capped',
  'recipient-stopped',
  'too-long',
  'disconnected',
  'number-limit',
  'unknown-outcome',
  'provider-error',
])

const withVariables = <T extends z.ZodString>(schema: T) =>
  schema.superRefine((value, check) => {
    const issue = findVariableIssue(value)
    if (issue) check.addIssue({ code: z.ZodIssueCode.custom, message: issue })
  })

const parameters = z.array(withVariables(text(1, 500))).max(20)
const templateParameters = object({ header: parameters, body: parameters, buttons: parameters })
const media = object({
  type: z.enum(['image', 'video', 'document']),
  url: reference('file', text(1, 2000)).describe("https address, or one of this server's storage"),
  fileName: text(1, 200).nullable(),
})
export const content = object({
  type: z.enum(['text', 'template']),
  text: withVariables(text(1, 4096))
    .nullable()
    .describe('Of a text; at most 1024 characters with media. Knows {{name}}, or {{name|fallback}}'),
  optOutText: withVariables(text(1, 200))
    .nullable()
    .describe('Of a text: its own last paragraph, with the same variables'),
  officialapiTemplateId: reference('template', z.number().int().min(1).max(2_147_483_647)).nullable(),
  templateParameters: templateParameters.describe("In the order of the template's placeholders"),
  media: media.nullable().describe('For a template it fills the media header'),
})
export type CampaignContent = z.infer<typeof content>

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 09:00')
const sendWindow = object({ start: timeOfDay, end: timeOfDay })
export type SendWindow = z.infer<typeof sendWindow>

export const campaign = named(
  'Campaign',
  object({
    id,
    name: line(1, 120),
    listId: reference('list', id).nullable().describe('Null once its list was deleted'),
    listName: z.string().nullable(),
    content,
    sendWindow: sendWindow
      .nullable()
      .describe(
        "In the store's time zone; no batch leaves outside it. When clocks change, it is open whenever they show a time within it: a skipped time is never, a repeated one is twice",
      ),
    status: campaignStatus,
    pauseReason: pauseReason
      .nullable()
      .describe('Also while it is sending, as long as the provider takes nothing'),
    failureReason: failureReason.nullable(),
    audience: object({ size: count, optedOut: count, reachable: count }).describe(
      'Of the list now; frozen once sending has begun',
    ),
    counters: object({
      total: count,
      pending: count,
      sent: count,
      delivered: count,
      read: count,
      failed: count,
      skipped: count,
      cancelled: count,
      optOuts: count,
    }).describe(
      'total = pending + sent + failed + skipped + cancelled. sent has what was delivered and read; what failed after it was sent is in failed alone, and in messagesSent of statistics',
    ),
    attributed: object({ orders: count, revenue: money, currency }).describe(
      'Counted orders that its messages brought by now, less refunds, whenever they were placed',
    ),
    scheduledAt: instant.nullable(),
    startedAt: instant.nullable(),
    pausedAt: instant.nullable(),
    completedAt: instant.nullable(),
    nextBatchAt: instant.nullable(),
    estimatedFinishAt: instant.nullable(),
    createdBy: object({ userId: id, name: z.string() }).nullable(),
    createdAt: instant,
    updatedAt: instant,
  }),
  {
    volatileFields: [
      'listName',
      'status',
      'pauseReason',
      'failureReason',
      'audience',
      'counters',
      'attributed',
      'startedAt',
      'pausedAt',
      'completedAt',
      'nextBatchAt',
      'estimatedFinishAt',
      'updatedAt',
    ],
  },
)

/** The writable fields. Omitted fields keep their value, at every depth. */
export const campaignInput = {
  name: campaign.shape.name,
  listId: campaign.shape.listId,
  content: content
    .extend({
      templateParameters: templateParameters.partial(),
      media: media.partial().nullable(),
    })
    .partial()
    .strict(),
  sendWindow: sendWindow.partial().nullable(),
}
export const campaignReadOnly = Object.keys(campaign.shape).filter((key) => !(key in campaignInput))

export interface CampaignChange {
  name?: string | undefined
  listId?: string | null | undefined
  content?: z.infer<typeof campaignInput.content> | undefined
  sendWindow?: z.infer<typeof campaignInput.sendWindow> | undefined
}

export const campaignMessage = named(
  'CampaignMessage',
  object({
    id,
    campaignId: id,
    contactId: id.nullable(),
    phone: z.string(),
    name: z.string().nullable(),
    status: messageStatus,
    skipReason: skipReason.nullable(),
    failureCode: failureCode.nullable(),
    failureMessage: z.string().nullable(),
    text: z.string().nullable().describe('As rendered; null before'),
    attempts: count,
    providerMessageId: z.string().nullable(),
    sentAt: instant.nullable(),
    deliveredAt: instant.nullable(),
    readAt: instant.nullable(),
    failedAt: instant.nullable(),
    createdAt: instant,
    updatedAt: instant,
  }),
)

export const campaignPreview = object({
  type: content.shape.type,
  header: z.string().nullable(),
  text: z.string(),
  footer: z.string().nullable(),
  buttons: z.array(object({ type: z.string(), text: z.string().nullable(), url: z.string().nullable() })),
  media: media.nullable(),
  sample: object({ contactId: id.nullable(), name: z.string().nullable(), phone: z.string() }),
  missingVariables: z.array(z.string()).describe('Names without a value and a fallback'),
  skipReason: skipReason
    .optional()
    .describe('Only where this contact would not get it over the selected connection: why'),
  nobodyReason: skipReason
    .optional()
    .describe('Only where nobody on the list would get it, and the campaign cannot be sent like this: why'),
})
export type CampaignPreview = z.infer<typeof campaignPreview>
