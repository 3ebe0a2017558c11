/** Subscribes shoppers to a sold-out variant by email or phone, and unsubscribes them. */

import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { mailingList } from '#operations/capture/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { refuse } from '#runtime/errors'
import { line, object, readEmail, themeId, z } from '#runtime/schema'
import { emailKey } from '#runtime/values/email'
import { phoneKey, requirePhone } from '#runtime/values/phone'
import { stockListPush } from '../handles.ts'
import type { AlertContent } from '../settings/schema.ts'
import { getBuiltInText } from '../settings/settings.ts'
import { source } from '../subscription-schema.ts'

/** The request body of the form. `website` is a honeypot field, which people do not see. */
export const subscribeBody = object({
  variantId: themeId(),
  email: z.string().max(254).optional(),
  phone: z.string().max(40).optional(),
  name: line(1, 80).nullish(),
  source,
  website: z.string().max(500).optional(),
})
export type SubscribeInput = z.infer<typeof subscribeBody>

interface Contact {
  channel: 'email' | 'phone'
  email: string | null
  phone: string | null
  key: string
}

/**
 * Parses the email or phone. Refuses (400) both or neither, an invalid one, and a channel that the store does not
 * offer.
 */
function parseContact(ctx: Context, input: SubscribeInput, settings: AlertContent): Contact {
  if ((input.email === undefined) === (input.phone === undefined)) {
    throw refuse('bad_request', 'email: leave either an email or a phone')
  }
  if (input.email !== undefined) {
    if (!settings.allowEmails) throw refuse('bad_request', 'email: this store takes phones only')
    const email = readEmail(input.email)
    if (email === null) {
      const message = settings.invalidEmailMessage || getBuiltInText(ctx, 'invalidEmailMessage')
      throw refuse('bad_request', `email: ${message}`)
    }
    return { channel: 'email', email, phone: null, key: emailKey(email) }
  }
  if (!settings.allowPhones) throw refuse('bad_request', 'phone: this store takes emails only')
  const phone = requirePhone(input.phone!, ctx.store.country)
  return { channel: 'phone', email: null, phone, key: phoneKey(phone) }
}

interface SoldOutVariant {
  product_id: string
  product_name: string
  url: string
  product_image: string | null
  name: string
  sku: string | null
  image_url: string | null
  stock: number | null
}

const findVariant = prepared<{ variantId: string }, SoldOutVariant>((db, values) =>
  db
    .selectFrom('product_snapshot_variants as v')
    .innerJoin('product_snapshots as p', 'p.product_id', 'v.product_id')
    .select([
      'v.product_id',
      'p.name as product_name',
      'p.url',
      'p.image_url as product_image',
      'v.name',
      'v.sku',
      'v.image_url',
      'v.stock',
    ])
    .where('v.variant_id', '=', values.variantId)
    .where('p.exists', '=', sql.lit(true))
    .where('p.is_published', '=', sql.lit(true))
    .limit(sql<number>`1`),
)

export interface NewSubscription {
  contact: Contact
  variant: SoldOutVariant
}

/**
 * Validates a subscription. Refuses an unknown variant or invalid contact (400), and a variant in stock or a duplicate
 * subscription (409).
 */
export async function validateSubscription(
  ctx: Context,
  input: SubscribeInput,
  settings: AlertContent,
): Promise<NewSubscription> {
  const contact = parseContact(ctx, input, settings)
  const [variant] = await findVariant(ctx, { variantId: input.variantId })
  if (!variant) throw refuse('bad_request', 'variantId: this store has no such variant')
  if (variant.stock === null || variant.stock > 0) {
    throw refuse('conflict', 'variantId: it is in stock: it can be bought now')
  }
  const waiting = await ctx.db
    .selectFrom('stock_subscriptions')
    .select('id')
    .where('variant_id', '=', input.variantId)
    .where('channel', '=', contact.channel)
    .where('contact_key', '=', contact.key)
    .where('status', 'in', ['waiting', 'sending'])
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (waiting) throw alreadySubscribed(ctx, settings)
  return { contact, variant }
}

