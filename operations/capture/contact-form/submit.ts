/** Stores a submitted contact form, with its email, subscriber and contact. */

import { addCaptured } from '#operations/campaigns/index'
import { notify } from '#operations/store/index'
import { tokens, type Visit } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { isSameEmail } from '#runtime/values/email'
import { sha256 } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import { truncate } from '#runtime/values/truncate'
import { contactFormNotify } from '../handles.ts'
import { popup } from '../popup/settings.ts'
import { parsePageUrl } from '../schema.ts'
import { findKnown } from '../subscribers/known-subscriber.ts'
import type { Person } from '../subscribers/person.ts'
import { retryOnConflict, subscribe } from '../subscribers/subscribe.ts'
import { getConsentText } from './form-rules.ts'
import type { FormSettings } from './form-schema.ts'
import { contactForm } from './form-settings.ts'
import { type ParsedSubmission, parseSubmission } from './parsed-submission.ts'
import { type SubmitBody, submitBody } from './submit-schema.ts'

const widget = 'contact-form'
export const issueFormToken = (ctx: Context): string => tokens.issueToken(ctx, widget)

/** Stores a submitted form. Refuses if the form is off (404), and invalid fields (400). */
export async function submitForm(ctx: Context, visit: Visit): Promise<void> {
  const settings = await contactForm.getForShoppers(ctx)
  if (!settings.isEnabled) throw refuse('not_found', 'There is nothing here')
  const body = await visit.body(submitBody)
  const trapped = tokens.isTrapped(ctx, widget, { token: body.token, website: body.website ?? '' })
  const submitted = parseSubmission(settings, body, ctx.store.country)
  if (trapped) return
  await visit.accepted()
  const subscribes =
    Boolean(body.consent) && settings.subscribeToNewsletter && visit.features.has('newsletter')
  const filling = sha256(JSON.stringify([body.token, body.values, subscribes]))
  await storeSubmission(ctx, settings, submitted, { subscribes, pageUrl: body.pageUrl, filling })
}

/**
 * Stores the submission, its notification and email, the subscriber and the contact in one transaction. `filling` is an
 * idempotency key: if a browser sends the same form twice, nothing is stored for the second request.
 */
async function storeSubmission(
  ctx: Context,
  settings: FormSettings,
  submitted: ParsedSubmission,
  {
    subscribes,
    pageUrl,
    filling = null,
  }: { subscribes: boolean; pageUrl: SubmitBody['pageUrl']; filling?: string | null },
): Promise<void> {
  await retryOnConflict(ctx, async (tx) => {
    const submissionId = tx.newId()
    const stored = await tx.db
      .insertInto('contact_form_submissions')
      .values({
        id: submissionId,
        filling,
        ...submitted,
        values: JSON.stringify(submitted.values),
        page_url: parsePageUrl(pageUrl),
        crm_list_id: settings.crmListId,
        crm_status: settings.crmListId === null ? null : 'no-phone',
        created_at: tx.now(),
      })
      .onConflict((conflict) =>
        conflict.columns(['store_id', 'filling']).where('filling', 'is not', null).doNothing(),
      )
      .returning('id')
      .executeTakeFirst()
    if (!stored) return
    await notifyMerchant(tx, submissionId, submitted)
    if (settings.notifyEmails.length > 0) await tx.queue(contactFormNotify, { submissionId })
    if (subscribes && submitted.email !== null)
      await subscribeSender(tx, settings, submitted, parsePageUrl(pageUrl))
    if (settings.crmListId !== null && submitted.phone !== null) {
      await addToList(tx, submissionId, settings.crmListId, submitted.phone, submitted)
    }
  })
}

async function notifyMerchant(
  ctx: Context,
  submissionId: string,
  { name, email, phone }: ParsedSubmission,
): Promise<void> {
  const who = name ?? email ?? phone ?? 'Somebody'
  await notify(ctx, {
    type: 'contact-form-submission',
    level: 'info',
    title: 'The contact form was sent',
    message: `${who} wrote to the store.`,
    data: { submissionId },
    dedupeKey: `contact-form-submission:${submissionId}`,
  })
}

/** Subscribes the sender of a form. There is no draw, because only the popup has prizes. */
async function subscribeSender(
  ctx: Context,
  form: FormSettings,
  { email, phone, name }: ParsedSubmission,
  pageUrl: string | null,
): Promise<void> {
  const settings = await popup.getEffective(ctx)
  const key = phone === null ? null : phoneKey(phone)
  const person: Person = {
    email,
    phone,
    phoneKey: key,
    name,
    consent: true,
    consentText: getConsentText(form, ctx.store.locale),
    pageUrl,
    device: null,
    source: 'contact-form',
  }
  // The phone is dropped if it belongs to a subscriber with another email.
  const known = await findKnown(ctx, { ...person, email: null })
  const isOthers = known !== null && known.email !== null && !isSameEmail(known.email, email)
  await subscribe(ctx, settings, isOthers ? { ...person, phone: null, phoneKey: null } : person, {
    draws: false,
  })
}

async function addToList(
  ctx: Context,
  submissionId: string,
  listId: string,
  phone: string,
  { name, email }: ParsedSubmission,
): Promise<void> {
  const { status, contactId } = await addCaptured(ctx, listId, {
    phone,
    name: name === null ? null : truncate(name, 120),
    email,
    source: 'contact-form',
  })
  await ctx.db
    .updateTable('contact_form_submissions')
    .set({ crm_status: status === 'list-full' ? 'list-missing' : status, contact_id: contactId })
    .where('id', '=', submissionId)
    .execute()
}
