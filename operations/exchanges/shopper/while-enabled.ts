/** Guards the storefront pages, which exist only while exchanges are enabled. */
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { ExchangeContent } from '../settings/schema.ts'
import { exchangeRules } from '../settings/settings.ts'

export const pageNotFound = () => refuse('not_found', 'There is nothing here')

/** Runs `work` with the settings in the store's language; refuses (404) while exchanges are disabled. */
export async function whileEnabled(
  ctx: Context,
  work: (settings: ExchangeContent) => Promise<Response>,
): Promise<Response> {
  const settings = await exchangeRules.getForShoppers(ctx)
  if (!settings.isEnabled) throw pageNotFound()
  return work(settings)
}
