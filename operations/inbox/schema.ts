/** API schemas of conversations, messages, tags and notes. */
import { messageReason } from '#operations/messaging/index'
import {
  colour,
  count,
  currency,
  id,
  instant,
  line,
  money,
  named,
  object,
  setOf,
  text,
  z,
} from '#runtime/schema'

export const conversationStatus = z.enum(['open', 'closed'])
export const messageType = z.enum([
  'text',
  'image',
  'video',
  'audio',
  'document',
  'template',
  'sticker',
  'location',
  'contacts',
  'interactive',
  'reaction',
  'unsupported',
])
const messageStatus = z.enum(['received', 'queued', 'sent', 'delivered', 'read', 'failed'])
export const direction = z.enum(['inbound', 'outbound'])

export const member = object({ userId: id, name: z.string() })

export const tag = named(
  'InboxTag',
  object({
    id,
    name: line(1, 40),
    color: colour,
    conversationCount: count,
    createdAt: instant,
    updatedAt: instant,
  }),
  { volatileFields: ['conversationCount'] },
)

export const note = named(
  'InboxNote',
  object({
    id,
    conversationId: id,
    text: text(1, 5000).describe('Never sent to the customer'),
    mentions: setOf(id, 20).describe('Members to notify'),
    author: member,
    createdAt: instant,
  }),
)

export const conversation = named(
  'Conversation',
  object({
    id,
    contactId: id,
    phone: z
      .string()
      .nullable()
      .describe('E.164, as the provider last named it; null: they hide it behind a username'),
    contactName: z
      .string()
      .nullable()
      .describe("Set by hand, else the contact's own, else the name on the newest order of that phone"),
    profileName: z.string().nullable().describe('The name of the contact on the network'),
    status: conversationStatus,
    unreadCount: count.describe('For the whole team'),
    pinned: z.boolean(),
    pinnedAt: instant.nullable(),
    assigneeId: id.nullable(),
    assignee: member.nullable(),
    tags: z.array(object({ id, name: z.string(), color: colour })).describe('By name'),
    tier: z.string().nullable().describe('Key of a tier; null below all'),
    tierSource: z.enum(['automatic', 'manual']),
    purchaseCount: count.describe(
      'Paid orders, neither cancelled nor refunded whole, within periodDays of the tier settings',
    ),
    totalSpent: money.describe('Total of these in the store’s currency, less refunds'),
    currency,
    lastPurchaseAt: instant.nullable(),
    lastMessageAt: instant,
    lastMessageDirection: direction.nullable(),
    lastMessageType: messageType.nullable(),
    lastMessageStatus: messageStatus.nullable(),
    lastMessagePreview: z.string().nullable(),
    lastInboundAt: instant.nullable(),
    windowExpiresAt: instant
      .nullable()
      .describe('Until then anything may be sent; afterwards templates only'),
    windowOpen: z.boolean(),
    waitingSince: instant.nullable().describe('First message that nobody has answered'),
    optedOut: z.boolean(),
    messageCount: count,
    closedAt: instant.nullable(),
    createdAt: instant,
    updatedAt: instant,
  }),
  {
    volatileFields: [
      'profileName',
      'unreadCount',
      'purchaseCount',
      'totalSpent',
      'currency',
      'lastPurchaseAt',
      'lastMessageAt',
      'lastMessageDirection',
      'lastMessageType',
      'lastMessageStatus',
      'lastMessagePreview',
      'lastInboundAt',
      'windowExpiresAt',
      'windowOpen',
      'waitingSince',
      'optedOut',
      'messageCount',
      'closedAt',
      'updatedAt',
    ],
  },
)

const media = object({
  url: z.string().nullable().describe('Signed for an hour; null until ready'),
  contentType: z.string().nullable(),
  fileName: z.string().nullable(),
  size: count.nullable(),
  status: z.enum(['pending', 'ready', 'failed']),
  expiresAt: instant.nullable(),
})
const location = object({
  latitude: z.number(),
  longitude: z.number(),
  name: z.string().nullable(),
  address: z.string().nullable(),
})
const contactCards = object({
  contacts: z.array(object({ name: z.string().nullable(), phones: z.array(z.string()) })),
})
const pressed = object({ buttonId: z.string().nullable(), title: z.string().nullable() })
const reaction = object({ emoji: z.string().nullable(), messageId: id.nullable() })

export const parameters = object({
  header: z.array(z.string().min(1).max(1024)).max(20).optional(),
  body: z.array(z.string().min(1).max(1024)).max(20).optional(),
  buttons: z.array(z.string().min(1).max(1024)).max(10).optional(),
})

export const message = named(
  'InboxMessage',
  object({
    id,
    conversationId: id,
    clientId: z
      .string()
      .regex(/^[!-~]{1,64}$/, 'must be 1 to 64 visible characters')
      .nullable()
      .describe('Makes a send repeatable'),
    direction,
    source: z.enum(['customer', 'agent', 'api', 'automation', 'campaign', 'other', 'provider']),
    type: messageType,
    text: z.string().nullable(),
    media: media.nullable(),
    content: z.union([location, contactCards, pressed, reaction]).nullable(),
    officialapiTemplateId: z.number().int().nullable(),
    templateParameters: parameters.nullable(),
    replyToMessageId: id.nullable(),
    quickReplyId: id.nullable(),
    status: messageStatus,
    error: object({ code: messageReason, message: z.string() }).nullable(),
    providerMessageId: z.string().nullable(),
    sentBy: member.nullable(),
    occurredAt: instant.describe("Inbound: the provider's time"),
    sentAt: instant.nullable(),
    deliveredAt: instant.nullable(),
    readAt: instant.nullable(),
    failedAt: instant.nullable(),
    createdAt: instant,
    updatedAt: instant,
  }),
)
