/** Builds the emails and messages of review requests (rule 1). No database, no clock. */

import { unsubscribes } from '#operations/capture/index'
import type { sending, templates } from '#operations/messaging/index'
import { escapeHtml } from '#operations/store/index'
import { getGivenName } from '#runtime/values/public-name'
import { renderParameter, renderText, type Values } from '#runtime/values/variables'
import { getText } from '#runtime/values/wording'
import type { ReviewSettings } from '../settings/schema.ts'

export interface RequestDetails {
  customerName: string | null
  orderNumber: string
  /** Names of the products, most expensive first. */
  productNames: readonly string[]
  storeName: string
  locale: string
  /** URL of the review form, which ends with `token`. */
  reviewUrl: string
  token: string
}

const toValues = ({
  customerName,
  orderNumber,
  productNames,
  storeName,
  reviewUrl,
}: RequestDetails): Values => ({
  customerName,
  firstName: getGivenName(customerName),
  productName: productNames[0] ?? null,
  orderNumber,
  storeName,
  reviewUrl,
})

export interface RequestMail {
  subject: string
  html: string
  text: string
  replyTo: string | null
}

/** Builds the email, with the merchant's texts escaped. `unsubscribeUrl` is the link for the last line, or null. */
export function buildRequestMail(
  { email }: Pick<ReviewSettings, 'email'>,
  about: RequestDetails,
  unsubscribeUrl: string | null,
): RequestMail {
  const values = toValues(about)
  const leave = getText(unsubscribes.linkLabel, about.locale)
  const filled = (text: string): string => renderText(text, values).text
  const subject = filled(email.subject)
    .replace(/[\r\n]+/g, ' ')
    .trim()
  const [title, button, body] = [filled(email.title), filled(email.buttonText), filled(email.body)]
  const footer = email.footerText === null ? null : filled(email.footerText)
  const url = escapeHtml(about.reviewUrl)
  const lines = (text: string): string => escapeHtml(text).replace(/\r?\n/g, '<br>')
  const several = about.productNames.length > 1 ? about.productNames : []
  const html = [
    '<div style="font:16px/1.5 sans-serif;max-width:560px;margin:0 auto;color:#1f2937">',
    email.logoUrl
      ? `<p><img src="${escapeHtml(email.logoUrl)}" alt="${escapeHtml(about.storeName)}" style="max-height:64px"></p>`
      : '',
    `<h1 style="font-size:22px">${lines(title)}</h1><p>${lines(body)}</p>`,
    several.length > 0 ? `<ul>${several.map((name) => `<li>${escapeHtml(name)}</li>`).join('')}</ul>` : '',
    `<p><a href="${url}" style="display:inline-block;padding:12px 24px;border-radius:6px;`,
    `background:${email.accentColor};color:#ffffff;text-decoration:none">${lines(button)}</a></p>`,
    footer ? `<p style="font-size:13px;color:#6b7280">${lines(footer)}</p>` : '',
    unsubscribeUrl
      ? `<p style="font-size:13px"><a href="${escapeHtml(unsubscribeUrl)}">${escapeHtml(leave)}</a></p>`
      : '',
    '</div>',
  ].join('')
  const text = [
    title,
    body,
    several.map((name) => `- ${name}`).join('\n'),
    `${button}: ${about.reviewUrl}`,
    footer,
    unsubscribeUrl ? `${leave}: ${unsubscribeUrl}` : null,
  ]
    .filter(Boolean)
    .join('\n\n')
  return { subject, html, text: `${text}\n`, replyTo: email.replyTo }
}

export interface RequestMessage {
  content: sending.Content
  /** Rendered text, for the inbox. */
  text: string
}

/** Builds the message from a template, or from the merchant's text if `template` is null. */
export function buildRequestMessage(
  { message }: Pick<ReviewSettings, 'message'>,
  about: RequestDetails,
  template: templates.Template | null,
  render: typeof templates.render,
): RequestMessage {
  const values = toValues(about)
  if (!template) {
    const { text } = renderText(message.text, values)
    return { content: { kind: 'text', text, media: null }, text }
  }
  // The name needs a fallback, because providers refuse an empty parameter.
  const name = getGivenName(about.customerName) ?? customerFallback(about.locale)
  const inOrder = [name, about.productNames[0] ?? about.storeName, about.reviewUrl].map(
    (value) => renderParameter('{{value}}', { value }).text,
  )
  const { header, body, buttons } = template.placeholders
  const parameters = {
    header: inOrder.slice(0, header),
    body: inOrder.slice(0, body),
    // The button's URL is part of the template; its parameter is the token at the end of the URL.
    buttons: Array.from({ length: buttons }, () => about.token),
  }
  return {
    content: { kind: 'template', templateId: template.id, parameters, media: null },
    text: render(template, parameters).body,
  }
}

const customerFallback = (locale: string): string =>
  getText({ en: 'customer', 'pt-BR': 'cliente', es: 'cliente' }, locale)
