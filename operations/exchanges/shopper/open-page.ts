/** What the storefront's pages of exchanges have in common: there while exchanges are on, HTML for a person. */
import type { Visit } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { Refusal, refuse } from '#runtime/errors'
import type { ExchangeContent } from '../settings/schema.ts'
import { exchangeRules } from '../settings/settings.ts'
import { missingPage, refusedPage } from './page-words.ts'

/** 404, for whoever asks. */
export function missing(wantsHtml: boolean): Response {
  if (wantsHtml) return missingPage()
  throw refuse('not_found', 'There is nothing here')
}

/** Does the work where exchanges are on; refusals are answered to a person as a page, to a script as JSON. */
export async function whileOpen(
  ctx: Context,
  visit: Visit,
  work: (settings: ExchangeContent) => Promise<Response>,
): Promise<Response> {
  const { isPerson } = visit
  const settings = await exchangeRules.inForce(ctx)
  if (!settings.isEnabled) return missing(isPerson)
  try {
    return await work(settings)
  } catch (error) {
    if (isPerson && error instanceof Refusal) return refusedPage(error)
    throw error
  }
}
