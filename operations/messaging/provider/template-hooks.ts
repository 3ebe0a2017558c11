/** Callbacks about templates, in the format of the WhatsApp Business Cloud API: parses and builds them. */

import { hourMs } from '#runtime/durations'
import type { ProviderEvent } from '#runtime/ports/provider'
import { z } from '#runtime/schema'
import { isPlausible } from '#runtime/values/sanitize'
import type {
  TemplateCategoryData,
  TemplateFlaggedData,
  TemplateQualityData,
  TemplateStatusData,
} from './template-port.ts'

const fields = {
  status: 'message_template_status_update',
  quality: 'message_template_quality_update',
  category: 'template_category_update',
} as const

const subject = z.object({ message_template_id: z.union([z.string().min(1), z.number()]) })
const statusShape = subject.extend({
  event: z.string(),
  reason: z.string().nullish(),
  paused_until: z.string().nullish(),
  disable_info: z
    .object({ disable_date: z.union([z.string(), z.number()]) })
    .partial()
    .nullish(),
  other_info: z.object({ title: z.string() }).partial().nullish(),
})
const qualityShape = subject.extend({ new_quality_score: z.string() })
const categoryShape = subject.extend({
  new_category: z.string(),
  // Set only for a future change; `new_category` is then the current category.
  correct_category: z.string().nullish(),
  category_update_timestamp: z.union([z.string(), z.number()]).nullish(),
})

const statuses: Record<string, TemplateStatusData['status']> = {
  APPROVED: 'approved',
  REINSTATED: 'approved',
  UNARCHIVED: 'approved',
  UNLOCKED: 'approved',
  REJECTED: 'rejected',
  PENDING: 'pending',
  IN_APPEAL: 'pending',
  PAUSED: 'paused',
  // A locked template cannot be sent or changed.
  LOCKED: 'paused',
  DISABLED: 'disabled',
  // An unused template, which the network deletes a month later.
  ARCHIVED: 'disabled',
  DELETED: 'gone',
  PENDING_DELETION: 'gone',
}
const qualities: Record<string, TemplateQualityData['quality']> = {
  GREEN: 'green',
  YELLOW: 'yellow',
  RED: 'red',
}
const reasons = new Set([
  'abusive-content',
  'category-not-available',
  'incorrect-category',
  'invalid-format',
  'promotional',
  'scam',
  'tag-content-mismatch',
])

/** Maps the provider's rejection reason. */
export function toRejectionReason(reason: string | null | undefined): string {
  const code = (reason ?? '').toLowerCase().replaceAll('_', '-')
  return reasons.has(code) ? code : 'other'
}

/** Parses a change about a template; null for other fields and malformed changes. */
export function toTemplateEvent(field: string, value: unknown, occurredAt: string): ProviderEvent | null {
  const read = readChange(field, value, occurredAt)
  if (!read) return null
  const { kind, word, data } = read
  return {
    key: `${kind}:${data.providerId}:${word}:${occurredAt}`,
    kind,
    occurredAt,
    // These changes name an account, not a number: the store is found by the template.
    storeRef: null,
    data,
  }
}

function readChange(
  field: string,
  value: unknown,
  occurredAt: string,
): {
  kind: string
  word: string
  data: TemplateStatusData | TemplateQualityData | TemplateCategoryData | TemplateFlaggedData
} | null {
  if (field === fields.status) {
    const read = statusShape.safeParse(value)
    if (read.success && read.data.event === 'FLAGGED') {
      const { message_template_id: id, disable_info: info } = read.data
      const data = { providerId: String(id), disabledAt: toInstant(info?.disable_date) }
      return { kind: 'template-flagged', word: 'FLAGGED', data }
    }
    const status = read.success ? statuses[read.data.event] : undefined
    if (!read.success || !status) return null
    const { event, message_template_id: id, reason } = read.data
    const data: TemplateStatusData = {
      providerId: String(id),
      status,
      rejectionReason: status === 'rejected' ? toRejectionReason(reason) : null,
      pausedUntil: status === 'paused' ? toPauseEnd(read.data, occurredAt) : null,
    }
    return { kind: 'template-status', word: event, data }
  }
  if (field === fields.quality) {
    const read = qualityShape.safeParse(value)
    if (!read.success) return null
    const { message_template_id: id, new_quality_score: score } = read.data
    return {
      kind: 'template-quality',
      word: score,
      data: { providerId: String(id), quality: qualities[score] ?? 'unknown' },
    }
  }
  if (field === fields.category) {
    const read = categoryShape.safeParse(value)
    if (!read.success) return null
    const { message_template_id: id, new_category: current, correct_category: correct } = read.data
    const category = correct ?? current
    const from = correct ? toInstant(read.data.category_update_timestamp) : null
    return {
      kind: 'template-category',
      word: correct ? `${category}@${from ?? ''}` : category,
      data: { providerId: String(id), category: category.toLowerCase(), isToCome: Boolean(correct), from },
    }
  }
  return null
}

/** Parses Unix seconds or a date string. */
function toInstant(given: string | number | null | undefined): string | null {
  if (given === null || given === undefined) return null
  const seconds = Number(given)
  const at = new Date(Number.isFinite(seconds) ? seconds * 1000 : given)
  return isPlausible(at.getTime()) ? at.toISOString() : null
}

/** Returns when a pause ends. The network may report only which pause it is: the first lasts 3 hours, the second 6. */
function toPauseEnd(change: z.infer<typeof statusShape>, occurredAt: string): string | null {
  const pausedUntil = change.paused_until ? new Date(change.paused_until) : null
  if (pausedUntil && isPlausible(pausedUntil.getTime())) return pausedUntil.toISOString()
  const hours = { FIRST_PAUSE: 3, SECOND_PAUSE: 6 }[change.other_info?.title ?? '']
  return hours ? new Date(Date.parse(occurredAt) + hours * hourMs).toISOString() : null
}

/** A change as part of a body, to build one. */
export interface TemplateChange {
  field: string
  value: Record<string, unknown>
}

export const buildStatusChange = (
  template: { providerId: string; name: string; language: string },
  event: string,
  more: { reason?: string | null; pausedUntil?: Date | null } = {},
): TemplateChange => ({
  field: fields.status,
  value: {
    event,
    ...toSubject(template),
    reason: more.reason ? more.reason.toUpperCase().replaceAll('-', '_') : 'NONE',
    ...(more.pausedUntil ? { paused_until: more.pausedUntil.toISOString() } : {}),
  },
})

export const buildCategoryChange = (
  template: { providerId: string; name: string; language: string },
  category: string,
): TemplateChange => ({
  field: fields.category,
  value: { ...toSubject(template), new_category: category.toUpperCase() },
})

export const buildQualityChange = (
  template: { providerId: string; name: string; language: string },
  quality: string,
): TemplateChange => ({
  field: fields.quality,
  value: { ...toSubject(template), new_quality_score: quality.toUpperCase() },
})

const toSubject = ({
  providerId,
  name,
  language,
}: {
  providerId: string
  name: string
  language: string
}) => ({
  message_template_id: providerId,
  message_template_name: name,
  message_template_language: language,
})
