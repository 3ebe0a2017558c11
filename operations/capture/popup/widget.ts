/** The popup's widget on the storefront. */
import type { Widget } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { isScheduled } from './publication.ts'
import type { PopupSettings } from './schema.ts'
import { popup } from './settings.ts'

/** Builds the widget that says whether the popup is on now, and when that changes. */
export async function buildPopupWidget(ctx: Context): Promise<Widget | null> {
  const settings = await popup.getForShoppers(ctx)
  if (!settings.isEnabled) return null
  const now = ctx.now()
  return { value: isScheduled(settings, now) || null, until: findNextChange(settings, now) }
}

/** Builds the display rules and the teaser. A page requests the whole popup (`GET /newsletter`) only before it shows it. */
export async function buildPopupRules(ctx: Context): Promise<Widget | null> {
  const settings = await popup.getForShoppers(ctx)
  if (!settings.isEnabled) return null
  const now = ctx.now()
  const value = isScheduled(settings, now) ? toRules(settings) : null
  return { value, until: findNextChange(settings, now) }
}

function toRules({ layout, position, display, design }: PopupSettings) {
  const { teaserEnabled, teaserText, ...rules } = display
  const { buttonColor, buttonTextColor, fontFamily, customCss } = design
  const teaser =
    teaserEnabled && teaserText
      ? { text: teaserText, buttonColor, buttonTextColor, fontFamily, customCss }
      : null
  return { layout, position, display: rules, teaser }
}

function findNextChange({ display }: PopupSettings, now: Date): Date | null {
  const coming = [display.startsAt, display.endsAt]
    .filter((at) => at !== null)
    .map((at) => new Date(at))
    .filter((at) => at > now)
  return coming.sort((one, other) => one.getTime() - other.getTime())[0] ?? null
}
