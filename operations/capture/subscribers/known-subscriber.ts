/** Finds the subscriber that a capture belongs to, by email or phone (rule 8). */
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { emailKey, emailKeySql, isSameEmail } from '#runtime/values/email'
import { isSamePhone } from '#runtime/values/phone'
import type { Person } from './person.ts'

export interface KnownSubscriber {
  id: string
  email: string | null
  phone: string | null
  name: string | null
  status: string
  consent_email: boolean
  consent_phone: boolean
  /** True if the given phone belongs to another subscriber. */
  phoneTaken: boolean
}

const columns = ['id', 'email', 'phone', 'name', 'status', 'consent_email', 'consent_phone'] as const

const byEmail = prepared<{ key: string }, Omit<KnownSubscriber, 'phoneTaken'>>((db, values) =>
  db.selectFrom('newsletter_subscribers').select(columns).where(emailKeySql('email'), '=', values.key),
)
const byPhone = prepared<{ key: string | null }, Omit<KnownSubscriber, 'phoneTaken'>>((db, values) =>
  db.selectFrom('newsletter_subscribers').select(columns).where('phone_key', '=', values.key),
)

/** Finds the subscriber with this email or phone. If these belong to two subscribers, returns the one with the email. */
export async function findKnown(ctx: Context, { email, phoneKey }: Person): Promise<KnownSubscriber | null> {
  const [ofEmail] = email === null ? [] : await byEmail(ctx, { key: emailKey(email) })
  const [ofPhone] = phoneKey === null ? [] : await byPhone(ctx, { key: phoneKey })
  const found = ofEmail ?? ofPhone
  if (!found) return null
  return { ...found, phoneTaken: ofPhone !== undefined && ofPhone.id !== found.id }
}

/**
 * Whether the capture resubscribes a person who unsubscribed. It must have the email that unsubscribed, because the
 * person who types a phone need not own that email.
 */
export const comesBack = ({ status, email }: KnownSubscriber, person: Person): boolean =>
  status === 'unsubscribed' && (email === null || isSameEmail(email, person.email))

/**
 * Fills in missing fields of a known subscriber, adds consent, and resubscribes a person who had unsubscribed. Never
 * replaces existing values, because a person who types an email need not own it. Returns whether anything changed.
 */
export async function fillGaps(
  ctx: Context,
  known: KnownSubscriber,
  person: Person,
  push: boolean,
): Promise<boolean> {
  const email = known.email ?? person.email
  const phone = known.phone ?? (known.phoneTaken ? null : person.phone)
  const gaps = {
    ...(known.email === null && email !== null ? { email } : {}),
    ...(known.phone === null && phone !== null ? { phone, phone_key: person.phoneKey } : {}),
    ...(known.name === null && person.name !== null ? { name: person.name } : {}),
  }
  // Consent covers only the email and phone that were typed.
  const consents = {
    ...(!known.consent_email && person.consent && isSameEmail(email, person.email)
      ? { consent_email: true }
      : {}),
    ...(!known.consent_phone && person.consent && isSamePhone(person.phone, phone)
      ? { consent_phone: true }
      : {}),
  }
  const isBack = comesBack(known, person)
  if (!isBack && Object.keys({ ...gaps, ...consents }).length === 0) return false
  const now = ctx.now()
  const isConsent = person.consent && (isBack || Object.keys(consents).length > 0)
  const updated = await ctx.db
    .updateTable('newsletter_subscribers')
    .set((eb) => ({
      ...gaps,
      ...consents,
      ...(isConsent ? { consent_text: person.consentText, consent_at: now } : {}),
      ...(isBack ? { status: 'subscribed', unsubscribed_at: null, erase_due: false } : {}),
      ...(push ? { push_due: true } : {}),
      revision: eb('revision', '+', 1),
      updated_at: now,
    }))
    .where('id', '=', known.id)
    .returning('id')
    .executeTakeFirst()
  return updated !== undefined
}
