/** The popup's settings that shoppers may see: without probabilities, stock, codes and list ids. */
import { tokens } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { findPreview } from './previews.ts'
import type { PopupSettings } from './schema.ts'

export const toPublicPopup = ({ roulette, ...settings }: PopupSettings) => {
  const { layout, position, design, texts, fields, consentRequired, display } = settings
  return {
    layout,
    position,
    design,
    texts,
    fields,
    consentRequired,
    roulette: {
      enabled: roulette.enabled,
      prizes: roulette.enabled ? roulette.prizes.map(({ id, label, color }) => ({ id, label, color })) : [],
    },
    display,
  }
}

const widget = 'newsletter'
const previewWidget = 'newsletter-preview'
/** In the form token of a preview, separates the token of the preview's link from the actual form token. */
const separator = '~'

export const issuePopupToken = (ctx: Context): string => tokens.issueToken(ctx, widget)
export const issuePreviewToken = (ctx: Context, link: string): string =>
  `${link}${separator}${tokens.issueToken(ctx, previewWidget)}`

/** The settings of the preview that a form token was issued for; null for any other token. */
export async function findPreviewByFormToken(ctx: Context, token: string): Promise<PopupSettings | null> {
  const [link, form] = token.split(separator)
  return link && form ? findPreview(ctx, link) : null
}

/** Whether a bot filled in the form. Refuses an invalid or expired token. */
export const isTrapped = (ctx: Context, form: { token: string; website?: string | undefined }): boolean => {
  const [first, second] = form.token.split(separator)
  const website = form.website ?? ''
  return second === undefined
    ? tokens.isTrapped(ctx, widget, { token: first!, website })
    : tokens.isTrapped(ctx, previewWidget, { token: second, website })
}
