/** How requests read (rule 1). No database, no clock. */

import { unsubscribes } from '#operations/capture/door'
import type { sending, templates } from '#operations/messaging/door'
import { escaped } from '#operations/store/door'
import { renderParameter, renderText, type Values } from '#runtime/values/variables'
import { said } from '#runtime/values/wording'
import type { ReviewSettings } from '../settings/schema.ts'
import { firstName } from '../words.ts'

export interface About {
  customerName: string | null
  orderNumber: string
  /** The dearest first. */
  productNames: readonly string[]
  storeName: string
  locale: string
  /** Where the customer writes, and what its link ends in. */
  reviewUrl: string
  token: string
}

const valuesOf = ({ customerName, orderNumber, productNames, storeName, reviewUrl }: About): Values => ({
  customerName,
  firstName: firstName(customerName),
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

/** `wayOut`: the link that unsubscribes. Texts are the merchant's; whatever is in them stays text. */
export function requestMail(
  { email }: Pick<ReviewSettings, 'email'>,
  about: About,
  wayOut: string | null,
): RequestMail {
  const values = valuesOf(about)
  const leave = said(unsubscribes.word, about.locale)
  const filled = (text: string): string => renderText(text, values).text
  const subject = filled(email.subject)
    .replace(/[\r\n]+/g, ' ')
    .trim()
  const [title, button, body] = [filled(email.title), filled(email.buttonText), filled(email.body)]
  const footer = email.footerText === null ? null : filled(email.footerText)
  const url = escaped(about.reviewUrl)
  const lines = (text: string): string => escaped(text).replace(/\r?\n/g, '<br>')
  const several = about.productNames.length > 1 ? about.productNames : []
  const html = [
    '<div style="font:16px/1.5 sans-serif;max-width:560px;margin:0 auto;color:#1f2937">',
    email.logoUrl
      ? `<p><img src="${escaped(email.logoUrl)}" alt="${escaped(about.storeName)}" style="max-height:64px"></p>`
      : '',
    `<h1 style="font-size:22px">${lines(title)}</h1><p>${lines(body)}</p>`,
    several.length > 0 ? `<ul>${several.map((name) => `<li>${escaped(name)}</li>`).join('')}</ul>` : '',
    `<p><a href="${url}" style="display:inline-block;padding:12px 24px;border-radius:6px;`,
    `background:${email.accentColor};color:#ffffff;text-decoration:none">${lines(button)}</a></p>`,
    footer ? `<p style="font-size:13px;color:#6b7280">${lines(footer)}</p>` : '',
    wayOut ? `<p style="font-size:13px"><a href="${escaped(wayOut)}">${escaped(leave)}</a></p>` : '',
    '</div>',
  ].join('')
  const text = [
    title,
    body,
    several.map((name) => `- ${name}`).join('\n'),
    `${button}: ${about.reviewUrl}`,
    footer,
    wayOut ? `${leave}: ${wayOut}` : null,
  ]
    .filter(Boolean)
    .join('\n\n')
  return { subject, html, text: `${text}\n`, replyTo: email.replyTo }
}

export interface RequestMessage {
  content: sending.Content
  /** How it reads, for the inbox. */
  text: string
}

/** `template`: the one to send, null for the text. */
export function requestMessage(
  { message }: Pick<ReviewSettings, 'message'>,
  about: About,
  template: templates.Template | null,
  render: typeof templates.render,
): RequestMessage {
  const values = valuesOf(about)
  if (!template) {
    const { text } = renderText(message.text, values)
    return { content: { kind: 'text', text, media: null }, text }
  }
  // Providers refuse an empty parameter.
  const name = firstName(about.customerName) ?? customerWord(about.locale)
  const inOrder = [name, about.productNames[0] ?? about.storeName, about.reviewUrl].map(
    (value) => renderParameter('{{value}}', { value }).text,
  )
  const { header, body, buttons } = template.placeholders
  const parameters = {
    header: inOrder.slice(0, header),
    body: inOrder.slice(0, body),
    // The address of a button is the template's own; what it ends in is the token.
    buttons: Array.from({ length: buttons }, () => about.token),
  }
  return {
    content: { kind: 'template', templateId: template.id, parameters, media: null },
    text: render(template, parameters).body,
  }
}

const customerWord = (locale: string): string =>
  said({ en: 'customer', 'pt-BR': 'cliente', es: 'cliente' }, locale)
