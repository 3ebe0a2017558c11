import { instant, named, object, z } from '#runtime/schema'
import { officialIssues, officialStatuses } from '../numbers/official-state.ts'
import { endReasons, qrStatuses } from '../numbers/qr-state.ts'

const connectionTypes = ['qr', 'official', 'shared'] as const
const held = {
  phone: z.string().nullable(),
  displayName: z.string().nullable(),
  connectedAt: instant.nullable(),
}

export const messagingSession = named(
  'MessagingSession',
  object({
    type: z.enum(connectionTypes).nullable().describe('The selected connection; null: none'),
    connected: z.boolean().describe('The selected connection can send now'),
    ...held,
    issue: object({
      code: z.enum(['not-connected', 'reconnecting', 'logged-out', ...officialIssues]),
      message: z.string(),
    })
      .nullable()
      .describe('Why the selected connection cannot send'),
    qr: object({
      status: z.enum(qrStatuses),
      phone: z.string().nullable(),
      displayName: z.string().nullable(),
      startedAt: instant.nullable(),
      connectedAt: instant.nullable(),
      endedAt: instant.nullable(),
      endReason: z.enum(endReasons).nullable(),
      code: object({
        payload: z.string().describe('What the QR code holds'),
        sequence: z.number().int().min(1).max(6),
        expiresAt: instant,
        refreshesLeft: z.number().int().min(0).max(5),
        scanUrl: z.string().nullable().describe('The page of a phone that scans; sandbox only'),
      })
        .nullable()
        .describe('While a scan is awaited, for keys that may start a session'),
    }),
    official: object({ status: z.enum(officialStatuses), ...held }),
    shared: object({ status: z.enum(['none', 'connected']), ...held }),
  }),
  { volatileFields: ['displayName', 'issue', 'qr', 'official', 'shared'] },
)

export type MessagingSession = z.infer<typeof messagingSession>
