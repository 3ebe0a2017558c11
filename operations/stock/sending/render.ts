/** Renders alerts (rule 1). No database, no clock. */
import type { StoreFacts } from '#db/access'
import { unsubscribes } from '#operations/capture/index'
import { type sending, templates } from '#operations/messaging/index'
import { escapeHtml } from '#operations/store/index'
import { nameWithVariant } from '#operations/storefront/index'
import { trimVisible } from '#runtime/values/confusables'
import { formatMoney } from '#runtime/values/localized'
import { toPublicName } from '#runtime/values/public-name'
import { renderLoosely, type Values } from '#runtime/values/variables'
import { getText } from '#runtime/values/wording'
import type { LiveVariant } from '../facts.ts'
import type { AlertContent } from '../settings/schema.ts'

/** Stored fields of a subscription. Its product fields are used if the product cannot be read from the platform. */
export interface Subscriber {
  name: string | null
  variant_id: string
  product_name: string
  variant_name: string | null
  product_url: string | null
  click_token: string
}

type Store = Pick<StoreFacts, 'name' | 'locale' | 'currency'>

/** Builds the value of every variable; null if it has none. */
export function buildValues(subscriber: Subscriber, live: LiveVariant | null, store: Store): Values {
  const variantName = live ? getVariantName(live) : subscriber.variant_name
  const price = live ? formatMoney(live.variant.price, live.product.currency, store.locale) : null
  return {
    // The name is untrusted: anybody may have entered it with another person's address.
    name: toPublicName(subscriber.name),
    productName: live?.product.name ?? subscriber.product_name,
    variantName,
    price,
    stock: live?.variant.stock?.toString() ?? null,
    storeName: store.name,
    productUrl: buildLink(
      live?.product.url ?? subscriber.product_url,
      subscriber.click_token,
      variantName && subscriber.variant_id,
    ),
  }
}

/** The variant's name; null if it repeats the product's name, as many platforms do for a product with one variant. */
const getVariantName = ({ product, variant }: LiveVariant): string | null =>
  variant.name === '' || variant.name === product.name ? null : variant.name

/**
 * Adds the click token to the product's address, so that a later order can be attributed to the alert, and the variant,
 * so that the shop's page chooses it. Null if it is not a web address.
 */
export function buildLink(
  address: string | null,
  clickToken: string,
  variantId: string | null = null,
): string | null {
  const url = address === null ? null : URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) return null
  url.searchParams.set('mk', clickToken)
  if (variantId) url.searchParams.set('variant', variantId)
  return url.href
}

