/** Reads and saves the settings for requesting, publishing and showing reviews. */
import { templates } from '#operations/messaging/index'
import { markStorefrontChanged } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { settings } from '#runtime/database/settings'
import { refuse } from '#runtime/errors'
import { parseVariables } from '#runtime/values/variables'
import { refuseForeignUrl } from '../uploads.ts'
import { defaultReviewSettings, type ReviewSettings, reviewSettings, reviewWords } from './schema.ts'

/** Whether review requests are planned and sent. */
export const areRequestsOn = ({ isEnabled, request }: ReviewSettings): boolean =>
  isEnabled && request.isEnabled

/**
 * The settings. A save refuses a message without `{{reviewUrl}}`, a template that requests cannot fill in, and an
 * invalid logo URL.
 */
export const reviewRules = settings({
  name: 'reviews:logo',
  table: 'review_settings',
  extraColumns: ['requests_since'],
  defaults: defaultReviewSettings,
  words: reviewWords,
  schema: reviewSettings,
  emptyIs: null,
  async check(ctx, after, before) {
    validateSettings(after)
    await validateTemplate(ctx, before, after)
    const { logoUrl } = after.email
    if (logoUrl !== before.email.logoUrl) refuseForeignUrl(ctx, logoUrl, 'email.logoUrl')
  },
  // No requests are planned for orders that reached the trigger before `requests_since`, when requests were off.
  derivedColumns: (after, row, now) => ({
    requests_since: areRequestsOn(after) ? (row?.requests_since ?? now) : null,
  }),
  onSaved: markStorefrontChanged,
})

interface Saved {
  settings: ReviewSettings
  /** Null if the store has never saved settings. */
  updatedAt: Date | null
  /** When requests were turned on; null while they are off. */
  requestsSince: Date | null
}

/** Reads the settings, with the columns that the planning of requests needs. */
export async function findSettings(ctx: Context): Promise<Saved> {
  const { content, updatedAt, row } = await reviewRules.find(ctx)
  return { settings: content, updatedAt, requestsSince: row?.requests_since ?? null }
}

function validateSettings({ message }: ReviewSettings): void {
  const parsed = parseVariables(message.text)
  const hasLink =
    'parts' in parsed && parsed.parts.some((part) => typeof part !== 'string' && part.name === 'reviewUrl')
  if (!hasLink) {
    throw refuse('bad_request', 'message.text: must contain {{reviewUrl}}, the link to the review')
  }
}

/** Validates the template only if another one is chosen, because the saved template may have been deleted since. */
async function validateTemplate(ctx: Context, before: ReviewSettings, after: ReviewSettings): Promise<void> {
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

/** Turns reviews on. Called by the onboarding. */
export const activateReviews = (ctx: Context): Promise<void> =>
  reviewRules.write(ctx, (before) => ({ ...before, isEnabled: true }))
