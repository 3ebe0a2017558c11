/**
 * Callbacks about numbers and accounts, in the format of the WhatsApp Business Cloud API: parses and builds them. QR
 * sessions exist in the sandbox only.
 */
import { createHash } from 'node:crypto'
import type { ProviderEvent } from '#runtime/ports/provider'
import { z } from '#runtime/schema'
import type {
  AccountSharedData,
  DisplayNameStatus,
  NumberAccountData,
  NumberHealthData,
  NumberIssue,
  NumberNameData,
  NumberStatus,
  NumberWarningData,
  QrSessionData,
  QualityRating,
} from './number-port.ts'

/** A change as part of a body. */
export interface NumberChange {
  field: string
  value: Record<string, unknown>
}

const fields = {
  health: 'phone_number_quality_update',
  name: 'phone_number_name_update',
  account: 'account_update',
  review: 'account_review_update',
  capability: 'business_capability_update',
  qr: 'qr_session',
} as const

const digits = z.union([z.string(), z.number()]).nullish()
const healthShape = z.object({
  display_phone_number: digits,
  event: z.string(),
  current_limit: z.string().nullish(),
  max_daily_conversations_per_business: z.string().nullish(),
  // The sandbox sends the following fields in addition.
  quality_rating: z.enum(['GREEN', 'YELLOW', 'RED', 'UNKNOWN']).nullish(),
  status: z.string().nullish(),
})
const nameShape = z.object({
  display_phone_number: digits,
  decision: z.string(),
  requested_verified_name: z.string().nullish(),
})
const limit = z.union([z.number(), z.string()]).nullish()
const capabilityShape = z.object({
  max_daily_conversations_per_business: limit,
  max_daily_conversation_per_phone: limit,
})
const accountShape = z.object({
  phone_number: digits,
  waba_info: z
    .object({ waba_id: z.union([z.string(), z.number()]) })
    .partial()
    .nullish(),
  event: z.string(),
  ban_info: z
    .object({ waba_ban_state: z.unknown(), waba_ban_date: z.string() })
    .partial()
    .nullish()
    .catch(null),
  violation_info: z.object({ violation_type: z.string() }).partial().nullish().catch(null),
  restriction_info: z.unknown(),
})
const reviewShape = z.object({ decision: z.string() })
const qrShape = z.object({
  session_ref: z.string().min(1),
  event: z.enum(['scanned', 'linked', 'lost', 'back', 'logout', 'replaced']),
  phone_number_id: z.string().nullish(),
  phone: z
    .string()
    .regex(/^\+\d{8,15}$/)
    .nullish(),
  name: z.string().nullish(),
})

type ParsedChange =
  | { kind: 'number-health'; data: NumberHealthData }
  | { kind: 'number-name'; data: NumberNameData }
  | { kind: 'number-account'; data: NumberAccountData }
  | { kind: 'number-warning'; data: NumberWarningData }
  | { kind: 'account-shared'; data: AccountSharedData }
  | { kind: 'qr-session'; data: QrSessionData }

/** Parses a change about a number; null for other fields and irrelevant changes. */
export function toNumberEvent(
  field: string,
  value: unknown,
  account: string,
  occurredAt: string,
): ProviderEvent | null {
  const read = readChange(field, value, account)
  if (!read) return null
  const digest = createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 24)
  // These changes carry no number id: the store is found by the account or the session.
  return { key: `${read.kind}:${account}:${occurredAt}:${digest}`, ...read, occurredAt, storeRef: null }
}

