/** How the store asks for reviews, publishes and shows them. */
import { templates } from '#operations/messaging/door'
import { changed } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { settings } from '#runtime/database/settings'
import { refuse } from '#runtime/errors'
import { parseVariables } from '#runtime/values/variables'
import { refuseForeign } from '../pictures.ts'
import { defaultReviewSettings, type ReviewSettings, reviewSettings, reviewWords } from './schema.ts'

/** Requests are planned and leave. */
export const asksForReviews = ({ isEnabled, request }: ReviewSettings): boolean =>
  isEnabled && request.isEnabled

/** A message without `{{reviewUrl}}` is refused, and a logo that is no address. */
export const reviewRules = settings({
  name: 'reviews:logo',
  table: 'review_settings',
  reads: ['requests_since'],
  defaults: defaultReviewSettings,
  words: reviewWords,
  schema: reviewSettings,
  emptyIs: null,
  async check(ctx, after, before) {
    refuseFaults(after)
    await refuseTemplate(ctx, before, after)
    const { logoUrl } = after.email
    if (logoUrl !== before.email.logoUrl) refuseForeign(ctx, logoUrl, 'email.logoUrl')
  },
  // What reached its trigger while they were off is never asked about.
  also: (after, row, now) => ({
    requests_since: asksForReviews(after) ? (row?.requests_since ?? now) : null,
  }),
  saved: changed,
})

interface Saved {
  settings: ReviewSettings
  /** Null until it was first saved. */
  updatedAt: Date | null
  /** Since when requests are on; null while they are off. */
  requestsSince: Date | null
}

/** With what they are planned by. */
export async function findSettings(ctx: Context): Promise<Saved> {
  const { content, updatedAt, row } = await reviewRules.find(ctx)
  return { settings: content, updatedAt, requestsSince: row?.requests_since ?? null }
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
export const activateReviews = (ctx: Context): Promise<void> =>
  reviewRules.write(ctx, (before) => ({ ...before, isEnabled: true }))
