/** How an alert reads (rule 1). No database, no clock. */
import type { StoreFacts } from '#db/access'
import { unsubscribes } from '#operations/capture/door'
import { type sending, templates } from '#operations/messaging/door'
import { escaped } from '#operations/store/door'
import { moneyText } from '#runtime/values/localized'
import { publicName } from '#runtime/values/public-name'
import { seen } from '#runtime/values/signs'
import { renderLoosely, type Values } from '#runtime/values/variables'
import { said } from '#runtime/values/wording'
import type { Live } from '../facts.ts'
import type { AlertContent } from '../settings/schema.ts'

/** Of a subscription: what is told where the platform is not asked. */
export interface Subscriber {
  name: string | null
  product_name: string
  variant_name: string | null
  product_url: string | null
  click_token: string
}

type Store = Pick<StoreFacts, 'name' | 'locale' | 'currency'>

/** The value of every variable; null where there is none. */
export function valuesOf(subscriber: Subscriber, live: Live | null, store: Store): Values {
  const price = live ? moneyText(live.variant.price, live.product.currency, store.locale) : null
  return {
    // Whoever typed it may not be whose address it is.
    name: publicName(subscriber.name),
    productName: live?.product.name ?? subscriber.product_name,
    variantName: live ? variantNameOf(live) : subscriber.variant_name,
    price,
    stock: live?.variant.stock?.toString() ?? null,
    storeName: store.name,
    productUrl: linkOf(live?.product.url ?? subscriber.product_url, subscriber.click_token),
  }
}

/** The name of the only variant is the product's own on many platforms: it says nothing then. */
const variantNameOf = ({ product, variant }: Live): string | null =>
  variant.name === '' || variant.name === product.name ? null : variant.name

/** With the token that the order brings back; null for what is no web address. */
export function linkOf(address: string | null, clickToken: string): string | null {
  const url = address === null ? null : URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) return null
  url.searchParams.set('mk', clickToken)
  return url.href
}

const customerWords: Readonly<Record<string, string>> = { pt: 'cliente', es: 'cliente', en: 'customer' }

type Template = templates.Template

/** Its parameters in order: name or the store's word for one, product name, product URL. */
function templateContent(
  template: Template,
  values: Values,
  store: Store,
): { content: sending.Content; text: string } {
  const word = customerWords[store.locale.slice(0, 2)] ?? 'customer'
  const oneLine = (text: string | null | undefined): string => text?.replace(/\s+/g, ' ').trim() ?? ''
  const all = [
    oneLine(seen(values.name)) || word,
    oneLine(values.productName) || '-',
    values.productUrl ?? '-',
  ]
  const { header, body } = template.placeholders
  const parameters = {
    header: all.slice(0, header),
    body: all.slice(header, header + body),
    buttons: template.buttons.flatMap(({ type, url }) =>
      type === 'url' && url?.includes('{{1}}') ? [buttonValue(url, values.productUrl ?? '')] : [],
    ),
  }
  return {
    content: { kind: 'template', templateId: template.id, parameters, media: null },
    text: templates.render(template, parameters).body,
  }
}

/** What makes the button's address the product's: what follows its fixed part, or the last part of the path. */
function buttonValue(buttonUrl: string, productUrl: string): string {
  const fixed = buttonUrl.slice(0, buttonUrl.indexOf('{{1}}'))
  if (fixed !== '' && productUrl.startsWith(fixed)) return productUrl.slice(fixed.length)
  const url = URL.parse(productUrl)
  if (!url) return '-'
  const last = url.pathname.split('/').filter(Boolean).at(-1) ?? ''
  return `${last}${url.search}` || '-'
}

/** What a phone gets: the template, or the text where connections have none. */
export function messageContent(
  settings: AlertContent,
  template: Template | null,
  values: Values,
  store: Store,
): { content: sending.Content; text: string } {
  if (template) return templateContent(template, values, store)
  const text = renderLoosely(settings.templateMessaging, values).trim()
  return { content: { kind: 'text', text, media: null }, text }
}

export interface AlertMail {
  subject: string
  html: string
  text: string
  headers: Record<string, string>
}

/** The email; an empty text leaves its part out. `unsubscribe`: the address behind its last line, or null. */
export function alertMail(
  settings: AlertContent,
  values: Values,
  unsubscribe: string | null,
  locale: string,
): AlertMail {
  const leave = said(unsubscribes.word, locale)
  const { templateEmail } = settings
  const part = (name: keyof AlertContent['templateEmail']): string =>
    renderLoosely(templateEmail[name], values).trim()
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
      `<p><img src="${escaped(logo)}" alt="${escaped(values.storeName ?? '')}" style="max-height:64px"></p>`,
    title && `<h1 style="font-size:22px">${inHtml(title)}</h1>`,
    greeting && `<p>${inHtml(greeting)}</p>`,
    content && `<p>${inHtml(content)}</p>`,
    button &&
      link &&
      `<p><a href="${escaped(link)}" style="${buttonStyle(settings)}">${inHtml(button)}</a></p>`,
    footer && `<p style="color:#6b7280;font-size:13px">${inHtml(footer)}</p>`,
    unsubscribe &&
      `<p style="color:#6b7280;font-size:13px"><a href="${escaped(unsubscribe)}">${escaped(leave)}</a></p>`,
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
    headers: unsubscribe ? unsubscribes.headers(unsubscribe) : {},
  }
}

const inHtml = (text: string): string => escaped(text).replace(/\r?\n/g, '<br>')

const colour = /^#[0-9a-fA-F]{6}$/
const asColour = (text: string | null, standard: string): string =>
  text !== null && colour.test(text) ? text : standard

/** Its colours are the merchant's own words: only what is a colour stands in a style. */
const buttonStyle = ({ buttonBackgroundColor, buttonFontColor }: AlertContent): string =>
  `display:inline-block;padding:12px 24px;border-radius:6px;text-decoration:none;background:${asColour(buttonBackgroundColor, '#111827')};color:${asColour(buttonFontColor, '#ffffff')}`