const alreadySubscribed = (ctx: Context, settings: AlertContent) =>
  refuse('conflict', settings.alreadySubscribedMessage || getBuiltInText(ctx, 'alreadySubscribedMessage'))

/** Inserts a subscription, in the caller's transaction. Refuses a duplicate (409). */
export async function subscribe(
  ctx: Context,
  input: SubscribeInput,
  settings: AlertContent,
  { contact, variant }: NewSubscription,
): Promise<void> {
  const now = ctx.now()
  const id = ctx.newId()
  const [added] = await ctx.db
    .insertInto('stock_subscriptions')
    .values({
      id,
      product_id: variant.product_id,
      variant_id: input.variantId,
      product_name: variant.product_name,
      variant_name: variant.name === '' || variant.name === variant.product_name ? null : variant.name,
      sku: variant.sku,
      product_url: variant.url,
      product_image_url: variant.image_url ?? variant.product_image,
      channel: contact.channel,
      email: contact.email,
      phone: contact.phone,
      contact_key: contact.key,
      name: input.name ?? null,
      source: input.source,
      status: 'waiting',
      click_token: randomBytes(16).toString('base64url'),
      created_at: now,
      updated_at: now,
    })
    // Literals, because PostgreSQL does not match a condition with parameters to the partial index.
    .onConflict((conflict) =>
      conflict
        .columns(['store_id', 'variant_id', 'channel', 'contact_key'])
        .where(sql<boolean>`status in ('waiting', 'sending') and deleted_at is null`)
        .doNothing(),
    )
    .returning('id')
    .execute()
  if (!added) throw alreadySubscribed(ctx, settings)
  if (contact.channel === 'email' && settings.isMailproviderEnabled && (await hasList(ctx))) {
    await ctx.queue(stockListPush, { subscriptionId: id })
  }
}

const hasList = async (ctx: Context): Promise<boolean> => ((await mailingList(ctx))?.listId ?? null) !== null

/**
 * Adds a subscriber's email to the connected mailing list. Does nothing if the subscription was deleted or no list is
 * connected.
 */
export async function pushToList(ctx: Context, subscriptionId: string): Promise<void> {
  const row = await ctx.db
    .selectFrom('stock_subscriptions')
    .select(['email', 'name'])
    .where('id', '=', subscriptionId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  const list = row?.email ? await mailingList(ctx) : null
  if (!row?.email || !list?.listId) return
  const person = { email: row.email, name: row.name, phone: null, tags: ['back-in-stock'] }
  await list.port.upsertSubscribers(list.store, list.listId, [person])
}

/**
 * Ends all email subscriptions of a shopper who followed the unsubscribe link of an alert. `subject` is the id of the
 * alert's subscription.
 */
export async function unsubscribe(ctx: Context, subject: string): Promise<void> {
  const now = ctx.now()
  const theirs = ctx.db
    .updateTable('stock_subscriptions')
    .where('deleted_at', 'is', null)
    .where('channel', '=', 'email')
    .where('contact_key', '=', (eb) =>
      eb.selectFrom('stock_subscriptions as s').select('s.contact_key').where('s.id', '=', subject),
    )
  await theirs
    .set({
      status: 'cancelled',
      reason: 'unsubscribed',
      claim_id: null,
      claimed_at: null,
      updated_at: now,
    })
    // Also ends claimed alerts that were not dispatched yet. They may wait for hours while the mail server is down.
    .where((eb) =>
      eb.or([
        eb('status', '=', 'waiting'),
        eb.and([eb('status', '=', 'sending'), eb('called_at', 'is', null)]),
      ]),
    )
    .execute()
  // Marks alerts that are being dispatched now, so that they are not retried if the mail server does not accept them.
  await theirs.set({ reason: 'unsubscribed', updated_at: now }).where('status', '=', 'sending').execute()
}
