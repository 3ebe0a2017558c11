/** What the storefront's pages of exchanges have in common: they are there while exchanges are on. */
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { ExchangeContent } from '../settings/schema.ts'
import { exchangeRules } from '../settings/settings.ts'

export const nothingHere = () => refuse('not_found', 'There is nothing here')

/** Does the work where exchanges are on, with the settings in the store's language; refuses (404) where they are off. */
export async function whileOpen(
  ctx: Context,
  work: (settings: ExchangeContent) => Promise<Response>,
): Promise<Response> {
  const settings = await exchangeRules.forShoppers(ctx)
  if (!settings.isEnabled) throw nothingHere()
  return work(settings)
}
