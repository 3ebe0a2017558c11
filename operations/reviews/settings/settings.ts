/** How the store asks for reviews, publishes and shows them: one row, written over defaults. */
import { isDeepStrictEqual } from 'node:util'
import { templates } from '#operations/messaging/door'
import { files } from '#operations/store/door'
import { changed } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { merged } from '#runtime/values/changes'
import { parseVariables } from '#runtime/values/variables'
import { refuseForeign } from '../pictures.ts'
import {
  defaultReviewSettings,
  type ReviewSettings,
  type ReviewSettingsChange,
  reviewSettings,
} from './schema.ts'

interface Saved {
  settings: ReviewSettings
  /** Null until it was first saved. */
  updatedAt: Date | null
  /** Since when requests are on; null while they are off. */
  requestsSince: Date | null
}

interface Found {
  content: unknown
  updated_at: Date
  requests_since: Date | null
}

const find = prepared<object, Found>(
  (db) => db.selectFrom('review_settings').select(['content', 'updated_at', 'requests_since']),
  { planOnce: true },
)

/** The defaults while nothing was saved. */
export async function findSettings(ctx: Context): Promise<Saved> {
  const [row] = await find(ctx, {})
  if (!row) return { settings: defaultReviewSettings, updatedAt: null, requestsSince: null }
  return {
    settings: merged(defaultReviewSettings, row.content as ReviewSettingsChange, null),
    updatedAt: row.updated_at,
    requestsSince: row.requests_since,
  }
}

export async function readSettings(ctx: Context): Promise<z.input<typeof reviewSettings>> {
  const { settings, updatedAt } = await findSettings(ctx)
  return { ...settings, updatedAt: updatedAt?.toISOString() ?? null }
}

/** Requests are planned and leave. */
export const asksForReviews = ({ isEnabled, request }: ReviewSettings): boolean =>
  isEnabled && request.isEnabled

/**
 * In one transaction; two who save at once take turns. The same again changes nothing. Refuses a message without
 * `{{reviewUrl}}` and a logo that is no address.
 */
export async function saveSettings(ctx: Context, change: ReviewSettingsChange): Promise<void> {
  await ctx.transaction(async (tx) => {
    await tx.lockStore()
    const before = await findSettings(tx)
    const after = merged(before.settings, change, null)
    refuseFaults(after)
    await refuseTemplate(tx, before.settings, after)
    if (isDeepStrictEqual(before.settings, after)) return
    if (after.email.logoUrl !== before.settings.email.logoUrl) {
      refuseForeign(tx, after.email.logoUrl, 'email.logoUrl')
    }
    await files.keepNamed(tx, 'reviews:logo', reviewSettings, { before: before.settings, after })
    const now = tx.now()
    const row = {
      content: JSON.stringify(after),
      // What reached its trigger while they were off is never asked about.
      requests_since: asksForReviews(after) ? (before.requestsSince ?? now) : null,
      updated_at: now,
    }
    await tx.db
      .insertInto('review_settings')
      .values({ ...row, created_at: now })
      .onConflict((conflict) => conflict.column('store_id').doUpdateSet(row))
      .execute()
    await changed(tx)
  })
}

function refuseFaults({ message }: ReviewSettings): void {
  const parsed = parseVariables(message.text)
  const hasLink =
    'parts' in parsed && parsed.parts.some((part) => typeof part !== 'string' && part.name === 'reviewUrl')
  if (!hasLink) {
    throw refuse('bad_request', 'message.text: must contain {{reviewUrl}}, the link to the review')
  }
}

/** Only one that is new is looked at: an old one may have been deleted since. */
async function refuseTemplate(ctx: Context, before: ReviewSettings, after: ReviewSettings): Promise<void> {
  const { officialapiTemplateId: id } = after.message
  if (id === null || id === before.message.officialapiTemplateId) return
  const template = await templates.get(ctx, id)
  const bad = (problem: string) => refuse('bad_request', `message.officialapiTemplateId: ${problem}`)
  if (!template) throw bad(`there is no template ${id}`)
  if (Math.max(template.placeholders.header, template.placeholders.body) > 3) {
    throw bad('the template has more than three parameters: first name, product and link are all there are')
  }
  if (template.buttons.some(({ type }) => type === 'coupon-code'))
    throw bad('the template has a coupon button')
}

/** Turned on by the onboarding. */
export const activateReviews = (ctx: Context): Promise<void> => saveSettings(ctx, { isEnabled: true })
