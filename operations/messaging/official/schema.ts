import { count, instant, named, object, z } from '#runtime/schema'
import { officialIssues, officialStatuses } from '../numbers/official-state.ts'

export const officialConnection = named(
  'OfficialConnection',
  object({
    status: z.enum(officialStatuses),
    connected: z.boolean(),
    phone: z.string().nullable(),
    displayName: z.string().nullable(),
    displayNameStatus: z.enum(['pending', 'approved', 'declined']).nullable(),
    issue: object({ code: z.enum(officialIssues), message: z.string() }).nullable(),
    setup: object({ startedAt: instant, expiresAt: instant })
      .nullable()
      .describe('While a setup link is open'),
    templates: object({ approved: count, pending: count, rejected: count, paused: count, disabled: count }),
    connectedAt: instant.nullable(),
    checkedAt: instant.nullable().describe('When the provider last confirmed this state'),
    isStale: z.boolean().describe('Connected, and not confirmed for 24 hours'),
  }),
  {
    volatileFields: [
      'status',
      'displayName',
      'displayNameStatus',
      'issue',
      'setup',
      'templates',
      'checkedAt',
      'isStale',
    ],
  },
)

export type OfficialConnection = z.infer<typeof officialConnection>

export const phoneHealth = named(
  'PhoneHealth',
  object({
    phone: z.string().nullable(),
    displayName: z.string().nullable(),
    qualityRating: z.enum(['green', 'yellow', 'red', 'unknown']),
    numberStatus: z.enum(['connected', 'flagged', 'restricted', 'pending', 'offline', 'banned']),
    messagingLimitTier: z.enum(['tier-250', 'tier-1k', 'tier-2k', 'tier-10k', 'tier-100k', 'tier-unlimited']),
    messagingLimit: z.number().int().nullable().describe('New recipients in 24 hours; null: unlimited'),
    usedLast24h: count,
    remaining: count.nullable(),
    nextFreeAt: instant.nullable().describe('When the oldest counted recipient drops out, while none remain'),
    throughput: z.number().describe('Messages a second'),
    checkedAt: instant,
    isStale: z.boolean().describe('The provider did not answer: this is its last answer'),
  }),
)

export type PhoneHealth = z.infer<typeof phoneHealth>