/** The values for these texts. The product is named with its variant, unless the texts name the variant themselves. */
function nameVariant(values: Values, texts: readonly string[]): Values {
  const { productName, variantName } = values
  if (!productName || texts.some((text) => /\{\{\s*variantName\s*[|}]/.test(text))) return values
  return { ...values, productName: nameWithVariant(productName, variantName) }
}

const customerWords: Readonly<Record<string, string>> = { pt: 'cliente', es: 'cliente', en: 'customer' }

type Template = templates.Template

/**
 * Renders a template. Its parameters are, in order: the name (or the word for a customer in the store's language),
 * product name, product URL.
 */
function renderTemplate(
  template: Template,
  values: Values,
  store: Store,
): { content: sending.Content; text: string } {
  const word = customerWords[store.locale.slice(0, 2)] ?? 'customer'
  const oneLine = (text: string | null | undefined): string => text?.replace(/\s+/g, ' ').trim() ?? ''
  const all = [
    oneLine(trimVisible(values.name)) || word,
    oneLine(values.productName) || '-',
    values.productUrl ?? '-',
  ]
  const { header, body } = template.placeholders
  const parameters = {
    header: all.slice(0, header),
    body: all.slice(header, header + body),
    buttons: template.buttons.flatMap(({ type, url }) =>
      type === 'url' && url?.includes('{{1}}') ? [getButtonValue(url, values.productUrl ?? '')] : [],
    ),
  }
  return {
    content: { kind: 'template', templateId: template.id, parameters, media: null },
    text: templates.render(template, parameters).body,
  }
}

/**
 * The value of the button's variable: the product URL after the button URL's fixed part, or else the product URL's last
 * path segment.
 */
function getButtonValue(buttonUrl: string, productUrl: string): string {
  const fixed = buttonUrl.slice(0, buttonUrl.indexOf('{{1}}'))
  if (fixed !== '' && productUrl.startsWith(fixed)) return productUrl.slice(fixed.length)
  const url = URL.parse(productUrl)
  if (!url) return '-'
  const last = url.pathname.split('/').filter(Boolean).at(-1) ?? ''
  return `${last}${url.search}` || '-'
}

/** Renders the message for a phone: the template, or the text for connections without templates. */
export function renderMessage(
  settings: AlertContent,
  template: Template | null,
  values: Values,
  store: Store,
): { content: sending.Content; text: string } {
  const { templateMessaging } = settings
  if (template) return renderTemplate(template, nameVariant(values, []), store)
  const text = renderLoosely(templateMessaging, nameVariant(values, [templateMessaging])).trim()
  return { content: { kind: 'text', text, media: null }, text }
}

export interface AlertMail {
  subject: string
  html: string
  text: string
  headers: Record<string, string>
}

/**
 * Renders the email without parts whose text is empty. `unsubscribe` is the link for the last line, or null for no such
 * line.
 */
export function renderMail(
  settings: AlertContent,
  values: Values,
  unsubscribe: string | null,
  locale: string,
): AlertMail {
  const leave = getText(unsubscribes.linkLabel, locale)
  const { templateEmail } = settings
  const named = nameVariant(values, Object.values(templateEmail))
  const part = (name: keyof AlertContent['templateEmail']): string =>
    renderLoosely(templateEmail[name], named).trim()
  const [title, greeting, content, button, footer] = [
    part('mainTitle'),
    part('greeting'),
    part('mainContent'),
    part('buttonText'),
    part('footerText'),
  ]
  const link = values.productUrl ?? null
  const logo = /^https:\/\/[^\s]+$/.test(templateEmail.logo) ? templateEmail.logo : null
  const html = [
    logo &&
      `<p><img src="${escapeHtml(logo)}" alt="${escapeHtml(values.storeName ?? '')}" style="max-height:64px"></p>`,
    title && `<h1 style="font-size:22px">${toHtml(title)}</h1>`,
    greeting && `<p>${toHtml(greeting)}</p>`,
    content && `<p>${toHtml(content)}</p>`,
    button &&
      link &&
      `<p><a href="${escapeHtml(link)}" style="${buildButtonStyle(settings)}">${toHtml(button)}</a></p>`,
    footer && `<p style="color:#6b7280;font-size:13px">${toHtml(footer)}</p>`,
    unsubscribe &&
      `<p style="color:#6b7280;font-size:13px"><a href="${escapeHtml(unsubscribe)}">${escapeHtml(leave)}</a></p>`,
  ]
  const text = [
    title,
    greeting,
    content,
    button && link && `${button}: ${link}`,
    footer,
    unsubscribe && `${leave}: ${unsubscribe}`,
  ]
  return {
    subject: part('subject').replace(/\s+/g, ' '),
    html: `<div style="font:16px/1.5 sans-serif;color:#111827;max-width:560px">${html.filter(Boolean).join('')}</div>`,
    text: `${text.filter(Boolean).join('\n\n')}\n`,
    headers: unsubscribe ? unsubscribes.buildHeaders(unsubscribe) : {},
  }
}

const toHtml = (text: string): string => escapeHtml(text).replace(/\r?\n/g, '<br>')

const colour = /^#[0-9a-fA-F]{6}$/
const parseColour = (text: string | null, standard: string): string =>
  text !== null && colour.test(text) ? text : standard

/**
 * The style of the button. The merchant's colours are free texts, so invalid ones are replaced by the standard colours.
 */
const buildButtonStyle = ({ buttonBackgroundColor, buttonFontColor }: AlertContent): string =>
  `display:inline-block;padding:12px 24px;border-radius:6px;text-decoration:none;background:${parseColour(buttonBackgroundColor, '#111827')};color:${parseColour(buttonFontColor, '#ffffff')}`
