/** Renders notices to shoppers (rule 5). No database access. */
import { type sending, templates } from '#operations/messaging/index'
import { escapeHtml } from '#operations/store/index'
import { trimVisible } from '#runtime/values/confusables'
import { renderParameter, renderText, type Values } from '#runtime/values/variables'
import { getText } from '#runtime/values/wording'

export interface NoticeMail {
  channel: 'email'
  subject: string
  html: string
  text: string
}
export interface NoticeMessage {
  channel: 'messaging'
  content: sending.Content
  /** The message as text, shown to the merchant in the inbox. */
  text: string
}
export type NoticeContent = NoticeMail | NoticeMessage

/** Renders the merchant's texts; URLs among the values become links. */
export function renderNoticeMail(texts: { subject: string; body: string }, values: Values): NoticeMail {
  const subject = renderText(texts.subject, values).text.replace(/\s+/g, ' ').trim()
  const text = renderText(texts.body, values).text.trim()
  let html = escapeHtml(text).replace(/\r?\n/g, '<br>')
  for (const url of [values.statusUrl, values.labelUrl]) {
    if (url) html = html.replaceAll(escapeHtml(url), (shown) => `<a href="${shown}">${shown}</a>`)
  }
  return {
    channel: 'email',
    subject,
    html: `<div style="font:16px/1.5 sans-serif;color:#111827;max-width:560px">${html}</div>`,
    text: `${text}\n`,
  }
}

export function renderNoticeText(text: string, values: Values): NoticeMessage {
  const rendered = renderText(text, values).text.trim()
  return {
    channel: 'messaging',
    content: { kind: 'text', text: rendered, media: null },
    text: rendered,
  }
}

/** The parameters of a template, in order: name, request number, link. */
const maxParameters = 3

/**
 * The reason why a template cannot be used for notices, as the second half of an error message; null when it can be
 * used.
 */
export function findTemplateIssue(template: templates.Template | null): string | null {
  if (!template) return 'there is no such template'
  if (template.status !== 'approved')
    return `the template is ${template.status}: only an approved one can be sent`
  const { header, body } = template.placeholders
  if (Math.max(header, body) > maxParameters) {
    return 'the template has more than three parameters: name, request number and link are all there are'
  }
  if (template.buttons.some(({ type }) => type === 'coupon-code')) return 'the template has a coupon button'
  return null
}

const customer = { en: 'customer', 'pt-BR': 'cliente', es: 'cliente' }

/** Fills in an approved template. `token` is the last part of the status link; link buttons take only that part. */
export function renderNoticeTemplate(
  template: templates.Template,
  values: Values,
  { token, locale }: { token: string; locale: string },
): NoticeMessage {
  // Providers refuse an empty parameter.
  const name = trimVisible(values.customerName) ?? getText(customer, locale)
  const inOrder = [name, values.requestNumber, values.statusUrl].map(
    (value) => renderParameter('{{value}}', { value }).text,
  )
  const { header, body, buttons } = template.placeholders
  const parameters = {
    header: inOrder.slice(0, header),
    body: inOrder.slice(0, body),
    buttons: Array.from({ length: buttons }, () => token),
  }
  return {
    channel: 'messaging',
    content: { kind: 'template', templateId: template.id, parameters, media: null },
    text: templates.render(template, parameters).body,
  }
}
