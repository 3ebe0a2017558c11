/** What of the popup leaves for shoppers' browsers: no probabilities, stock, codes or list ids. */
import { tokens } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { findPreview } from './previews.ts'
import type { PopupSettings } from './schema.ts'

export const publicPopup = ({ roulette, ...settings }: PopupSettings) => {
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
/** Between a preview's token and that of its form. */
const separator = '~'

export const popupToken = (ctx: Context): string => tokens.issueToken(ctx, widget)
export const previewToken = (ctx: Context, link: string): string =>
  `${link}${separator}${tokens.issueToken(ctx, previewWidget)}`

/** The settings of the preview that a form's token was issued within; null for any other token. */
export async function previewOf(ctx: Context, token: string): Promise<PopupSettings | null> {
  const [link, form] = token.split(separator)
  return link && form ? findPreview(ctx, link) : null
}

/** Whether a machine filled in the form. Refuses a bad or old token. */
export const isTrapped = (ctx: Context, form: { token: string; website?: string | undefined }): boolean => {
  const [first, second] = form.token.split(separator)
  const website = form.website ?? ''
  return second === undefined
    ? tokens.isTrapped(ctx, widget, { token: first!, website })
    : tokens.isTrapped(ctx, previewWidget, { token: second, website })
}
