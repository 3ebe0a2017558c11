/** A contact form that was sent: stored with all that follows from it. */

import { addCaptured } from '#operations/campaigns/door'
import { notify } from '#operations/store/door'
import { tokens, type Visit } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { cut } from '#runtime/values/cut'
import { isSameEmail } from '#runtime/values/email'
import { sha256 } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import { contactFormNotify } from '../handles.ts'
import { popup } from '../popup/settings.ts'
import { pageUrlOf } from '../schema.ts'
import { findKnown } from '../subscribers/known-subscriber.ts'
import type { Person } from '../subscribers/person.ts'
import { settled, subscribe } from '../subscribers/subscribe.ts'
import { consentAsked } from './form-rules.ts'
import type { FormSettings } from './form-schema.ts'
import { contactForm } from './form-settings.ts'
import { type SubmitBody, submitBody } from './submit-schema.ts'
import { type Submitted, submittedOf } from './submitted.ts'

const widget = 'contact-form'
export const formToken = (ctx: Context): string => tokens.issueToken(ctx, widget)

/** Refuses (404) where the form is off, and what its fields do not take. */
export async function submitForm(ctx: Context, visit: Visit): Promise<void> {
  const settings = await contactForm.forShoppers(ctx)
  if (!settings.isEnabled) throw refuse('not_found', 'There is nothing here')
  const body = await visit.body(submitBody)
  const trapped = tokens.isTrapped(ctx, widget, { token: body.token, website: body.website ?? '' })
  const submitted = submittedOf(settings, body, ctx.store.country)
  if (trapped) return
  await visit.accepted()
  const subscribes =
    Boolean(body.consent) && settings.subscribeToNewsletter && visit.features.has('newsletter')
  const filling = sha256(JSON.stringify([body.token, body.values, subscribes]))
  await storeSubmission(ctx, settings, submitted, { subscribes, pageUrl: body.pageUrl, filling })
}

/**
 * In one transaction: the submission, its notification and email, the subscriber, and the contact. `filling`: what a
 * browser that sends one form twice sends both times; the second one stores nothing.
 */
async function storeSubmission(
  ctx: Context,
  settings: FormSettings,
  submitted: Submitted,
  {
    subscribes,
    pageUrl,
    filling = null,
  }: { subscribes: boolean; pageUrl: SubmitBody['pageUrl']; filling?: string | null },
): Promise<void> {
  await settled(ctx, async (tx) => {
    const submissionId = tx.newId()
    const stored = await tx.db
      .insertInto('contact_form_submissions')
      .values({
        id: submissionId,
        filling,
        ...submitted,
        values: JSON.stringify(submitted.values),
        page_url: pageUrlOf(pageUrl),
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
    await tell(tx, submissionId, submitted)
    if (settings.notifyEmails.length > 0) await tx.queue(contactFormNotify, { submissionId })
    if (subscribes && submitted.email !== null)
      await subscribeSender(tx, settings, submitted, pageUrlOf(pageUrl))
    if (settings.crmListId !== null && submitted.phone !== null) {
      await addToList(tx, submissionId, settings.crmListId, submitted.phone, submitted)
    }
  })
}

async function tell(ctx: Context, submissionId: string, { name, email, phone }: Submitted): Promise<void> {
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

/** No draw: that is the popup's. */
async function subscribeSender(
  ctx: Context,
  form: FormSettings,
  { email, phone, name }: Submitted,
  pageUrl: string | null,
): Promise<void> {
  const settings = await popup.inForce(ctx)
  const key = phone === null ? null : phoneKey(phone)
  const person: Person = {
    email,
    phone,
    phoneKey: key,
    name,
    consent: true,
    consentText: consentAsked(form, ctx.store.locale),
    pageUrl,
    device: null,
    source: 'contact-form',
  }
  // A phone that is another subscriber's stays theirs.
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
  { name, email }: Submitted,
): Promise<void> {
  const { status, contactId } = await addCaptured(ctx, listId, {
    phone,
    name: name === null ? null : cut(name, 120),
    email,
    source: 'contact-form',
  })
  await ctx.db
    .updateTable('contact_form_submissions')
    .set({ crm_status: status === 'list-full' ? 'list-missing' : status, contact_id: contactId })
    .where('id', '=', submissionId)
    .execute()
}
