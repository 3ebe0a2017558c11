/** Merges changes into an automation's messages and coupons, and validates the result. No database. */

import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { omitUndefined } from '#runtime/values/changes'
import { isHttpsAddress } from '#runtime/values/https'
import { findAmountIssue } from '#runtime/values/money'
import { countCharacters } from '#runtime/values/truncate'
import type { couponInput, messageInput } from './schema.ts'
import type { AutomationMessage, CouponSpec } from './types.ts'

const maxTextLengthWithMedia = 1024

export const emptyMessage: AutomationMessage = {
  text: null,
  mediaUrl: null,
  mediaType: null,
  officialapiTemplateId: null,
  templateParameters: { header: [], body: [], buttons: [] },
}

/** Merges a change into a message. Error messages start with `field`. */
export function mergeMessage(
  before: AutomationMessage,
  change: z.infer<typeof messageInput>,
  field: string,
): AutomationMessage {
  const { templateParameters, ...fields } = omitUndefined(change)
  const message: AutomationMessage = {
    ...before,
    ...fields,
    templateParameters: { ...before.templateParameters, ...omitUndefined(templateParameters ?? {}) },
  }
  // A change that removes the media need not also remove its type.
  if (message.mediaUrl === null && change.mediaType === undefined) message.mediaType = null
  refuseMessage(message, field)
  return message
}

function refuseMessage(message: AutomationMessage, field: string): void {
  const { text, mediaUrl, mediaType, officialapiTemplateId } = message
  if (text === null && officialapiTemplateId === null) {
    throw refuse('bad_request', `${field}: needs a text or a template`)
  }
  if (mediaUrl !== null && mediaType === null) {
    throw refuse('bad_request', `${field}.mediaType: is required with mediaUrl`)
  }
  if (mediaUrl === null && mediaType !== null) {
    throw refuse('bad_request', `${field}.mediaType: must be null without mediaUrl`)
  }
  if (mediaUrl !== null && text !== null && countCharacters(text) > maxTextLengthWithMedia) {
    throw refuse(
      'bad_request',
      `${field}.text: must have at most ${maxTextLengthWithMedia} characters together with mediaUrl`,
    )
  }
}

/** Refuses a media address that is neither https nor a file of this server. */
export function refuseForeignAddress(url: string, publicUrl: string, field: string): void {
  if (!isHttpsAddress(url) && !url.startsWith(`${publicUrl}/files/`)) {
    throw refuse(
      'bad_request',
      `${field}.mediaUrl: must be an https address, or one of this server's storage`,
    )
  }
}

const couponDefaults = { prefix: 'BACK', minimumAmount: null, validDays: 7 }

/** Merges a change into a coupon; `before` is null if there is none yet. */
export function mergeCoupon(
  before: CouponSpec | null,
  change: z.infer<typeof couponInput>,
  field: string,
  currency: string,
): CouponSpec {
  const { type, value, ...others } = { ...couponDefaults, ...before, ...omitUndefined(change) }
  if (type === undefined) throw refuse('bad_request', `${field}.type: is required`)
  // A change to free shipping drops the value of the previous type, because free shipping has none.
  const newValue = type === 'free-shipping' && change.value === undefined ? null : (value ?? null)
  refuseCouponValue(type, newValue, `${field}.value`, currency)
  return { ...others, type, value: newValue }
}

function refuseCouponValue(
  type: CouponSpec['type'],
  value: number | null,
  field: string,
  currency: string,
): void {
  if (type === 'free-shipping') {
    if (value !== null) throw refuse('bad_request', `${field}: must be null for free-shipping`)
    return
  }
  if (value === null) throw refuse('bad_request', `${field}: is required for ${type}`)
  if (value <= 0) throw refuse('bad_request', `${field}: must be more than 0`)
  if (type === 'percentage' && value > 100) {
    throw refuse('bad_request', `${field}: must be at most 100, a percentage`)
  }
  const issue = type === 'amount' ? findAmountIssue(value, currency) : null
  if (issue) throw refuse('bad_request', `${field}: ${issue}`)
}