function readChange(field: string, value: unknown, account: string): ParsedChange | null {
  switch (field) {
    case fields.health: {
      const read = healthShape.safeParse(value)
      return read.success ? { kind: 'number-health', data: toHealth(read.data, account) } : null
    }
    case fields.name: {
      const read = nameShape.safeParse(value)
      if (!read.success) return null
      const { display_phone_number: phone, decision, requested_verified_name: name } = read.data
      const data = {
        account,
        phone: toPhone(phone),
        displayName: name ?? null,
        status: toNameStatus(decision),
      }
      return { kind: 'number-name', data }
    }
    case fields.capability: {
      const read = capabilityShape.safeParse(value)
      const rawLimit =
        read.data?.max_daily_conversations_per_business ?? read.data?.max_daily_conversation_per_phone
      const messagingLimitTier = toTierOfLimit(rawLimit)
      if (!messagingLimitTier) return null
      return { kind: 'number-health', data: { account, ...noHealth, messagingLimitTier } }
    }
    case fields.account: {
      const read = accountShape.safeParse(value)
      const shared = read.data?.waba_info?.waba_id
      if (read.data?.event === 'PARTNER_ADDED' && shared !== undefined) {
        return { kind: 'account-shared', data: { account: String(shared) } }
      }
      if (!read.success) return null
      // If the event was sent to our business as the partner, it names the account that it is about.
      const about = {
        account: shared === undefined ? account : String(shared),
        phone: toPhone(read.data.phone_number),
      }
      const warning = toWarning(read.data)
      if (warning) return { kind: 'number-warning', data: { ...about, ...warning } }
      const issue = toIssue(read.data)
      return issue === undefined ? null : { kind: 'number-account', data: { ...about, issue } }
    }
    case fields.review: {
      const read = reviewShape.safeParse(value)
      if (!read.success || !['APPROVED', 'REJECTED'].includes(read.data.decision)) return null
      const issue = read.data.decision === 'REJECTED' ? 'account-restricted' : null
      return { kind: 'number-account', data: { account, phone: null, issue } }
    }
    case fields.qr: {
      const read = qrShape.safeParse(value)
      if (!read.success) return null
      const { session_ref: sessionRef, event, phone_number_id: numberId, phone, name } = read.data
      const data = {
        sessionRef,
        event,
        numberId: numberId ?? null,
        phone: phone ?? null,
        name: name ?? null,
      }
      return { kind: 'qr-session', data }
    }
    default:
      return null
  }
}

function toHealth(change: z.infer<typeof healthShape>, account: string): NumberHealthData {
  const { event, current_limit: limit, max_daily_conversations_per_business: daily } = change
  // A throughput change reports TIER_UNLIMITED, which says nothing about the limit.
  const rawLimit = daily ?? (event === 'THROUGHPUT_UPGRADE' ? null : limit)
  return {
    account,
    throughput: event === 'THROUGHPUT_UPGRADE' ? 1_000 : null,
    phone: toPhone(change.display_phone_number),
    qualityRating:
      toQuality(change.quality_rating) ??
      (event === 'FLAGGED' ? 'red' : event === 'UNFLAGGED' ? 'unknown' : null),
    numberStatus:
      toNumberStatus(change.status) ??
      (event === 'FLAGGED' ? 'flagged' : event === 'UNFLAGGED' ? 'connected' : null),
    messagingLimitTier: toTier(rawLimit),
  }
}

const noHealth = { phone: null, qualityRating: null, numberStatus: null, throughput: null }

/** Maps a limit to our tier: a number of recipients per day (-1: unlimited), or the provider's name of a tier. */
function toTierOfLimit(limit: string | number | null | undefined): string | null {
  if (limit === null || limit === undefined) return null
  const named = toTier(String(limit))
  if (named) return named
  const many = Number(limit)
  if (!Number.isFinite(many)) return null
  if (many < 0) return 'tier-unlimited'
  const tiers = [
    [100_000, 'tier-100k'],
    [10_000, 'tier-10k'],
    [2_000, 'tier-2k'],
    [1_000, 'tier-1k'],
  ] as const
  return tiers.find(([atLeast]) => many >= atLeast)?.[1] ?? 'tier-250'
}

/** Returns the issue that the event reports; null if it resolves the issue, undefined if it is about something else. */
function toIssue(change: z.infer<typeof accountShape>): NumberIssue | null | undefined {
  switch (change.event) {
    // The app that shares the number has released it, or the number moved to another app.
    case 'ACCOUNT_DELETED':
    case 'ACCOUNT_OFFBOARDED':
    case 'PARTNER_REMOVED':
      return 'number-removed'
    case 'PARTNER_APP_UNINSTALLED':
      return 'token-expired'
    case 'ACCOUNT_RECONNECTED':
    case 'PARTNER_APP_INSTALLED':
      return null
    case 'DISABLED_UPDATE': {
      const state = String(change.ban_info?.waba_ban_state ?? '')
      return state.includes('REINSTATE') ? null : 'account-restricted'
    }
    case 'ACCOUNT_RESTRICTION':
      // Other restrictions do not stop sending, such as one on adding numbers.
      return JSON.stringify(change.restriction_info ?? '').includes('INITIATED_MESSAGING')
        ? 'account-restricted'
        : undefined
    default:
      return undefined
  }
}

