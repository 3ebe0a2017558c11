/** What the storefront shows of the popup. */
import type { Widget } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { isScheduled } from './publication.ts'
import type { PopupSettings } from './schema.ts'
import { popup } from './settings.ts'

/** Whether the popup is on now, and until when that holds. */
export async function popupWidget(ctx: Context): Promise<Widget | null> {
  const settings = await popup.forShoppers(ctx)
  if (!settings.isEnabled) return null
  const now = ctx.now()
  return { value: isScheduled(settings, now) || null, until: nextChange(settings, now) }
}

/**
 * What decides whether it shows itself to a shopper, and its teaser: no page asks for the whole popup (`GET
 * /newsletter`) before it is shown.
 */
export async function popupRules(ctx: Context): Promise<Widget | null> {
  const settings = await popup.forShoppers(ctx)
  if (!settings.isEnabled) return null
  const now = ctx.now()
  const value = isScheduled(settings, now) ? rulesOf(settings) : null
  return { value, until: nextChange(settings, now) }
}

function rulesOf({ layout, position, display, design }: PopupSettings) {
  const { teaserEnabled, teaserText, ...rules } = display
  const { buttonColor, buttonTextColor, fontFamily, customCss } = design
  const teaser =
    teaserEnabled && teaserText
      ? { text: teaserText, buttonColor, buttonTextColor, fontFamily, customCss }
      : null
  return { layout, position, display: rules, teaser }
}

function nextChange({ display }: PopupSettings, now: Date): Date | null {
  const coming = [display.startsAt, display.endsAt]
    .filter((at) => at !== null)
    .map((at) => new Date(at))
    .filter((at) => at > now)
  return coming.sort((one, other) => one.getTime() - other.getTime())[0] ?? null
}
