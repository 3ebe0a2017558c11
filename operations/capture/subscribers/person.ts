/** Parses the person who filled in the popup, according to its settings. No database access. */
import { refuse } from '#runtime/errors'
import { phoneKey, requirePhone } from '#runtime/values/phone'
import type { PopupSettings } from '../popup/schema.ts'
import { type CaptureBody, parseName, parsePageUrl } from '../schema.ts'

export interface Person {
  email: string | null
  /** The phone in E.164. */
  phone: string | null
  phoneKey: string | null
  name: string | null
  /** Whether the consent box was ticked. */
  consent: boolean
  consentText: string
  pageUrl: string | null
  device: 'desktop' | 'mobile' | null
  source: 'popup' | 'contact-form'
}

/** Parses the person. Ignores fields that the popup does not ask for. Refuses missing fields and an invalid phone. */
export function parsePerson(
  { fields, consentRequired, texts }: PopupSettings,
  body: CaptureBody,
  country: string,
): Person {
  const email = fields.email.enabled ? body.email || null : null
  const typed = fields.phone.enabled ? body.phone?.trim() || null : null
  const name = fields.name.enabled ? parseName(body.name) : null
  const phone = typed === null ? null : requirePhone(typed, country)
  const given = { email, phone, name }
  for (const field of ['email', 'phone', 'name'] as const) {
    if (fields[field].required && given[field] === null) throw refuse('bad_request', `${field}: is required`)
  }
  if (email === null && phone === null) {
    const requiredField = fields.email.enabled ? 'email' : 'phone'
    throw refuse('bad_request', `${requiredField}: an email or a phone is required`)
  }
  if (consentRequired && !body.consent) throw refuse('bad_request', 'consent: must be ticked')
  return {
    ...given,
    phoneKey: phone === null ? null : phoneKey(phone),
    consent: body.consent,
    consentText: texts.consentText,
    pageUrl: parsePageUrl(body.pageUrl),
    device: body.device ?? null,
    source: 'popup',
  }
}