/** Returns what will stop the account unless the merchant acts; null for other events. */
function toWarning(
  change: z.infer<typeof accountShape>,
): Pick<NumberWarningData, 'warning' | 'detail'> | null {
  const { event, ban_info: ban, violation_info: violation } = change
  if (event === 'ACCOUNT_VIOLATION') {
    return { warning: 'violation', detail: violation?.violation_type ?? null }
  }
  return event === 'DISABLED_UPDATE' && String(ban?.waba_ban_state ?? '').includes('SCHEDULE')
    ? { warning: 'scheduled-ban', detail: ban?.waba_ban_date ?? null }
    : null
}

const toPhone = (given: string | number | null | undefined): string | null => {
  const found = String(given ?? '').replace(/\D/g, '')
  return /^\d{8,15}$/.test(found) ? `+${found}` : null
}

/** Maps the provider's quality; null if unknown. */
export function toQuality(value: string | null | undefined): QualityRating | null {
  const known: Record<string, QualityRating> = {
    GREEN: 'green',
    YELLOW: 'yellow',
    RED: 'red',
    UNKNOWN: 'unknown',
    NA: 'unknown',
  }
  return known[value ?? ''] ?? null
}

/** Maps the provider's number status; null if unknown. */
export function toNumberStatus(value: string | null | undefined): NumberStatus | null {
  const known: Record<string, NumberStatus> = {
    CONNECTED: 'connected',
    FLAGGED: 'flagged',
    RESTRICTED: 'restricted',
    RATE_LIMITED: 'restricted',
    PENDING: 'pending',
    UNVERIFIED: 'pending',
    OFFLINE: 'offline',
    DISCONNECTED: 'offline',
    MIGRATED: 'offline',
    DELETED: 'banned',
    BANNED: 'banned',
  }
  return known[value ?? ''] ?? null
}

/** Maps `TIER_2K` to `tier-2k`; 50 a day counts as the lowest known tier. Null if unknown. */
export function toTier(value: string | null | undefined): string | null {
  if (!value?.startsWith('TIER_')) return null
  if (value === 'TIER_50' || value === 'TIER_NOT_SET') return 'tier-250'
  const tier = value.toLowerCase().replace('_', '-')
  return /^tier-(250|1k|2k|10k|100k|unlimited)$/.test(tier) ? tier : null
}

/** Maps the review status of a display name. */
export function toNameStatus(value: string): DisplayNameStatus {
  if (value.startsWith('APPROVED') || value === 'AVAILABLE_WITHOUT_REVIEW') return 'approved'
  return value === 'DECLINED' || value === 'REJECTED' || value === 'EXPIRED' ? 'declined' : 'pending'
}

/** Builds a webhook `change` about the number's health; null fields are left out. */
export const buildHealthChange = (data: Omit<NumberHealthData, 'account' | 'throughput'>): NumberChange => ({
  field: fields.health,
  value: {
    display_phone_number: data.phone?.slice(1),
    event: data.numberStatus === 'flagged' ? 'FLAGGED' : 'UPDATE',
    ...(data.messagingLimitTier ? { current_limit: toProviderWord(data.messagingLimitTier) } : {}),
    ...(data.qualityRating ? { quality_rating: toProviderWord(data.qualityRating) } : {}),
    ...(data.numberStatus ? { status: toProviderWord(data.numberStatus) } : {}),
  },
})

export const buildNameChange = (data: Omit<NumberNameData, 'account'>): NumberChange => ({
  field: fields.name,
  value: {
    display_phone_number: data.phone?.slice(1),
    decision: toProviderWord(data.status),
    requested_verified_name: data.displayName,
  },
})

export const buildQrChange = (data: QrSessionData): NumberChange => ({
  field: fields.qr,
  value: {
    session_ref: data.sessionRef,
    event: data.event,
    phone_number_id: data.numberId,
    phone: data.phone,
    name: data.name,
  },
})

const toProviderWord = (code: string): string => code.toUpperCase().replaceAll('-', '_')
